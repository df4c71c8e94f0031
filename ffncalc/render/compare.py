"""`ffncalc compare` as a document: a column a model."""

from __future__ import annotations

from typing import Any

from ffncalc.export import compare_rows
from ffncalc.render.document import Cell, Document, Line, Share, Table, scaled
from ffncalc.report.compare import Comparison

_LEFT_OUT = ("model", "flops.seq_len", "params.other", "flops.per_token.other")


def document(report: Comparison) -> Document:
    """Who is how large, then every number side by side."""
    rows = compare_rows(report)
    names = [str(row["model"]) for row in rows]
    totals = ", ".join(
        f"{name} {scaled(row['params.total']) if row['params.total'] else 'unknown'}"
        for name, row in zip(names, rows, strict=True)
    )
    shown = [
        key
        for key in dict.fromkeys(k for row in rows for k in row)
        if key not in _LEFT_OUT or any(row.get(key) for row in rows)
    ]
    shown = sorted((key for key in shown if key not in ("model", "flops.seq_len")), key=_group)
    cells = tuple((key, *(_cell(key, row.get(key)) for row in rows)) for key in shown)
    return [
        Line(f"Parameters: {totals}", headline=True),
        Line(f"FLOPs are of the forward pass, a token, at T = {report.seq_len:,}, every pair of tokens."),
        Table(("", *names), cells, spread=True),
    ]


def _group(key: str) -> int:
    """Sizes, then parameters, then FLOPs, whichever model was the first to have one."""
    return ("family", "dims", "params", "ffn_share", "flops", "crossover_seq_len").index(key.split(".", maxsplit=1)[0])


def _cell(key: str, value: Any) -> Cell:
    if value is None:
        return "-"
    if key == "ffn_share":
        return Share(value)
    if isinstance(value, list):  # a size that differs between layers
        return "/".join(f"{size:,}" for size in value)
    return value  # type: ignore[no-any-return]
