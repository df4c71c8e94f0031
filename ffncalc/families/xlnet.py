"""XLM, and the encoders whose attention adds a score for each relative position: XLNet, Funnel."""

from __future__ import annotations

from collections.abc import Iterator

from ffncalc.blocks.attention import pairs_of, scores
from ffncalc.blocks.encoder_heads import discriminator, nothing, tagger
from ffncalc.blocks.ends import lm_head
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.bert import BERT
from ffncalc.families.readers import also, derived, divided, flag, key, text, times
from ffncalc.families.row import Reader
from ffncalc.ops import Op, Weight, linear, lookup, scale
from ffncalc.spec import Attention, Norm
from ffncalc.view import View

ONE_TABLE = {"cross": False, "embedding.token_types": ZERO}


# ------------------------------------------------------------------ XLM
def _languages(view: View) -> Iterator[Op]:
    if view.flag("asm"):
        view.fail("asm: true (an adaptive softmax) is not counted", "asm")
    languages = view.single("n_langs", "n_languages")
    if languages.value > 1 and view.flag("use_lang_emb"):
        yield lookup("embedding", "embed_languages", languages, view.get("d_model"))


XLM = BERT.like(
    "xlm",
    "arXiv:1901.07291; transformers XLMWithLMHeadModel: a table of languages where there are several; no pooler, no "
    "transform",
    {
        **ONE_TABLE,
        "d_model": key("emb_dim"),
        "n_layers": key("n_layers"),
        "head_bias": True,
        "attention.n_heads": key("n_heads"),
        "ffn.activation": flag("gelu_activation", "gelu", "relu"),
        "ffn.d_ff": derived(times(4, "d_model", "d_ff")),
        "decodes": flag("causal"),
        "stack_extra": also(_languages, "n_langs", "use_lang_emb", "asm"),
    },
    {
        "vocab_size": 30145,
        "emb_dim": 2048,
        "n_layers": 12,
        "n_heads": 16,
        "n_langs": 1,
        "use_lang_emb": True,
        "gelu_activation": True,
    },
    spellings={
        "hidden_size": "emb_dim",
        "num_attention_heads": "n_heads",
        "num_hidden_layers": "n_layers",
        "n_words": "vocab_size",
    },
    ignores=(
        "sinusoidal_embeddings",
        "embed_init_std",
        "unk_index",
        "mask_index",
        "bos_index",
        "eos_index",
        "pad_index",
        "is_encoder",
        "start_n_top",
        "end_n_top",
        "lang_id",
        "lang2id",
        "id2lang",
        "is_decoder",
        "max_vocab",
        "min_count",
        "share_inout_emb",
        "same_enc_dec",
        "attention_setting",
        "asm_cutoffs",
        "asm_div_value",
    ),
    heads={"causal": lm_head, "mlm": lm_head, "tagger": tagger},
)
FLAUBERT = XLM.like(
    "flaubert",
    "arXiv:1912.05372; transformers FlaubertWithLMHeadModel: XLM, its norms before the sublayers where pre_norm says "
    "so",
    {"norm.place": flag("pre_norm", "pre", "post")},
)


