"""Each number of a report with its formula, read off the expression that gave it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ffncalc.expr import Expr, Leaf, size
from ffncalc.plain import is_whole, plain_form, plain_text

if TYPE_CHECKING:
    from ffncalc.report.compare import Comparison
    from ffncalc.report.flops import Flops
    from ffncalc.report.hidden import Hidden
    from ffncalc.report.params import Params


class Explained(NamedTuple):
    """A number's name, its formula in symbols and in values, the value, and the form in d where that is a textbook's.

    `sizes` are the leaves of the formula: what they are called, what they are, where they come from.
    """

    name: str
    formula: str
    substituted: str
    value: int
    plain: str | None = None
    sizes: tuple[Leaf, ...] = ()


def explain_params(report: Params) -> Iterator[Explained]:
    """Every number of `ffncalc params`: those of one layer of each kind, then those of the model."""
    width = report.model.spec.d_model
    for i, layer in enumerate(report.layers):
        yield from _explained(f"layers[{i}]", {**layer.parts, "total": layer.total}, width)
    yield from _explained("params", {name: n for name, n in report.parts.items() if n is not None}, None)
    if report.total is not None:
        yield _sum("params.total", {name: n for name, n in report.parts.items() if n}, report.total)
    totals = {
        name: n
        for name, n in report.numbers().items()
        if name not in report.parts and name != "total" and n is not None
    }
    yield from _explained("params", totals, None)


def explain_flops(report: Flops) -> Iterator[Explained]:
    """Every number of `ffncalc flops`: those of one layer and one of its tokens, then the sums."""
    width = report.model.spec.d_model
    for i, layer in enumerate(report.layers):
        yield from _explained(f"layers[{i}]", layer.kinds, width)
    for group, kinds in report.groups().items():
        yield from _explained(group, {kind: n for kind, n in kinds.items() if kind != "total"}, None)
        yield _sum(f"{group}.total", {kind: n for kind, n in kinds.items() if n and kind != "total"}, kinds["total"])


def explained(name: str, number: Expr, width: Expr | None = None) -> Explained:
    """A number with its formula; given the model's width, also with its form in d where that is a textbook's."""
    plain = _plain(number, width) if width else None
    return Explained(name, number.formula(), number.substituted(), number.value, plain, tuple(number.leaves()))


def _explained(group: str, numbers: Mapping[str, Expr], width: Expr | None) -> Iterator[Explained]:
    return (explained(f"{group}.{name}", number, width) for name, number in numbers.items())


def _plain(number: Expr, width: Expr) -> str | None:
    form = plain_form(number, width)
    return plain_text(form) if number and is_whole(form) else None


def _sum(name: str, parts: Mapping[str, Expr | None], value: Expr) -> Explained:
    known = {part: n for part, n in parts.items() if n is not None}
    substituted = " + ".join(f"{n.value:,}" for n in known.values())
    return Explained(name, " + ".join(known) or "0", substituted or "0", value.value)


def explain_hidden(report: Hidden) -> Iterator[Explained]:
    """The parameters that a hidden width gives; how the width came about is its steps."""
    width = size("d_model", report.width.d_model)
    yield from _explained("ffn", {"params": report.params, "ungated_params": report.ungated}, width)


def explain_compare(report: Comparison) -> Iterator[Explained]:
    """Every number of each model, its name in front."""
    for params, flops in report.models:
        name = params.model.spec.name
        for entry in (*explain_params(params), *(explain_flops(flops) if flops else ())):
            yield entry._replace(name=f"{name}: {entry.name}")
