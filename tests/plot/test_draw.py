"""Pictures: drawn, labelled with units, told apart without colour, and readable as the kind of file they are."""

import builtins
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ffncalc import edit
from ffncalc.errors import InputError
from ffncalc.plot import data, draw, terminal

pytest.importorskip("matplotlib")


@cache
def counted() -> tuple[list[data.Cost], list[data.Stacked]]:
    """What is drawn of some models."""
    bases = [edit.base(name) for name in ("llama-7b", "gpt2", "mixtral-8x7b", "t5-base")]
    return [data.cost(base) for base in bases], [data.stacked(base) for base in bases]


def pictures() -> dict[str, Any]:
    """One of each kind, with several models or lines."""
    costs, stacks = counted()
    columns = {
        "d_model": [64, 128, 256] * 2,
        "n_layers": [2] * 3 + [4] * 3,
        "params.total": [10**6 * n for n in (1, 4, 9, 2, 8, 18)],
    }
    return {
        "flops": draw.flops(costs),
        "params": draw.params(stacks),
        "sweep": draw.sweep(data.lines(columns, None, None)),
    }


@pytest.mark.parametrize("name", ["flops", "params", "sweep"])
def test_labels_and_greys(name: str) -> None:
    """Both axes say what they show and in what unit; every line and bar is grey."""
    figure = pictures()[name]
    labels = {axis.get_ylabel() for axis in figure.axes if axis.axison}
    assert labels == {
        {"flops": "forward FLOPs per token", "params": "parameters", "sweep": "params.total (parameters)"}[name]
    }
    if name != "params":
        assert {axis.get_xlabel() for axis in figure.axes if axis.axison} == {
            "context length T (tokens)" if name == "flops" else "d_model"
        }
    for axis in figure.axes:
        from matplotlib.colors import to_rgb

        colors = [to_rgb(line.get_color()) for line in axis.lines] + [
            to_rgb(bar.get_facecolor()) for bar in axis.patches
        ]
        assert all(len(set(color)) == 1 for color in colors)
        looks = [(line.get_linestyle(), line.get_color()) for line in axis.lines]
        assert len(set(looks)) == len(looks)


@pytest.mark.parametrize("name", ["flops", "params", "sweep"])
def test_no_text_overlaps(name: str) -> None:
    """No two texts of a picture lie over each other."""
    figure = pictures()[name]
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    FigureCanvasAgg(figure).draw()
    unseen = {label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for label in _unseen(axis)}
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip() and t not in unseen]
    boxes = [
        (t.get_text(), t.get_window_extent())
        for t in texts
        if not t.get_rotation() and (t.axes is None or t.axes.axison)
    ]
    clashes = [(a, b) for i, (a, box) in enumerate(boxes) for b, other in boxes[:i] if box.overlaps(other)]
    assert clashes == []


def _unseen(axis: Any) -> list[Any]:
    """The labels of ticks beyond the ends of an axis, which aren't drawn."""
    low, high = sorted(axis.get_view_interval())
    return [
        tick.label1 for tick in axis.get_major_ticks() + axis.get_minor_ticks() if not low <= tick.get_loc() <= high
    ]


@pytest.mark.parametrize(("kind", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".html", b"<!doctype html>")])
def test_files(tmp_path: Path, kind: str, start: bytes) -> None:
    """Each kind of file is one; drawn again it is the same, byte for byte."""
    for name in ("a", "b"):
        draw.save(pictures()["flops"], str(tmp_path / f"{name}{kind}"))
    first, second = ((tmp_path / f"{name}{kind}").read_bytes() for name in ("a", "b"))
    assert first.startswith(start)
    assert first == second
    assert kind == ".png" or b"llama-7b" in first


def test_wrong_files(tmp_path: Path) -> None:
    """An ending that isn't known, a folder that isn't there."""
    with pytest.raises(InputError, match=r".svg, .png, .html"):
        draw.checked("a.gif")
    with pytest.raises(InputError, match="can't be written"):
        draw.save(pictures()["sweep"], str(tmp_path / "missing" / "a.svg"))


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is missing, the message says how to install it."""
    real = builtins.__import__

    def missing(name: str, *args: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(InputError, match="pip install matplotlib"):
        draw.checked("a.svg")


def test_text_plots() -> None:
    """As text: the ends of both axes, the legend, and bars whose lengths are in proportion."""
    text = terminal.flops([data.cost(edit.base("llama-7b"))])
    assert "T = 8,320" in text
    assert "131,072" in text
    assert max(map(len, text.splitlines()[1:])) < 80
    bars = terminal.params([data.stacked(edit.base(name)) for name in ("llama-7b", "gpt2")])
    assert bars.splitlines()[1].count("#") == round(64 * 135266304 / 202383360)
    columns = {"d_model": [1, 2], "params.total": [5, 5]}
    assert "params.total over d_model" in terminal.sweep(data.lines(columns, None, None))


NAME = "[b]a$x_{$ <i>&\x1b[31m"


@pytest.mark.parametrize("kind", draw.KINDS)
def test_names_are_text(tmp_path: Path, kind: str) -> None:
    """Dollar signs, markup and control characters in a name are drawn, not obeyed."""
    own = {"family": "llama", "name": NAME, "d_model": 64, "d_ff": 96, "n_layers": 2, "n_heads": 4, "n_vocab": 100}
    base = edit.base(own)
    for figure in (draw.flops([data.cost(base)]), draw.params([data.stacked(base)])):
        draw.save(figure, str(tmp_path / f"own{kind}"))
    assert "\x1b" not in terminal.flops([data.cost(base)]) + terminal.params([data.stacked(base)])


def test_models_of_one_name_stand_side_by_side() -> None:
    """Two configs with one name are two bars, in the picture and as text."""
    small, large = ({"ffn": n, "attention": n, "norm": 0, "embedding": 0, "head": 0, "other": 0} for n in (1, 4))
    models = [data.Stacked("own", parts, "one of 2", parts) for parts in (small, large)]
    left = draw.params(models).axes[0]
    bars: list[Any] = list(left.patches)
    assert {round(bar.get_x() + bar.get_width() / 2) for bar in bars} == {0, 1}
    assert [label.get_text() for label in left.get_xticklabels()] == ["own", "own"]
    assert terminal.params(models).count("own ") == 4
