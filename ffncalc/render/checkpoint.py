"""`ffncalc params model.safetensors [--against CONFIG]` as a document."""

from __future__ import annotations

from ffncalc.ops import PARTS
from ffncalc.render.document import Bar, Cell, Document, Line, Share, Table, scaled
from ffncalc.report.checkpoint import Comparison, Counted

_SHOWN = 50  # differences; the JSON has all
_KINDS = {"missing": "missing", "extra": "extra", "shape": "other shape"}


def document(report: Counted | Comparison) -> Document:
    """What the checkpoint holds, and where it departs from the config."""
    if isinstance(report, Counted):
        return counted(report)
    verdict = Line(headline(report), headline=True)
    differences = [difference_table(report)] if report.differences else []
    more = len(report.differences) - _SHOWN
    return [
        verdict,
        *differences,
        *([Line(f"{more:,} more; --json has them all")] if more > 0 else []),
        *counted(report.checkpoint),
    ]


def headline(report: Comparison) -> str:
    """Whether the two agree."""
    name = report.model.spec.name
    if not report.differences:
        return f"{report.checkpoint.name} and {name} agree: all {report.matched:,} tensors"
    kinds = [f"{sum(d.kind == kind for d in report.differences):,} {text}" for kind, text in _KINDS.items()]
    return f"{report.checkpoint.name} departs from {name}: {', '.join(kinds)}; {report.matched:,} tensors agree"


def difference_table(report: Comparison) -> Table:
    """The tensors that don't agree."""
    rows = tuple((d.name, _KINDS[d.kind], _shape(d.found), _shape(d.wanted)) for d in report.differences[:_SHOWN])
    return Table(("tensor", "is", "in the checkpoint", "by the config"), rows)


def _shape(shape: tuple[int, ...] | None) -> str:
    return "-" if shape is None else "×".join(map(str, shape)) or "scalar"


def counted(report: Counted) -> Document:
    """The components of a checkpoint."""
    rows: list[tuple[Cell, ...]] = []
    for part in PARTS:
        if report.parts[part]:
            share = report.parts[part] / report.total
            rows.append((part, report.parts[part], Share(share), Bar(share)))
    totals: list[tuple[Cell, ...]] = [("total", report.total, Share(1.0), None)]
    if report.stored != report.total:
        totals.append(("stored, with buffers", report.stored, None, None))
    dtypes = ", ".join(f"{n:,} as {dtype}" for dtype, n in report.dtypes.items())
    return [
        Line(
            f"{report.name}: {report.total:,} parameters ({scaled(report.total)}) in {report.tensors:,} tensors",
            headline=True,
        ),
        Table(("component", "parameters", "share", ""), (*rows, *totals), total_from=len(rows)),
        Line(f"Read from the headers: {dtypes}. Components are told by the tensors' names."),
    ]
