"""The sizes of a model, as they are shown and exported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ffncalc.expr import Expr
from ffncalc.model import Model
from ffncalc.spec import Stack


def dims(model: Model) -> dict[str, Any]:
    """The model's sizes; one that differs between layers is the list of its distinct values, in order."""
    spec = model.spec
    layers = [kind.layer for stack in spec.stacks for kind in stack.kinds]
    # a matrix that stands in the place of an attention has no heads
    meets = (any(op.rows.kind == "pair" for op in kind.ops) for kind in model.layers)
    attention = [layer.attention for layer, any_meet in zip(layers, meets, strict=True) if any_meet]
    ffn = [layer.ffn for layer in layers if layer.ffn.kind != "none"]
    found: dict[str, Any] = {
        "d_model": spec.d_model.value,
        "n_layers": _one_or_list([_depth(stack) for stack in spec.stacks], distinct=False),
        "n_heads": _distinct(a.n_heads for a in attention),
        "n_kv_heads": _distinct(a.n_kv_heads or a.n_heads for a in attention),
        "d_head": _distinct(a.d_head or a.d_nope + a.d_rope for a in attention),
        "d_ff": _distinct(f.d_ff for f in ffn),
        "n_vocab": spec.n_vocab.value if spec.n_vocab is not None else None,
    }
    experts = [f for f in ffn if f.n_experts and f.kind == "moe"]
    if experts:
        found["n_experts"] = _distinct(f.n_experts for f in experts)
        found["top_k"] = _distinct(f.top_k for f in experts)
        if any(f.n_shared for f in experts):
            found["n_shared"] = _distinct(f.n_shared for f in experts)
    return found


def _depth(stack: Stack) -> int:
    """Blocks of a stack; where all of them run several times (ALBERT) as many as are run, as its config counts them."""
    runs = {kind.runs.value for kind in stack.kinds}
    return stack.n_layers * (runs.pop() if len(runs) == 1 else 1)


def _distinct(sizes: Iterable[Expr]) -> Any:
    return _one_or_list([size.value for size in sizes], distinct=True)


def _one_or_list(values: list[int], distinct: bool) -> Any:
    kept = list(dict.fromkeys(values)) if distinct else values
    return kept[0] if len(kept) == 1 else kept or None
