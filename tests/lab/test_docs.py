"""docs/lab.md can be followed: every command runs, every block is what is printed. As a script: updates it."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "lab.md"
TEXT = PAGE.read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    """The fenced blocks of one kind."""
    return re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines()]


def output(command: str) -> str:
    """What a command line of the page prints in a pipe."""
    script = f'ffncalc() {{ "{sys.executable}" -m ffncalc "$@"; }}; {command}'
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, env=env, check=False, encoding="utf-8", cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def fresh(block: str) -> str:
    """A console block with each command's present output."""
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "\n".join(f"{command}\n{output(command[2:]).rstrip()}\n" for command in commands)


def test_every_command_runs(ffncalc, tmp_path, monkeypatch):
    """Each command of the page ends well and says something, in the page's order."""
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) > 25
    for line in COMMANDS:
        name, *args = line.split()
        assert name == "ffncalc"
        result = ffncalc(*args)
        assert (result.code, result.err, bool(result.out)) == (0, "", True), line


@pytest.mark.parametrize("block", blocks("console"), ids=lambda block: block.splitlines()[0])
def test_console_blocks_are_what_is_printed(block):
    """Below each command stands what it prints."""
    assert block == fresh(block)


@pytest.mark.parametrize("block", blocks("python"), ids=range(len(blocks("python"))))
def test_exercises_hold(block):
    """Every Python block runs, its assertions included."""
    exec(compile(block, "docs/lab.md", "exec"), {})


if __name__ == "__main__":
    PAGE.write_text(
        re.sub(r"(?<=```console\n).*?(?=```)", lambda found: fresh(found[0]), TEXT, flags=re.DOTALL), encoding="utf-8"
    )
