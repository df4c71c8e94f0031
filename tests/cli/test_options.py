"""How the text of an option becomes a number or a choice."""

import pytest

from ffncalc.cli.options import one_of, output_format, whole_number
from ffncalc.errors import InputError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4096", 4096),
        ("4_096", 4096),
        ("4,096", 4096),
        ("1,234,567", 1234567),
        ("4k", 4000),
        ("4K", 4000),
        ("4Ki", 4096),
        ("128Ki", 131072),
        ("7B", 7 * 10**9),
        ("1.5B", 15 * 10**8),
        ("13.015864320b", 13015864320),
        ("1e12", 10**12),
        ("1e+3", 1000),
        ("1.25e2", 125),
        ("1e30", 10**30),
        ("0.5Ki", 512),
        ("1T", 10**12),
        (" 12 ", 12),
    ],
)
def test_whole_number(text: str, value: int) -> None:
    """A number means exactly what its text says, at any size."""
    assert whole_number("--tokens", text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "--tokens takes a positive whole number, not ''"),
        ("0", "--tokens takes a positive whole number, not '0'"),
        ("0k", "not '0k'"),
        ("-5", "not '-5'"),
        ("4.5", "not '4.5'"),
        ("1.0001k", "not '1.0001k'"),
        ("1e-3", "not '1e-3'"),
        ("4,09", "not '4,09'"),
        ("4,0960", "not '4,0960'"),
        ("4__096", "not '4__096'"),
        ("nan", "not 'nan'"),
        ("٤", "not '٤'"),
        ("4kb", "--tokens '4kb': no unit 'kb'; did you mean k?"),
        ("7bn", "--tokens '7bn': no unit 'bn'; did you mean B?"),
        ("7x", "--tokens '7x': no unit 'x'; There are k, M, B, T"),
        ("1e1001", "has more than 1000 digits"),
        ("9" * 5000, "--tokens '999999999999999999999999999999...' has more than 1000 digits"),
    ],
)
def test_not_a_whole_number(text: str, message: str) -> None:
    """What is no positive whole number is refused, and the message repeats it."""
    with pytest.raises(InputError) as error:
        whole_number("--tokens", text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "json", "expected"),
    [("table", False, "table"), ("csv", False, "csv"), ("table", True, "json"), ("json", True, "json")],
)
def test_output_format(text: str, json: bool, expected: str) -> None:
    """`--json` is short for `--format json`."""
    assert output_format(text, json) == expected


def test_two_formats() -> None:
    """Asking for two formats at once is an error."""
    with pytest.raises(InputError, match="--json and --format csv ask for two formats"):
        output_format("csv", True)


def test_one_of() -> None:
    """A choice that there isn't is refused with the nearest one."""
    assert one_of("--head", "mlm", ("causal", "mlm")) == "mlm"
    with pytest.raises(InputError, match="--head is one of causal, mlm, not 'Casual'; did you mean causal"):
        one_of("--head", "Casual", ("causal", "mlm"))
