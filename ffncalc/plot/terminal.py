"""Plain plots of text for a terminal, with nothing but the standard library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from ffncalc.plot.data import Cost, Lines, Stacked
from ffncalc.render.document import scaled

WIDTH, HEIGHT = 64, 18
SIGNS = "*+ox#%@&=~^$"
BLOCKS = {"ffn": "#", "attention": "/", "norm": "=", "embedding": ".", "head": "x", "other": "-"}
Points = tuple[Sequence[int], Sequence[int]]


def flops(costs: Sequence[Cost]) -> str:
    """FFN against attention over the context length, one plot a model."""
    return "\n".join(_cost(cost) for cost in costs)


def _cost(cost: Cost) -> str:
    lines = {"FFN": (cost.lengths, cost.ffn), "attention": (cost.lengths, cost.attention)}
    cross = f"; attention overtakes the FFN at T = {cost.crossover:,.0f}" if cost.crossover else ""
    return chart(
        f"{cost.model}: forward FLOPs per token over the context length T (tokens), log scales{cross}", lines, logs=True
    )


def sweep(drawn: Lines) -> str:
    """A number over a size."""
    named = {name or drawn.y: points for name, points in drawn.lines.items()}
    return chart(f"{drawn.y} over {drawn.x}", named, logs=False)


def params(models: Sequence[Stacked]) -> str:
    """Components as bars: of one layer, and in total."""
    text = []
    width = max(len(m.model) for m in models)
    for title, bars in (("one layer", [m.layer for m in models]), ("in total", [m.total for m in models])):
        largest = max(sum(parts.values()) for parts in bars) or 1
        text.append(f"parameters, {title}")
        text += [
            f"{m.model:<{width}} |{_bar(parts, largest)} {scaled(sum(parts.values()))}"
            for m, parts in zip(models, bars, strict=True)
        ]
    shown = [part for part in BLOCKS if any(m.total[part] or m.layer[part] for m in models)]
    return "\n".join([*text, "  ".join(f"{BLOCKS[part]} {part}" for part in shown)]) + "\n"


def _bar(parts: Mapping[str, int], largest: int) -> str:
    bar, done = "", 0
    for part, sign in BLOCKS.items():
        done += parts[part]
        bar += sign * (round(WIDTH * done / largest) - len(bar))
    return bar


def chart(title: str, lines: Mapping[str, Points], logs: bool) -> str:
    """Points on a grid of characters, the ends of both axes labelled."""
    xs = [x for points in lines.values() for x in points[0]]
    ys = [y for points in lines.values() for y in points[1]]
    grid = [[" "] * WIDTH for _ in range(HEIGHT)]
    for (x, y), sign in zip(lines.values(), SIGNS, strict=False):
        for a, b in zip(x, y, strict=True):
            column, row = _place(a, xs, WIDTH, logs), _place(b, ys, HEIGHT, logs)
            grid[HEIGHT - 1 - row][column] = sign
    top, bottom = scaled(max(ys)), scaled(min(ys))
    margin = max(len(top), len(bottom))
    labels = [top, *[""] * (HEIGHT - 2), bottom]
    body = [f"{label:>{margin}} |{''.join(row)}".rstrip() for label, row in zip(labels, grid, strict=True)]
    left, right = f"{min(xs):,}", f"{max(xs):,}"
    axis = " " * margin + " +" + "-" * WIDTH
    ends = " " * (margin + 2) + left + right.rjust(WIDTH - len(left))
    legend = "   ".join(f"{sign} {name}" for name, sign in zip(lines, SIGNS, strict=False))
    return "\n".join([title, *body, axis, ends, legend]) + "\n"


def _place(value: int, among: Sequence[int], cells: int, logs: bool) -> int:
    low, high = min(among), max(among)
    if low == high:
        return 0
    share = log(value / low) / log(high / low) if logs and low > 0 else (value - low) / (high - low)
    return min(cells - 1, round(share * (cells - 1)))
