"""`size`, `sweep`, `plot`, `hidden-dim --infer` and `params --advise` on the command line."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ffncalc import load, params

Run = Callable[..., Any]


def test_size_saves_a_config_that_counts(ffncalc: Run, tmp_path: Path) -> None:
    """A 7B SwiGLU model that divides by 8: a table, and a file that `params --strict` reads."""
    path = tmp_path / "best.yaml"
    done = ffncalc("size", "--params", "7B", "--tensor-parallel", "8", "--kv-heads", "8", "--out", path)
    assert done.code == 0
    assert "6,996,414,464" in done.out
    assert "d_model 256 to 32,768 by 128" in done.out
    counted = ffncalc("params", path, "--strict", "--json")
    assert json.loads(counted.out)["params"]["total"] == 6_996_414_464


def test_a_saved_config_says_how_to_count_it(ffncalc: Run, tmp_path: Path) -> None:
    """The command in the file's first line can be pasted into a shell, whatever the file is called."""
    path = tmp_path / "best one.yaml"
    assert ffncalc("size", "--params", "7B", "--out", path).code == 0
    assert "`ffncalc params 'best one.yaml'` counts" in path.read_text().splitlines()[0]


def test_size_json(ffncalc: Run) -> None:
    """The contract: a space, and candidates with config, dims, params and FLOPs per token, all exact."""
    data = json.loads(ffncalc("size", "--params", "1B", "--keep", "2", "--json").out)
    assert data["schema"] == "ffncalc/size/1"
    assert data["space"]["d_model"] == {"first": 256, "last": 32768, "step": 128}
    for candidate in data["candidates"]:
        assert params(load(candidate["config"])).total == candidate["params"]["total"]
        assert isinstance(candidate["flops_per_token"], int)
        assert candidate["dims"]["n_vocab"] == 32000


def test_size_yaml_and_csv(ffncalc: Run, write: Callable[..., str]) -> None:
    """As YAML the nearest, ready to save; as CSV a row each, columns named as in the JSON."""
    text = ffncalc("size", "--params", "1B", "--ffn", "gelu", "--format", "yaml").out
    assert abs(params(write(text)).total.value / 10**9 - 1) < 0.1  # type: ignore[union-attr]
    rows = list(csv.DictReader(io.StringIO(ffncalc("size", "--params", "1B", "--keep", "3", "--format", "csv").out)))
    assert len(rows) == 3
    assert int(rows[0]["params.total"]) > 0


@pytest.mark.parametrize("out", [("--out", "-"), ("--format", "csv")], ids=["out", "format"])
def test_sweep_csv(ffncalc: Run, out: tuple[str, str]) -> None:
    """One column per size set and one per number, a row a config."""
    done = ffncalc("sweep", "llama-7b", "--set", "d_model=1024:2048:512", "--set", "n_layers=16,24", *out)
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(row["d_model"], row["n_layers"]) for row in rows] == [
        (d, n) for d in ("1024", "1536", "2048") for n in ("16", "24")
    ]
    config = {
        "family": "llama",
        "d_model": 1536,
        "n_layers": 24,
        "n_heads": 32,
        "d_ff": {"rule": "llama", "multiple_of": 256},
        "n_vocab": 32000,
    }
    assert int(rows[3]["params.total"]) == params(load(config)).total
    assert "flops.per_token.total" in rows[0]


def test_sweep_file_and_refusals(ffncalc: Run, tmp_path: Path) -> None:
    """Into a file; what is refused is left out, and said."""
    out = tmp_path / "grid.csv"
    done = ffncalc("sweep", "llama-7b", "--set", "d_model=1000,1024", "--set", "n_layers=2,3", "--out", out)
    assert (done.code, done.out) == (0, f"{out}: 2 rows\n")
    assert "2 combinations are refused" in done.err
    assert len(out.read_text().splitlines()) == 3


