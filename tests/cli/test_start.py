"""The process around a command: exit codes, streams, signals, and what is imported when."""

import os
import pty
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from ffncalc import __version__

ROOT = Path(__file__).parents[2]
UNSET = {
    "FORCE_COLOR",
    "NO_COLOR",
    "COLUMNS",
    "FFNCALC_DEBUG",
    "PYTHONUNBUFFERED",
}  # colours, and what hides a lost buffer
ENV = {key: value for key, value in os.environ.items() if key not in UNSET}
START = "from ffncalc.cli import main; main()"
# A command that does what a test says: the body of a fake configs_command module, put in place before main() runs.
FAKE = (
    """
import sys, types
from ffncalc.errors import CheckFailed, InputError
module = types.ModuleType("ffncalc.cli.configs_command")
def command():
    "Do what the test says."
{body}
module.command = command
sys.modules[module.__name__] = module
"""
    + START
)


def run(*args: str, code: str = START, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run `ffncalc ARGS` in a process of its own, in the checkout, without what a CI sets for colours."""
    env = ENV | options.pop("env", {})
    command = [sys.executable, "-c", code, *args]
    settings: dict[str, Any] = {"capture_output": True, "encoding": "utf-8", "errors": "replace"} | options
    return subprocess.run(command, env=env, cwd=ROOT, check=False, timeout=60, **settings)


def fake(body: str, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run `ffncalc configs` with a command that has this body."""
    return run("configs", code=FAKE.format(body=textwrap.indent(body, "    ")), **options)


def test_version() -> None:
    """`--version` is the name and the package's literal version, and nothing else."""
    result = run("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"ffncalc {__version__}\n", "")


def test_module_is_the_command() -> None:
    """`python -m ffncalc` runs the same entry point."""
    command = [sys.executable, "-m", "ffncalc", "--version"]
    assert (
        subprocess.run(command, cwd=ROOT, env=ENV, check=True, capture_output=True, text=True).stdout
        == f"ffncalc {__version__}\n"
    )


@pytest.mark.parametrize(
    ("body", "code", "stdout", "stderr"),
    [
        pytest.param("print('done')", 0, "done\n", "", id="fine"),
        pytest.param("return 1", 1, "", "", id="returned-code"),
        pytest.param("raise InputError('no d_ff in x.yaml')", 2, "", "ffncalc: error: no d_ff in x.yaml\n", id="input"),
        pytest.param("raise CheckFailed('too big')", 1, "", "ffncalc: error: too big\n", id="check"),
        pytest.param("raise InputError('a\\x1b[31m')", 2, "", "ffncalc: error: a\\x1b[31m\n", id="control-character"),
        pytest.param("open('/nowhere/x')", 2, "", "ffncalc: error: /nowhere/x: No such file or directory\n", id="os"),
        pytest.param(
            "raise ValueError('two\\nlines')",
            3,
            "",
            "ffncalc: internal error: ValueError: two (please report it, with the command)\n",
            id="bug",
        ),
        pytest.param("raise KeyboardInterrupt", 130, "", "", id="ctrl-c"),
    ],
)
def test_exit_code(body: str, code: int, stdout: str, stderr: str) -> None:
    """Each way a command can end has its exit code and its one line."""
    result = fake(body)
    assert (result.returncode, result.stdout, result.stderr) == (code, stdout, stderr)


def test_debug_shows_where() -> None:
    """With FFNCALC_DEBUG the traceback of a bug is shown, and the exit code stays."""
    result = fake("raise ValueError('odd')", env={"FFNCALC_DEBUG": "1"})
    assert result.returncode == 3
    assert "Traceback" in result.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(["parms"], "no command 'parms': did you mean 'params'? (see 'ffncalc --help')", id="command"),
        pytest.param(["zzz"], "no command 'zzz' (see 'ffncalc --help')", id="no-near-command"),
        pytest.param(
            ["configs", "--jsn"],
            "no such option: --jsn: did you mean --json? (see 'ffncalc configs --help')",
            id="option",
        ),
        pytest.param(["--jsn"], "no such option: --jsn (see 'ffncalc --help')", id="no-near-option"),
        pytest.param(
            ["configs", "--format"],
            "option '--format' requires an argument (see 'ffncalc configs --help')",
            id="no-value",
        ),
        pytest.param(
            ["configs", "gpt2", "d"],
            "got unexpected extra argument(s) (d) (see 'ffncalc configs --help')",
            id="extra",
        ),
        pytest.param(
            ["completion"], "missing argument 'bash|zsh|fish' (see 'ffncalc completion --help')", id="no-argument"
        ),
        pytest.param(
            ["configs", "--format", "jso"],
            "--format is one of table, json, csv, markdown, not 'jso'; did you mean json?",
            id="choice",
        ),
    ],
)
def test_wrong_command_line(args: list[str], message: str) -> None:
    """A wrong command line is exit 2 and one line that says what was meant."""
    result = run(*args)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"ffncalc: error: {message}\n")


def test_no_command() -> None:
    """`ffncalc` alone gives the help, on standard error, as a wrong command line."""
    result = run()
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == run("--help").stdout


