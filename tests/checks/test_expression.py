"""The language of assertions: what it reads, how it computes, and what it says about what it can't read."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffncalc.checks.evaluate import Numbers, failure
from ffncalc.checks.expression import Assertion, parse
from ffncalc.errors import InputError

TREE: dict[str, Any] = {
    "model": "m",
    "dims": {"d_model": 4096, "d_ff": [12288, 1536], "n_vocab": None, "n_heads": 32},
    "params": {"total": 6_738_415_616, "ffn": 4_328_521_728, "attention": 2_147_483_648},
    "layers": [{"ffn": 300, "attention": 100, "total": 400}, {"ffn": 50, "attention": 100, "total": 150}],
    "ffn_share": 0.668367,
    "total": {"ffn": 3, "total": 7},
}
NUMBERS = Numbers(TREE, ("params", "dims"), "m")


def decided(text: str, numbers: Numbers = NUMBERS) -> str | None:
    """Why an assertion fails; None where it holds."""
    return failure(parse(text, "x"), lambda model: numbers)


@pytest.mark.parametrize(
    "text",
    [
        "total <= 7B",
        "total == 6738415616",
        "total == 6_738_415_616",
        "total == 6,738,415,616",
        "total == 6.738415616e9",
        "total == 6.738415616 billion",
        "total == 6738.415616M",
        "d_model == 4Ki",
        "d_model % 256 == 0",
        "d_model%256==0",
        "ffn + attention < total",
        "2 * attention <= ffn",
        "2 × attention ≤ ffn",
        "ffn / total >= 64 %",
        "ffn_share == 0.668367",
        "66 % < ffn_share < 67 %",
        "ffn_share == 66.8 % ± 0.1 %",
        "total == 6.7B ± 1 %",
        "total == 6.7B +- 1 %",
        "total == 6.7B +/- 40M",
        "total == 6.7B ± (20M + 20M)",
        "total != 7B ± 1 %",
        "params.total == total",
        "total.total == 7",
        "-(1 - 3) * 2 == 4",
        "--2 == 2",
        "10 - 3 - 2 == 5",
        "2 + 3 * 4 == 14",
        "7 % 4 % 2 == 1",
        "1 / 3 * 3 == 1",
        "0.1 + 0.2 == 0.3",
        "1e30 + 1 != 1e30",
        "1e-3 == 0.001",
        "layers[0].ffn > layers[1].ffn",
        "layers[*].ffn >= 50",
        "layers[*].ffn + layers[*].attention == layers[*].total",
        "d_ff[*] % 256 == 0",
        "d_model[*] == 4096",
        "d_ff[1] == 1536",
        "1 < 2 < 3 <= 3 != 4",
    ],
)
def test_holds(text: str) -> None:
    """What is true holds, exactly: numbers are fractions, never floats."""
    assert decided(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("total <= 6B", "total is 6,738,415,616, wanted <= 6,000,000,000 (+12.3 %)"),
        ("d_model % 100 == 0", "d_model % 100 is 96, wanted == 0"),
        ("total == 7B ± 1 %", "total is 6,738,415,616, wanted 6,930,000,000 to 7,070,000,000"),
        ("total != 6.7B ± 1 %", "total is 6,738,415,616, wanted not 6,633,000,000 to 6,767,000,000"),
        ("1 < total < 2", "total is 6,738,415,616, wanted < 2"),
        ("3 < 2 < total", "3 is 3, wanted < 2 (+50 %)"),
        ("layers[*].ffn > 100", "layers[1].ffn is 50, wanted > 100 (-50 %)"),
        (
            "1e15 + 1 == 1e15",
            "1e15 + 1 is 1,000,000,000,000,001, wanted == 1,000,000,000,000,000",
        ),
        ("0.1 + 0.2 > 0.3", "0.1 + 0.2 is 0.3, wanted > 0.3"),
    ],
)
def test_fails(text: str, reason: str) -> None:
    """What isn't true is said with both sides, and how far they are apart."""
    assert decided(text) == reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x: column 1: the end stands where a number or a name is expected"),
        ("total", "x: column 6: nothing is compared"),
        ("total = 7B", "x: column 7: = sets nothing here; write =="),
        ("total <= ", "x: column 10: the end stands where"),
        ("total <= 7Q", "x: column 10: '7Q': no unit 'Q'"),
        ("total <= 7 total", "x: column 10: '7 total': no unit 'total'"),
        ("total <= (7", "x: column 12: the end stands where ) is expected"),
        ("total <= 7)", "x: column 11: ')' is not expected"),
        ("total and d_model > 1", "x: column 7: 'and' is not expected"),
        ("total ** 2 > 1", "x: column 8: '*' stands where"),
        ("total <= 7; 1", "x: column 11: ';' has no meaning here"),
        ("__import__('os').system('x') == 1", 'x: column 12: "\'" has no meaning here'),
        ("total <= 'x'", 'x: column 10: "\'" has no meaning here'),
        ("total == 7B ± 1 % ± 1 %", "x: column 19: '±' is not expected"),
        ("(7B ± 1) == total", "x: column 5: '±' stands where ) is expected"),
        ("total <= 7B ± 1 %", "± goes with == and !=, not with <="),
        ("total <= " + "9" * 1001, "has more than 1000 digits"),
        ("total <= 1e1001", "has more than 1000 digits"),
        ("(" * 45 + "1", "nested too deeply"),
        ("-" * 45 + "1 == 1", "nested too deeply"),
        ("1 +" * 700 + "1 == 1", "an assertion has at most 2,000"),
        ("total / (1 - 1) == 1", "divides by zero (/)"),
        ("total % 0 == 1", "divides by zero (%)"),
        ("totl <= 7B", "totl of m is no number that ffncalc reports; did you mean total?"),
        ("params.d_model == 1", "params.d_model of m is no number that ffncalc reports; did you mean dims.d_model?"),
        ("zzz == 1", "zzz of m is no number that ffncalc reports; there are dims.d_model,"),
        ("n_vocab == 1", "n_vocab of m is not known (null)"),
        ("d_ff == 1", "d_ff of m is a list of 2; take one, d_ff[0], or each, d_ff[*]"),
        ("params == 1", "params of m is a group; name a number of it: params.total"),
        ("model == 1", "model of m is text"),
        ("layers[7].ffn == 1", "layers[7].ffn of m is no number"),
        ("d_model[0] == 1", "d_model[0] of m is no number"),
    ],
)
def test_refused(text: str, message: str) -> None:
    """What can't be read or decided is an error that says where, what, and what was meant: never a pass."""
    with pytest.raises(InputError) as error:
        decided(text)
    assert message in str(error.value)


