"""Every architecture against the reference classes' own parameters, as recorded in tests/golden/families.

`python tests/families/test_reference.py` rewrites docs/conformance.md, which a test holds against these results.
"""

from __future__ import annotations

import functools
import gzip
import json
import pathlib
from typing import Any

import pytest

from ffncalc import families
from ffncalc.checkpoint import Tensor
from ffncalc.errors import InputError
from ffncalc.loading import load
from ffncalc.report.checkpoint import compare
from ffncalc.report.params import params

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = json.loads(gzip.decompress((ROOT / "tests/golden/families/reference.json.gz").read_bytes()))
PAGE = ROOT / "docs" / "conformance.md"

# Rows whose class is not what ffncalc counts: why.
NOT_COMPARED = {
    "encoder-decoder/EncoderDecoderModel": "a composite of two configs, which the bare file does not hold",
    "gemma3n_text/Gemma3nForCausalLM": "the class drops the unused keys and values that the checkpoints store",
    "granitemoehybrid/GraniteMoeHybridForCausalLM": "the class's default layers are recurrent, and refused",
    "kimi_k25/Kimi_K25Model": "the class holds the vision tower",
    "longcat_flash/LongcatFlashForCausalLM": "the class allocates experts that the published checkpoint does not have",
}
# Rows whose layers have one number in several modules, so that tensors can't be told apart by layer; their totals are.
NOT_BY_TENSOR = ("blt/BltForCausalLM",)
# Where the published checkpoints hold something else than the class, the checkpoint wins: the key that shows it.
CHECKPOINT_WINS = {(t, "tie_word_embeddings") for t in ("t5", "mt5", "umt5", "longt5")}


ROWS = {name: row for name, row in RECORDED.items() if name != "transformers" and name not in NOT_COMPARED}


@functools.cache
def outcome(name: str) -> tuple[int | None, str]:
    """(what ffncalc counts for the small config, how it departs from the class tensor by tensor)."""
    row = ROWS[name]
    try:
        model = load(row["config"])
    except InputError as error:
        return None, str(error)
    total = params(model).total
    found = [Tensor(tensor, tuple(shape), "F32", "") for tensor, shape in row["tensors"]]
    differences = compare(name, found, model).differences if name not in NOT_BY_TENSOR else ()
    return total.value if total is not None else None, "; ".join(f"{d.kind} {d.name}" for d in differences[:3])


@functools.cache
def moved(name: str) -> tuple[list[str], list[str]]:
    """(changes after which the total is not the class's, changes that ffncalc refuses)."""
    row = ROWS[name]
    wrong, refused = [], []
    for key, value, total in row["changed"]:
        if (row["config"]["model_type"], key) in CHECKPOINT_WINS:
            continue
        try:
            found = params(load(row["config"] | {key: value})).total
        except InputError as error:
            refused.append(f"{key}={value}: {error}")
            continue
        if found != total:
            wrong.append(f"{key}={value}: {found and found.value}, the class has {total}")
    return wrong, refused


@pytest.mark.parametrize("name", ROWS)
def test_total_is_the_class_s(name: str) -> None:
    """The parameters of the class, built from a config that says little, are counted exactly."""
    total, why = outcome(name)
    assert total == ROWS[name]["total"], why


@pytest.mark.parametrize("name", ROWS)
def test_every_tensor_is_accounted_for(name: str) -> None:
    """No tensor of the class is missing, extra or of another shape: two errors can't cancel in the total."""
    assert outcome(name)[1] == ""


@pytest.mark.parametrize("name", ROWS)
def test_one_key_changed_moves_the_total_as_in_the_class(name: str) -> None:
    """Changing one key from its default changes the total as it does the class's, or not where the class ignores it."""
    assert moved(name)[0] == []


def page() -> str:
    """The conformance page."""
    version = RECORDED["transformers"]
    lines = [
        "# Conformance",
        "",
        f"Each architecture against the classes of transformers {version}, built from a config that says little (model",
        "type, class, few layers): the total, every tensor by shape, and the total again with one key at a time",
        "changed from its default. `tests/golden/families/record.py` records the classes,",
        "`tests/families/test_reference.py` compares and writes this page. FLOPs that depend on data or on a mask of",
        "its own kind are refused.",
        "",
        "| model type | class | total | tensors | keys changed | FLOPs |",
        "|---|---|---|---:|---:|---|",
    ]
    for name, row in ROWS.items():
        model_type, cls = name.split("/")
        total, why = outcome(name)
        exact = "exact" if total == row["total"] else f"differs: {why}"
        wrong, refused = moved(name)
        done = len(row["changed"]) - len(wrong) - len(refused)
        known = families.row(model_type)
        flops = "refused" if known is not None and known.flops else "counted"
        lines.append(f"| {model_type} | {cls} | {exact} | {len(row['tensors'])} | {done} | {flops} |")
    return "\n".join(lines) + "\n"


def test_page_is_fresh() -> None:
    """docs/conformance.md is what these comparisons give."""
    assert page() == PAGE.read_text(encoding="utf-8")


def summary() -> dict[str, Any]:
    """What falls short, for a person at work on a family."""
    return {name: (outcome(name), moved(name)) for name in ROWS if outcome(name)[1] or moved(name)[0]}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    for name, found in summary().items():
        print(name, found)
