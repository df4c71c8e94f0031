"""A `Spec` written out as operations: one list for each kind of layer, and one for what stands outside the stacks."""

from collections.abc import Iterator
from typing import NamedTuple

from ffncalc.blocks import ends
from ffncalc.blocks.attention import attention
from ffncalc.blocks.ffn import ffn
from ffncalc.expr import Expr
from ffncalc.families.row import HeadBuilder
from ffncalc.ops import Op
from ffncalc.spec import Layer, Spec

# Where a block's norms sit, by `norm.place`: before or after each sublayer. Two in either case, both makes four.
_ALL = ("attention", "cross", "ffn")
_BEFORE = {"pre": _ALL, "both": _ALL, "one": ("attention",), "second": ("ffn",), "post": (), "none": ()}
_AFTER = {"post": _ALL, "both": _ALL, "pre": (), "one": (), "second": (), "none": ()}


class LayerOps(NamedTuple):
    """One kind of layer of one stack: the operations of one such layer, how many there are, how often each runs."""

    stack: str
    is_source: bool
    ops: tuple[Op, ...]
    n_stored: Expr
    runs: Expr
    ranges: tuple[tuple[int, int], ...]


class Model(NamedTuple):
    """A model as operations: its layers by kind, and the operations outside them."""

    spec: Spec
    layers: tuple[LayerOps, ...]
    outer: tuple[Op, ...]


def expand(spec: Spec, head: HeadBuilder | None) -> Model:
    """Every operation of the model that `spec` describes, with the head that was chosen (None: the bare stack)."""
    layers = tuple(
        LayerOps(
            stack.name,
            stack.is_source,
            tuple(layer_ops(kind.layer, stack.d_model)),
            kind.n_stored,
            kind.runs,
            kind.ranges,
        )
        for stack in spec.stacks
        for kind in stack.kinds
    )
    return Model(spec, layers, (*_outer(spec), *(head(spec) if head else ())))


def _outer(spec: Spec) -> Iterator[Op]:
    yield from ends.tokens(spec)
    for stack in spec.stacks:
        yield from ends.embedding(spec, stack)
        yield from stack.extra
        if stack.norm.final:
            yield from ends.norm(stack.norm, f"{stack.name}.norm", stack.d_model)
    yield from spec.extra


def layer_ops(layer: Layer, d: Expr) -> Iterator[Op]:
    """One block on a stream of width `d`, in execution order."""
    sublayers = {"attention": list(attention(layer.attention, d, layer.norm))}
    if layer.cross:
        sublayers["cross"] = list(attention(layer.cross, d, layer.norm, "cross_attn"))
    # persistent memory vectors take part in the attention they stand in: they are no sublayer with a norm of its own
    ffn_name = "attention" if layer.ffn.kind == "memory" else "ffn"
    sublayers.setdefault(ffn_name, []).extend(ffn(layer.ffn, d, layer.attention))
    for name, ops in sublayers.items():
        if ops and name in _BEFORE[layer.norm.place]:
            yield from ends.norm(layer.norm, f"{name}_norm", d)
        yield from ops
        if ops and name in _AFTER[layer.norm.place]:
            yield from ends.norm(layer.norm, f"post_{name}_norm", d)
    yield from layer.extra
