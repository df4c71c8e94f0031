"""Whole outputs, as a person sees them: on terminals of several widths, in a pipe, without colour, in ASCII.

The texts are in expected/. After a change that was meant, `UPDATE_EXPECTED=1 pytest tests/render` writes them anew;
look at the difference before it is kept.
"""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ffncalc.cli import start
from ffncalc.render.document import scaled

EXPECTED = Path(__file__).parent / "expected"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
COMMANDS = {
    "params": ("params", "gpt-oss-20b"),
    "params-stored": ("params", "deepseek-v3"),
    "params-explain": ("params", "gpt2", "--explain"),
    "flops": ("flops", "llama-7b", "--tokens", "1T", "--causal"),
    "flops-two-stacks": ("flops", "t5-base", "--source-len", "77", "--seq-len", "33", "--batch", "3"),
    "hidden-dim": ("hidden-dim", "8192", "--multiple-of", "4096", "--multiplier", "1.3"),
    "compare": ("compare", "gpt2", "llama-7b", "llama-3-70b", "deepseek-v3"),
}
WIDTHS = (40, 80, 100, 200)
Show = Callable[..., str]


@pytest.fixture
def show(ffncalc: Any, monkeypatch: pytest.MonkeyPatch) -> Show:
    """What `ffncalc ARGS` writes: on a terminal that is `width` wide, or in a pipe (None)."""

    def run(*args: str, width: int | None = None) -> str:
        if width:
            monkeypatch.setenv("COLUMNS", str(width))
            monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
            monkeypatch.setenv("TERM", "xterm-256color")
        result = ffncalc(*args)
        assert (result.code, result.err) == (0, "")
        return str(result.out)

    return run


def hold(text: str, name: str) -> None:
    """Hold a text against the file of that name."""
    file = EXPECTED / f"{name}.txt"
    if os.environ.get("UPDATE_EXPECTED"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def without_trailing_blanks(text: str) -> str:
    """Lines without the blanks that fill a terminal's table."""
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", COMMANDS)
def test_on_a_terminal(show: Show, command: str, width: int) -> None:
    """The whole output in colour; no line is wider than the terminal, but for a table's row set as lines of its own."""
    text = show(*COMMANDS[command], width=width)
    assert COLOUR.search(text)
    plain = without_trailing_blanks(COLOUR.sub("", text))
    hold(plain, f"{command}-{width}")
    assert [line for line in plain.splitlines() if len(line) > width and not re.match(r"  [a-z]+ ", line)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_in_a_pipe(show: Show, command: str) -> None:
    """Plain text at its natural width: no colour, no bars, every number whole."""
    text = show(*COMMANDS[command])
    assert not re.search(r"[\x1b█▌]", text)
    hold(text, f"{command}-pipe")


@pytest.mark.parametrize("command", COMMANDS)
def test_in_markdown(show: Show, command: str) -> None:
    """GitHub's Markdown, every number whole."""
    hold(show(*COMMANDS[command], "--format", "markdown"), f"{command}-markdown")


@pytest.mark.parametrize("variable", [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_without_colour(show: Show, monkeypatch: pytest.MonkeyPatch, variable: tuple[str, str]) -> None:
    """NO_COLOR, or a terminal that can't: the same words and bars at the same width, and not one escape."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv(*variable)
    text = show(*COMMANDS["params"])
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    hold(text, "params-no-color-80")


@pytest.mark.parametrize("command", COMMANDS)
def test_in_ascii(show: Show, command: str) -> None:
    """Where the locale has ASCII only, every character has a spelling, none is lost, and the columns still line up."""
    text = show(*COMMANDS[command])
    spelled = "".join(char if char.isascii() else start.ascii_form(char) for char in text)
    assert "?" not in spelled.replace("?", "", text.count("?"))
    hold(spelled, f"{command}-ascii")


def whole_numbers(data: Any) -> set[int]:
    """All numbers of a JSON that a table shows."""
    if isinstance(data, dict):
        return set().union(
            *(whole_numbers(v) for k, v in data.items() if k not in ("schema", "rules_of_thumb", "layers"))
        )
    return {data} if isinstance(data, int) and not isinstance(data, bool) else set()


@pytest.mark.parametrize("model", ["llama-7b", "deepseek-v3", "t5-11b"])
@pytest.mark.parametrize("command", ["params", "flops"])
def test_no_digit_is_cut(show: Show, ffncalc: Any, command: str, model: str) -> None:
    """At every width each number stands there whole, or scaled with its unit; nothing ends in an ellipsis."""
    data = json.loads(ffncalc(command, model, "--json").out)
    numbers = whole_numbers(data["params" if command == "params" else "per_token"])
    for width in (20, 30, 45, 60, 70, 85, 120, 250):
        text = COLOUR.sub("", show(command, model, width=width))
        joined = " ".join(text.split())
        missing = [n for n in numbers if f"{n:,}" not in joined and scaled(n) not in joined and n]
        assert missing == [], width
        assert "…" not in text


@pytest.mark.parametrize("width", [None, *WIDTHS])
def test_numbers_are_aligned(show: Show, width: int | None) -> None:
    """The last digits of a column of numbers stand under each other."""
    lines = COLOUR.sub("", show("params", "llama-7b", width=width)).splitlines()
    if width == 40:
        return
    first = next(i for i, line in enumerate(lines) if line.startswith("component"))
    ends = {m.end() for line in lines[first + 1 : first + 11] for m in [re.search(r"[\d,]+\d(?= +[<\d])", line)] if m}
    assert len(ends) == 1
