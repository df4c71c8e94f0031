"""T5 and the encoder-decoders that are written like it: relative-position tables, no biases, RMS norms."""

from __future__ import annotations

from typing import Any

from ffncalc.blocks.ends import lm_head
from ffncalc.expr import ZERO, Expr, product, size
from ffncalc.families import by_name
from ffncalc.families.bart import one_more_table, tables_of_stacks
from ffncalc.families.readers import derived, each_layer, flag, in_first_layer, key, text
from ffncalc.families.row import PerLayer, Reader, Row
from ffncalc.ops import Op, linear, lookup, scale
from ffncalc.view import View


def _gate(view: View, switch: str) -> str:
    """T5 writes its FFN's kind and activation into one word, `relu`, or `gated-gelu` from v1.1; is_gated_act wins."""
    words = (view.text("feed_forward_proj") or "relu").split("-")
    if len(words) > 2 or (len(words) == 2 and words[0] != "gated"):
        view.fail(
            f"feed_forward_proj is {'-'.join(words)!r}; want an activation, or gated- and one", "feed_forward_proj"
        )
    gated = view.flag("is_gated_act") if view.resolver.raw("is_gated_act")[0] is not None else len(words) == 2
    return "gated" if gated else "plain"


SPELLINGS = {"hidden_size": "d_model", "num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"}

T5 = Row(
    name="t5",
    source="arXiv:1910.10683; transformers T5ForConditionalGeneration. v1.1's head is untied in the checkpoints",
    heads={"seq2seq": lm_head},
    stacks=("encoder", "decoder"),
    says={
        "d_model": key("d_model"),
        "encoder.n_layers": key("num_layers"),
        "decoder.n_layers": key("num_decoder_layers", lambda view: view.size("num_layers", "n_layers")),
        "n_vocab": key("vocab_size"),
        "decoder.cross": True,
        # The class ties always; checkpoints whose file says false hold a head of their own, and the checkpoint wins.
        "tied": flag("tie_word_embeddings"),
        "attention.n_heads": key("num_heads"),
        "attention.d_head": key("d_kv"),
        "attention.bias": "",
        "attention.relative": in_first_layer("relative_attention_num_buckets"),
        "ffn.kind": Reader(("feed_forward_proj", "is_gated_act"), _gate),
        "ffn.activation": text("feed_forward_proj", "relu"),
        "ffn.d_ff": key("d_ff"),
        "ffn.bias": False,
        "norm.kind": "rms",
        "positions.kind": "relative",
    },
    defaults={
        "vocab_size": 32128,
        "d_model": 512,
        "d_kv": 64,
        "d_ff": 2048,
        "num_layers": 6,
        "num_heads": 8,
        "relative_attention_num_buckets": 32,
        "tie_word_embeddings": True,
    },
    ignores=(
        "relative_attention_max_distance",
        "n_positions",
        "dense_act_fn",
        "scale_decoder_outputs",
        "is_decoder",
        "add_cross_attention",
    ),
    spellings={**SPELLINGS, "head_dim": "d_kv"},
)


def _with_encoder(row: Row, encoder_class: str, **says: Any) -> Row:
    """`row`, with its encoder alone for the class that has nothing else (the text encoder of many image models)."""
    alone = row.like(
        row.name,
        f"transformers {encoder_class}: the encoder alone",
        {"model_extra": (), **says},
        heads={},
        stacks=("encoder",),
        ignores=("decoder",),
    )
    return row._replace(by_head={"encoder": alone})


MT5_SIZES = {"vocab_size": 250112, "d_ff": 1024, "num_layers": 8, "num_heads": 6, "feed_forward_proj": "gated-gelu"}

MT5 = T5.like(
    "mt5",
    "arXiv:2010.11934; transformers MT5ForConditionalGeneration; untied where the file says so, as the checkpoints are",
    {},
    MT5_SIZES,
)

UMT5 = T5.like(
    "umt5",
    "arXiv:2304.09151; transformers UMT5ForConditionalGeneration: a relative-position table in every layer",
    {"attention.relative": key("relative_attention_num_buckets")},
    MT5_SIZES,
)


def _transient_global(view: View) -> bool:
    return view.choice("encoder_attention_type", ("local", "transient-global")) == "transient-global"


def _global_bias_and_norm(view: View, switch: str) -> Any:
    """What transient global attention adds to an encoder layer: a norm, and in the first one a table."""
    if not _transient_global(view):
        return ()
    norm = scale("norm", "global_input_layer_norm", view.get("d_model"))
    table = lookup(
        "attention", "global_relative_attention_bias", view.get("attention.relative")[0], view.get("attention.n_heads")
    )
    return PerLayer((norm, table) if layer == 0 else (norm,) for layer in range(view.n_layers()))


