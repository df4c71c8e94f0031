"""Encoders with blocks of their own: bottlenecks, convolutions for matrices or heads, characters, latents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ffncalc.blocks.attention import pairs_of, scores
from ffncalc.blocks.encoder_heads import (
    DENSE_CLASSIFIERS,
    bare_extra,
    label_of_sequence,
    mlm_head_once,
    tagger,
    to_labels,
)
from ffncalc.blocks.ends import mlm_head, pooler
from ffncalc.expr import ONE, ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.bert import BERT, POOLED, weights_only
from ffncalc.families.readers import also, derived, key
from ffncalc.families.row import Reader
from ffncalc.ops import ONCE, TOKEN, Op, Weight, contraction, linear, lookup, scale
from ffncalc.spec import Attention, Ffn, Norm, Spec
from ffncalc.view import View


# ------------------------------------------------------------------ MobileBERT
class Bottleneck(NamedTuple):
    """What narrows a block of MobileBERT from d_model to `inner`; `narrowed` is false where nothing does.

    `entrance` is the same width as the bottlenecks themselves have it: a key of its own.
    """

    inner: Expr
    entrance: Expr
    narrowed: bool
    shared: bool  # a second bottleneck, for queries and keys
    narrow_values: bool
    n_ffns: int


def _inner(view: View) -> Expr:
    stated = view.size("true_hidden_size", "d_inner")
    if isinstance(stated, Expr):
        return stated
    return view.single("intra_bottleneck_size", "d_inner") if view.flag("use_bottleneck") else view.get("d_model")


def _bottleneck(view: View) -> Bottleneck:
    return Bottleneck(
        _inner(view),
        view.single("intra_bottleneck_size", "d_inner"),
        view.flag("use_bottleneck"),
        view.flag("key_query_shared_bottleneck"),
        view.flag("use_bottleneck_attention"),
        max(view.number("num_feedforward_networks"), 1),
    )


def narrow_attention(a: Attention, d: Expr, norm: Norm, prefix: str, b: Bottleneck) -> Iterator[Op]:
    """The bottlenecks at a block's entrance, attention between them, its norm.

    Where the first narrows queries, keys and values alike, the class holds the second and never runs it.
    """
    if b.narrowed:
        for name in ("input", "attention") if b.shared else ("input",):
            entrance = linear("ffn", f"bottleneck.{name}", d, b.entrance, bias=True)
            yield weights_only(entrance) if name == "attention" and b.narrow_values else entrance
            yield scale("norm", f"bottleneck.{name}_norm", b.entrance, bias=True)
    yield linear("attention", f"{prefix}.q_proj", b.inner, a.width, bias=True)
    yield linear("attention", f"{prefix}.k_proj", b.inner, a.width, bias=True)
    yield linear("attention", f"{prefix}.v_proj", b.inner if b.narrow_values else d, a.width, bias=True)
    yield from scores(a, a.d_head, a.d_head, pairs_of(a), prefix)
    yield linear("attention", f"{prefix}.o_proj", b.inner, b.inner, bias=True)
    yield scale("norm", "attention_norm", b.inner, bias=True)


def stacked_ffns(f: Ffn, d: Expr, prefix: str, b: Bottleneck) -> Iterator[Op]:
    """Several FFNs one after another, a norm after each, and the way back to d_model."""
    for i in range(b.n_ffns):
        yield linear("ffn", f"{prefix}.{i}.up_proj", b.inner, f.d_ff, bias=True)
        yield linear("ffn", f"{prefix}.{i}.down_proj", f.d_ff, b.inner, bias=True)
        yield scale("norm", f"{prefix}.{i}.norm", b.inner, bias=True)
    if b.narrowed:
        yield linear("ffn", "bottleneck.output", b.inner, d, bias=True)
        yield scale("norm", "bottleneck.output_norm", d, bias=True)


def _trigrams(view: View) -> Iterator[Op]:
    """Token types and the norm, both at d_model; the projection's columns for each token's two neighbours.

    The columns for the token itself are the projection that every narrow table has. The class stores them where the
    table is as wide as the model, too.
    """
    d, narrow = view.get("d_model"), view.get("embedding.width")
    own = linear("embedding", "embed_projection", narrow, d, bias=True)
    if narrow.value == d.value:
        yield own if view.flag("trigram_input") else weights_only(own)
    if view.flag("trigram_input"):
        yield linear("embedding", "embed_projection.neighbours", 2 * narrow, d)
    types = view.size("type_vocab_size", "token_types", zero=True)
    yield lookup("embedding", "embed_token_types", types if isinstance(types, Expr) else ZERO, d)
    yield scale("norm", "embed_norm", d, bias=True)


def _mobilebert_ends(view: View) -> Iterator[Op]:
    """The pooler; BERT's head on d_model, whose matrix has the tied columns of the table and others of its own."""
    d, narrow, vocabulary, tied = (
        view.get("d_model"),
        view.get("embedding.width"),
        view.get("n_vocab"),
        view.get("tied"),
    )
    if view.flag("classifier_activation"):
        yield linear("other", "pooler", d, d, bias=True, rows=ONCE)
    yield linear("head", "predictions.transform", d, d, bias=True)
    yield scale("head", "predictions.norm", d, bias=True)
    own = size("d_own", d.value - narrow.value, "d_model - embedding_size")
    weights = (
        Weight("predictions.decoder.weight", (vocabulary, narrow), tied=tied),
        Weight("predictions.dense.weight", (own, vocabulary)),
        Weight("predictions.bias", (vocabulary,), copies=ONE if tied else 2 * ONE),
    )
    yield Op("predictions.decoder", "head", weights, (vocabulary, d))