# ------------------------------------------------------------------ XLNet and Funnel
def relative_attention(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Transformer-XL's attention: a matrix for relative positions, three bias vectors a head, and two segments."""
    for x in "qkv":
        yield linear("attention", f"{prefix}.{x}_proj", d, a.width, x in a.bias)
    yield linear("attention", f"{prefix}.r_proj", d, a.width)
    for x in ("r_w", "r_r", "r_s"):
        yield scale("attention", f"{prefix}.{x}_bias", a.n_heads, a.d_head)
    yield scale("attention", f"{prefix}.segments", size("segments", 2), a.n_heads, a.d_head)
    yield from scores(a, a.d_head, a.d_head, pairs_of(a), prefix)
    yield linear("attention", f"{prefix}.o_proj", a.width, d, "o" in a.bias)


def _mask(view: View) -> Iterator[Op]:
    d = view.get("d_model")
    yield Op("mask_emb", "embedding", (Weight("mask_emb", (d,)),))


XLNET = BERT.like(
    "xlnet",
    "arXiv:1906.08237; transformers XLNetLMHeadModel: Transformer-XL's attention, no positions at the bottom, no "
    "biases in attention",
    {
        **ONE_TABLE,
        "d_model": key("d_model"),
        "n_layers": key("n_layer"),
        "head_bias": True,
        "attention.kind": relative_attention,
        "attention.n_heads": key("n_head"),
        "attention.d_head": key("d_head", divided("d_model", "attention.n_heads", "d_head")),
        "attention.bias": "",
        "ffn.activation": text("ff_activation", "gelu"),
        "ffn.d_ff": key("d_inner"),
        "positions.kind": "relative",
        "embedding.norm": False,
        "stack_extra": also(_mask),
    },
    {"vocab_size": 32000, "d_model": 1024, "n_layer": 24, "n_head": 16, "d_inner": 4096},
    spellings={
        "hidden_size": "d_model",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
        "n_token": "vocab_size",
    },
    ignores=(
        "attn_type",
        "mem_len",
        "reuse_len",
        "use_mems_eval",
        "use_mems_train",
        "bi_data",
        "clamp_len",
        "same_length",
        "start_n_top",
        "end_n_top",
        "untie_r",
        "max_position_embeddings",
        "is_decoder",
    ),
    heads={"causal": lm_head, "mlm": lm_head, "tagger": tagger},
    flops="positions relative to each other, twice as many as there are tokens, pass through a matrix of their own",
)


def _blocks(view: View, decoder: bool) -> Expr:
    """Layers of all blocks, and those that stretch the sequence out again."""
    sizes, _ = view.resolver.raw("block_sizes")
    if not isinstance(sizes, list) or not all(isinstance(n, int) and n > 0 for n in sizes):
        view.fail("block_sizes has to be a list of how many layers each block has", "block_sizes")
    own = view.number("num_decoder_layers")
    return size(
        "n_layers", sum(sizes) + own * decoder, "block_sizes + num_decoder_layers" if decoder else "block_sizes"
    )


def _layers(decoder: bool) -> Reader:
    return Reader(("block_sizes", "num_decoder_layers"), lambda view, switch: _blocks(view, decoder), holds_it=False)


FUNNEL_BASE = XLNET.like(
    "funnel",
    "arXiv:2006.03236; transformers FunnelBaseModel: without the layers that stretch the sequence out again",
    {
        "n_layers": _layers(decoder=False),
        "attention.d_head": key("d_head"),
        "attention.bias": "kvo",
        "ffn.activation": text("hidden_act", "gelu_new"),
        "embedding.norm": True,
        "stack_extra": (),
    },
    {
        "vocab_size": 30522,
        "d_model": 768,
        "n_head": 12,
        "d_head": 64,
        "d_inner": 3072,
        "block_sizes": [4, 4, 4],
        "num_decoder_layers": 2,
    },
    spellings={"hidden_size": "d_model", "num_attention_heads": "n_head"},
    ignores=(
        "block_repeats",
        "pooling_type",
        "attention_type",
        "separate_cls",
        "truncate_seq",
        "pool_q_only",
        "initializer_std",
        "activation_dropout",
        "type_vocab_size",
    ),
    heads={"base": nothing},
    flops="each block halves the sequence",
)
FUNNEL = FUNNEL_BASE.like(
    "funnel",
    "arXiv:2006.03236; transformers FunnelForMaskedLM: blocks that halve the sequence, layers that stretch it out "
    "again",
    {"n_layers": _layers(decoder=True)},
    heads={"mlm": lm_head, "pretraining": discriminator, "tagger": tagger, "span": tagger},
    by_head={"base": FUNNEL_BASE},
)

ROWS = by_name(XLM, FLAUBERT, XLNET, FUNNEL)