LONGT5 = T5.like(
    "longt5",
    "arXiv:2112.07916; transformers LongT5ForConditionalGeneration",
    {"encoder.extra": Reader(("encoder_attention_type",), _global_bias_and_norm, holds_it=False)},
    {"encoder_attention_type": "local"},
    ignores=("local_radius", "global_block_size"),
    flops="its encoder attends within blocks, and to summaries of them",
)


def _sparse(stack: str, layers: str) -> Reader:
    """Which layers have experts: the second of every `step`, where step is layers / sparse layers, or as stated."""
    stated, sparse = f"{stack}_sparse_step", f"num_sparse_{stack}_layers"

    def kind(view: View, layer: int) -> str:
        total, wanted = view.n_layers(), view.number(sparse)
        every = (
            view.number(stated) if view.resolver.raw(stated)[0] is not None else total // wanted if wanted else total
        )
        return "moe" if every and (layer % every == 1 or every == 1) else "plain"

    return each_layer((sparse, stated, layers), kind)


def _decoder_layers(view: View, switch: str) -> Any:
    """The class has a default of its own for the decoder's layers, and takes the encoder's where the file says null."""
    return view.size("num_layers" if view.is_null("num_decoder_layers") else "num_decoder_layers", switch)


SWITCH = T5.like(
    "switch_transformers",
    "arXiv:2101.03961; transformers SwitchTransformersForConditionalGeneration: one expert a token, no key says so",
    {
        "decoder.n_layers": Reader(("num_decoder_layers", "num_layers"), _decoder_layers),
        "encoder.ffn.kind": _sparse("encoder", "num_layers"),
        "decoder.ffn.kind": _sparse("decoder", "num_decoder_layers"),
        "ffn.activation": text("dense_act_fn", "relu"),
        "ffn.expert": "plain",
        "ffn.n_experts": key("num_experts"),
        "ffn.top_k": derived(lambda view: size("top_k", 1, "the Switch router")),
        "ffn.router_bias": flag("router_bias"),
        "model_extra": Reader(("tie_word_embeddings",), tables_of_stacks, holds_it=False),
    },
    {
        "d_model": 768,
        "num_layers": 12,
        "num_decoder_layers": 12,
        "num_heads": 12,
        "num_experts": 8,
        "num_sparse_encoder_layers": 3,
        "num_sparse_decoder_layers": 3,
    },
    ignores=(
        "expert_capacity",
        "router_dtype",
        "router_ignore_padding_tokens",
        "add_router_probs",
        "router_type",
        "feed_forward_proj",
        "is_gated_act",
        "batch_prioritized_routing",
        "num_selected_experts",
    ),
)._replace(spellings=SPELLINGS)


# ------------------------------------------------------------------ UDOP
def _relative_tables(view: View, first: int) -> tuple[Op, ...]:
    """A stack's tables of relative positions along the text and on the page, from the `first` on."""
    listed, _ = view.resolver.raw("relative_bias_args")
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        view.fail("relative_bias_args has to be a list of mappings", "relative_bias_args")
    named = enumerate(listed[first:], first)
    return tuple(
        lookup("attention", f"{view.stack}.relative_bias.{i}", _buckets(view, entry), view.get("attention.n_heads"))
        for i, entry in named
    )


def _buckets(view: View, entry: dict[str, Any]) -> Expr:
    """Buckets of one table (the class's own 32 unless it says otherwise), two more where it sets the prefix apart."""
    apart = 2 if entry.get("prefix_bucket") and not entry.get("expand") else 0
    buckets = entry.get("relative_attention_num_buckets", 32)
    if isinstance(buckets, bool) or not isinstance(buckets, int) or buckets < 1:
        view.fail(f"relative_bias_args: relative_attention_num_buckets is {buckets!r}; want a positive whole number")
    return size("n_buckets", buckets + apart, "relative_bias_args")


def _page(view: View) -> tuple[Op, ...]:
    """Tables of places on the page in the encoder, and a matrix on the patches of its image in either stack."""
    pixels = product(
        (
            view.single("num_channels", "n_channels"),
            view.single("patch_size", "d_patch"),
            view.single("patch_size", "d_patch"),
        )
    )
    patch = linear("embedding", f"{view.stack}.patch_embed", pixels, view.get("d_model"), bias=True)
    cells = (f"{axis}_position_embeddings" for axis in "xy" if view.stack == "encoder")
    return (
        patch,
        *(
            lookup("embedding", name, view.single("max_2d_position_embeddings", "n_positions"), view.get("d_model"))
            for name in cells
        ),
    )


def _page_and_tables(first: int) -> Reader:
    keys = ("relative_bias_args", "patch_size", "num_channels", "max_2d_position_embeddings")
    return Reader(keys, lambda view, switch: (*_page(view), *_relative_tables(view, first)), holds_it=False)


