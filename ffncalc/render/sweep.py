"""`ffncalc sweep` as a document: the first rows, and how to get the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffncalc.render.document import Document, Line, Table

if TYPE_CHECKING:
    from ffncalc.search.table import Sweep

SHOWN = 40


def document(report: Sweep) -> Document:
    """A row a config; of many, the first."""
    columns = {name: column[:SHOWN].tolist() for name, column in report.columns.items()}
    blocks: Document = [
        Line(f"{report.rows:,} configs", headline=True),
        Table(tuple(columns), tuple(zip(*columns.values(), strict=True))),
    ]
    if report.rows > SHOWN:
        blocks.append(
            Line(f"The first {SHOWN} rows; --out FILE.csv (or .parquet) writes all {report.rows:,}, with every number.")
        )
    return blocks
