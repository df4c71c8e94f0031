"""`params --advise` as a document."""

from __future__ import annotations

from collections.abc import Sequence

from ffncalc.render import params
from ffncalc.render.document import Cell, Document, Line, Table
from ffncalc.report.advice import Advice, Advised


def document(report: Advised) -> Document:
    """The parameters, then the advice."""
    return params.document(report.params) + advice_document(report.advice)


def advice_document(advice: Sequence[Advice]) -> Document:
    """What isn't met with what would be, then what is, each with its source."""
    rows: list[tuple[Cell, ...]] = []
    for entry in sorted(advice, key=lambda entry: entry.met):
        rows.append((entry.size, entry.value, "yes" if entry.met else "no", entry.advice, entry.nearest, entry.source))
    unmet = sum(1 for entry in advice if not entry.met)
    return [
        Line(f"Advice on shapes: {len(advice) - unmet} of {len(advice)} met (advice, not an error)", headline=True),
        Table(("size", "is", "met", "advice", "nearest", "source"), tuple(rows)),
    ]
