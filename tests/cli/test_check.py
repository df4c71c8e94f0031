"""`ffncalc check` and `--assert`: exit codes, what is printed where, the baseline, the definitions for CI systems."""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ffncalc.text import parse

Run = Callable[..., Any]
Write = Callable[..., str]
ROOT = Path(__file__).parents[2]
OWN = "family: llama\nname: own\nd_model: 64\nn_layers: 3\nn_heads: 4\nd_ff: 192\nn_vocab: 100\n"
CHECKS = """checks:
  - model: own.yaml
    params.total: {max: 200k}
    dims.d_ff: {multiple_of: 64}
"""


@pytest.fixture
def files(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model and its checks, which is also the working folder."""
    write(OWN, "own.yaml")
    write(CHECKS, "checks.yaml")
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_WORKSPACE", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def grow(folder: Path) -> None:
    """Make the model too wide for its checks."""
    (folder / "own.yaml").write_text(OWN.replace("192", "200"))


def test_all_hold(ffncalc: Run, files: Path) -> None:
    """Exit code 0 and a table."""
    assert ffncalc("check", "checks.yaml") == (
        0,
        """2 checks hold

    model     check                       found
-----------------------------------------------
ok  own.yaml  params.total max 200k     172,992
ok  own.yaml  dims.d_ff multiple_of 64      192
""",
        "",
    )


def test_one_fails(ffncalc: Run, files: Path) -> None:
    """Exit code 1, the table with the reason below, and one line on standard error."""
    grow(files)
    code, out, err = ffncalc("check", "checks.yaml")
    assert (code, err) == (1, "ffncalc: check failed: 1 of 2\n")
    assert out.splitlines()[0] == "1 of 2 checks failed"
    assert out.splitlines()[-1] == "checks.yaml:4: own.yaml: dims.d_ff % 64 is 8, wanted == 0"


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "junit", "github", "sarif"])
def test_forms(ffncalc: Run, files: Path, form: str) -> None:
    """Every form says the same, with the same exit code."""
    grow(files)
    code, out, err = ffncalc("check", "checks.yaml", "--format", form)
    assert (code, err) == (1, "ffncalc: check failed: 1 of 2\n")
    if form in ("json", "sarif"):
        assert json.loads(out)
    elif form == "junit":
        assert ET.fromstring(out).get("failures") == "1"
    elif form == "github":
        place, message = "file=checks.yaml,line=4,col=17", "own.yaml: dims.d_ff %25 64 is 8, wanted == 0"
        assert out.startswith(f"::error {place},title=own.yaml%3A dims.d_ff multiple_of 64::{message}\n")
        assert "1 of 2 checks failed" in out
    assert "dims.d" in out


def test_several_files(ffncalc: Run, files: Path, write: Write) -> None:
    """The checks of all files, one exit code; an error in the last leaves nothing printed."""
    write(CHECKS, "two.yaml")
    assert ffncalc("check", "checks.yaml", "two.yaml").out.startswith("4 checks hold")
    write("", "two.yaml")
    assert ffncalc("check", "checks.yaml", "two.yaml")[:2] == (2, "")


def test_nothing_to_check(ffncalc: Run, files: Path) -> None:
    """No file, a file that isn't there, two formats at once: exit code 2."""
    assert "no checks file was given" in ffncalc("check").err
    assert ffncalc("check", "none.yaml") == (
        2,
        "",
        "ffncalc: error: none.yaml: can't be read: No such file or directory\n",
    )
    assert ffncalc("check", "checks.yaml", "--json", "--format", "junit").code == 2
    assert "did you mean junit?" in ffncalc("check", "checks.yaml", "--format", "junt").err


def test_strict(ffncalc: Run, files: Path) -> None:
    """A warning about a model is a warning, and with --strict an error."""
    (files / "own.yaml").write_text(OWN + "odd: 1\n")
    assert ffncalc("check", "checks.yaml")[::2] == (
        0,
        "ffncalc: warning: own.yaml: line 8, column 1: key 'odd' was not read\n",
    )
    assert ffncalc("check", "checks.yaml", "--strict")[:2] == (2, "")


def test_schema(ffncalc: Run, files: Path) -> None:
    """--schema prints the schema and takes no file."""
    assert json.loads(ffncalc("check", "--schema").out)["title"] == "ffncalc checks"
    assert ffncalc("check", "checks.yaml", "--schema").code == 2


# ------------------------------------------------------------------ the baseline
def test_record(ffncalc: Run, files: Path, write: Write) -> None:
    """The numbers of today are written once, the same bytes each time, and hold until something moves."""
    two = "    params.ffn: {same_as: baseline, at_most: 1.03 × baseline}\n"
    other = "  - {model: gpt2, seq_len: 1k, flops.total.total: {same_as: baseline}}\n"
    write(CHECKS + two + other, "checks.yaml")
    assert "write it with: ffncalc check --record checks.yaml" in ffncalc("check", "checks.yaml").err
    assert ffncalc("check", "--record", "checks.yaml") == (0, "checks.baseline.json: the numbers of 2 models\n", "")
    first = (files / "checks.baseline.json").read_bytes()
    assert list(json.loads(first)["models"]) == ["gpt2 (seq_len 1000)", "own.yaml"]
    ffncalc("check", "--record", "checks.yaml")
    assert (files / "checks.baseline.json").read_bytes() == first
    assert ffncalc("check", "checks.yaml").code == 0
    grow(files)
    code, out, _ = ffncalc("check", "checks.yaml")
    assert (code, out.splitlines()[-1]) == (
        1,
        "checks.yaml:5: own.yaml: params.ffn is 115,200, wanted <= 113,909.76 (+1.1 %) (at_most 1.03 × baseline)",
    )


def test_record_overwrites_nothing_else(ffncalc: Run, files: Path, write: Write) -> None:
    """A file that is no baseline stays, and a model is none."""
    write('{"model_type": "llama"}', "checks.baseline.json")
    assert "holds something else than a baseline" in ffncalc("check", "--record", "checks.yaml").err
    write(f"baseline: gpt2\n{CHECKS}", "checks.yaml")
    assert "baseline 'gpt2' is a model" in ffncalc("check", "--record", "checks.yaml").err


def test_a_model_that_was_not_recorded(ffncalc: Run, files: Path, write: Write) -> None:
    """A model that the baseline lacks is an error that says how to record it."""
    ffncalc("check", "--record", "checks.yaml")
    write("checks: [{model: gpt2, params.ffn: {same_as: baseline}}]\n", "checks.yaml")
    assert "has no 'gpt2'; record it with" in ffncalc("check", "checks.yaml").err


# ------------------------------------------------------------------ --assert
@pytest.mark.parametrize(
    ("args", "code", "err"),
    [
        (["params", "own.yaml", "--assert", "total < 200k", "--assert", "d_ff % 64 == 0"], 0, ""),
        (
            ["params", "own.yaml", "--assert", "total < 100k"],
            1,
            "own: total is 172,992, wanted < 100,000 (+73 %) (total < 100k)",
        ),
        (
            ["params", "own.yaml", "gpt2", "--assert", "d_ff == 192"],
            1,
            "gpt2: d_ff is 3,072, wanted == 192 (d_ff == 192)",
        ),
        (
            [
                "flops",
                "own.yaml",
                "--seq-len",
                "1",
                "--assert",
                "head == 12_800",
                "--assert",
                "per_token.head == total.head",
            ],
            0,
            "",
        ),
        (
            ["flops", "own.yaml", "--seq-len", "2", "--assert", "total == per_token.total"],
            1,
            "own: total is 667,648, wanted == 333,824",
        ),
        (["flops", "own.yaml", "--assert", "crossover_seq_len > 1e6"], 1, "own: crossover_seq_len is"),
        (["hidden-dim", "4096", "--assert", "d_ff == 11008"], 0, ""),
        (["hidden-dim", "4096", "--assert", "d_ff == 11007"], 1, "d_ff is 11,008, wanted == 11,007 (d_ff == 11007)"),
        (
            ["params", "own.yaml", "--assert", "totl > 1"],
            2,
            "totl of own is no number that ffncalc reports; did you mean total?",
        ),
        (["params", "own.yaml", "--assert", "total"], 2, "nothing is compared"),
        (["params", "own.yaml", "--assert", ""], 2, "a number or a name is expected"),
        (["params", "own.yaml", "--assert"], 2, "option '--assert' requires an argument"),
    ],
)
def test_assert(ffncalc: Run, files: Path, args: list[str], code: int, err: str) -> None:
    """The results as without it, then what doesn't hold; an assertion that can't be decided leaves nothing printed."""
    result = ffncalc(*args)
    assert (result.code, err in result.err) == (code, True), result.err
    plain = [arg for i, arg in enumerate(args) if arg != "--assert" and args[i - 1] != "--assert"]
    assert result.out == ("" if code == 2 else ffncalc(*plain).out)


# ------------------------------------------------------------------ the definitions for CI systems
@pytest.fixture
def tool(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which `ffncalc` is a command, and nothing else of this one is."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "ffncalc"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from ffncalc.cli import main; main()" "$@"\n')
    script.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(folder), "LANG": "C"}


def git(folder: Path, *args: str) -> None:
    """Run git in a folder, as nobody in particular."""
    names = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *names, *args], cwd=folder, check=True, capture_output=True)


