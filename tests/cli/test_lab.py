"""`ffncalc lab ...`: every experiment in every format, its figures in what is printed."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]

COMMANDS = ["variants", "gelu", "facts", "collapse", "activations"]


@pytest.mark.parametrize("command", COMMANDS)
def test_json(ffncalc: Run, command: str) -> None:
    """JSON has its schema and only JSON's numbers, and is the same twice."""
    first, again = ffncalc("lab", command, "--json"), ffncalc("lab", command, "--json")
    assert (first.code, first.err, first.out) == (0, "", again.out)
    assert json.loads(first.out, parse_constant=pytest.fail)["schema"] == f"ffncalc/lab-{command}/1"


@pytest.mark.parametrize(("command", "rows"), list(zip(COMMANDS, [8, 5, 4, 4, 9], strict=True)))
def test_csv(ffncalc: Run, command: str, rows: int) -> None:
    """CSV has a row for each of what the experiment compares."""
    assert len(list(csv.DictReader(io.StringIO(ffncalc("lab", command, "--format", "csv").out)))) == rows


@pytest.mark.parametrize("command", COMMANDS)
def test_tables_and_pictures_fit_80_columns(ffncalc: Run, command: str) -> None:
    """Off a terminal no table and no picture is wider than 80 characters; sentences may be."""
    lines = ffncalc("lab", command).out.splitlines()
    wide = [line for line in lines if len(line) > 80 and not line.endswith((".", "%")) and ": " not in line]
    assert wide == []


@pytest.mark.parametrize(
    ("args", "texts"),
    [
        pytest.param(
            ["activations"],
            ["gelu_tanh 0.000473 at ±2.699, gelu_sigmoid 0.0203 at ±2.270", "-0.16997   -0.7518", "-0.27846   -1.2785"],
            id="activations",
        ),
        pytest.param(["activations", "gelu"], ["-0.12890    -1.4142", "* gelu, ' its slope"], id="one-activation"),
        pytest.param(["gelu", "--z", "-0.75"], ["GELU(-0.75) = -0.75·Φ(-0.75) = -0.169971"], id="gelu"),
        pytest.param(["facts"], ["Tokyo            0            1            0  Japan", "nothing"], id="facts"),
        pytest.param(["facts", "--edit"], ["now writes Peru", "rank 1", "changed by at most 0."], id="edit"),
        pytest.param(["facts", "--edit", "Cairo=Italy"], ["Cairo rewritten: its key now writes Italy"], id="edit-own"),
        pytest.param(["facts", "--query", "the"], ["the              0            0            0  no"], id="query"),
        pytest.param(["collapse"], ["* attention: rank one, up to rounding, after layer 4", "1e-15 |"], id="collapse"),
        pytest.param(
            ["variants"],
            ["All 8 variants: 4,718,592 parameters, 9,437,184 FLOPs a token", "1.633", "gated, silu: "],
            id="variants",
        ),
        pytest.param(["variants", "--explain"], ["geglu.params = 3·d_model·d_ff = 3 × 768 × 2,048"], id="explained"),
    ],
)  # fmt: skip
def test_figures_appear(ffncalc: Run, args: list[str], texts: list[str]) -> None:
    """The figures of the text are in the output."""
    out = ffncalc("lab", *args).out
    assert [text for text in texts if text not in out] == []


def test_markdown_has_no_pictures(ffncalc: Run) -> None:
    """A picture can't stand in Markdown; its numbers do."""
    out = ffncalc("lab", "collapse", "--format", "markdown").out
    assert "| layer | attention |" in out
    assert "+----" not in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["activations", "gellu"], "activation is 'gellu'"),
        (["gelu", "--z", "nan"], "--z takes a number such as -0.75, not 'nan'"),
        (["gelu", "--samples", "1T"], "at most 100,000,000 are drawn"),
        (["facts", "Tokyo=Peru"], "say --edit Tokyo=Peru"),
        (["facts", "--edit", "Tokyo"], "is not written like Tokyo=Peru"),
        (["facts", "--query", "Berlin"], "there is no 'Berlin'"),
        (["collapse", "--d-model", "30"], "a multiple of 4 heads"),
        (["variants", "--tokens", "10M"], "at most 4,096 are run"),
        (["colapse"], "no command 'colapse': did you mean 'collapse'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(ffncalc: Run, args: list[str], message: str) -> None:
    """A wrong command line is one message and exit 2."""
    result = ffncalc("lab", *args)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
