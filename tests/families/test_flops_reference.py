"""Every architecture's FLOPs against what torch's counter sees of the reference class.

Recorded in tests/golden/families by record_flops.py, at two lengths and with sizes that differ pairwise.
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
REFUSALS = ("FLOPs", "recurrent")


def counted(config: dict[str, Any]) -> list[int] | str:
    """Our totals at the recorded lengths, or why there are none."""
    try:
        model = load(config)
        two = any(stack.is_source for stack in model.spec.stacks)
        works = [Workload(seq_len=b, source_len=a) if two else Workload(seq_len=a) for a, b in LENGTHS]
        return [flops(model, work).total["total"].value for work in works]
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row['class']}-{i}") for i, row in enumerate(RECORDED["rows"])])
def test_flops_are_the_counter_s(row: dict[str, Any]) -> None:
    """At each length the total is the counter's, or ffncalc says why it gives none."""
    if row["class"] in NOT_COMPARED:
        pytest.skip(NOT_COMPARED[row["class"]])
    found = counted(row["config"])
    if isinstance(found, str):
        assert any(why in found for why in REFUSALS)
    else:
        assert found == row["flops"]


def test_most_are_counted() -> None:
    """The comparison has not become one of refusals."""
    refused = [row["class"] for row in RECORDED["rows"] if isinstance(counted(row["config"]), str)]
    assert len(RECORDED["rows"]) > 260
    assert len(refused) < 40
