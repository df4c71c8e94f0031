"""`ffncalc hidden-dim --infer` as a document."""

from __future__ import annotations

from collections.abc import Sequence

from ffncalc.render.document import Document, Line, Table
from ffncalc.report.infer import Inferred, Origin

SHOWN = 20


def document(report: Inferred) -> Document:
    """Who has the width, the ways to it, and the same for its half where gate and up may have been counted together."""
    if report.halves and (report.half_used_by or not report.used_by):
        first, second = _half(report), _whole(report)
    else:
        first, second = _whole(report), _half(report) if report.halves else []
    return [*first, *second]


def _whole(report: Inferred) -> Document:
    used = f"; {_listed(report.used_by)}" if report.used_by else ""
    title = f"d_ff = {report.d_ff:,} for d_model = {report.d_model:,} ({report.d_ff / report.d_model:.4g} × d){used}"
    return _ways(title, report.origins)


def _half(report: Inferred) -> Document:
    used = f"; {_listed(report.half_used_by)}" if report.half_used_by else ""
    half = report.d_ff // 2
    return _ways(f"{report.d_ff:,} may be gate and up counted together: 2 × {half:,}{used}", report.halves)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} it"


def _ways(title: str, origins: Sequence[Origin]) -> Document:
    if not origins:
        return [Line(title, headline=True), Line("No rule with a multiplier up to 4 gives it.")]
    rows = tuple(
        (o.rule, o.multiplier and f"{o.multiplier:g}", o.multiple_of, o.round, ", ".join(o.used_by))
        for o in origins[:SHOWN]
    )
    blocks: Document = [
        Line(title, headline=True),
        Table(("rule", "multiplier", "multiple of", "round", "stated by"), rows),
    ]
    if len(origins) > SHOWN:
        blocks.append(Line(f"The likeliest {SHOWN} of {len(origins):,} ways; --json lists all."))
    return blocks