UDOP = T5.like(
    "udop",
    "arXiv:2212.02623; transformers UdopForConditionalGeneration: T5 with places on the page; its head is always tied, "
    "and of each stack's relative tables the first is that of its first layer",
    {"tied": Reader(("tie_word_embeddings",), lambda view, switch: True), "stack_extra": _page_and_tables(1)},
    {
        "vocab_size": 33201,
        "d_model": 1024,
        "d_ff": 4096,
        "num_layers": 24,
        "num_heads": 16,
        "max_2d_position_embeddings": 1024,
        "patch_size": 16,
        "num_channels": 3,
        "relative_bias_args": [{"type": "1d"}, {"type": "horizontal"}, {"type": "vertical"}],
    },
    ignores=("image_size",),
    flops="its encoder reads image patches beside the text",
)._replace(spellings=SPELLINGS)

UDOP_BARE = UDOP.like(
    "udop", "transformers UdopModel, which ties no relative table", {"stack_extra": _page_and_tables(0)}, heads={}
)
UDOP_ENCODER = UDOP.like("udop", "transformers UdopEncoderModel: the encoder alone", heads={}, stacks=("encoder",))


# ------------------------------------------------------------------ T5Gemma
def _sliding(sides: int) -> Reader:
    """Gemma's windows, in the even layers where no list says otherwise; an encoder's reach as far to either side."""

    def read(view: View, switch: str) -> Any:
        window = view.size(f"{view.stack}.sliding_window", "window", zero=True)
        if not isinstance(window, Expr) or not window:
            return ZERO
        reach = size("window", sides * window.value, f"{view.stack}.sliding_window")
        kinds = view.words(f"{view.stack}.layer_types", ("sliding_attention", "full_attention"))
        sliding = (
            [kind == "sliding_attention" for kind in kinds] if kinds else [i % 2 == 0 for i in range(view.n_layers())]
        )
        return PerLayer(reach if slides else ZERO for slides in sliding)

    return Reader((), read)


def _own(name: str, switch: str) -> dict[str, Any]:
    """One switch, from the key in the mapping of either stack."""
    return {f"{stack}.{switch}": key(f"{stack}.{name}") for stack in ("encoder", "decoder")}


def _encoder_table(view: View, switch: str) -> tuple[Op, ...]:
    return (
        lookup(
            "embedding",
            "encoder.embed_tokens",
            view.single("encoder.vocab_size", "n_vocab"),
            view.single("encoder.hidden_size", "d_model"),
        ),
    )


T5GEMMA_SIZES = {
    "vocab_size": 256000,
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "num_hidden_layers": 26,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "sliding_window": 4096,
    "attention_bias": False,
}

T5GEMMA = Row(
    name="t5gemma",
    source="arXiv:2504.06225; transformers T5GemmaForConditionalGeneration: Gemma 2 as encoder and as decoder",
    heads={"seq2seq": lm_head},
    stacks=("encoder", "decoder"),
    says={
        **_own("hidden_size", "d_model"),
        **_own("num_hidden_layers", "n_layers"),
        "n_vocab": key("decoder.vocab_size"),
        "decoder.cross": True,
        "tied": flag("tie_word_embeddings"),
        **_own("num_attention_heads", "attention.n_heads"),
        **_own("num_key_value_heads", "attention.n_kv_heads"),
        **_own("head_dim", "attention.d_head"),
        "encoder.attention.bias": flag("encoder.attention_bias", "qkvo", ""),
        "decoder.attention.bias": flag("decoder.attention_bias", "qkvo", ""),
        "decoder.attention.d_source": key("encoder.hidden_size"),
        "encoder.attention.window": _sliding(2),
        "encoder.attention.sides": 2,
        "decoder.attention.window": _sliding(1),
        "ffn.kind": "gated",
        "ffn.activation": "gelu_tanh",
        **_own("intermediate_size", "ffn.d_ff"),
        "norm.kind": "rms",
        "norm.place": "both",
        "model_extra": Reader(("encoder.vocab_size",), _encoder_table),
    },
    defaults={f"{stack}.{name}": value for stack in ("encoder", "decoder") for name, value in T5GEMMA_SIZES.items()}
    | {"tie_word_embeddings": True},
    ignores=(
        "vocab_size",
        "classifier_dropout_rate",
        "encoder.max_position_embeddings",
        "decoder.max_position_embeddings",
        "encoder.tie_word_embeddings",
        "decoder.tie_word_embeddings",
        "encoder.is_decoder",
        "decoder.is_decoder",
    ),
)

ROWS = by_name(
    _with_encoder(T5, "T5EncoderModel"),
    _with_encoder(MT5, "MT5EncoderModel"),
    _with_encoder(UMT5, "UMT5EncoderModel"),
    _with_encoder(LONGT5, "LongT5EncoderModel"),
    _with_encoder(SWITCH, "SwitchTransformersEncoderModel", model_extra=Reader((), one_more_table)),
    UDOP._replace(by_head={"none": UDOP_BARE, "encoder": UDOP_ENCODER}),
    _with_encoder(T5GEMMA, "T5GemmaEncoderModel", n_vocab=key("encoder.vocab_size")),
)
