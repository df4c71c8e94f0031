"""BART and the encoder-decoders that are written like it: two stacks with sizes of their own, one set of tables.

Where the embeddings are not tied the classes hold a table beside the shared one for each stack, and the head. Each
class for causal language modelling is the decoder alone, its cross-attention with nothing to attend to here.
"""

from __future__ import annotations

from ffncalc.blocks.ends import lm_head
from ffncalc.expr import Expr, size
from ffncalc.families import by_name
from ffncalc.families.readers import derived, divided, each_layer, flag, key, text, when, word
from ffncalc.families.row import Reader, Row
from ffncalc.ops import Op, linear, lookup, scale
from ffncalc.view import View


def tables_of_stacks(view: View, switch: str) -> tuple[Op, ...]:
    """The encoder's and the decoder's own token tables, which stand beside the shared one where nothing is tied."""
    if view.get("tied"):
        return ()
    names = ("encoder.embed_tokens", "decoder.embed_tokens")
    return tuple(lookup("embedding", name, view.get("n_vocab"), view.get("d_model")) for name in names)


BART = Row(
    name="bart",
    source="arXiv:1910.13461; transformers BartForConditionalGeneration",
    heads={"seq2seq": lm_head},
    stacks=("encoder", "decoder"),
    says={
        "d_model": key("d_model"),
        "encoder.n_layers": key("encoder_layers"),
        "decoder.n_layers": key("decoder_layers"),
        "n_vocab": key("vocab_size"),
        "decoder.cross": True,
        "tied": flag("tie_word_embeddings"),
        "encoder.attention.n_heads": key("encoder_attention_heads"),
        "decoder.attention.n_heads": key("decoder_attention_heads"),
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "attention.bias": "qkvo",
        "ffn.kind": "plain",
        "ffn.activation": text("activation_function", "gelu"),
        "encoder.ffn.d_ff": key("encoder_ffn_dim"),
        "decoder.ffn.d_ff": key("decoder_ffn_dim"),
        "ffn.bias": True,
        "norm.place": "post",
        "norm.final": False,
        "positions.kind": "learned",
        "positions.n_positions": key("max_position_embeddings"),
        "positions.offset": 2,
        "embedding.norm": True,
        "model_extra": Reader(("tie_word_embeddings",), tables_of_stacks, holds_it=False),
    },
    defaults={
        "vocab_size": 50265,
        "max_position_embeddings": 1024,
        "encoder_layers": 12,
        "encoder_ffn_dim": 4096,
        "encoder_attention_heads": 16,
        "decoder_layers": 12,
        "decoder_ffn_dim": 4096,
        "decoder_attention_heads": 16,
        "d_model": 1024,
        "tie_word_embeddings": True,
    },
    spellings={
        "hidden_size": "d_model",
        "num_hidden_layers": "encoder_layers",
        "num_attention_heads": "encoder_attention_heads",
    },
    ignores=(
        "is_decoder",
        "add_cross_attention",
        "add_bias_logits",
        "add_final_layer_norm",
        "normalize_before",
        "normalize_embedding",
        "force_bos_token_to_be_generated",
        "extra_pos_embeddings",
        "gradient_checkpointing",
        "do_blenderbot_90_layernorm",
    ),
)
PRE_NORM = {"norm.place": "pre", "norm.final": True}
NO_OFFSET = {"positions.offset": 0}


def one_more_table(view: View, switch: str) -> tuple[Op, ...]:
    """The wrapper's token table beside the decoder's own, where they are not tied."""
    return (
        ()
        if view.get("tied")
        else (lookup("embedding", "wrapper.embed_tokens", view.get("n_vocab"), view.get("d_model")),)
    )


def decoder_alone(row: Row, source: str, **says: object) -> Row:
    """`row` as its class for causal language modelling has it: the decoder with its cross-attention, and the head."""
    return row.like(row.name, source, {"model_extra": (), **says}, heads={"causal": lm_head}, stacks=("decoder",))


def _with_causal(row: Row, decoder_class: str, **says: object) -> Row:
    return row._replace(
        by_head={"causal": decoder_alone(row, f"transformers {decoder_class}: the decoder alone", **says)}
    )


MBART = BART.like(
    "mbart",
    "arXiv:2001.08210; transformers MBartForConditionalGeneration: norms before the sublayers and a final one",
    PRE_NORM,
)

PLBART = BART.like(
    "plbart",
    "arXiv:2103.06333; transformers PLBartForConditionalGeneration",
    {},
    {
        "vocab_size": 50005,
        "encoder_layers": 6,
        "encoder_ffn_dim": 3072,
        "encoder_attention_heads": 12,
        "decoder_layers": 6,
        "decoder_ffn_dim": 3072,
        "decoder_attention_heads": 12,
        "d_model": 768,
    },
)


