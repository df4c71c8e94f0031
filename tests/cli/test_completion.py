"""Shell completion: what is offered, that it agrees with Typer, and that it works in a shell."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ffncalc import bundled
from ffncalc.cli.commands import COMMANDS, under
from ffncalc.cli.completion import SCRIPTS, candidates, declared
from ffncalc.cli.lean import load

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three bundled models, whatever the folder holds."""
    monkeypatch.setattr(bundled, "names", lambda: ["gpt2", "llama-7b", "llama-13b"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param([], list(under("")), id="nothing"),
        pytest.param([""], list(under("")), id="commands"),
        pytest.param(["co"], ["compare", "configs", "completion"], id="start-of-a-command"),
        pytest.param(["--v"], ["--version"], id="option-of-ffncalc"),
        pytest.param(["configs", ""], ["gpt2", "llama-7b", "llama-13b"], id="models"),
        pytest.param(["configs", "lla"], ["llama-7b", "llama-13b"], id="start-of-a-model"),
        pytest.param(["configs", "./lla"], [], id="file"),
        pytest.param(["configs", "-"], ["--schema", "--format", "--json", "--help"], id="options"),
        pytest.param(["configs", "gpt2", "--j"], ["--json"], id="option-after-a-model"),
        pytest.param(["configs", "--format", ""], ["table", "json", "csv", "markdown"], id="values"),
        pytest.param(["configs", "--json", "g"], ["gpt2"], id="model-after-a-flag"),
        pytest.param(["diff", "gpt2", "llama-1"], ["llama-13b"], id="second-model"),
        pytest.param(["families", "qwen3_m"], ["qwen3_moe"], id="families"),
        pytest.param(["completion", ""], ["bash", "zsh", "fish"], id="shells"),
        pytest.param(["nothing", ""], [], id="unknown-command"),
    ],
)
def test_candidates(words: list[str], expected: list[str]) -> None:
    """What may stand at the cursor, in order."""
    assert candidates(words) == expected


def test_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group offers its own commands, and a command of it is looked up under both words."""
    monkeypatch.setitem(COMMANDS, "games", "Games.")
    monkeypatch.setitem(COMMANDS, "games zeros", "Count zeros.")
    assert candidates(["games", ""]) == ["zeros"]
    assert candidates(["games", "zeros", "--"]) == ["--help"]


@pytest.mark.parametrize("name", [name for name in COMMANDS if not under(name)])
def test_declarations_are_those_of_typer(name: str) -> None:
    """Options, metavars and the argument as read off the source are those that Typer was given."""
    params: list[Any] = load(name).params
    options = {
        opt: "" if param.is_flag else param.metavar
        for param in params
        if param.param_type_name == "option"
        for opt in (*param.opts, *param.secondary_opts)
    }
    arguments = [param.metavar for param in params if param.param_type_name == "argument"]
    found, positional = declared(name)
    assert (found, positional) == (options, arguments[0] if arguments else "")


@pytest.fixture
def shell_env(tmp_path: Path) -> dict[str, str]:
    """An environment whose `ffncalc` is this checkout's."""
    script = tmp_path / "ffncalc"
    script.write_text(f"#!{sys.executable}\nfrom ffncalc.cli import main\nmain()\n")
    script.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}


def test_typer_is_not_imported(shell_env: dict[str, str]) -> None:
    """Completion is answered before Typer is imported, options and model names too."""
    env = shell_env | {"FFNCALC_COMPLETE": "bash", "PYTHONPROFILEIMPORTTIME": "1"}
    result = subprocess.run(["ffncalc", "configs", "--"], env=env, check=True, capture_output=True, text=True)
    assert result.stdout == "--schema\n--format\n--json\n--help\n"
    assert "ffncalc.cli.completion" in result.stderr
    assert "typer" not in result.stderr


BASH = """
eval "$(ffncalc completion bash)"
COMP_WORDS=(ffncalc {words}) COMP_CWORD={at}
_ffncalc ffncalc
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
autoload -U compinit; compinit -u -D
compadd() {{ print -l -- $found }}
eval "$(ffncalc completion zsh)"
words=(ffncalc {words}) CURRENT={at}+1
_ffncalc
"""
FISH = """
ffncalc completion fish | source
complete -C "ffncalc {words}" | string replace -r '\\t.*' ''
"""
TRIED = {"bash": BASH, "zsh": ZSH, "fish": FISH}


@pytest.mark.parametrize("shell", TRIED)
@pytest.mark.parametrize(
    ("words", "at", "expected"),
    [
        pytest.param("comp", 1, ["compare", "completion"], id="command"),
        pytest.param("configs --f", 2, ["--format"], id="option"),
        pytest.param("configs --format ma", 3, ["markdown"], id="value"),
    ],
)
def test_in_the_shell(shell: str, words: str, at: int, expected: list[str], shell_env: dict[str, str]) -> None:
    """The printed script completes in its shell."""
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    script = TRIED[shell].format(words=words, at=at)
    result = subprocess.run([shell, "-c", script], env=shell_env, check=False, capture_output=True, text=True)
    assert (sorted(result.stdout.split()), result.stderr) == (sorted(expected), "")


@pytest.mark.parametrize("shell", SCRIPTS)
def test_script_is_short(shell: str) -> None:
    """A script says in its first lines where to put it, and leaves the work to ffncalc."""
    lines = SCRIPTS[shell].splitlines()
    assert f"completion {shell}" in "\n".join(lines[:2])
    assert len(lines) <= 15
