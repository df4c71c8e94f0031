"""A document on a terminal, in colour: the only module that imports rich."""

from __future__ import annotations

import io

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ffncalc.render.document import Document, Line, Table, fitted, right_columns, vertical, wrapped


def coloured(document: Document, width: int) -> str:
    """The document as text with colour codes, fitted to `width`. Names are never read as markup."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=True, markup=False, emoji=False, highlight=False, legacy_windows=False
    )
    for block in document:
        if isinstance(block, Line):
            for line in wrapped(block.text, width):
                console.print(Text(line, style="bold" if block.headline else "dim"), soft_wrap=True)
        else:
            _print_table(console, block, width)
    return out.getvalue()


def _print_table(console: Console, table: Table, width: int) -> None:
    table, rows = fitted(table, width)
    if rows is None:
        for line in vertical(table):
            console.print(Text(line), soft_wrap=True)
        return
    # One space of padding and one for the line between columns: the width that `fitted` counts with.
    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", show_edge=False)
    for title, is_right in zip(table.columns, right_columns(table), strict=True):
        shown.add_column(Text(title), justify="right" if is_right else "left", no_wrap=True, overflow="crop")
    for i, row in enumerate(rows):
        below = table.total_from is not None and i >= table.total_from
        cells = [Text(cell, style=_style(cell, below)) for cell in row]
        shown.add_row(*cells, end_section=table.total_from is not None and i == table.total_from - 1)
    console.print()
    console.print(shown, crop=False)
    console.print()


def _style(cell: str, below: bool) -> str:
    if cell.startswith(("█", "▏", "▎", "▍", "▌", "▋", "▊", "▉")):
        return "cyan"
    return "bold" if below else ""