def _prompt(view: View, name: str, part: str) -> tuple[Op, ...]:
    """Keys and values for every layer of a stack, made from a table of prompts by two matrices (arXiv:2206.12131)."""
    d, middle = view.get("d_model"), view.single("prompt_mid_dim", "d_prompt")
    return (
        lookup("embedding", f"{view.stack}.{name}_prompt", view.single("prompt_length", "n_prompts"), d),
        linear(part, f"{view.stack}.{name}_prompt.up", d, middle, bias=True),
        linear(part, f"{view.stack}.{name}_prompt.down", middle, 2 * view.get("n_layers") * d, bias=True),
    )


def _prompts(view: View, switch: str) -> tuple[Op, ...]:
    if not view.flag("use_prompt"):
        return ()
    return (*_prompt(view, "self_attn", "other"), *_prompt(view, "cross_attn", "attention"))


PROMPTED = ("use_prompt", "prompt_length", "prompt_mid_dim")

MVP = BART.like(
    "mvp",
    "arXiv:2206.12131; transformers MvpForConditionalGeneration, layer-wise prompts where use_prompt is set (the class "
    "of 5.24 builds the decoder's, and none in the encoder)",
    {
        "decoder.stack_extra": Reader(PROMPTED, _prompts, holds_it=False),
        "flops": when("use_prompt", "its prompts stand beside the tokens as keys and values of their own", ""),
    },
    {"vocab_size": 50267, "use_prompt": False, "prompt_length": 100, "prompt_mid_dim": 800},
)

PEGASUS = BART.like(
    "pegasus",
    "arXiv:1912.08777; transformers PegasusForConditionalGeneration: the sinusoidal tables are frozen parameters",
    {**PRE_NORM, **NO_OFFSET, "embedding.norm": False},
)


def _global_tokens(view: View, switch: str) -> tuple[Op, ...]:
    tokens = view.single("num_global_tokens", "n_global")
    return (lookup("embedding", "embed_global", tokens, view.get("d_model")),)


def _norm_of_global_tokens(view: View, switch: str) -> tuple[Op, ...]:
    return (scale("norm", "global_self_attn_layer_norm", view.get("d_model"), bias=True),)


PEGASUS_X = PEGASUS.like(
    "pegasus_x",
    "arXiv:2208.04347; transformers PegasusXForConditionalGeneration: local blocks and global tokens in the encoder",
    {
        "attention.bias": "",
        "positions.kind": "sinusoidal",
        "encoder.stack_extra": Reader(("num_global_tokens",), _global_tokens, holds_it=False),
        "encoder.extra": Reader((), _norm_of_global_tokens),
    },
    {"vocab_size": 96103, "encoder_layers": 16, "decoder_layers": 16, "num_global_tokens": 32},
    ignores=("block_size", "stagger_local_blocks", "max_position_embeddings"),
    flops="its encoder attends within blocks and to global tokens",
)

BLOCK_SPARSE = "its encoder attends in a block-sparse pattern, partly at random"

BIGBIRD_PEGASUS = BART.like(
    "bigbird_pegasus",
    "arXiv:2007.14062; transformers BigBirdPegasusForConditionalGeneration",
    {
        **PRE_NORM,
        **NO_OFFSET,
        "embedding.norm": False,
        "attention.bias": flag("use_bias", "qkvo", ""),
        "flops": word("attention_type", {"block_sparse": BLOCK_SPARSE, "original_full": ""}),
    },
    {
        "vocab_size": 96103,
        "max_position_embeddings": 4096,
        "encoder_layers": 16,
        "decoder_layers": 16,
        "use_bias": False,
        "attention_type": "block_sparse",
    },
    ignores=("block_size", "num_random_blocks"),
)

BLENDERBOT = BART.like(
    "blenderbot",
    "arXiv:2004.13637; transformers BlenderbotForConditionalGeneration",
    {**PRE_NORM, **NO_OFFSET, "embedding.norm": False},
    {
        "vocab_size": 8008,
        "max_position_embeddings": 128,
        "encoder_layers": 2,
        "encoder_ffn_dim": 10240,
        "encoder_attention_heads": 32,
        "decoder_layers": 24,
        "decoder_ffn_dim": 10240,
        "decoder_attention_heads": 32,
        "d_model": 2560,
    },
    ignores=("layernorm_variant", "variant", "extra_layer_norm"),
)

BLENDERBOT_SMALL = BART.like(
    "blenderbot-small",
    "arXiv:2004.13637; transformers BlenderbotSmallForConditionalGeneration",
    NO_OFFSET,
    {
        "max_position_embeddings": 512,
        "encoder_layers": 8,
        "encoder_ffn_dim": 2048,
        "decoder_layers": 8,
        "decoder_ffn_dim": 2048,
        "d_model": 512,
    },
    ignores=("layernorm_variant",),
)