def _of(part: str, spec: Spec) -> tuple[Op, ...]:
    return tuple(op for op in spec.head_extra if op.part == part)


def _mobilebert_classifier(spec: Spec, classes: int | None = None) -> tuple[Op, ...]:
    return (*_of("other", spec), to_labels(spec, ONCE, classes))


def _mobilebert_pretraining(spec: Spec) -> tuple[Op, ...]:
    return (*_of("head", spec), *_mobilebert_classifier(spec, 2))


BLOCK_KEYS = (
    "true_hidden_size",
    "use_bottleneck",
    "intra_bottleneck_size",
    "key_query_shared_bottleneck",
    "use_bottleneck_attention",
    "num_feedforward_networks",
)
MOBILEBERT = BERT.like(
    "mobilebert",
    "arXiv:2004.02984; transformers MobileBertForMaskedLM: bottlenecks around each block, several FFNs in it, tokens "
    "embedded "
    "with their neighbours; its norms without statistics have weights and biases all the same",
    {
        "cross": False,
        "attention.kind": Reader(
            BLOCK_KEYS, lambda view, switch: partial(narrow_attention, b=_bottleneck(view)), holds_it=False
        ),
        "attention.d_head": derived(
            lambda view: size("d_head", _inner(view).value // view.get("attention.n_heads").value, "d_inner / n_heads")
        ),
        "ffn.kind": Reader(BLOCK_KEYS, lambda view, switch: partial(stacked_ffns, b=_bottleneck(view)), holds_it=False),
        "norm.place": "none",
        "positions.width": derived(lambda view: view.get("d_model")),
        "embedding.width": key("embedding_size"),
        "embedding.token_types": ZERO,
        "embedding.norm": False,
        "stack_extra": also(_trigrams, "trigram_input", "type_vocab_size"),
        "head_extra": also(_mobilebert_ends, "classifier_activation"),
    },
    {
        "hidden_size": 512,
        "num_hidden_layers": 24,
        "num_attention_heads": 4,
        "intermediate_size": 512,
        "embedding_size": 128,
        "trigram_input": True,
        "use_bottleneck": True,
        "intra_bottleneck_size": 128,
        "use_bottleneck_attention": False,
        "key_query_shared_bottleneck": True,
        "num_feedforward_networks": 4,
        "classifier_activation": True,
    },
    ignores=("normalization_type",),
    heads={
        "mlm": partial(_of, "head"),
        "pooler": partial(_of, "other"),
        "pretraining": _mobilebert_pretraining,
        "nsp": partial(_mobilebert_classifier, classes=2),
        "classifier": _mobilebert_classifier,
        "tagger": tagger,
        "span": tagger,
        "choice": partial(_mobilebert_classifier, classes=1),
    },
)


# ------------------------------------------------------------------ SqueezeBERT
def in_groups(part: str, name: str, d_in: Expr, d_out: Expr, groups: Expr) -> Op:
    """A matrix whose rows see only the columns of their own group, and its bias."""
    met = (
        size("d_group", d_in.value // groups.value, f"{d_in.formula()} / {groups.value}") if groups.value > 1 else d_in
    )
    weights = (Weight(f"{name}.weight", (d_out, met)), Weight(f"{name}.bias", (d_out,)))
    return Op(name, part, weights, (d_out, met))


def grouped_convolutions(a: Attention, d: Expr, norm: Norm, prefix: str, groups: dict[str, Expr]) -> Iterator[Op]:
    """SqueezeBERT's attention: its projections are convolutions of width one, in groups."""
    for x in "qkv":
        yield in_groups("attention", f"{prefix}.{x}_proj", d, a.width, groups[f"{x}_groups"])
    yield from scores(a, a.d_head, a.d_head, pairs_of(a), prefix)
    yield in_groups("attention", f"{prefix}.o_proj", a.width, d, groups["post_attention_groups"])


def grouped_ffn(f: Ffn, d: Expr, prefix: str, groups: dict[str, Expr]) -> Iterator[Op]:
    """Two such matrices."""
    yield in_groups("ffn", f"{prefix}.up_proj", d, f.d_ff, groups["intermediate_groups"])
    yield in_groups("ffn", f"{prefix}.down_proj", f.d_ff, d, groups["output_groups"])


GROUP_KEYS = ("q_groups", "k_groups", "v_groups", "post_attention_groups", "intermediate_groups", "output_groups")


def _groups(block: Callable[..., Iterator[Op]]) -> Reader:
    def read(view: View, switch: str) -> Any:
        groups = {name: view.single(name, name) for name in GROUP_KEYS}
        d, d_ff = view.get("d_model").value, view.get("ffn.d_ff").value
        for name, wide in zip(GROUP_KEYS, (d, d, d, d, d, d_ff), strict=True):
            if wide % groups[name].value:
                view.fail(f"{name} {groups[name].value} does not divide {wide}", name)
        return partial(block, groups=groups)

    return Reader(GROUP_KEYS, read, holds_it=False)


SQUEEZEBERT = BERT.like(
    "squeezebert",
    "arXiv:2006.11316; transformers SqueezeBertForMaskedLM: grouped convolutions in place of matrices; always with "
    "the pooler",
    {**POOLED, "cross": False, "attention.kind": _groups(grouped_convolutions), "ffn.kind": _groups(grouped_ffn)},
    {
        "q_groups": 4,
        "k_groups": 4,
        "v_groups": 4,
        "post_attention_groups": 1,
        "intermediate_groups": 4,
        "output_groups": 4,
    },
    ignores=("embedding_size",),  # the class takes d_model only
    heads={"mlm": mlm_head, "classifier": label_of_sequence, "tagger": tagger, "span": tagger},
)


# ------------------------------------------------------------------ ConvBERT
def span_convolutions(a: Attention, d: Expr, norm: Norm, prefix: str, taps: Expr) -> Iterator[Op]:
    """ConvBERT: half of the heads attend; the other half are convolutions whose kernels each token makes for itself."""
    for x in "qkv":
        yield linear("attention", f"{prefix}.{x}_proj", d, a.width, bias=True)
    yield linear("attention", f"{prefix}.key_conv.depthwise", taps, d)
    yield linear("attention", f"{prefix}.key_conv.pointwise", d, a.width, bias=True)
    yield linear("attention", f"{prefix}.conv_kernel", a.width, a.n_heads * taps, bias=True)
    yield linear("attention", f"{prefix}.conv_out", d, a.width, bias=True)
    yield contraction("attention", f"{prefix}.convolution", a.width, taps, rows=TOKEN)
    yield from scores(a, a.d_head, a.d_head, pairs_of(a), prefix)
    yield linear("attention", f"{prefix}.o_proj", 2 * a.width, d, bias=True)


def ffn_in_groups(f: Ffn, d: Expr, prefix: str, groups: Expr) -> Iterator[Op]:
    """Two matrices, each in as many groups."""
    yield in_groups("ffn", f"{prefix}.up_proj", d, f.d_ff, groups)
    yield in_groups("ffn", f"{prefix}.down_proj", f.d_ff, d, groups)


def _attending_heads(view: View, switch: str) -> Expr:
    heads, ratio = view.number("num_attention_heads"), view.number("head_ratio") or 1
    return size("n_heads", max(heads // ratio, 1), "num_attention_heads / head_ratio")


def _half_heads(view: View) -> Expr:
    d, heads = view.get("d_model").value, view.get("attention.n_heads").value
    if d % heads:
        view.fail(f"hidden_size {d} is not a multiple of the {heads} heads that attend")
    return size("d_head", d // heads // 2, "d_model / n_heads / 2")


CONVBERT = BERT.like(
    "convbert",
    "arXiv:2008.02496; transformers ConvBertForMaskedLM: half of the heads are convolutions; no pooler",
    {
        "cross": False,
        "attention.n_heads": Reader(("num_attention_heads", "head_ratio"), _attending_heads),
        "attention.d_head": derived(_half_heads),
        "attention.kind": Reader(
            ("conv_kernel_size",),
            lambda view, switch: partial(span_convolutions, taps=view.single("conv_kernel_size", "taps")),
            holds_it=False,
        ),
        "ffn.kind": Reader(
            ("num_groups",),
            lambda view, switch: partial(ffn_in_groups, groups=view.single("num_groups", "n_groups")),
            holds_it=False,
        ),
        "embedding.width": key("embedding_size"),
    },
    {"embedding_size": 768, "head_ratio": 2, "conv_kernel_size": 9, "num_groups": 1},
    ignores=("add_cross_attention", "is_decoder"),
    heads={"mlm": mlm_head_once, **DENSE_CLASSIFIERS},
)


# ------------------------------------------------------------------ CANINE
def _characters(view: View) -> Iterator[Op]:
    """Hashed characters, and the convolutions that make molecules of them and take those apart again."""
    d, buckets = view.get("d_model"), view.single("num_hash_buckets", "n_buckets")
    hashes = view.single("num_hash_functions", "n_hashes")
    yield lookup(
        "embedding",
        "embed_characters",
        buckets,
        size("d_shard", d.value // hashes.value, "d_model / n_hashes"),
        copies=hashes,
    )
    for name, met, key_of_taps in (
        ("to_molecules", d, "downsampling_rate"),
        ("projection", 2 * d, "upsampling_kernel_size"),
    ):
        taps = view.single(key_of_taps, "taps")
        yield Op(
            name, "other", (Weight(f"{name}.weight", (d, met, taps)), Weight(f"{name}.bias", (d,))), (d, met, taps)
        )
        yield scale("norm", f"{name}.norm", d, bias=True)


CANINE = BERT.like(
    "canine",
    "arXiv:2103.06874; transformers CanineModel: characters in place of tokens; a layer on them before and one after "
    "the stack",
    {
        "cross": False,
        "n_vocab": ZERO,
        "n_layers": Reader(
            ("num_hidden_layers",),
            lambda view, switch: size(
                "n_layers", view.single("num_hidden_layers", "n_layers").value + 2, "num_hidden_layers + 2"
            ),
        ),
        "positions.n_positions": key("num_hash_buckets"),
        "stack_extra": also(
            _characters, "num_hash_buckets", "num_hash_functions", "downsampling_rate", "upsampling_kernel_size"
        ),
    },
    {
        "type_vocab_size": 16,
        "num_hash_buckets": 16384,
        "num_hash_functions": 8,
        "downsampling_rate": 4,
        "upsampling_kernel_size": 4,
    },
    ignores=("max_position_embeddings", "local_transformer_stride", "vocab_size", "tie_word_embeddings", "is_decoder"),
    heads={"pooler": pooler},
    flops="its layers run on sequences of two lengths, and some in chunks",
)


# ------------------------------------------------------------------ Perceiver
def latent_layer(
    name: str,
    q_dim: Expr,
    kv_dim: Expr,
    qk: Expr,
    v: Expr,
    widening: Expr,
    *,
    cross: bool = False,
    out: Expr | None = None,
) -> Iterator[Op]:
    """One of Perceiver's layers, pre-norm; the FFN of a cross-attending one counts as attention, where it stands."""
    yield scale("norm", f"{name}.norm1", q_dim, bias=True)
    if cross:
        yield scale("norm", f"{name}.norm2", kv_dim, bias=True)
    for x, rows, columns in (("q", q_dim, qk), ("k", kv_dim, qk), ("v", kv_dim, v), ("o", v, out or q_dim)):
        yield linear("attention", f"{name}.{x}_proj", rows, columns, bias=True)
    yield scale("norm", f"{name}.norm", q_dim, bias=True)
    part = "attention" if cross else "ffn"
    yield linear(part, f"{name}.up_proj", q_dim, widening * q_dim, bias=True)
    yield linear(part, f"{name}.down_proj", widening * q_dim, q_dim, bias=True)


def _channels(view: View, otherwise: Expr) -> tuple[Expr, Expr]:
    qk, v = (view.size(name, name) for name in ("qk_channels", "v_channels"))
    qk = qk if isinstance(qk, Expr) else otherwise
    return qk, v if isinstance(v, Expr) else qk


def _latent_layers(view: View) -> Iterator[Op]:
    wide = view.single("d_latents", "d_latents")
    qk, v = _channels(view, wide)
    yield from latent_layer("self", wide, wide, qk, v, view.single("self_attention_widening_factor", "widening"), out=v)


def _latents(view: View) -> Iterator[Op]:
    """The latents, and the layer with which they read the tokens."""
    wide, d = view.single("d_latents", "d_latents"), view.get("d_model")
    yield lookup("embedding", "latents", view.single("num_latents", "n_latents"), wide)
    by_key = (view.text("cross_attention_shape_for_attention") or "kv") == "kv"
    qk, v = _channels(view, d if by_key else wide)
    yield from latent_layer(
        "cross", wide, d, qk, v, view.single("cross_attention_widening_factor", "widening"), cross=True
    )


def _decoder(view: View) -> Iterator[Op]:
    """The masked-LM head: a query for each position reads the latents; its output meets the token table."""
    wide, d = view.single("d_latents", "d_latents"), view.get("d_model")
    yield lookup("embedding", "output_positions", view.get("positions.n_positions"), d)
    yield from latent_layer(
        "decoder", d, wide, size("d_queries", 256, "8 heads of 32"), d, size("widening", 1), cross=True
    )
    yield scale("embedding", "embedding_decoder.bias", view.get("n_vocab"))


PERCEIVER = BERT.like(
    "perceiver",
    "arXiv:2107.14795; transformers PerceiverForMaskedLM: latents read the tokens once, run through the layers, and "
    "are read",
    {
        "cross": False,
        "d_model": key("d_model"),
        "n_layers": key("num_self_attends_per_block"),
        "attention.kind": "none",
        "attention.n_heads": key("num_self_attention_heads"),
        "ffn.kind": "none",
        "ffn.d_ff": ZERO,
        "norm.place": "none",
        "tied": True,
        "embedding.token_types": ZERO,
        "embedding.norm": False,
        "extra": also(_latent_layers, "d_latents", "qk_channels", "v_channels", "self_attention_widening_factor"),
        "stack_extra": also(
            _latents, "num_latents", "cross_attention_shape_for_attention", "cross_attention_widening_factor"
        ),
        "head_extra": also(_decoder),
    },
    {
        "vocab_size": 262,
        "d_model": 768,
        "d_latents": 1280,
        "num_latents": 256,
        "num_self_attends_per_block": 26,
        "num_self_attention_heads": 8,
        "self_attention_widening_factor": 1,
        "cross_attention_widening_factor": 1,
        "max_position_embeddings": 2048,
    },
    ignores=(
        "num_blocks",
        "num_cross_attention_heads",
        "use_query_residual",
        "image_size",
        "train_size",
        "num_frames",
        "audio_samples_per_frame",
        "samples_per_patch",
        "output_shape",
        "output_num_channels",
        "_label_trainable_num_channels",
        "tie_word_embeddings",
        "is_decoder",
    ),
    heads={"mlm": bare_extra},
    flops="its layers run on latents, not on tokens",
)

ROWS = by_name(MOBILEBERT, SQUEEZEBERT, CONVBERT, CANINE, PERCEIVER)
