"""Sweeps in files: the rows of the sweep in memory, in CSV and Parquet, also when it was interrupted and went on."""

import csv
import os
from pathlib import Path
from typing import Any

import pytest

from ffncalc import edit
from ffncalc.errors import InputError
from ffncalc.search import files
from ffncalc.search.space import Space, space
from ffncalc.search.table import over_grid

CONFIG = {
    "family": "llama",
    "d_model": 24,
    "n_layers": 5,
    "n_heads": 6,
    "d_ff": {"rule": "llama", "multiple_of": 8},
    "n_vocab": 101,
}
SIZES = {"d_model": [24, 25, 30, 36, 42], "n_layers": [1, 2, 3], "n_vocab": [7, 10**16]}


class Interrupted(BaseException):
    """Stands for a Ctrl-C."""


@pytest.fixture
def where() -> Space:
    """A small space, with combinations that are refused and columns beyond int64."""
    return space(edit.base(CONFIG), SIZES, None, ["params.total", "params.embedding", "flops.total.total"])


def wanted(where: Space) -> list[tuple[int, ...]]:
    """Its rows, worked out in memory."""
    return list(zip(*(column.tolist() for column in over_grid(where).columns.values()), strict=True))


def written(path: str) -> list[tuple[int, ...]]:
    """The rows of a file."""
    if path.endswith(".csv"):
        with open(path, encoding="utf-8", newline="") as file:
            return [tuple(map(int, row)) for row in list(csv.reader(file))[1:]]
    parquet = pytest.importorskip("pyarrow.parquet")
    return [tuple(map(int, row.values())) for row in parquet.read_table(path).to_pylist()]


def nothing(*_: Any) -> None:
    """A report that nobody reads."""


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
@pytest.mark.parametrize("rows", [1, 4, 10**6], ids=["block-a-part", "some", "one-part"])
def test_rows(where: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, rows: int) -> None:
    """However many parts it takes, the file holds every row in full, and nothing is left beside it."""
    if kind == ".parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(files, "PART_ROWS", rows)
    out = str(tmp_path / f"grid{kind}")
    done = files.write(where, out, nothing, nothing)
    assert (done.rows, done.refused) == (24, 6)
    assert written(out) == wanted(where)
    assert os.listdir(tmp_path) == [f"grid{kind}"]


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
@pytest.mark.parametrize("stop", range(1, 5))
def test_goes_on_where_it_was_interrupted(
    where: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, stop: int
) -> None:
    """An interrupted sweep keeps its parts; the next run says so and goes on, and the file is the same."""
    if kind == ".parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(files, "PART_ROWS", 1)
    out = str(tmp_path / f"grid{kind}")
    calls: list[int] = []

    def interrupt(done: int, of: int) -> None:
        calls.append(done)
        if len(calls) == stop:
            raise Interrupted

    with pytest.raises(Interrupted):
        files.write(where, out, interrupt, nothing)
    assert not os.path.exists(out)
    resumed: list[int] = []
    done = files.write(where, out, nothing, resumed.append)
    assert resumed == ([6 * (stop - 1)] if stop > 2 else [])
    assert (done.rows, done.refused) == (24, 6)
    assert written(out) == wanted(where)


def test_parts_of_another_sweep_are_not_taken(where: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an interrupted sweep left is only gone on with for the very same sweep."""
    monkeypatch.setattr(files, "PART_ROWS", 1)
    out = str(tmp_path / "grid.csv")
    calls = iter([None, None, None])

    def interrupt(done: int, of: int) -> None:
        if next(calls, 0) == 0:
            raise Interrupted

    with pytest.raises(Interrupted):
        files.write(where, out, interrupt, nothing)
    other = space(edit.base({**CONFIG, "n_vocab": 103}), {"d_model": [24, 30], "n_layers": [1]}, None, ["params.total"])
    files.write(other, out, nothing, lambda rows: pytest.fail("gone on"))
    assert written(out) == wanted(other)


@pytest.mark.parametrize(
    ("name", "message"),
    [("grid.txt", "ends in .csv or .parquet"), ("missing/grid.csv", "can't be written")],
    ids=["ending", "folder"],
)
def test_wrong_names(where: Space, tmp_path: Path, name: str, message: str) -> None:
    """A file that can't be written is one message."""
    with pytest.raises(InputError, match=message):
        files.write(where, str(tmp_path / name), nothing, nothing)


def test_nothing_left(tmp_path: Path) -> None:
    """Where all combinations are refused there is no file."""
    with pytest.raises(InputError, match="all 2 combinations"):
        files.write(space(edit.base(CONFIG), {"d_model": [25, 31]}), str(tmp_path / "grid.csv"), nothing, nothing)
    assert os.listdir(tmp_path) == []


def test_a_lost_part_is_made_again(where: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a part of an interrupted sweep is gone, it starts over."""
    monkeypatch.setattr(files, "PART_ROWS", 2)
    out = tmp_path / "grid.csv"
    join = files.join
    monkeypatch.setattr(files, "join", stop)
    with pytest.raises(Interrupted):
        files.write(where, str(out), nothing, nothing)
    (tmp_path / "grid.csv.part" / "000001").unlink()
    monkeypatch.setattr(files, "join", join)
    files.write(where, str(out), nothing, pytest.fail)
    assert written(str(out)) == wanted(where)


def stop(*_: Any) -> None:
    """Interrupt."""
    raise Interrupted


def test_folders_and_links(where: Space, tmp_path: Path) -> None:
    """A folder is refused with nothing left beside it; a link stays one, its target is written."""
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="it is a folder"):
        files.write(where, str(tmp_path / "folder.csv"), nothing, nothing)
    assert os.listdir(tmp_path) == ["folder.csv"]
    link = tmp_path / "link.csv"
    link.symlink_to("real.csv")
    files.write(where, str(link), nothing, nothing)
    assert link.is_symlink()
    assert written(str(tmp_path / "real.csv")) == wanted(where)


def test_a_failed_write_names_the_file_and_leaves_nothing(where: Space, tmp_path: Path) -> None:
    """The error names what was asked for, not what stands in for it."""
    with pytest.raises(InputError, match=r"none/grid\.csv: can't be written"):
        files.write(where, str(tmp_path / "none" / "grid.csv"), nothing, nothing)