def test_sweep_table_and_json(ffncalc: Run) -> None:
    """A table of the first rows; JSON of all, with every number that is asked for."""
    assert (
        "87 configs" in ffncalc("sweep", "llama-7b", "--set", "d_model=1024:8192:256", "--set", "n_layers=16,24,32").out
    )
    data = json.loads(ffncalc("sweep", "gpt2", "--set", "T=512,1k", "--numbers", "flops.per_token.total", "--json").out)
    assert [row["T"] for row in data["rows"]] == [512, 1000]
    assert set(data["rows"][0]) == {"T", "flops.per_token.total"}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(("sweep", "llama-7b", "--set", "d_model=1024:8192:0"), "a step of 0 never ends", id="step"),
        pytest.param(("sweep", "llama-7b", "--set", "d_model=8:4"), "is empty", id="empty"),
        pytest.param(("sweep", "llama-7b", "--set", "d_modle=8"), "did you mean d_model", id="dimension"),
        pytest.param(("sweep", "llama-7b", "--set", "d_model"), "NAME=VALUES", id="no-values"),
        pytest.param(("sweep", "llama-7b", "--set", "d_model=1,1"), "1 twice", id="value-twice"),
        pytest.param(("sweep", "llama-7b", "--set", "d_model=8", "--set", "d_model=9"), "given twice", id="size-twice"),
        pytest.param(("sweep", "llama-7b", "--set", "d_model=x"), "whole numbers", id="text"),
        pytest.param(
            ("sweep", "llama-7b", "--set", "n_vocab=1:20000", "--set", "n_layers=1:100"),
            "too many to show",
            id="too-many",
        ),
        pytest.param(("sweep", "llama-7b", "--set", "n_vocab=1:1e12"), "more than", id="endless"),
        pytest.param(("sweep", "llama-7b", "--set", "d_model=64", "--out", "a.txt"), ".csv or .parquet", id="ending"),
        pytest.param(("size",), "want one budget", id="no-budget"),
        pytest.param(
            ("size", "--params", "7B", "--layers", "2", "--d-model", "1024"),
            "what binds: d_model 1,024; n_layers 2",
            id="impossible",
        ),
        pytest.param(("size", "--params", "7B", "--aspect", "160..100"), "range such as 100..160", id="aspect"),
        pytest.param(("size", "--params", "7B", "--ffn", "swigloo"), "did you mean swiglu", id="ffn"),
        pytest.param(("size", "--params", "7B", "--like", "llama-7b", "--tied"), "--like takes", id="like"),
        pytest.param(("plot", "flops", "llama-7b", "--out", "a.gif"), ".svg, .png, .html", id="picture"),
        pytest.param(("plot", "sweep", "missing.csv"), "no such file", id="no-sweep"),
        pytest.param(
            ("hidden-dim", "4096", "--infer", "14336", "--rule", "llama"), "--rule doesn't go with it", id="infer"
        ),
        pytest.param(("params", "gpt2", "--advise", "--explain"), "ask for one", id="advise"),
    ],
)
def test_wrong_input(ffncalc: Run, args: tuple[str, ...], message: str) -> None:
    """Exit 2, one message, nothing on standard output."""
    done = ffncalc(*args)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_infer_json(ffncalc: Run) -> None:
    """The contract: candidates with rule, multiplier (or null), multiple_of and the width, the likeliest first."""
    data = json.loads(ffncalc("hidden-dim", "4096", "--infer", "14336", "--json").out)
    assert data["candidates"][0] | {"used_by": []} == {
        "rule": "llama", "multiplier": 1.3, "multiple_of": 1024, "round": "up", "d_ff": 14336, "used_by": [],
    }  # fmt: skip
    assert {way["d_ff"] for way in data["candidates"]} == {14336}
    assert "mistral-7b" in data["used_by"]


def test_infer_text(ffncalc: Run) -> None:
    """A summed width is told as one, its half's user named."""
    out = ffncalc("hidden-dim", "3072", "--infer", "49152").out
    assert out.startswith("49,152 may be gate and up counted together: 2 × 24,576; gemma-7b has it")


def test_advise(ffncalc: Run) -> None:
    """Advice follows the counts, in JSON beside them, and is never an error."""
    done = ffncalc("params", "gpt2-xl", "--advise")
    assert done.code == 0
    assert "3 of 9 met" in done.out
    data = json.loads(ffncalc("params", "gpt2-xl", "--advise", "--tensor-parallel", "5", "--json").out)
    assert data["params"]["total"] == 1_557_611_200
    assert {(a["size"], a["met"]) for a in data["advice"] if a["size"] == "n_heads"} == {("n_heads", True)}


@pytest.mark.parametrize("what", [("flops", "gpt2"), ("params", "gpt2", "llama-7b")], ids=["flops", "params"])
def test_plots(ffncalc: Run, tmp_path: Path, what: tuple[str, ...]) -> None:
    """As text without --out, as a picture with it."""
    assert "gpt2" in ffncalc("plot", *what).out
    pytest.importorskip("matplotlib")
    out = tmp_path / "picture.svg"
    assert ffncalc("plot", *what, "--out", out).code == 0
    assert "gpt2" in out.read_text(encoding="utf-8")


def test_plot_sweep(ffncalc: Run, tmp_path: Path) -> None:
    """A sweep's file is drawn."""
    out = tmp_path / "grid.csv"
    ffncalc("sweep", "llama-7b", "--set", "d_model=1024:4096:1024", "--set", "n_layers=2,3", "--out", out)
    assert "n_layers 2" in ffncalc("plot", "sweep", out, "--y", "params.ffn").out


EMPTY = {
    "forward": ("forward", "swiglu", "--save", ""),
    "forward-input": ("forward", "swiglu", "--input", ""),
    "sweep": ("sweep", "gpt2", "--set", "T=1", "--out", ""),
    "sweep-numbers": ("sweep", "gpt2", "--set", "T=1", "--numbers", ""),
    "size": ("size", "--params", "7B", "--layers", ""),
    "plot": ("plot", "params", "gpt2", "--out", ""),
    "flops": ("flops", "gpt2", "--seq-len", ""),
    "infer": ("hidden-dim", "4096", "--infer", ""),
    "vocabulary": ("params", "gpt2", "--vocab-size", ""),
}


@pytest.mark.parametrize("args", EMPTY.values(), ids=EMPTY)
def test_an_empty_value_is_an_error(ffncalc: Run, args: tuple[str, ...]) -> None:
    """An option given as "" (a shell variable that isn't set) is an error, not an option that wasn't given."""
    done = ffncalc(*args)
    assert (done.code, done.out) == (2, "")


def test_a_value_given_twice_is_found_at_once(ffncalc: Run) -> None:
    """Also among millions."""
    assert "has 1,000,000 twice" in ffncalc("sweep", "gpt2", "--set", "T=1:1000000,1000000").err


def test_size_replaces_a_file_whole_or_not_at_all(
    ffncalc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the new config can't be written to the end, the old one stands."""
    path = tmp_path / "best.yaml"
    path.write_text("old", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done = ffncalc("size", "--params", "1B", "--out", path)
    assert (done.code, done.out, path.read_text(encoding="utf-8")) == (2, "", "old")
