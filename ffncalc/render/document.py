"""Lines and tables, and how they are written as plain text, Markdown and CSV.

A cell is a number (never cut: where a table is too wide its numbers are scaled to 6.74 B, and where that is still too
wide each row becomes lines of its own), a share, a bar, or text. On a terminal `ffncalc.render.terminal` adds colour.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ffncalc.visible import visible


class Share(NamedTuple):
    """A part of a whole, 0.668 for 66.8 %."""

    value: float


class Bar(NamedTuple):
    """A part of a whole, drawn: only where a person looks at a terminal."""

    value: float


Cell = int | float | str | Share | Bar | None


class Table(NamedTuple):
    """Columns by title, and rows of cells.

    `total_from` is the first row below the line, None without one; `spread` says that where the columns are too many
    for a terminal they may go on in a further table, as those of models side by side.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total_from: int | None = None
    spread: bool = False


class Line(NamedTuple):
    """A line of text: a headline, or a note beside the numbers."""

    text: str
    headline: bool = False


Block = Line | Table
Document = list[Block]

BAR_WIDTH = 20
_UNITS = "kMBTPEZY"


def scaled(number: int) -> str:
    """Three digits and a unit, 6.74 B; beyond 999 Y a power of ten."""
    if abs(number) < 1000:
        return str(number)
    power = len(str(abs(number))) - 1
    digits = (abs(number) + 5 * 10 ** (power - 3)) // 10 ** (power - 2)
    if digits == 1000:  # 999,600 is 1.00 M
        digits, power = 100, power + 1
    sign, decimals = "-" * (number < 0), 2 - power % 3
    if power >= 27:
        return f"{sign}{digits / 100:.2f}e{power}"
    return f"{sign}{digits / 10**decimals:.{decimals}f} {_UNITS[power // 3 - 1]}"


def percent(share: float) -> str:
    """66.8 %; what is there but would round to nothing is < 0.1 %."""
    return "< 0.1 %" if 0 < share < 0.0005 else f"{share:.1%}".replace("%", " %")


def signed(share: float) -> str:
    """+0.8 %, -14.0 %; a small one keeps two digits, +0.0035 %; a huge one is scaled, +1.00e42 %."""
    if abs(share) >= 10**12:
        return f"{'+' if share > 0 else ''}{scaled(100 * int(share))} %"
    return f"{share * 100:+.1f} %" if abs(share) >= 0.0005 or not share else f"{share * 100:+.2g} %"


def shown(cell: Cell, scale: bool = False) -> str:
    """A cell as text."""
    if isinstance(cell, Share):
        return percent(cell.value)
    if isinstance(cell, Bar):
        return bar(cell.value)
    if isinstance(cell, float):
        return f"{cell:,.1f}".removesuffix(".0")
    if isinstance(cell, int):
        return scaled(cell) if scale and abs(cell) >= 10**5 else f"{cell:,}"
    return "" if cell is None else str(cell)


