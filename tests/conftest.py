"""What many tests start from: a file of one's own, its model, and the command line in this very process."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings

from ffncalc.cli import start
from ffncalc.loading import load
from ffncalc.model import Model

# The same examples on every run and no deadline: a busy machine must not decide whether a change lands.
settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.load_profile("steady")

Write = Callable[..., str]


class Result(NamedTuple):
    """What a command line did."""

    code: int
    out: str
    err: str


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a text (or bytes) to a file and give its path."""

    def to(text: str | bytes, name: str = "own.yaml") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return to


@pytest.fixture
def own(write: Write) -> Callable[[str], Model]:
    """The model of a YAML text."""
    return lambda text: load(write(text))


@pytest.fixture
def ffncalc(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run `ffncalc ARGS` without a process of its own: its exit code, and what it wrote."""
    monkeypatch.setattr(start, "prepare_signals", lambda: None)
    for name in ("NO_COLOR", "COLUMNS", "FFNCALC_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def run(*args: str) -> Result:
        try:
            code = start.run([str(arg) for arg in args])
        except Exception as error:
            code = start.explain(error)
        return Result(code, *capsys.readouterr())

    return run
