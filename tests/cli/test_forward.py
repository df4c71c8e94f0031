"""`ffncalc forward`: what runs, beside what is predicted; files, formats, refusals."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffncalc import bundled, load
from ffncalc.errors import InputError
from ffncalc.numeric.feedforward import VARIANTS
from ffncalc.report import forward as report
from ffncalc.report.forward import Settings, forward

Run = Callable[..., Any]

REFUSED = ("all-attention", "deepseek-v", "primer", "shazeer", "t5", "transformer")
RUN = [name for name in bundled.names() if not name.startswith(REFUSED)]


def data(result: Any) -> dict[str, Any]:
    """The JSON of a run that went well."""
    assert (result.code, result.err) == (0, "")
    found: dict[str, Any] = json.loads(result.out, parse_constant=pytest.fail)
    return found


@pytest.mark.parametrize("name", [*VARIANTS, *RUN])
def test_executed_is_predicted(name: str) -> None:
    """Every variant and every bundled model that can be run executes what is predicted, and its gradients agree."""
    model = name if name in VARIANTS else load(name)
    found = forward(model, Settings(d_model=24, tokens=5, backward=True))
    assert found.run.macs == found.macs.value > 0
    assert found.arrays == found.params.value > 0
    assert found.run.backward_macs == 2 * found.macs.value
    assert [gradient for gradient in found.run.gradients if not gradient.agrees] == []


@pytest.mark.parametrize("layers", [1, 2, 3, 5])
def test_layers_are_the_models_first(own: Callable[[str], Any], layers: int) -> None:
    """Blocks run in the model's order, unlike ones each as they are: two dense layers, then experts."""
    model = own(
        "family: decoder\nd_model: 96\nn_layers: 5\nn_vocab: 11\nn_heads: 6\nd_ff: 250\n"
        "layers: [{repeat: 2}, {repeat: 3, ffn: {kind: moe, n_experts: 4, top_k: 2, d_ff: 40}}]"
    )
    found = forward(model, Settings(d_model=24, tokens=5, layers=layers))
    dense = 4 * 24 * 24 * 5 + 2 * 24 * 25 + 3 * 24 * 63 * 5
    experts = 4 * 24 * 24 * 5 + 2 * 24 * 25 + (24 * 4 + 2 * 3 * 24 * 10) * 5
    assert found.run.macs == min(layers, 2) * dense + max(layers - 2, 0) * experts


def test_a_mixtures_steps_and_buffers(own: Callable[[str], Any]) -> None:
    """The experts' hidden units follow the choice of experts, and a bias that only chooses is no parameter."""
    text = "family: decoder\nd_model: 96\nn_layers: 1\nn_vocab: 11\nn_heads: 6\n"
    moe = "ffn: {kind: moe, n_experts: 4, top_k: 2, d_ff: 40, n_shared: 1, correction: true}"
    found = forward(own(text + moe), Settings(d_model=24, tokens=5, backward=True))
    names = [step.name.removeprefix("ffn.") for step in found.run.steps if step.name.startswith("ffn.")]
    assert names == ["router", "chosen", "chosen_weights", "experts.hidden", "shared"]
    assert found.run.steps[-3].shape == (2 * 5, 10)
    assert found.arrays == 4 * 24 * 24 + 2 * 24 + 4 * 24 + 5 * 3 * 24 * 10
    assert "choice_bias" in [gradient.name for gradient in found.run.gradients]


def test_without_arguments_it_is_the_swiglu_ffn(ffncalc: Run) -> None:
    """8 tokens of width 64 through three matrices of 171 columns."""
    found = data(ffncalc("forward", "--json"))
    assert (found["schema"], found["model"]) == ("ffncalc/forward/1", "swiglu")
    assert found["macs"] == {"executed": 3 * 8 * 64 * 171, "predicted": 3 * 8 * 64 * 171}
    assert found["params"] == {"arrays": 3 * 64 * 171, "predicted": 3 * 64 * 171}
    assert [step["name"] for step in found["steps"]] == ["gate", "up", "activated", "hidden", "down"]
    assert found["steps"][0]["shape"] == [8, 171]
    assert found["gradients"] == []


def test_steps_are_those_of_the_arrays(ffncalc: Run, tmp_path: Path) -> None:
    """Mean, spread, ends, shares and histogram of each step are those of the array that --save writes."""
    path = str(tmp_path / "out.npz")
    steps = data(ffncalc("forward", "relu2", "--json", "--save", path))["steps"]
    with np.load(path) as saved:
        for step in steps:
            array = saved[f"steps.{step['name']}"]
            assert step["mean"] == pytest.approx(array.mean(), rel=1e-12)
            assert step["std"] == pytest.approx(array.std(), rel=1e-12)
            assert (step["low"], step["high"]) == (array.min(), array.max())
            assert step["counts"] == np.histogram(array, bins=len(step["counts"]))[0].tolist()
            if step["name"] == "hidden":
                assert step["off"] == (array == 0).mean() > 0.4
                near = (np.abs(array) <= 0.01 * array.std()).mean()
                assert step["nearly_off"] == pytest.approx(near - step["off"])
        np.testing.assert_array_equal(saved["y"], saved["steps.down"])