def _shared(view: View) -> bool:
    return view.flag("share_encoder_decoder_embeddings")


def _decoder_vocabulary(view: View) -> Expr:
    """The decoder's own table; the class sizes it apart even where both stacks share one in the end."""
    own = view.size("decoder_vocab_size", "n_vocab") is not None
    return view.single("decoder_vocab_size" if own else "vocab_size", "n_vocab")


def _output_vocabulary(view: View, switch: str) -> Expr:
    return view.single("vocab_size", "n_vocab") if _shared(view) else _decoder_vocabulary(view)


def _marian_tables(view: View, switch: str) -> tuple[Op, ...]:
    """Beside the table that the head goes with: the encoder's, and of shared but untied ones the decoder's too."""
    shared, d = _shared(view), view.get("d_model")
    if shared and view.get("tied"):
        return ()
    encoder = lookup("embedding", "encoder.embed_tokens", view.single("vocab_size", "n_vocab"), d)
    return (
        (encoder, lookup("embedding", "decoder.embed_tokens", _decoder_vocabulary(view), d)) if shared else (encoder,)
    )


VOCABULARIES = ("vocab_size", "decoder_vocab_size", "share_encoder_decoder_embeddings")

MARIAN = BART.like(
    "marian",
    "arXiv:1804.00344; transformers MarianMTModel: the sinusoidal tables are frozen parameters, one a stack",
    {
        **NO_OFFSET,
        "embedding.norm": False,
        "n_vocab": Reader(VOCABULARIES, _output_vocabulary),
        "model_extra": Reader(VOCABULARIES, _marian_tables, holds_it=False),
    },
    {"vocab_size": 58101, "share_encoder_decoder_embeddings": True},
)


def _table_and_head(view: View, switch: str) -> Expr:
    """MarianForCausalLM sizes its table by decoder_vocab_size and an untied head by vocab_size."""
    table, head = _decoder_vocabulary(view), view.single("vocab_size", "n_vocab")
    if not view.get("tied") and table.value != head.value:
        view.fail(
            "decoder_vocab_size and vocab_size differ, and MarianForCausalLM's head is not tied: no one vocabulary",
            "decoder_vocab_size",
        )
    return table


M2M_100 = BART.like(
    "m2m_100",
    "arXiv:2010.11125; transformers M2M100ForConditionalGeneration (NLLB too): positions are computed",
    {**PRE_NORM, "positions.kind": "sinusoidal", "embedding.norm": False},
    {"vocab_size": 128112},
    ignores=("max_position_embeddings",),
)


def _sparse(step: str) -> Reader:
    """Every `step`-th layer has experts; none where it is 0."""

    def kind(view: View, layer: int) -> str:
        every = view.number(step)
        return "moe" if every and (layer + 1) % every == 0 else "plain"

    return each_layer((step,), kind)


NLLB_MOE = M2M_100.like(
    "nllb-moe",
    "arXiv:2207.04672; transformers NllbMoeForConditionalGeneration: two experts of each sparse layer a token",
    {
        "encoder.ffn.kind": _sparse("encoder_sparse_step"),
        "decoder.ffn.kind": _sparse("decoder_sparse_step"),
        "ffn.n_experts": key("num_experts"),
        "ffn.top_k": derived(lambda view: size("top_k", min(2, view.get("ffn.n_experts").value), "NLLB's router")),
        "ffn.expert": "plain",
        "ffn.router_bias": flag("router_bias"),
    },
    {"num_experts": 128, "encoder_sparse_step": 4, "decoder_sparse_step": 4},
    ignores=(
        "expert_capacity",
        "router_dtype",
        "router_ignore_padding_tokens",
        "second_expert_policy",
        "batch_prioritized_routing",
        "moe_eval_capacity_token_fraction",
        "moe_token_dropout",
        "normalize_router_prob_before_dropping",
    ),
)


def _source_table(view: View, switch: str) -> tuple[Op, ...]:
    """The encoder's table, of the source language; tied embeddings are the decoder's."""
    if view.get("tied"):
        return ()
    return (lookup("embedding", "encoder.embed_tokens", view.single("src_vocab_size", "n_vocab"), view.get("d_model")),)


