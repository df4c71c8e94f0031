"""YAML and JSON texts: what they hold, and what is refused with its place."""

import math
import re
from typing import Any

import pytest

from ffncalc.errors import InputError
from ffncalc.text import MAX_BYTES, Misread, parse

BOMB = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("4096", 4096, id="int"),
        pytest.param("4_096", 4096, id="underscores"),
        pytest.param("+5", 5, id="plus"),
        pytest.param("-5", -5, id="minus"),
        pytest.param("0", 0, id="zero"),
        pytest.param("9" * 40, int("9" * 40), id="huge"),
        pytest.param("1.3", 1.3, id="fraction"),
        pytest.param(".5", 0.5, id="no-leading-zero"),
        pytest.param("1.0e+3", 1000.0, id="exponent"),
        pytest.param("", None, id="empty"),
        pytest.param("~", None, id="tilde"),
        pytest.param("null", None, id="null"),
        pytest.param("true", True, id="true"),
        pytest.param("off", False, id="off"),
        pytest.param("'4096'", "4096", id="quoted"),
        pytest.param('"true"', "true", id="double-quoted"),
        pytest.param("4096  # wide", 4096, id="comment"),
        pytest.param("2024-01-01", "2024-01-01", id="no-dates"),
        pytest.param("8/3", "8/3", id="word"),
        pytest.param("[1, 2]", [1, 2], id="list"),
        pytest.param("{b: {c: 1}}", {"b": {"c": 1}}, id="mapping"),
        pytest.param("&x [1, 2]\nb: *x", [1, 2], id="alias"),
        pytest.param("|\n  two\n  lines\n", "two\nlines\n", id="block"),
    ],
)
def test_yaml_values(text: str, value: Any) -> None:
    """A value is what it looks like, and has that very type."""
    found = parse(f"a: {text}", "x.yaml").values["a"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["1e4", "1.0e4", "1e+4", "1E4", "1e400"])
