"""DeBERTa, whose attention sets content and position apart."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ffncalc.blocks.disentangled import Relative, disentangled
from ffncalc.blocks.encoder_heads import DENSE_CHOICE, DENSE_CLASSIFIERS
from ffncalc.blocks.ends import mlm_head
from ffncalc.expr import Expr, size
from ffncalc.families import by_name
from ffncalc.families.bert import BERT
from ffncalc.families.readers import divided, flag, key
from ffncalc.families.row import Reader
from ffncalc.ops import Op, Weight, linear, lookup, scale
from ffncalc.spec import Spec
from ffncalc.view import View


def head(spec: Spec) -> tuple[Op, ...]:
    """BERT's masked-LM head, or the authors' own."""
    return spec.head_extra or mlm_head(spec)


def _authors_head(view: View, switch: str) -> tuple[Op, ...]:
    """Where `legacy` is false: a transform on d_model, then the token table for a matrix, whatever is tied."""
    if view.flag("legacy"):
        return ()
    d, vocabulary = view.get("d_model"), view.get("n_vocab")
    decoder = linear("head", "lm_predictions.decoder", d, vocabulary, tied=True)
    return (
        linear("head", "lm_predictions.dense", d, d, bias=True),
        scale("head", "lm_predictions.norm", d, bias=True),
        decoder._replace(weights=(*decoder.weights, Weight("lm_predictions.bias", (vocabulary,)))),
    )


def _positive(view: View, name: str) -> Expr | None:
    """A size for which anything below one means that there is none."""
    value, _ = view.resolver.raw(name)
    if isinstance(value, int) and not isinstance(value, bool) and value < 1:
        return None
    found = view.size(name, name)
    return found if isinstance(found, Expr) else None


def _span(view: View, buckets: bool) -> Expr:
    """Relative positions to each side: buckets (from v2 on), else max_relative_positions, else the longest sequence."""
    names = (*(("position_buckets",) if buckets else ()), "max_relative_positions", "max_position_embeddings")
    found = next((value for value in (_positive(view, name) for name in names) if value), None)
    if found is None:
        view.missing("max_position_embeddings")
    return size("span", found.value, found.leaves()[0].origin)


def _scores(view: View) -> list[str]:
    """`pos_att_type`: a list of c2p and p2c, or both in one text with a bar between them."""
    value, _ = view.resolver.raw("pos_att_type")
    listed = [word.strip() for word in value.lower().split("|")] if isinstance(value, str) else value or []
    if not isinstance(listed, list):
        view.fail("pos_att_type has to be a list of c2p and p2c", "pos_att_type")
    return listed


def _first_version(view: View, switch: str) -> Callable[..., Any]:
    relative = None
    if view.flag("relative_attention"):
        relative = Relative(
            _span(view, False), "c2p" in _scores(view), "p2c" in _scores(view), key_bias=False, cut=True
        )
    return partial(disentangled, relative=relative, talking=view.flag("talking_head"))


def _second_version(view: View, switch: str) -> Callable[..., Any]:
    if not view.flag("relative_attention"):
        return partial(disentangled)
    scores = _scores(view)
    return partial(
        disentangled, relative=Relative(_span(view, True), "c2p" in scores, "p2c" in scores, view.flag("share_att_key"))
    )


def _norm_after_projection(view: View, switch: str) -> tuple[Op, ...]:
    """The embeddings' norm, which stands behind the projection, and the table of relative positions."""
    table = (scale("norm", "embed_norm", view.get("d_model"), bias=True),)
    if not view.flag("relative_attention"):
        return table
    buckets = view.resolver.row.name == "deberta-v2"
    return (*table, lookup("embedding", "relative_positions", 2 * _span(view, buckets), view.get("d_model")))


def _table_norm_and_convolution(view: View, switch: str) -> tuple[Op, ...]:
    """From v2 on: a norm on the table, and a convolution over tokens beside the first layer (v2-xlarge)."""
    d = view.get("d_model")
    ops = list(_norm_after_projection(view, switch))
    if "layer_norm" in [word.strip() for word in (view.text("norm_rel_ebd") or "none").lower().split("|")]:
        ops.append(scale("norm", "relative_positions_norm", d, bias=True))
    taps = _positive(view, "conv_kernel_size")
    if taps:
        taps = size("d_conv", taps.value, "conv_kernel_size")
        groups = view.number("conv_groups") or 1
        if d.value % groups:
            view.fail(f"conv_groups {groups} does not divide d_model {d.value}", "conv_groups")
        met = d if groups == 1 else size("d_group", d.value // groups, "d_model / conv_groups")
        weights = (Weight("conv.weight", (d, met, taps)), Weight("conv.bias", (d,)))
        ops += [Op("conv", "other", weights, (d, met, taps)), scale("norm", "conv_norm", d, bias=True)]
    return tuple(ops)


SPAN = ("relative_attention", "max_relative_positions", "max_position_embeddings")
DEBERTA = BERT.like(
    "deberta",
    "arXiv:2006.03654; transformers DebertaForMaskedLM: keys without a bias, a table of relative positions that each "
    "layer projects",
    {
        "cross": False,
        "attention.kind": Reader((*SPAN, "pos_att_type", "talking_head"), _first_version, holds_it=False),
        "attention.bias": "qvo",
        "positions.kind": flag("position_biased_input", "learned", "relative"),
        "embedding.width": key("embedding_size", "d_model"),
        "embedding.norm": False,
        "embedding.bias": False,
        "stack_extra": Reader(SPAN, _norm_after_projection, holds_it=False),
        "head_extra": Reader(("legacy",), _authors_head, holds_it=False),
        "flops": flag(
            "relative_attention", "of its relative table each layer projects as much as the sequence is long", ""
        ),
    },
    {"vocab_size": 50265, "type_vocab_size": 0, "position_biased_input": True, "legacy": True},
    ignores=("pooler_hidden_size", "pooler_hidden_act", "pooler_dropout"),
    heads={"mlm": head, **DENSE_CLASSIFIERS},
)
DEBERTA_V2 = DEBERTA.like(
    "deberta-v2",
    "arXiv:2111.09543 (v3), arXiv:2006.03654; transformers DebertaV2ForMaskedLM: relative positions in buckets, a "
    "norm on their "
    "table, projections shared with the content's",
    {
        "attention.kind": Reader(
            (*SPAN, "position_buckets", "pos_att_type", "share_att_key"), _second_version, holds_it=False
        ),
        "attention.d_head": key("attention_head_size", divided("d_model", "attention.n_heads", "d_head")),
        "attention.bias": "qkvo",
        "stack_extra": Reader(
            (*SPAN, "position_buckets", "norm_rel_ebd", "conv_kernel_size", "conv_groups"),
            _table_norm_and_convolution,
            holds_it=False,
        ),
        "flops": "",
    },
    {
        "vocab_size": 128100,
        "hidden_size": 1536,
        "num_hidden_layers": 24,
        "num_attention_heads": 24,
        "intermediate_size": 6144,
    },
    ignores=("conv_act",),
    heads={**DEBERTA.heads, **DENSE_CHOICE},
)

ROWS = by_name(DEBERTA, DEBERTA_V2)