def bar(share: float) -> str:
    """A bar of eighths of a character."""
    eighths = round(share * BAR_WIDTH * 8)
    rest: str = ("", *"▏▎▍▌▋▊▉")[eighths % 8]
    return "█" * (eighths // 8) + rest


def is_number(cell: Cell) -> bool:
    """Whether a cell is set to the right, under its column's right edge."""
    return isinstance(cell, (int, float, Share))


def right_columns(table: Table) -> list[bool]:
    """Which columns hold numbers."""
    return [any(is_number(row[i]) for row in table.rows) for i in range(len(table.columns))]


def without_bars(table: Table) -> Table:
    """The table without the columns that only draw."""
    kept = [i for i in range(len(table.columns)) if not any(isinstance(row[i], Bar) for row in table.rows)]
    return with_columns(table, kept)


def with_columns(table: Table, kept: Sequence[int]) -> Table:
    """The table with these columns alone."""
    return table._replace(
        columns=tuple(table.columns[i] for i in kept), rows=tuple(tuple(row[i] for i in kept) for row in table.rows)
    )


def texts(table: Table, scale: bool = False) -> list[list[str]]:
    """The rows as text."""
    return [[shown(cell, scale) for cell in row] for row in table.rows]


def widths(table: Table, rows: Sequence[Sequence[str]]) -> list[int]:
    """The width of each column that its widest cell needs."""
    return [
        max(len(title), *(len(row[i]) for row in rows)) if rows else len(title) for i, title in enumerate(table.columns)
    ]


def fitted(table: Table, width: int | None) -> tuple[Table, list[list[str]] | None]:
    """The table and its rows as text so that they fit; None for the rows where they stand below each other instead."""
    full = texts(table)
    if width is None or natural_width(table, full) <= width:
        return table, full
    narrow = without_bars(table)
    for scale in (False, True):
        rows = texts(narrow, scale)
        if natural_width(narrow, rows) <= width:
            return narrow, rows
    return narrow, None


def natural_width(table: Table, rows: Sequence[Sequence[str]]) -> int:
    """Characters that a line of the table takes."""
    return sum(widths(table, rows)) + 2 * (len(table.columns) - 1)


def spread(document: Document, width: int | None) -> Document:
    """The document with each table that may be spread in as many tables as the width takes."""
    return [part for block in document for part in (_spread(block, width) if isinstance(block, Table) else [block])]


def _spread(table: Table, width: int | None) -> list[Table]:
    n = len(table.columns)
    if not table.spread or n < 3 or fitted(table, width)[1] is not None:
        return [table]
    halves = (range(1, n // 2 + 1), range(n // 2 + 1, n))
    parts = [part for half in halves for part in _spread(with_columns(table, [0, *half]), width)]
    return parts if all(fitted(part, width)[1] is not None for part in parts) else [table]


def gap(previous: Block | None, block: Block) -> bool:
    """Whether an empty line stands between two blocks: around tables, and before a headline within the document."""
    apart = isinstance(block, Table) or isinstance(previous, Table) or block.headline
    return previous is not None and apart


def visible_document(document: Document) -> Document:
    """The document with every text in it safe to print, whatever a file or a command line put there."""
    return [
        block._replace(text=visible(block.text)) if isinstance(block, Line) else _visible_table(block)
        for block in document
    ]


def _visible_table(table: Table) -> Table:
    rows = tuple(tuple(visible(cell) if isinstance(cell, str) else cell for cell in row) for row in table.rows)
    return table._replace(columns=tuple(map(visible, table.columns)), rows=rows)


# ------------------------------------------------------------------ plain text
def plain(document: Document, width: int | None = None, bars: bool = False) -> str:
    """Text without colour, at its natural width or fitted to `width`."""
    pieces: list[str] = []
    previous: Block | None = None
    for block in spread(document, width):
        if gap(previous, block):
            pieces.append("")
        if isinstance(block, Table):
            pieces += plain_table(block if bars else without_bars(block), width)
        else:
            pieces += wrapped(block.text, width)
        previous = block
    return "\n".join(pieces) + "\n"


def plain_table(table: Table, width: int | None) -> list[str]:
    """The lines of a table."""
    table, rows = fitted(table, width)
    if rows is None:
        return list(vertical(table))
    sizes, right = widths(table, rows), right_columns(table)
    lines = [_aligned(table.columns, sizes, right)] + [_aligned(row, sizes, right) for row in rows]
    rule = "-" * len(_aligned(["x" * s for s in sizes], sizes, right))
    lines.insert(1, rule)
    if table.total_from is not None:
        lines.insert(table.total_from + 2, rule)
    return lines


def _aligned(cells: Sequence[str], sizes: Sequence[int], right: Sequence[bool]) -> str:
    pairs = zip(cells, sizes, right, strict=True)
    return "  ".join(cell.rjust(size) if is_right else cell.ljust(size) for cell, size, is_right in pairs).rstrip()


def vertical(table: Table) -> Iterator[str]:
    """Each row as lines, the first cell as its heading: what is left where a terminal is too narrow for a table."""
    label = max(map(len, table.columns))
    for row in table.rows:
        yield f"{table.columns[0]} {shown(row[0])}" if is_number(row[0]) else shown(row[0])
        for title, cell in zip(table.columns[1:], row[1:], strict=True):
            if shown(cell):
                yield f"  {title.ljust(label)}  {shown(cell)}"


def wrapped(text: str, width: int | None) -> list[str]:
    """A line broken at spaces where it is too long; never inside a number."""
    if width is None or len(text) <= width:
        return [text]
    import re
    import textwrap

    text = re.sub(rf"(?<=\d) (?=[{_UNITS}%])", "\u00a0", text)  # nor between a number and its unit
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False, subsequent_indent="  ")
    return [line.replace("\u00a0", " ") for line in lines]


# ------------------------------------------------------------------ Markdown and CSV
def markdown(document: Document) -> str:
    """The document as GitHub-flavoured Markdown."""
    pieces = []
    for block in document:
        if isinstance(block, Table):
            pieces.append("\n".join(markdown_table(without_bars(block))))
        else:
            pieces.append(f"**{_escaped(block.text)}**" if block.headline else _escaped(block.text))
    return "\n\n".join(pieces) + "\n"


def markdown_table(table: Table) -> Iterator[str]:
    """The lines of a Markdown table."""
    right = right_columns(table)
    yield "| " + " | ".join(_escaped(title) for title in table.columns) + " |"
    yield "|" + "|".join(" ---: " if is_right else " --- " for is_right in right) + "|"
    for row in texts(table):
        yield "| " + " | ".join(_escaped(cell) for cell in row) + " |"


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in "|*_`<[\\" else c for c in text)


def to_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """CSV with a header of all columns that any row has, numbers unscaled."""
    listed = list(rows)
    columns = list(dict.fromkeys(name for row in listed for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: visible(cell) if isinstance(cell, str) else cell for name, cell in row.items()} for row in listed
    )
    return out.getvalue()