FSMT = BART.like(
    "fsmt",
    "arXiv:1907.06616; transformers FSMTForConditionalGeneration: a vocabulary a language, frozen sinusoidal tables",
    {
        "n_vocab": key("tgt_vocab_size"),
        # rows for the padding token and those before it
        "positions.offset": Reader(
            ("pad_token_id",), lambda view, switch: view.number("pad_token_id") + 1, holds_it=False
        ),
        "embedding.norm": False,
        "model_extra": Reader(("src_vocab_size", "tie_word_embeddings"), _source_table, holds_it=False),
    },
    {"src_vocab_size": 42024, "tgt_vocab_size": 42024, "tie_word_embeddings": False, "pad_token_id": 1},
    spellings={"vocab_size": "tgt_vocab_size"},
    ignores=("langs",),
)


def _global_projections(view: View, switch: str) -> tuple[Op, ...]:
    """Longformer's second set of projections, for the tokens that attend globally."""
    d = view.get("d_model")
    return tuple(linear("attention", f"self_attn.{x}_global", d, d, bias=True) for x in ("query", "key", "value"))


LED = BART.like(
    "led",
    "arXiv:2004.05150; transformers LEDForConditionalGeneration: global projections in each encoder layer",
    {
        **NO_OFFSET,
        "encoder.positions.n_positions": key("max_encoder_position_embeddings"),
        "decoder.positions.n_positions": key("max_decoder_position_embeddings"),
        "encoder.extra": Reader((), _global_projections),
    },
    {"max_encoder_position_embeddings": 16384, "max_decoder_position_embeddings": 1024},
    ignores=("attention_window",),
    flops="which tokens attend globally is in the data",
)


def _relative_vectors(view: View, switch: str) -> tuple[Op, ...]:
    """Bucketed relative positions of each head, read off the hidden state by a matrix."""
    buckets = view.single("num_buckets", "n_buckets")
    return (
        linear(
            "attention",
            "self_attn.relative_pos_embeddings",
            view.get("d_model"),
            buckets * view.get("attention.n_heads"),
            bias=True,
        ),
    )


def _stream_vectors(view: View, switch: str) -> tuple[Op, ...]:
    streams = view.single("ngram", "n_gram")
    return (lookup("embedding", "decoder.ngram_embeddings", streams, view.get("d_model")),)


PROPHETNET = BART.like(
    "prophetnet",
    "arXiv:2001.04063; transformers ProphetNetForConditionalGeneration: the decoder predicts ngram tokens ahead",
    {
        **NO_OFFSET,
        "d_model": key("hidden_size"),
        "encoder.n_layers": key("num_encoder_layers"),
        "decoder.n_layers": key("num_decoder_layers"),
        "encoder.attention.n_heads": key("num_encoder_attention_heads"),
        "decoder.attention.n_heads": key("num_decoder_attention_heads"),
        "decoder.cross": flag("add_cross_attention"),
        "decoder.extra": Reader(("num_buckets",), _relative_vectors, holds_it=False),
        "decoder.stack_extra": Reader(("ngram",), _stream_vectors, holds_it=False),
    },
    {
        "vocab_size": 30522,
        "hidden_size": 1024,
        "num_encoder_layers": 12,
        "num_encoder_attention_heads": 16,
        "num_decoder_layers": 12,
        "num_decoder_attention_heads": 16,
        "max_position_embeddings": 512,
        "add_cross_attention": True,
        "ngram": 2,
        "num_buckets": 32,
    },
    ignores=(
        "relative_max_distance",
        "disable_ngram_loss",
        "eps",
        "num_hidden_layers",
        "encoder_max_position_embeddings",
        "decoder_max_position_embeddings",
    ),
    flops="its decoder runs a stream of its own for each token that it predicts ahead",
)._replace(spellings={"num_attention_heads": "num_encoder_attention_heads"})

ROWS = by_name(
    _with_causal(BART, "BartForCausalLM"),
    _with_causal(MBART, "MBartForCausalLM"),
    _with_causal(PLBART, "PLBartForCausalLM"),
    _with_causal(
        MVP,
        "MvpForCausalLM, without prompts",
        **{"decoder.stack_extra": Reader(PROMPTED, lambda view, switch: (), holds_it=False)},
    ),
    _with_causal(PEGASUS, "PegasusForCausalLM"),
    PEGASUS_X,
    _with_causal(
        BIGBIRD_PEGASUS,
        "BigBirdPegasusForCausalLM, whose head is never tied",
        tied=Reader(("tie_word_embeddings",), lambda view, switch: False),
    ),
    _with_causal(BLENDERBOT, "BlenderbotForCausalLM"),
    _with_causal(BLENDERBOT_SMALL, "BlenderbotSmallForCausalLM"),
    _with_causal(MARIAN, "MarianForCausalLM", n_vocab=Reader(VOCABULARIES, _table_and_head)),
    M2M_100,
    NLLB_MOE,
    FSMT,
    LED,
    _with_causal(PROPHETNET, "ProphetNetForCausalLM", model_extra=Reader((), one_more_table)),
)
