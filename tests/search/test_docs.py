"""docs/sizing.md: its commands run, and its Python block's assertions hold."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "sizing.md").read_text(encoding="utf-8")
COMMANDS = [line[2:] for block in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(ffncalc: Callable[..., Any], command: str) -> None:
    """Each command line answers; the one that is to fail says what binds."""
    done = ffncalc(*re.split(r" 2>| \|", command)[0].split()[1:])
    if "2>&1" in command:
        assert (done.code, "what binds" in done.err) == (2, True)
    else:
        assert done.code == 0
        assert done.out


def test_python_block() -> None:
    """The example runs, its assertions included."""
    (block,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(block, "sizing.md", "exec"), {})
