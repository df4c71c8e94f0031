"""Lines and tables as plain text, Markdown and CSV."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffncalc.render.document import (
    Bar,
    Cell,
    Line,
    Share,
    Table,
    bar,
    markdown,
    percent,
    plain,
    plain_table,
    scaled,
    shown,
    signed,
    spread,
    to_csv,
    wrapped,
)

TABLE = Table(("component", "parameters", "share", ""), (
    ("embedding", 131072000, Share(0.25), Bar(0.25)),
    ("ffn", 4328521728, Share(0.75), Bar(0.75)),
    ("total", 4459593728, Share(1.0), None),
), total_from=2)  # fmt: skip


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"), (999, "999"), (1000, "1.00 k"), (9_994, "9.99 k"), (9_995, "10.0 k"), (10_000, "10.0 k"),
        (99_949, "99.9 k"), (99_950, "100 k"), (100_000, "100 k"), (999_499, "999 k"), (999_500, "1.00 M"),
        (6_738_415_616, "6.74 B"), (131_072_000, "131 M"), (10**12, "1.00 T"),
        (123 * 10**24, "123 Y"), (10**27, "1.00e27"), (9876 * 10**40, "9.88e43"), (-1500, "-1.50 k"),
    ],
)  # fmt: skip
def test_scaled(number: int, text: str) -> None:
    """Three digits and a unit; beyond 999 Y a power of ten."""
    assert scaled(number) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.668, "66.8 %"), (0.0, "0.0 %"), (0.0004, "< 0.1 %"), (0.0005, "0.1 %"), (1.0, "100.0 %")]
)
def test_percent(share: float, text: str) -> None:
    """One decimal; what is there doesn't read as nothing."""
    assert percent(share) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.008, "+0.8 %"), (-0.14, "-14.0 %"), (0.000035, "+0.0035 %"), (0.0, "+0.0 %"), (-0.0001, "-0.01 %")],
)
def test_signed(share: float, text: str) -> None:
    """A difference has a sign, and a small one its first two digits."""
    assert signed(share) == text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (1234567, "1,234,567"),
        (8320.0, "8,320"),
        (8320.25, "8,320.2"),
        ("x", "x"),
        (None, ""),
        (Share(0.5), "50.0 %"),
        (Bar(0.5), "█" * 10),
    ],
)
def test_cells(cell: Cell, text: str) -> None:
    """Every kind of cell as text."""
    assert shown(cell) == text


def test_what_is_scaled() -> None:
    """Where numbers are scaled, those of five digits and fewer stay whole."""
    assert [shown(n, scale=True) for n in (99_999, 100_000, -100_000)] == ["99,999", "100 k", "-100 k"]


def test_bars() -> None:
    """A bar is as long as its share, to an eighth of a character."""
    assert [bar(share) for share in (0, 1 / 160, 0.25, 0.5625, 1)] == ["", "▏", "█" * 5, "█" * 11 + "▎", "█" * 20]


def test_plain_table() -> None:
    """Numbers to the right, words to the left, a line under the titles and above the total."""
    assert plain_table(TABLE, 80) == [
        "component     parameters    share",
        "-" * 50,
        "embedding    131,072,000   25.0 %  █████",
        "ffn        4,328,521,728   75.0 %  ███████████████",
        "-" * 50,
        "total      4,459,593,728  100.0 %",
    ]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        pytest.param(40, ["embedding    131,072,000   25.0 %", "ffn        4,328,521,728   75.0 %"], id="without-bars"),
        pytest.param(30, ["embedding       131 M   25.0 %", "ffn            4.33 B   75.0 %"], id="scaled"),
        pytest.param(28, ["embedding", "  parameters  131,072,000", "  share       25.0 %"], id="below-each-other"),
    ],
)
def test_narrow_tables(width: int, lines: list[str]) -> None:
    """First the bars go, then numbers are scaled, then each row becomes lines; never is a digit cut."""
    found = plain_table(TABLE, width)
    start = found.index(lines[0])
    assert found[start : start + len(lines)] == lines
    assert max(map(len, found)) <= width


