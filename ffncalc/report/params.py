"""Parameters: by component, per kind of layer and in total."""

from collections.abc import Iterable
from typing import NamedTuple

from ffncalc.blocks.ends import TOKEN_TABLE
from ffncalc.expr import Expr, total
from ffncalc.model import LayerOps, Model
from ffncalc.ops import PARTS, Op, active, buffers, of_part, parameters

NEEDS_VOCABULARY = ("embedding", "head")  # components that can't be known without it


class LayerParams(NamedTuple):
    """One kind of layer: the parameters of one such layer by component, and what kind of layer it is."""

    kind: LayerOps
    parts: dict[str, Expr]
    total: Expr


class Params(NamedTuple):
    """All that `ffncalc params` says. A number that needs a vocabulary which nobody stated is None.

    `parts` add up to `total`: the distinct parameters that the architecture registers. `active` is what one token
    passes through (routed experts at top_k of n_experts), `active_without_embedding` the same without the token table
    where that isn't also the head, `stored` the total with what a checkpoint holds beyond parameters. `ffn_share` is
    the FFN's share of all blocks.
    """

    model: Model
    parts: dict[str, Expr | None]
    total: Expr | None
    active: Expr | None
    active_without_embedding: Expr | None
    stored: Expr | None
    layers: tuple[LayerParams, ...]
    ffn_share: float
    warnings: tuple[str, ...]

    def numbers(self) -> dict[str, Expr | None]:
        """Every number of the JSON's `params`, by its name there."""
        totals = {name: getattr(self, name) for name in ("total", "active", "active_without_embedding", "stored")}
        return totals | self.parts


def params(model: Model) -> Params:
    """Count the parameters of a model."""
    layers = tuple(_layer(kind) for kind in model.layers)
    found = counts(model)
    return Params(
        model=model,
        parts={part: found[part] for part in PARTS},
        total=found["total"],
        active=found["active"],
        active_without_embedding=found["active_without_embedding"],
        stored=found["stored"],
        layers=layers,
        ffn_share=_share(layers),
        warnings=model.spec.warnings,
    )


def counts(model: Model) -> dict[str, Expr | None]:
    """The totals and the components alone, by their names in the JSON."""
    known = model.spec.n_vocab is not None
    parts: dict[str, Expr | None] = {
        part: _everywhere(model, part) if known or part not in NEEDS_VOCABULARY else None for part in PARTS
    }
    everything = [(kind.ops, kind.n_stored) for kind in model.layers] + [(model.outer, 1)]
    totals = {
        "total": total(p for p in parts.values() if p is not None),
        "active": total(active(ops) * count for ops, count in everything),
        "active_without_embedding": _without_token_table(model, everything),
        "stored": total((parameters(ops) + buffers(ops)) * count for ops, count in everything),
    }
    return {name: number if known else None for name, number in totals.items()} | parts


def _everywhere(model: Model, part: str) -> Expr:
    return total(parameters(of_part(kind.ops, part)) * kind.n_stored for kind in model.layers) + parameters(
        of_part(model.outer, part)
    )


def _layer(kind: LayerOps) -> LayerParams:
    parts = {part: parameters(of_part(kind.ops, part)) for part in PARTS}
    return LayerParams(kind, parts, total(parts.values()))


def _without_token_table(model: Model, everything: Iterable[tuple[tuple[Op, ...], Expr | int]]) -> Expr:
    dropped = None if table_is_head(model) else TOKEN_TABLE
    return total(active(op for op in ops if op.name != dropped) * count for ops, count in everything)


def table_is_head(model: Model) -> bool:
    """Whether the token table is also the head, which reads all of it for every token."""
    return any(weight.tied for op in model.outer for weight in op.weights)


def _share(layers: tuple[LayerParams, ...]) -> float:
    whole = sum(layer.total.value * layer.kind.n_stored.value for layer in layers)
    ffn = sum(layer.parts["ffn"].value * layer.kind.n_stored.value for layer in layers)
    return round(ffn * 10**6 / whole) / 10**6 if whole else 0.0