def test_lists_of_unlike_lengths() -> None:
    """Two lists that are gone through together must be as long as each other."""
    with pytest.raises(InputError, match="lists of unlike lengths"):
        decided("layers[*].ffn > d_ff[*]", NUMBERS._replace(tree={**TREE, "dims": {"d_ff": [1, 2, 3]}}))


EXPRESSIONS = st.recursive(
    st.integers(0, 10**30).map(str) | st.decimals(0, 100, places=3).map(str),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/%"), inner).map(
        lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
    ),
    max_leaves=12,
)


@given(EXPRESSIONS)
def test_arithmetic_is_exact(text: str) -> None:
    """Any sum of products has the value that Python's fractions give it."""
    import re

    python = re.sub(r"[0-9]+(\.[0-9]+)?", r"Fraction('\g<0>')", text)
    try:
        value = eval(python, {"Fraction": Fraction})
    except ZeroDivisionError:
        with pytest.raises(InputError, match="divides by zero"):
            decided(f"{text} == 0")
        return
    assert decided(f"{text} * {value.denominator} == {value.numerator}") is None
    assert decided(f"{text} * {value.denominator} == {value.numerator} + 1") is not None


@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    """Any text is an assertion or an InputError."""
    try:
        found: object = parse(text, "x")
    except InputError as error:
        found = str(error)
    assert isinstance(found, Assertion) or str(found).startswith("x: ")
