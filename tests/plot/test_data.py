"""What pictures show: the same numbers as `params` and `flops`."""

from pathlib import Path

import pytest

from ffncalc import edit, flops, load, params
from ffncalc.errors import InputError
from ffncalc.plot.data import bases, cost, lines, read_sweep, stacked


def test_cost() -> None:
    """At every length drawn, FFN and attention cost what `flops` says, and the curves cross where it says."""
    found = cost(edit.base("llama-7b"), 100_000)
    assert (found.lengths[0], found.lengths[-1], found.crossover) == (64, 100_000, 8320.0)
    for i in (0, 40, 96):
        kinds = flops("llama-7b", found.lengths[i]).per_token
        assert found.ffn[i] == kinds["ffn"]
        assert found.attention[i] == kinds["attention_projections"].value + kinds["attention_scores"].value


def test_windowed_cost_bends() -> None:
    """Where there is a window, attention stops growing."""
    found = cost(edit.base("mistral-7b"), 2**20)
    assert found.attention[-1] == found.attention[-2]


def test_stacked() -> None:
    """Components of the most frequent layer and of the whole model."""
    found = stacked(edit.base("deepseek-v3"))
    report = params(load("deepseek-v3"))
    assert sum(found.total.values()) == report.total
    assert sum(found.layer.values()) == report.layers[-1].total
    assert found.of_layers == "one of 58"


COLUMNS = {
    "d_model": [1, 2, 1, 2],
    "n_layers": [3, 3, 4, 4],
    "params.total": [30, 40, 50, 60],
    "params.ffn": [1, 2, 3, 4],
}


def test_lines() -> None:
    """A line for each value of the other size; any size may be on the axis, any number drawn."""
    assert lines(COLUMNS, None, None).lines == {"n_layers 3": ([1, 2], [30, 40]), "n_layers 4": ([1, 2], [50, 60])}
    assert lines(COLUMNS, "n_layers", "params.ffn").lines == {
        "d_model 1": ([3, 4], [1, 3]),
        "d_model 2": ([3, 4], [2, 4]),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a file"),
        ("a,b\n1,2\n", "not a file"),
        ("d,params.total\n1,x\n", "not a file"),
        ("d,params.total\n", "not a file"),
    ],
    ids=["empty", "other-columns", "no-number", "no-rows"],
)
def test_other_files(tmp_path: Path, text: str, message: str) -> None:
    """A file that is no sweep is refused."""
    path = tmp_path / "grid.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_sweep(str(path))


def test_refusals() -> None:
    """A column that isn't there, more lines than can be told apart, more models than fit."""
    with pytest.raises(InputError, match=r"did you mean params.total"):
        lines(COLUMNS, None, "params.totl")
    many = {"d_model": [1] * 20, "n_layers": list(range(20)), "params.total": list(range(20))}
    with pytest.raises(InputError, match="20 lines"):
        lines(many, None, None)
    with pytest.raises(InputError, match="at most 12"):
        bases(["gpt2"] * 13)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("params.total\n3\n", "want columns of sizes and of numbers", id="no-size"),
        pytest.param("d_model,params.total\n", "want columns of sizes and of numbers", id="no-rows"),
        pytest.param("d_model,params.total\n1,2\n1\n", "row 3 has 1 values, and there are 2 columns", id="short-row"),
        pytest.param(f"d_model,params.total\n1,{10**400}\n", "beyond 1e300", id="beyond-floats"),
    ],
)
def test_files_that_cannot_be_drawn(tmp_path: Path, text: str, message: str) -> None:
    """A file without something to draw is one message that says what is wrong."""
    path = tmp_path / "grid.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_sweep(str(path))