def shell(script: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A step of a composite action as its runner does it."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=60)


def test_action(files: Path, tool: dict[str, str]) -> None:
    """The action's own steps: a model that grew fails with an annotation on the line of the check, and a summary."""
    action = parse((ROOT / "action.yml").read_text(), "action.yml").values
    steps = {step["name"]: step["run"] for step in action["runs"]["steps"] if "run" in step}
    env = tool | {
        "FILES": "checks.yaml",
        "GITHUB_STEP_SUMMARY": str(files / "summary.md"),
        "GITHUB_WORKSPACE": str(files.parent),
    }
    assert shell(steps["Check"], files, env).returncode == 0
    grow(files)
    done = shell(steps["Check"], files, env)
    assert done.returncode == 1
    assert done.stdout.startswith(f"::error file={files.name}/checks.yaml,line=4,col=17,")
    assert "| FAILED | own.yaml |" in (files / "summary.md").read_text()
    assert shell(steps["Check"], files, env | {"FILES": "none.yaml"}).returncode == 2


def test_action_takes_no_script_from_its_inputs(files: Path, tool: dict[str, str]) -> None:
    """An input is never pasted into a script, and names are split as a shell's words, not run."""
    text = (ROOT / "action.yml").read_text()
    runs = [step.get("run", "") for step in parse(text, "action.yml").values["runs"]["steps"]]
    assert not any("${{" in run for run in runs)
    env = tool | {"FILES": "$(touch pwned) `touch pwned`", "GITHUB_STEP_SUMMARY": str(files / "summary.md")}
    steps = {step["name"]: step["run"] for step in parse(text, "action.yml").values["runs"]["steps"] if "run" in step}
    assert shell(steps["Check"], files, env).returncode == 2
    assert not (files / "pwned").exists()


def hook() -> dict[str, Any]:
    """The one hook of the project's definition."""
    (found,) = parse((ROOT / ".pre-commit-hooks.yaml").read_text(), "hooks").values
    return dict(found)


def test_hook_as_its_runner_does(files: Path, tool: dict[str, str]) -> None:
    """The hook's entry with the files that match, as `language: system` runs it: 0, then 1 when the model has grown."""
    command = [*hook()["entry"].split(), *hook().get("args", []), "checks.yaml"]
    assert subprocess.run(command, cwd=files, env=tool, check=False, capture_output=True).returncode == 0
    grow(files)
    assert subprocess.run(command, cwd=files, env=tool, check=False, capture_output=True).returncode == 1


@pytest.mark.skipif(not shutil.which("pre-commit"), reason="pre-commit is not installed")
def test_hook_in_pre_commit(files: Path, tool: dict[str, str]) -> None:
    """The same by pre-commit itself, with the installed tool and without the network."""
    local = {"repos": [{"repo": "local", "hooks": [{**hook(), "language": "system"}]}]}
    (files / ".pre-commit-config.yaml").write_text(json.dumps(local))
    git(files, "init")
    git(files, "add", ".")
    env = os.environ | tool | {"PATH": f"{tool['PATH']}:{os.path.dirname(str(shutil.which('pre-commit')))}"}
    command = ["pre-commit", "run", "--all-files"]
    assert subprocess.run(command, cwd=files, env=env, check=False, capture_output=True).returncode == 0
    grow(files)
    done = subprocess.run(command, cwd=files, env=env, check=False, capture_output=True, text=True)
    assert (done.returncode, "1 of 2 checks failed" in done.stdout) == (1, True)