@given(st.lists(st.integers(0, 10**40), min_size=1, max_size=4), st.integers(1, 60))
def test_any_number_at_any_width(numbers: list[int], width: int) -> None:
    """Each number is there whole or scaled, whatever the width."""
    table = Table(("name", "number"), tuple((f"row{i}", n) for i, n in enumerate(numbers)))
    text = "\n".join(plain_table(table, width))
    assert [n for n in numbers if f"{n:,}" not in text and scaled(n) not in text] == []


def test_wrapped() -> None:
    """A line is broken at spaces alone, and what follows is set in; a word that is too long stays whole."""
    assert wrapped("one two three", None) == ["one two three"]
    assert wrapped("one two three", 9) == ["one two", "  three"]
    assert wrapped("1,234,567,890,123 and more", 10) == ["1,234,567,890,123", "  and more"]
    assert wrapped("well-known", 6) == ["well-known"]
    assert wrapped("it is (4.19 B) here", 12) == ["it is", "  (4.19 B)", "  here"]


def test_blank_lines_between_blocks() -> None:
    """Lines stand together; a table stands apart."""
    text = plain([Line("one"), Line("two"), Table(("a",), ((1,),)), Line("three")])
    assert text == "one\ntwo\n\na\n-\n1\n\nthree\n"


def test_a_headline_within_a_document_stands_apart() -> None:
    """What a further headline starts is set off from the notes above it."""
    text = plain([Line("one", headline=True), Line("two"), Line("Formulas", headline=True), Line("a = b")])
    assert text == "one\ntwo\n\nFormulas\na = b\n"


MODELS = Table(("", "gpt2", "llama", "grok"), (("total", 1234567, 89012345, 67890123),), spread=True)


@pytest.mark.parametrize(
    ("table", "width", "titles"),
    [
        pytest.param(MODELS, 24, [("", "gpt2", "llama"), ("", "grok")], id="two"),
        pytest.param(MODELS, 14, [("", "gpt2"), ("", "llama"), ("", "grok")], id="one-each"),
        pytest.param(MODELS, 10, [MODELS.columns], id="none-would-fit"),
        pytest.param(MODELS, None, [MODELS.columns], id="pipe"),
        pytest.param(MODELS._replace(spread=False), 24, [MODELS.columns], id="not-asked-for"),
    ],
)
def test_spread(table: Table, width: int | None, titles: list[tuple[str, ...]]) -> None:
    """Models that are too many for the width go on in a further table, where that helps; no column is lost."""
    assert [part.columns for part in spread([table], width) if isinstance(part, Table)] == titles


def test_a_number_that_heads_its_lines_says_what_it_is() -> None:
    """Rows set as lines: a word stands alone above them, a number with its column's title."""
    table = Table(("d_model", "n_layers"), ((3840, 38), ("small", 12)))
    assert plain_table(table, 10) == ["d_model 3,840", "  n_layers  38", "small", "  n_layers  12"]


def test_markdown() -> None:
    """A headline in bold, numbers to the right, and no character of a name taken for markup."""
    text = markdown([Line("a|b*c", headline=True), Line("plain"), Table(("na|me", "n"), (("x_y", 1234),))])
    assert text == "**a\\|b\\*c**\n\nplain\n\n| na\\|me | n |\n| --- | ---: |\n| x\\_y | 1,234 |\n"


def test_csv() -> None:
    """One header of all columns, numbers unscaled and without separators, texts quoted where they must be."""
    text = to_csv([{"name": 'a "b", c', "n": 10**40}, {"name": "d", "other": None}])
    assert list(csv.reader(io.StringIO(text))) == [["name", "n", "other"], ['a "b", c', str(10**40), ""], ["d", "", ""]]


def test_empty_table() -> None:
    """A table without rows is its titles."""
    assert plain_table(Table(("a", "bc"), ()), None) == ["a  bc", "-----"]
