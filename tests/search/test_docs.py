"""docs/sizing.md shows what the commands print; `python tests/search/test_docs.py` rewrites what has changed."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "sizing.md"
CONSOLE = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)


def fresh(block: str) -> str:
    """A console block with each command's present output."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "\n".join(f"$ {command}\n{output(command).rstrip()}\n" for command in commands)


def output(command: str) -> str:
    """What a command line of the page prints in a pipe."""
    script = f'ffncalc() {{ "{sys.executable}" -m ffncalc "$@"; }}; {command}'
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=env, check=False, encoding="utf-8"
    )
    return done.stdout


def test_console_blocks_are_what_the_commands_print() -> None:
    """Every command shown prints what stands below it."""
    for block in CONSOLE.findall(PAGE.read_text(encoding="utf-8")):
        assert fresh(block) == block


def test_python_block() -> None:
    """The example runs, its assertions included."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(block, "sizing.md", "exec"), {})


if __name__ == "__main__":
    PAGE.write_text(CONSOLE.sub(lambda found: fresh(found[0]), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
