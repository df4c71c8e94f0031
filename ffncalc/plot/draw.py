"""Pictures by matplotlib, in the one module that imports it. Line styles and hatching tell things apart in grey."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any

from ffncalc import atomic
from ffncalc.errors import InputError
from ffncalc.plot.data import Cost, Lines, Stacked
from ffncalc.render.document import scaled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".svg", ".png", ".html")
PARTS = {
    "ffn": ("0.35", ""),
    "attention": ("0.62", "//"),
    "norm": ("0.1", ""),
    "embedding": ("0.85", ".."),
    "head": ("0.95", "xx"),
    "other": ("1.0", "--"),
}
STYLES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")
WIDTH, HEIGHT = 5.2, 3.9  # inches of one panel


def checked(path: str) -> str:
    """The ending of a picture's name. Raises InputError for one that can't be drawn, and without matplotlib."""
    kind = os.path.splitext(path)[1].lower()
    if kind not in KINDS:
        raise InputError(f"{path}: want a name that ends in {', '.join(KINDS)}")
    _figure(1, 1)
    return kind


def _figure(width: float, height: float) -> Figure:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "pictures need matplotlib: pip install matplotlib; without --out there is a plain plot"
        ) from None
    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "ffncalc",
            "text.parse_math": False,  # a dollar sign in a name is a dollar sign
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: str) -> None:
    """Write a picture; HTML holds it as SVG in a page of its own."""
    kind = checked(path)
    if kind == ".html":
        atomic.write(path, page(figure))
        return
    drawn = BytesIO()
    figure.savefig(drawn, format=kind[1:], dpi=150, metadata={"Date": None} if kind == ".svg" else {})
    atomic.write(path, drawn.getvalue())


def page(figure: Figure) -> str:
    """An HTML page around the picture."""
    out = StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    head = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>ffncalc</title></head>\n'
    return f"{head}<body>\n{svg}</body></html>\n"


def panels(n: int, columns: int = 3) -> tuple[Figure, list[Any]]:
    """A figure of `n` panels beside and below each other."""
    columns = min(n, columns)
    rows = -(-n // columns)
    figure = _figure(WIDTH * columns, HEIGHT * rows)
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for spare in axes[n:]:
        spare.set_axis_off()
    return figure, axes[:n]


def labelled(axis: Any, label: Any) -> None:
    """Ticks in these words."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))


def short(value: float) -> str:
    """`6.74 B`, for what is counted."""
    if value < 1000:
        return f"{value:g}"
    number, _, unit = scaled(round(value)).partition(" ")
    return f"{float(number):g} {unit}"


def full(value: float) -> str:
    """`4,096`, for sizes and lengths."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,g}"


# ------------------------------------------------------------------ the pictures
def flops(costs: Sequence[Cost]) -> Figure:
    """FFN against attention over the context length, a panel a model, the crossover marked."""
    figure, axes = panels(len(costs))
    for axis, cost in zip(axes, costs, strict=True):
        _cost(axis, cost)
    return figure


def _cost(axis: Any, cost: Cost) -> None:
    axis.plot(cost.lengths, cost.ffn, color="black", linestyle="-", label="FFN")
    axis.plot(cost.lengths, cost.attention, color="0.4", linestyle="--", label="attention (projections + scores)")
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_ylim(min(cost.ffn + cost.attention) * 0.6 or None, max(cost.ffn + cost.attention) * 2.5)
    axis.set_xlabel("context length T (tokens)")
    axis.set_ylabel("forward FLOPs per token")
    labelled(axis.xaxis, full)
    labelled(axis.yaxis, short)
    if cost.crossover and cost.lengths[0] <= cost.crossover <= cost.lengths[-1]:
        axis.axvline(cost.crossover, color="0.6", linestyle=":", linewidth=1)
        at = (cost.crossover, axis.get_ylim()[0])
        is_right = (
            cost.crossover**2 > cost.lengths[0] * cost.lengths[-1]
        )  # in the right half, the text goes to its left
        style = {
            "xytext": (-3 if is_right else 3, 4),
            "textcoords": "offset points",
            "ha": "right" if is_right else "left",
        }
        axis.annotate(f"attention = FFN at T = {cost.crossover:,.0f}", at, va="bottom", **style)
    axis.set_title(cost.model)
    axis.legend(
        loc="upper left", framealpha=1, edgecolor="none"
    )  # opaque: the mark of the crossover may pass behind it


def params(models: Sequence[Stacked]) -> Figure:
    """Components stacked: of one layer, and in total."""
    figure = _figure(max(2 * WIDTH, 1.1 * len(models) * 2 + 3), HEIGHT + 0.6)
    left, right = figure.subplots(1, 2)
    _bars(left, [m.model for m in models], [m.layer for m in models], [m.of_layers for m in models])
    left.set_title("one layer")
    _bars(right, [m.model for m in models], [m.total for m in models], [])
    right.set_title("in total")
    handles, labels = right.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], frameon=False, loc="outside right center")
    return figure


def _bars(axis: Any, names: Sequence[str], parts: Sequence[dict[str, int]], notes: Sequence[str]) -> None:
    places, bottoms = range(len(names)), [0] * len(names)
    for part, (grey, hatch) in PARTS.items():
        heights = [entry[part] for entry in parts]
        if any(heights):
            axis.bar(
                places,
                heights,
                0.6,
                bottom=bottoms,
                color=grey,
                hatch=hatch,
                edgecolor="black",
                linewidth=0.5,
                label=part,
            )
            bottoms = [a + b for a, b in zip(bottoms, heights, strict=True)]
    for i, total in enumerate(bottoms):
        note = f"{scaled(total)}\n({notes[i]})" if notes else scaled(total)
        axis.annotate(note, (i, total), xytext=(0, 3), textcoords="offset points", ha="center", va="bottom")
    axis.set_xticks(places, names)  # by place: two models may have one name
    axis.set_ylim(0, max(bottoms) * 1.18)
    axis.set_ylabel("parameters")
    axis.tick_params(axis="x", rotation=30 if len(names) > 3 else 0)
    labelled(axis.yaxis, short)


def sweep(drawn: Lines) -> Figure:
    """A number over a size, a line for each combination of the others."""
    figure, (axis,) = panels(1)
    figure.set_size_inches(WIDTH * 1.4, HEIGHT * 1.2)
    for (name, (x, y)), (style, marker, grey) in zip(drawn.lines.items(), _styles(), strict=False):
        axis.plot(
            x,
            y,
            color=grey,
            linestyle=style,
            marker=marker if len(x) <= 40 else None,
            markersize=4,
            label=name or drawn.y,
        )
    axis.set_xlabel(f"{drawn.x}{unit(drawn.x)}")
    axis.set_ylabel(f"{drawn.y}{unit(drawn.y)}")
    labelled(axis.xaxis, full)
    labelled(axis.yaxis, short)
    if len(drawn.lines) > 1:
        axis.legend(frameon=False, loc="best")
    return figure


def _styles() -> Iterator[tuple[str, str, str]]:
    for i in range(len(MARKERS)):
        yield STYLES[i % len(STYLES)], MARKERS[i], ("0.0", "0.35", "0.6")[i // len(STYLES)]


def unit(name: str) -> str:
    """What a column is counted in."""
    if name.startswith("params."):
        return " (parameters)"
    if name.startswith("flops."):
        return " (FLOPs per token)" if name.startswith("flops.per_token") else " (FLOPs)"
    return " (tokens)" if name in ("T", "S", "seq_len", "source_len") else ""
