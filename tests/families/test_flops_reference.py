"""Every architecture's FLOPs against what torch's counter sees of the reference class: tests/golden/families/flops.json.gz.

Recorded by record_flops.py there, at two lengths and with sizes that differ pairwise.
"""

from __future__ import annotations

import gzip
import json
import pathlib
from typing import Any

import pytest

from ffncalc.errors import InputError
from ffncalc.loading import load
from ffncalc.report.flops import flops
from ffncalc.workload import Workload

FILE = pathlib.Path(__file__).resolve().parents[1] / "golden" / "families" / "flops.json.gz"
RECORDED = json.loads(gzip.decompress(FILE.read_bytes()))
LENGTHS: list[list[int]] = RECORDED["lengths"]
NOT_COMPARED = {
    "llama4_text/Llama4ForCausalLM": "the class runs every expert on every token and drops what was not chosen",
}
# What ffncalc says of those that it doesn't count: a reason, never a number.
REFUSALS = ("FLOPs", "recurrent", "always runs 2")


def counted(config: dict[str, Any]) -> list[int]:
    """Our totals at the recorded lengths."""
    model = load(config)
    two = any(stack.is_source for stack in model.spec.stacks)
    works = [Workload(seq_len=b, source_len=a) if two else Workload(seq_len=a) for a, b in LENGTHS]
    return [flops(model, work).total["total"].value for work in works]


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row['class']}-{i}") for i, row in enumerate(RECORDED["rows"])]
)
def test_flops_are_the_counter_s(row: dict[str, Any]) -> None:
    """At each length the total is the counter's, or ffncalc says why it gives none."""
    if row["class"] in NOT_COMPARED:
        pytest.skip(NOT_COMPARED[row["class"]])
    try:
        found = counted(row["config"])
    except InputError as error:
        assert any(why in str(error) for why in REFUSALS)
        return
    assert found == row["flops"]


def test_most_are_counted() -> None:
    """The comparison has not become one of refusals."""
    refused = 0
    for row in RECORDED["rows"]:
        try:
            counted(row["config"])
        except InputError:
            refused += 1
    assert len(RECORDED["rows"]) > 230
    assert refused < len(RECORDED["rows"]) // 7