def test_numbers_that_yaml_reads_as_text(text: str) -> None:
    """YAML reads these as text; they are kept apart from other text, so that a message can say so."""
    found = parse(f"a: {text}", "x.yaml").values["a"]
    assert (found, type(found)) == (text, Misread)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: 1\nb: 2\na: 3", "line 3, column 1: key 'a' stands twice; leave one of them", id="duplicate"),
        pytest.param("a: {b: 1, b: 2}", "line 1, column 11: key 'b' stands twice", id="duplicate-inside"),
        pytest.param("- {c: 1, 'c': 2}", "line 1, column 10: key 'c' stands twice", id="duplicate-in-list"),
        pytest.param(
            "a: 010", "line 1, column 4: 010 does not read the same everywhere; write a plain decimal", id="octal"
        ),
        pytest.param("a: 1:30", "line 1, column 4: 1:30 does not read the same everywhere", id="sexagesimal"),
        pytest.param("a: 0x10", "line 1, column 4: 0x10 does not read the same everywhere", id="hexadecimal"),
        pytest.param("a: 0b11", "line 1, column 4: 0b11 does not read the same everywhere", id="binary"),
        pytest.param("a: .nan", "line 1, column 4: .nan does not read the same everywhere", id="nan"),
        pytest.param("a: -.inf", "line 1, column 4: -.inf does not read the same everywhere", id="infinity"),
        pytest.param("a: " + "9" * 1001, "line 1, column 4: a number of more digits than can be read", id="digits"),
        pytest.param("a: [1, 2", "line 2, column 1: not YAML: did not find expected ',' or ']'", id="unclosed"),
        pytest.param("a: b: c", "line 1, column 5: not YAML: mapping values are not allowed", id="two-colons"),
        pytest.param("a:\n\t- 1", "line 2, column 1: not YAML: found character that cannot start any token", id="tab"),
        pytest.param("a: 1\n b: 2", "line 2, column 3: not YAML", id="indent"),
        pytest.param("a: 'x\n", "not YAML: found unexpected end of stream", id="open-quote"),
        pytest.param("a: 1\x07", "not YAML: control characters are not allowed", id="control-character"),
        pytest.param(
            "a: 1\n---\nb: 2", "line 2, column 1: a second document; one file holds one config", id="second-document"
        ),
        pytest.param(
            "a: !!int 5", "line 1, column 4: the tag tag:yaml.org,2002:int is not used here; remove it", id="tag"
        ),
        pytest.param("!!python/object:os.system {}", "line 1, column 1: the tag", id="python-tag"),
        pytest.param("a: !mine 5", "line 1, column 4: the tag !mine is not used here", id="own-tag"),
        pytest.param("a: *x", "line 1, column 4: the alias *x has no anchor before it", id="no-anchor"),
        pytest.param("a: &x {b: *x}", "the alias *x has no anchor before it", id="alias-of-itself"),
        pytest.param("1: 2", "line 1, column 1: a key must be a name, and this is 1", id="number-for-key"),
        pytest.param("? [1, 2]\n: 3", "line 1, column 3: a key must be a name, and this is [1, 2]", id="list-for-key"),
        pytest.param("a: " + "[" * 50 + "]" * 50, "nested too deeply; a config has a few levels", id="nested"),
        pytest.param("a: " + "{b: " * 100_000, "nested too deeply", id="nesting-bomb"),
        pytest.param(BOMB, "more than 250,000 values, aliases written out", id="alias-bomb"),
    ],
)
def test_yaml_that_is_refused(text: str, message: str) -> None:
    """One short message with the file, and the line and column from 1."""
    with pytest.raises(InputError, match=re.escape(message)) as error:
        parse(text, "x.yaml", as_json=False)
    assert str(error.value).startswith("x.yaml: ")
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param('{"a": 1, "b": 2, "a": 3}', "key 'a' stands twice; leave one of them", id="duplicate"),
        pytest.param('{"a": [{"b": 1, "b": 2}]}', "key 'b' stands twice", id="duplicate-inside"),
        pytest.param('{"a": 1,\n "b": }', "line 2, column 7: not JSON: Expecting value", id="no-value"),
        pytest.param('{"a": 1,}', "not JSON", id="comma"),
        pytest.param('{"a": 010}', "line 1, column 8: not JSON", id="leading-zero"),
        pytest.param('{"a": 1} {"b": 2}', "line 1, column 10: not JSON: Extra data", id="second-document"),
        pytest.param("", "line 1, column 1: not JSON: Expecting value", id="empty"),
        pytest.param("[" * 100_000 + "]" * 100_000, "nested too deeply", id="nesting-bomb"),
        pytest.param('{"a": ' + "9" * 1001 + "}", "a number of more digits than can be read", id="digits"),
    ],
)
def test_json_that_is_refused(text: str, message: str) -> None:
    """JSON's errors read as YAML's do."""
    with pytest.raises(InputError, match=re.escape(message)) as error:
        parse(text, "config.json", as_json=True)
    assert str(error.value).startswith("config.json: ")


def test_json_numbers() -> None:
    """Whole numbers are exact; what JSON has no word for is left for a size's own check to refuse."""
    found = parse('{"a": 1e4, "b": 123456789012345678901234567890, "c": NaN, "d": -Infinity}', "x", as_json=True).values
    assert (found["a"], found["b"], found["d"]) == (1e4, 123456789012345678901234567890, -math.inf)
    assert math.isnan(found["c"])


@pytest.mark.parametrize("text", ["\ufeffa: 1", '\ufeff{"a": 1}'], ids=["yaml", "json"])
def test_byte_order_mark(text: str) -> None:
    """A byte order mark in front is no part of the text."""
    assert parse(text, "x").values == {"a": 1}


@pytest.mark.parametrize(
    ("text", "is_json"),
    [('{"a": }', True), ("[1", True), ("{a: 1", False), ("a: [1", False)],
    ids=["json", "list", "flow", "block"],
)
def test_kind_of_a_text_without_a_name(text: str, is_json: bool) -> None:
    """Text from standard input is JSON where it begins like JSON, and YAML otherwise."""
    with pytest.raises(InputError, match="not JSON" if is_json else "not YAML"):
        parse(text, "stdin")


def test_places() -> None:
    """Each key's line and column are kept by its path, from 1."""
    found = parse("a: 1\nb:\n  c: [x, {d: 2}]\n", "x.yaml").places
    places = {path: place for path, place in found.items() if isinstance(path[-1], str)}
    assert places == {("a",): (1, 1), ("b",): (2, 1), ("b", "c"): (3, 3), ("b", "c", 1, "d"): (3, 11)}


def test_nothing() -> None:
    """A text without anything is nothing, and no error yet."""
    assert [parse(text, "x", as_json=False).values for text in ("", "# a comment\n", "---\n")] == [None, None, None]
    assert MAX_BYTES == 16 * 2**20
