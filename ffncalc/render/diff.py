"""`ffncalc diff` as a document."""

from __future__ import annotations

from typing import Any

from ffncalc.number import exactly
from ffncalc.render.document import Cell, Document, Line, Share, Table, scaled, signed
from ffncalc.report.diff import Change, Diff


def document(report: Diff, names: tuple[str, str]) -> Document:
    """How the total moved, which sizes changed, and what that did to every number."""
    lines: Document = [Line(headline(report), headline=True)]
    if not report.sizes and not report.numbers:
        return [*lines, Line("No size and no number differs.")]
    if report.sizes:
        lines.append(Table(("size", *names), tuple((c.name, _cell(c, c.old), _cell(c, c.new)) for c in report.sizes)))
    if not report.numbers:
        return [*lines, Line("No number changed.")]
    rows = tuple((c.name, _cell(c, c.old), _cell(c, c.new), _moved(c), _off(c)) for c in report.numbers)
    return [
        *lines,
        Table(("number", *names, "change", ""), rows),
        Line(f"FLOPs are of the forward pass at T = {report.seq_len:,}, every pair of tokens."),
    ]


def headline(report: Diff) -> str:
    """`mine: 6,738,415,616 -> 7,000,000,000 parameters (+3.9 %)`."""
    old, new = report.old.total, report.new.total
    name = report.new.model.spec.name
    if old is None or new is None:
        return f"{name}: a total needs a vocabulary (vocab_size)"
    if old == new.value:
        return f"{name}: {new.value:,} parameters, as before"
    off = Change("", old.value, new.value).off
    moved = f"{new.value - old.value:+,}" + (f", {signed(off)}" if off is not None else "")
    return f"{name}: {scaled(old.value)} → {scaled(new.value)} parameters ({moved})"


def _cell(change: Change, value: Any) -> Cell:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if change.name == "ffn_share":
        return Share(value)
    return value if isinstance(value, (int, float, str)) else str(value)


def _moved(change: Change) -> Cell:
    numbers = isinstance(change.old, (int, float)) and isinstance(change.new, (int, float))
    if not numbers or change.name == "ffn_share":
        return None
    moved = exactly(change.new) - exactly(change.old)
    return f"{moved.numerator:+,}" if moved.denominator == 1 else f"{float(moved):+,.1f}"


def _off(change: Change) -> Cell:
    off = change.off
    if off is None:
        return None
    if change.name == "ffn_share":
        return f"{(change.new - change.old) * 100:+.1f} points"
    return signed(off)
