"""`ffncalc check` as a document."""

from __future__ import annotations

from typing import Any

from ffncalc.checks.run import Checked, Result
from ffncalc.number import exactly, shown
from ffncalc.render.document import Cell, Document, Line, Table


def document(report: Checked) -> Document:
    """How many hold, every check with what was found, and what is wrong with those that fail."""
    rows = tuple(_row(result) for result in report.results)
    table = Table(("", "model", "check", "found"), rows)
    reasons = [Line(f"{result.file}:{result.line}: {result.message}") for result in report.failed]
    return [Line(headline(report), headline=True), table, *reasons]


def headline(report: Checked) -> str:
    """`2 of 14 checks failed`, `14 checks hold`."""
    count, failed = len(report.results), len(report.failed)
    return (
        f"{failed:,} of {count:,} checks failed" if failed else f"{count:,} check{'s hold' if count > 1 else ' holds'}"
    )


def title(result: Result) -> str:
    """`params.total max 7B`, or the assertion as it stands."""
    return result.number if result.wanted == "holds" else f"{result.number} {result.wanted}"


def _row(result: Result) -> tuple[Cell, ...]:
    return ("ok" if result.holds else "FAILED", result.model, title(result), _cell(result.found))


def _cell(found: Any) -> Cell:
    if isinstance(found, list):
        distinct = list(dict.fromkeys(found))
        return "/".join(map(_text, distinct[:6])) + "/..." * (len(distinct) > 6)
    return found if isinstance(found, int) or found is None else _text(found)


def _text(found: Any) -> str:
    return shown(exactly(found)) if isinstance(found, (int, float)) else str(found)