def test_a_seed_is_a_run(ffncalc: Run) -> None:
    """The same seed gives the same bytes, another seed other numbers and the same counts."""
    first, again, other = (ffncalc("forward", "gpt2", "--json", "--seed", seed).out for seed in "001")
    assert first == again
    assert {s["checksum"] for s in json.loads(first)["steps"]}.isdisjoint(
        s["checksum"] for s in json.loads(other)["steps"]
    )
    assert json.loads(first)["macs"] == json.loads(other)["macs"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtypes(ffncalc: Run, tmp_path: Path, dtype: str) -> None:
    """The output has the dtype, the gradients agree, the counts are the same."""
    path = str(tmp_path / "out.npz")
    found = data(ffncalc("forward", "mixtral", "--dtype", dtype, "--backward", "--json", "--save", path))
    assert found["macs"]["executed"] == 782336
    assert all(gradient["agrees"] for gradient in found["gradients"])
    with np.load(path) as saved:
        assert saved["y"].dtype == dtype


@pytest.mark.parametrize("args", [["swiglu"], ["llama-3-8b", "--layers", "2"], ["qwen3-30b-a3b"]], ids=lambda a: a[0])
def test_what_was_saved_runs_again(ffncalc: Run, tmp_path: Path, args: list[str]) -> None:
    """--weights takes what --save wrote, weights and input, and every step is the same."""
    path = str(tmp_path / "out.npz")
    first = data(ffncalc("forward", *args, "--seed", "3", "--backward", "--json", "--save", path))
    again = data(ffncalc("forward", *args, "--weights", path, "--json"))
    assert again["steps"] == first["steps"]


def test_own_weights_and_input_are_used(ffncalc: Run, tmp_path: Path) -> None:
    """A linear FFN by hand: doubling, three hidden units, on a batch of two sequences."""
    x, weights, out = (str(tmp_path / name) for name in ("x.npy", "w.npz", "out.npz"))
    X = np.arange(12.0).reshape(2, 3, 2)
    np.save(x, X)
    up = np.array([[1.0, 0, 0], [0, 1, 0]])
    np.savez(weights, **{"gate.weight": np.zeros((2, 3)), "up.weight": up, "down.weight": 4 * up.T})
    found = data(ffncalc("forward", "glu", "--d-ff", "3", "--weights", weights, "--input", x, "--save", out, "--json"))
    assert found["workload"]["shape"] == [2, 3, 2]
    assert found["macs"]["executed"] == 2 * 3 * 3 * 2 * 3
    with np.load(out) as saved:
        np.testing.assert_array_equal(saved["y"], 2 * X)


UP = np.zeros((64, 171))
BEYOND = (
    b"\x93NUMPY\x01\x00\x60\x00"
    + (b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 8)}" % 10**30).ljust(95)
    + b"\n"
)
FILES: dict[str, tuple[str, Any, str]] = {
    "absent": ("--input", None, "can't be read: No such file or directory"),
    "text": ("--input", b"hello", "holds pickled objects (or isn't .npy or .npz at all); they are refused"),
    "pickle": ("--input", np.array([{}], dtype=object), "holds pickled objects"),
    "empty file": ("--input", b"", "can't be read: No data left in file"),
    "cut zip": ("--weights", b"PK\x03\x04cut", "can't be read: File is not a zip file"),
    "one axis": ("--input", np.zeros(7), "the input has shape (7,); (T, d_model) or (batch, T, d_model) = (any, any)"),
    "no tokens": ("--input", np.zeros((0, 8)), "the input has shape (0, 8); at least one token is wanted"),
    "complex": ("--input", np.zeros((2, 4), complex), "the input has dtype complex128; float16, float32, float64"),
    "an array for weights": ("--weights", np.zeros((2, 4)), "holds one array; an .npz of the arrays by name is wanted"),
    "missing": ("--weights", {"up.weight": UP}, "missing: down.weight, gate.weight"),
    "left over": (
        "--weights",
        {"up.weight": UP, "gate.weight": UP, "down.weight": UP.T, "b": [1]},
        "not in the model: b",
    ),
    "shape": (
        "--weights",
        {"up.weight": UP, "down.weight": UP.T, "gate.weight": UP.T},
        "gate.weight has shape (171, 64); its shape (in, out) = (64, 171) is wanted",
    ),
    "shape beyond any": ("--input", BEYOND, "can't be read: Python int too large"),
    "object member": ("--weights", {"up.weight": np.array([{}], dtype=object)}, "array 'up.weight': holds pickled"),
}  # fmt: skip


