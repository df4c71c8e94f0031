"""`ffncalc params` as a document."""

from __future__ import annotations

from ffncalc.expr import Expr
from ffncalc.model import LayerOps
from ffncalc.ops import PARTS
from ffncalc.render.document import Bar, Cell, Document, Line, Share, Table, percent, scaled
from ffncalc.report.dims import dims
from ffncalc.report.params import Params
from ffncalc.resolve import shown_ranges


def document(report: Params) -> Document:
    """The answer, the kinds of layers, the components with their shares, the totals that differ."""
    lines = [Line(headline(report), headline=True), Line(ffn_headline(report)), Line(sizes(report))]
    return [*lines, layer_table(report), part_table(report), *notes(report)]


def headline(report: Params) -> str:
    """`llama-7b: 6,738,415,616 parameters (6.74 B)`."""
    name = report.model.spec.name
    if report.total is None:
        return f"{name}: the total needs a vocabulary (--vocab-size N)"
    text = f"{name}: {report.total.value:,} parameters" + (
        f" ({scaled(report.total.value)})" if report.total.value >= 10**5 else ""
    )
    if report.active is not None and report.active != report.total:
        text += f", {report.active.value:,} active ({scaled(report.active.value)})"
    return text


def ffn_headline(report: Params) -> str:
    """`The FFN holds 66.8 % of each block.`"""
    where = "each block" if len(report.layers) == 1 else "the blocks"
    return f"The FFN holds {percent(report.ffn_share)} of {where}."


def sizes(report: Params) -> str:
    """`llama: d_model 4,096, n_layers 32, ...`."""
    shown = ", ".join(f"{name} {_size(value)}" for name, value in dims(report.model).items() if value is not None)
    return f"{report.model.spec.family}: {shown}"


def _size(value: object) -> str:
    values = value if isinstance(value, list) else [value]
    shown = [f"{v:,}" for v in values[:6]] + ["..."] * (len(values) > 6)
    return "/".join(shown)


def layers_label(kind: LayerOps) -> str:
    """Which layers a row stands for: `decoder 0-31`; many ranges are cut to the first and the last."""
    ranges = list(kind.ranges)
    text = shown_ranges(ranges) if len(ranges) <= 4 else f"{shown_ranges(ranges[:2])}, ..., {shown_ranges(ranges[-1:])}"
    return f"{kind.stack} {text}"


def layer_table(report: Params) -> Table:
    """One row for each kind of layer: how many, which, and the parameters of one of them."""
    parts = [p for p in PARTS if p in ("attention", "ffn", "norm") or any(layer.parts[p] for layer in report.layers)]
    runs = any(layer.kind.runs.value > 1 for layer in report.layers)
    rows = []
    for layer in report.layers:
        cells: list[Cell] = [layers_label(layer.kind), layer.kind.n_stored.value]
        cells += [layer.kind.runs.value] if runs else []
        cells += [layer.parts[part].value for part in parts]
        share = layer.parts["ffn"].value / layer.total.value if layer.total else 0.0
        rows.append((*cells, layer.total.value, Share(share)))
    columns = ("one layer of", "count", *(["runs"] if runs else []), *parts, "total", "FFN share")
    return Table(columns, tuple(rows))


def part_table(report: Params) -> Table:
    """The components with their shares, then the totals."""
    total = report.total.value if report.total is not None else 0
    rows: list[tuple[Cell, ...]] = []
    for part in PARTS:
        number = report.parts[part]
        if number is None:
            rows.append((part, "unknown", None, None))
        elif number or part != "other":
            share = number.value / total if total else 0.0
            rows.append((part, number.value, Share(share) if total else None, Bar(share)))
    totals = [("total", report.total), *_differing(report)]
    return Table(
        ("component", "parameters", "share", ""),
        (*rows, *((name, n.value if n is not None else "unknown", _share(n, total), None) for name, n in totals)),
        total_from=len(rows),
    )


def _differing(report: Params) -> list[tuple[str, Expr | None]]:
    names = {"active": "active per token", "active_without_embedding": "active, without embedding", "stored": "stored"}
    found: list[tuple[str, Expr | None]] = []
    for name, label in names.items():
        number = getattr(report, name)
        if number is not None and (name == "active_without_embedding" or number != report.total):
            found.append(
                (
                    label
                    if name != "active_without_embedding" or report.active != report.total
                    else "without embedding",
                    number,
                )
            )
    return found


def _share(number: Expr | None, total: int) -> Share | None:
    return Share(number.value / total) if number is not None and total else None


def notes(report: Params) -> list[Line]:
    """What a reader of the totals ought to know."""
    spec = report.model.spec
    tied = {True: "the head is tied to the token embedding (counted once)", False: "the head has a matrix of its own"}
    text = f"Head: {spec.head}; {tied[spec.tied]}." if spec.head not in ("none", "pooler") else f"Head: {spec.head}."
    return [Line(text), Line(f"Source: {spec.source}")]