@pytest.mark.parametrize(
    "env", [{}, {"FORCE_COLOR": "1"}, {"GITHUB_ACTIONS": "true"}, {"COLUMNS": "300"}, {"LANG": "C"}]
)
def test_help_is_plain(env: dict[str, str]) -> None:
    """Off a terminal help is plain text of at most 100 columns, whatever the environment says about colour."""
    result = run("--help", env=env)
    assert result.returncode == 0
    assert "Count the parameters, by component" in result.stdout
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        pytest.param("utf-8", "3 × 4·d² — … │█ ✗ ∰".encode(), id="utf-8"),
        pytest.param("latin-1", "3 × 4·d² - ... |# x ?".encode("latin-1"), id="latin-1"),
        pytest.param("ascii", b"3 x 4*d^2 - ... |# x ?", id="ascii"),
    ],
)
def test_any_encoding(encoding: str, expected: bytes) -> None:
    """What a stream's encoding lacks is spelled in ASCII, on both streams, and never an error."""
    text = "'3 × 4·d² — … │█ ✗ ∰'"
    result = fake(
        f"print({text}, end='')\nprint({text}, end='', file=sys.stderr)",
        env={"PYTHONIOENCODING": encoding},
        encoding=None,
        errors=None,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, expected, expected)


def test_closed_pipe() -> None:
    """A reader that goes away ends the process by SIGPIPE (141 in a shell), without a word."""
    code = FAKE.format(body="    print('x\\n' * 10**6)")
    script = '"$@" | head -1; echo ${PIPESTATUS[0]}'
    command = ["bash", "-c", script, "-", sys.executable, "-c", code, "configs"]
    result = subprocess.run(command, cwd=ROOT, env=ENV, check=True, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("x\n141\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("size", [1, 10**6])
def test_full_disk(size: int) -> None:
    """A write error on standard output is a message and exit 2, for output within and beyond one buffer."""
    with open("/dev/full", "w") as full:
        result = fake(f"print('x' * {size})", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (result.returncode, result.stderr) == (2, "ffncalc: error: standard output: No space left on device\n")


def test_closed_streams() -> None:
    """A process started without standard output says so; one without standard error writes nothing elsewhere."""
    command = ["bash", "-c", '"$@" >&-', "-", sys.executable, "-c", START, "--version"]
    result = subprocess.run(command, cwd=ROOT, env=ENV, check=False, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (2, "ffncalc: error: standard output: not writable\n")
    command[2] = '"$@" 2>&-'
    command[-1] = "nothing"
    result = subprocess.run(command, cwd=ROOT, env=ENV, check=False, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")


@pytest.mark.parametrize("where", ["typer", "ffncalc.cli.app", "ffncalc.cli.configs_command"])
def test_ctrl_c_inside_an_import(where: str, tmp_path: Path) -> None:
    """Ctrl-C while a module is being imported ends with 130 and no traceback."""
    code = f"""
import os, signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {where!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
{START}
"""
    result = run("configs", "gpt2", code=code)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


def test_ignored_ctrl_c_stays_ignored() -> None:
    """A process that was started with SIGINT ignored (nohup, a background job) is not ended by it."""
    body = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint('alive')"
    code = FAKE.format(body=textwrap.indent(body, "    "))
    command = ["bash", "-c", 'trap "" INT; "$@"', "-", sys.executable, "-c", code, "configs"]
    result = subprocess.run(command, cwd=ROOT, env=ENV, check=True, capture_output=True, text=True)
    assert result.stdout == "alive\n"


def imported(*args: str) -> set[str]:
    """The modules in the process when a command line has been carried out."""
    code = f"""
import os, sys
end, os._exit = os._exit, lambda code: (print(*sys.modules, file=sys.stderr, flush=True), end(code))
{START}
"""
    result = run(*args, code=code)
    assert result.returncode == 0
    return set(result.stderr.split())


@pytest.mark.parametrize(
    ("args", "absent"),
    [
        pytest.param(["--version"], {"typer", "re", "enum", "typing", "signal"}, id="version"),
        pytest.param(["--help"], {"pydantic", "rich", "numpy", "yaml", "ffncalc.cli.configs_command"}, id="help"),
        pytest.param(["configs", "--help"], {"pydantic", "rich", "numpy"}, id="command-help"),
        pytest.param(
            ["completion", "bash"],
            {
                "pydantic",
                "rich",
                "numpy",
                "yaml",
                "importlib.metadata",
                "importlib.resources",
                "ffncalc.cli.configs_command",
            },
            id="command",
        ),
    ],
)
def test_imports(args: list[str], absent: set[str]) -> None:
    """A command line imports only what it needs."""
    assert imported(*args) & absent == set()


def test_imports_would_be_seen() -> None:
    """The list of modules that the test above looks into has those that were imported."""
    assert {"typer", "ffncalc.cli.completion_command"} <= imported("completion", "bash")


def test_help_on_a_terminal() -> None:
    """On a terminal help is the same plain text."""
    leader, follower = pty.openpty()
    result = subprocess.Popen(
        [sys.executable, "-c", START, "--help"], cwd=ROOT, env=ENV, stdout=follower, stderr=follower
    )
    os.close(follower)
    assert result.wait(timeout=60) == 0
    text = os.read(leader, 65536).decode()
    os.close(leader)
    assert "Usage: ffncalc" in text
    assert "\x1b" not in text


def test_signals_are_those_of_a_filter() -> None:
    """SIGPIPE has its default action and SIGINT a handler of ours."""
    result = fake(
        "import signal\nprint(int(signal.getsignal(signal.SIGPIPE)), signal.getsignal(signal.SIGINT).__module__)"
    )
    assert result.stdout == f"{int(signal.SIG_DFL)} ffncalc.cli.start\n"
