"""`ffncalc hidden-dim` as a document."""

from __future__ import annotations

from fractions import Fraction

from ffncalc.hidden import Step
from ffncalc.number import shown
from ffncalc.render.document import Document, Line, Table, signed
from ffncalc.report.hidden import Hidden


def document(report: Hidden) -> Document:
    """The width, the steps that lead to it, what it costs beside the ungated FFN."""
    width = report.width
    rows = tuple((step.text, _number(step)) for step in width.steps)
    ratio = shown(Fraction(width.d_ff, width.d_model), digits=4)
    return [
        Line(f"d_ff = {width.d_ff:,} for d_model = {width.d_model:,} (rule {width.rule}, {ratio} × d)", headline=True),
        Table(("step", "gives"), rows),
        Line(cost(report)),
        Line(f"A gated FFN holds what two matrices of 4d do at 8/3 × d: {_number(report.matched.steps[0])}."),
    ]


def cost(report: Hidden) -> str:
    """The parameters of the FFN, and how far they are from 8d²."""
    kind = "a gated FFN, three matrices" if report.gated else "an ungated FFN, two matrices"
    off = f"{signed(report.off)} from" if report.params.value != report.ungated.value else "exactly"
    return f"{report.params.value:,} parameters ({kind}, no biases): {off} the ungated 8d² = {report.ungated.value:,}."


def _number(step: Step) -> str:
    number = step.number()
    return f"{number:,}" if isinstance(number, int) else f"{number:,.2f}"
