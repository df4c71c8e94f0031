"""Numbers drawn in plain text: a histogram in one line, curves on a grid of characters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from ffncalc.render.document import Document, Line

Curve = Sequence[tuple[float, float]]

WIDTH = 64  # of a plot, without its labels

EIGHTHS = " ▁▂▃▄▅▆▇█"


class Drawn(str):
    """A line of a picture: it stands as it is, or not at all."""

    __slots__ = ()


def picture(lines: Sequence[str]) -> list[Line]:
    """A picture as lines of a document."""
    return [Line(Drawn(line)) for line in lines]


def without_pictures(document: Document) -> Document:
    """The document where no picture can be shown: in Markdown, on a terminal narrower than one."""
    return [block for block in document if not (isinstance(block, Line) and isinstance(block.text, Drawn))]


def blocks(counts: Sequence[int]) -> str:
    """Counts as a line of blocks, the largest full; what is there but small is the lowest block, never a blank."""
    largest = max(counts, default=0)
    return "".join(EIGHTHS[-(-8 * count // largest)] if largest else " " for count in counts)


def real(value: float | None, width: int = 8) -> str:
    """A number of the numeric mode, set to the right: four decimals, or a power of ten where these say too little."""
    if value is None:
        return "-".rjust(width)
    plain = value == 0 or 1e-3 <= abs(value) < 1000
    return (f"{value:.4f}" if plain else f"{value:.1e}").rjust(width)


def plot(
    curves: Mapping[str, Curve], width: int = WIDTH, height: int = 16, label: Callable[[float], str] = "{:.1f}".format
) -> list[str]:
    """Curves of points (x, y) by the character that draws them; of two at one place, the first one is seen.

    The left edge is labelled with y, the bottom with x; where 0 is inside, its row and column are drawn.
    """
    points = [point for curve in curves.values() for point in curve]
    x, y = _range(x for x, _ in points), _range(y for _, y in points)
    rows = [[" "] * width for _ in range(height)]
    _axes(rows, x, y)
    for mark, curve in reversed(list(curves.items())):
        for px, py in curve:
            rows[height - 1 - _place(py, y, height)][_place(px, x, width)] = mark
    edge = [label(y[1] - (y[1] - y[0]) * i / (height - 1)) if i % 5 == 0 else "" for i in range(height)]
    left = max(map(len, edge))
    lines = [f"{text.rjust(left)} |{''.join(row)}".rstrip() for text, row in zip(edge, rows, strict=True)]
    ends = f"{x[0]:g}", f"{x[1]:g}"
    return [*lines, " " * left + " +" + "-" * width, " " * (left + 2) + ends[0] + ends[1].rjust(width - len(ends[0]))]


def _range(values: Iterable[float]) -> tuple[float, float]:
    found = [value for value in values if math.isfinite(value)]
    low, high = min(found, default=0.0), max(found, default=1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _place(value: float, ends: tuple[float, float], cells: int) -> int:
    return min(max(round((value - ends[0]) / (ends[1] - ends[0]) * (cells - 1)), 0), cells - 1)


def _axes(rows: list[list[str]], x: tuple[float, float], y: tuple[float, float]) -> None:
    if y[0] < 0 < y[1]:
        rows[len(rows) - 1 - _place(0, y, len(rows))] = ["·"] * len(rows[0])
    if x[0] < 0 < x[1]:
        for row in rows:
            row[_place(0, x, len(row))] = "·"