@pytest.mark.parametrize(("option", "contents", "message"), FILES.values(), ids=FILES)
def test_files_that_are_refused(ffncalc: Run, tmp_path: Path, option: str, contents: Any, message: str) -> None:
    """A file that doesn't fit is one message with the file, the array, its shape and the shape wanted; exit 2."""
    path = tmp_path / ("w.npz" if option == "--weights" else "x.npy")
    if isinstance(contents, bytes):
        path.write_bytes(contents)
    elif isinstance(contents, dict):
        np.savez(path, **contents)
    elif contents is not None:
        with path.open("wb") as file:
            np.save(file, contents, allow_pickle=True)
    result = ffncalc("forward", option, path)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"ffncalc: error: {path}: ")
    assert message in result.err


def test_nan_is_reported(ffncalc: Run, tmp_path: Path) -> None:
    """An input with a NaN is an error that says where it is."""
    x = np.ones((3, 8))
    x[1, 2] = np.nan
    np.save(tmp_path / "x.npy", x)
    result = ffncalc("forward", "--input", tmp_path / "x.npy")
    assert (result.code, result.err) == (
        2,
        "ffncalc: error: the input holds NaN: 1 of 24 values, the first at [1, 2]\n",
    )


@pytest.mark.parametrize("value", [1e200, np.inf], ids=["overflow", "inf"])
@pytest.mark.parametrize("model", ["relu2", "gpt2"])
def test_infinities_are_no_json_numbers(ffncalc: Run, tmp_path: Path, model: str, value: float) -> None:
    """Where numbers overflow the JSON stays JSON: such a number is null, and no gradient is said to agree."""
    np.save(tmp_path / "x.npy", np.full((4, 16), value))
    found = data(ffncalc("forward", model, "--input", tmp_path / "x.npy", "--backward", "--json"))
    assert found["macs"]["executed"] == found["macs"]["predicted"]
    assert not all(gradient["agrees"] for gradient in found["gradients"])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["gpt2", "--layers", "13"], "--layers 13 is more than the 12 layers of gpt2"),
        (["--layers", "2"], "--layers goes with a MODEL; swiglu is one FFN"),
        (["--d-ff", "3", "--rule", "4d"], "--d-ff states the width and --rule or --multiple-of works it out"),
        (["--d-model", "0"], "--d-model takes a positive whole number, not '0'"),
        (["--seed", "-1"], "--seed is a whole number from 0 to 4294967295, not '-1'"),
        (["--seed", "4294967296"], "--seed is a whole number from 0 to 4294967295, not '4294967296'"),
        (["--dtype", "float61"], "did you mean float64?"),
        (["swiglo"], "'swiglo' is neither a bundled model nor a file"),
        (["llama-7b", "--d-model", "8192"], "an array of 180,355,072 numbers is no small run"),
        (["llama-7b", "--tokens", "100k"], "multiply-accumulates is no small run"),
        (["--save", "/nowhere/x.npz"], "/nowhere/x.npz: can't be written"),
        (["deepseek-v3"], "the numeric mode has no latent attention"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(ffncalc: Run, args: list[str], message: str) -> None:
    """What can't be run is one message, nothing on standard output, exit 2."""
    result = ffncalc("forward", *args)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_a_difference_is_a_fault_of_ffncalcs_own(ffncalc: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where executed and predicted differ nothing is printed as fine: an internal error, exit 3."""
    right = report.predicted_macs
    monkeypatch.setattr(report, "predicted_macs", lambda plan, shape: right(plan, shape) + 1)
    result = ffncalc("forward")
    assert (result.code, result.out) == (3, "")
    assert "262656 multiply-accumulates were executed, 262657 predicted" in result.err


def test_explained(ffncalc: Run) -> None:
    """Each predicted number's substituted formula evaluates to it."""
    explained = data(ffncalc("forward", "qwen2.5-7b", "--json", "--explain"))["explain"]
    assert explained.keys() == {"macs.predicted", "params.predicted"}
    for entry in explained.values():
        assert eval(entry["substituted"].replace("×", "*").replace(",", "")) == entry["value"]


def test_formats(ffncalc: Run) -> None:
    """CSV has a row a step and a gradient; the table fits 80 columns; Markdown has the counts."""
    rows = list(csv.DictReader(io.StringIO(ffncalc("forward", "gpt2", "--backward", "--format", "csv").out)))
    assert [row["kind"] for row in rows].count("gradient") == 17
    assert [row["name"] for row in rows if row["kind"] == "step"][-1] == "ffn_residual"
    table = ffncalc("forward", "mixtral", "--backward", "--layers", "2").out
    tables = [line for line in table.splitlines() if not line.endswith(".")]
    assert max(map(len, tables)) <= 80
    assert "| multiply-accumulates | 401,408 | 401,408 |" in ffncalc("forward", "gpt2", "--format", "markdown").out


def test_saving_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where writing fails the old file stands and nothing is left beside it."""
    from ffncalc import atomic

    path = tmp_path / "out.npz"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "replace", fail)
    with pytest.raises(InputError, match="No space left on device"):
        forward("swiglu", Settings(save=str(path)))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
