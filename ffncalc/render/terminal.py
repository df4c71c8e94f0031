"""A document on a terminal, in colour: the only module that imports rich."""

from __future__ import annotations

import io

from rich.box import Box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ffncalc.render.document import (
    Bar,
    Block,
    Cell,
    Document,
    Line,
    Table,
    fitted,
    gap,
    right_columns,
    spread,
    vertical,
    wrapped,
)

_BLANK, _RULE = "    \n", " ── \n"
RULES = Box(2 * _BLANK + _RULE + _BLANK + _RULE + 3 * _BLANK)  # below the titles, and above the total


def coloured(document: Document, width: int) -> str:
    """The document as text with colour codes, fitted to `width`. Names are never read as markup."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=True, markup=False, emoji=False, highlight=False, legacy_windows=False
    )
    previous: Block | None = None
    for block in spread(document, width):
        if gap(previous, block):
            console.print()
        if isinstance(block, Line):
            for line in wrapped(block.text, width):
                console.print(Text(line, style="bold" if block.headline else "dim"), soft_wrap=True)
        else:
            _print_table(console, block, width)
        previous = block
    return out.getvalue()


def _print_table(console: Console, table: Table, width: int) -> None:
    table, rows = fitted(table, width)
    if rows is None:
        for line in vertical(table):
            console.print(Text(line), soft_wrap=True)
        return
    # One space of padding and one for the line between columns: the width that `fitted` counts with.
    shown = RichTable(box=RULES, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", show_edge=False)
    for title, is_right in zip(table.columns, right_columns(table), strict=True):
        shown.add_column(Text(title), justify="right" if is_right else "left", no_wrap=True, overflow="crop")
    for i, (row, cells) in enumerate(zip(rows, table.rows, strict=True)):
        below = table.total_from is not None and i >= table.total_from
        styled = [Text(text, style=_style(cell, below)) for text, cell in zip(row, cells, strict=True)]
        shown.add_row(*styled, end_section=table.total_from is not None and i == table.total_from - 1)
    console.print(shown, crop=False)


def _style(cell: Cell, below: bool) -> str:
    if isinstance(cell, Bar):
        return "cyan"
    return "bold" if below else ""
