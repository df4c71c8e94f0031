"""Input that breaks programs: each kind by itself, with the exit code and the one message it gives."""

import json
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ffncalc import atomic
from ffncalc.errors import InputError
from ffncalc.text import MAX_BYTES

Run = Callable[..., Any]
Write = Callable[..., str]
ROOT = Path(__file__).parents[1]
START = "from ffncalc.cli import main; main()"
ENV = {k: v for k, v in os.environ.items() if k not in ("FFNCALC_DEBUG", "COLUMNS")} | {"PYTHONPATH": str(ROOT)}
BASE: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 100,
}
OWN = "family: llama\nd_model: 64\nn_layers: 2\nn_heads: 4\nd_ff: 128\nn_vocab: 100\n"
ALIASES = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(9)
)


def config(**changes: Any) -> str:
    """The base config with changes, as JSON."""
    return json.dumps({**BASE, **changes})


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        pytest.param(OWN + ALIASES, "m.yaml", "more than 250,000 values, aliases written out", id="alias-bomb"),
        pytest.param(OWN + "x: " + "[" * 100 + "]" * 100, "m.yaml", "nested too deeply", id="nested-yaml"),
        pytest.param(OWN + "x: " + "{a: " * 5000, "m.yaml", "nested too deeply", id="nested-and-open"),
        pytest.param(
            '{"model_type": ' + "[" * 100_000 + "]" * 100_000 + "}", "m.json", "nested too deeply", id="nested-json"
        ),
        pytest.param(OWN + "x: [" + "1," * 300_000 + "]", "m.yaml", "more than 250,000 values", id="many-values-yaml"),
        pytest.param(config(x=[0] * 300_000), "m.json", "more than 250,000 values", id="many-values-json"),
        pytest.param(
            OWN.replace("64", "9" * 5000), "m.yaml", "a number of more digits than can be read", id="digits-yaml"
        ),
        pytest.param(
            config().replace("64", "9" * 5000), "m.json", "a number of more digits than can be read", id="digits-json"
        ),
        pytest.param(config(hidden_size=[64, 64]), "m.json", "hidden_size", id="list-for-a-number"),
        pytest.param(config(hidden_size={"a": 1}), "m.json", "hidden_size", id="mapping-for-a-number"),
        pytest.param(config(hidden_size=float("nan")), "m.json", "hidden_size is nan", id="nan"),
        pytest.param(config(num_hidden_layers=float("inf")), "m.json", "num_hidden_layers is inf", id="infinity"),
        pytest.param(config().replace("64", "1e999"), "m.json", "hidden_size is inf", id="beyond-a-float"),
        pytest.param(OWN.replace("64", ".inf"), "m.yaml", "does not read the same everywhere", id="infinity-yaml"),
        pytest.param(config(hidden_size=-64), "m.json", "hidden_size is -64", id="negative"),
        pytest.param(
            config(model_type=["llama"]),
            "m.json",
            "model_type must be the name of an architecture",
            id="list-for-a-name",
        ),
        pytest.param(OWN.replace("llama", "[llama]"), "m.yaml", "family must be the name", id="list-for-a-family"),
        pytest.param(OWN.replace("64", "{rule: llama}"), "m.yaml", "d_model is", id="rule-for-another-size"),
        pytest.param(OWN + "d_ff: 3\n", "m.yaml", "key 'd_ff' stands twice", id="duplicate-key"),
        pytest.param(
            config().replace('"vocab_size"', '"hidden_size": 3, "vocab_size"'),
            "m.json",
            "key 'hidden_size' stands twice",
            id="duplicate-key-json",
        ),
        pytest.param(
            OWN + "x: !!python/object/apply:os.system [touch pwned]\n", "m.yaml", "the tag", id="code-in-yaml"
        ),
        pytest.param(
            config(num_hidden_layers=10**6, intermediate_size=[1] * 3),
            "m.json",
            "1,000,000 layers that differ",
            id="layers-apart",
        ),
        pytest.param(
            config(num_hidden_layers=5000, intermediate_size=list(range(1, 5001))),
            "m.json",
            "more than 1,000 kinds of layers",
            id="kinds-of-layers",
        ),
        pytest.param(
            OWN + "layers: [" + "{repeat: 1}, " * 3000 + "]\n",
            "m.yaml",
            "layers lists 3,000 groups",
            id="groups-of-layers",
        ),
        pytest.param("", "m.yaml", "is empty", id="empty"),
        pytest.param("\0", "m.yaml", "not YAML", id="zero-byte"),
        pytest.param(b"\xff\xfe", "m.json", "byte 0 is not UTF-8 text", id="utf-16"),
        pytest.param("x" * (MAX_BYTES + 1), "m.yaml", "over 16 MB", id="large"),
    ],
)
def test_refused(ffncalc: Run, write: Write, tmp_path: Path, text: str | bytes, name: str, message: str) -> None:
    """Exit code 2 with one line, in less than two seconds."""
    path = write(text, name)
    begun = time.process_time()
    code, out, err = ffncalc("params", path)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    assert time.process_time() - begun < 2
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"num_hidden_layers": 10**6}, id="layers"),
        pytest.param({"num_hidden_layers": 10**30}, id="more-layers"),
        pytest.param({"hidden_size": 10**30}, id="width"),
        pytest.param(
            {
                "hidden_size": 4 * 10**998,
                "intermediate_size": 10**999,
                "num_hidden_layers": 10**999,
                "vocab_size": 10**999,
            },
            id="all-of-them",
        ),
        pytest.param({"intermediate_size": 10**400}, id="beyond-a-float"),
        pytest.param({"num_attention_heads": 1, "hidden_size": 10**999}, id="head"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ["params"],
        ["params", "--json"],
        ["params", "--explain"],
        ["flops", "--seq-len", "1e900", "--explain"],
        ["flops", "--json", "--tokens", "1e900"],
        ["params", "--assert", "total > 1"],
    ],
)
def test_any_size(ffncalc: Run, write: Write, changes: dict[str, Any], command: list[str]) -> None:
    """Any size is counted exactly and printed in full, in every form, however many digits the result has."""
    path = write(config(**changes), "m.json")
    code, out, err = ffncalc(command[0], path, *command[1:])
    assert (code, err) == (0, "")
    if command == ["params", "--json"]:
        data, c = json.loads(out.replace("NaN", "x")), {**BASE, **changes}
        attention, ffn = 4 * c["hidden_size"] ** 2, 3 * c["hidden_size"] * c["intermediate_size"]
        blocks = c["num_hidden_layers"] * (attention + ffn + 2 * c["hidden_size"])
        assert data["params"]["total"] == blocks + (2 * c["vocab_size"] + 1) * c["hidden_size"]


def test_more_digits_than_python_converts() -> None:
    """A result of more than 4300 digits is printed in full by the command itself, whose interpreter has a limit."""
    text = config(hidden_size=4 * 10**900, num_hidden_layers=10**900, intermediate_size=10**900)
    code = "import sys; assert sys.get_int_max_str_digits() == 4300; " + START
    command = [
        sys.executable,
        "-c",
        code,
        "flops",
        "-",
        "--seq-len",
        "1e900",
        "--batch",
        "1e900",
        "--tokens",
        "1e900",
        "--json",
    ]
    done = subprocess.run(command, input=text, env=ENV, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert max(len(line) for line in done.stdout.splitlines()) > 4300


@pytest.mark.parametrize("bad", ["\x1b[2J", "\x9b31m", "\u202e", "a\nb", "\x07", "\ud800", "\x7f"])
@pytest.mark.parametrize(
    "command",
    [
        ["params"],
        ["params", "--json"],
        ["params", "--explain"],
        ["flops", "--format", "markdown"],
        ["compare", "gpt2"],
        ["compare", "gpt2", "--format", "csv"],
        ["diff", "gpt2"],
        ["check"],
    ],
)
def test_nothing_drives_the_terminal(ffncalc: Run, write: Write, bad: str, command: list[str]) -> None:
    """Control characters in a name, a source, a key or an activation are spelled out wherever they are printed."""
    values = {
        "family": "llama",
        "name": f"n{bad}",
        "source": bad,
        f"key{bad}": 1,
        "activation": bad,
        "d_model": 64,
        "n_layers": 2,
        "n_heads": 4,
        "d_ff": 128,
        "n_vocab": 100,
    }
    path = write(json.dumps(values), "m.json")
    if command == ["check"]:
        path = write(json.dumps({"checks": [{"model": "m.json", "params.total": 1}]}), "checks.yaml")
    code, out, err = ffncalc(command[0], path, *command[1:])
    assert code in (0, 1)
    assert not [char for char in out + err if char != "\n" and not char.isprintable()]
    assert len([line for line in err.splitlines() if not line.startswith("ffncalc: ")]) == 0


def test_a_path_stays_on_one_line(ffncalc: Run, tmp_path: Path) -> None:
    """A line break in a path can't start a line of its own, which a CI system might take for a command."""
    path = f"{tmp_path}/a\n::error::b.yaml"
    assert ffncalc("params", path).err == f"ffncalc: error: {tmp_path}/a\\n::error::b.yaml: no such file\n"


def test_messages_are_bounded(ffncalc: Run, write: Write) -> None:
    """A key of a million characters and a hundred thousand unknown keys give a few short lines."""
    for values in ({**BASE, "k" * 10**6: 1}, {**BASE, **{f"k{i}": 1 for i in range(100_000)}}):
        code, _, err = ffncalc("params", write(json.dumps(values), "m.json"))
        assert code == 0
        assert len(err) < 4000
    assert "99,980 more keys were not read" in err


# ------------------------------------------------------------------ files that aren't files
def test_loop_of_links(ffncalc: Run, tmp_path: Path) -> None:
    """A link to itself is an error by its name."""
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    assert ffncalc("params", tmp_path / "loop.yaml") == (
        2,
        "",
        f"ffncalc: error: {tmp_path}/loop.yaml: a link that leads nowhere\n",
    )


def test_folder_without_a_config(ffncalc: Run, tmp_path: Path) -> None:
    """A folder that holds none is an error that says which names are looked for."""
    assert "a folder without a config.json" in ffncalc("params", tmp_path).err


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc")
@pytest.mark.parametrize("command", [["params"], ["check"], ["diff", "gpt2"]])
def test_unreadable_file(ffncalc: Run, command: list[str]) -> None:
    """A file that can be opened and not read is an error with the system's reason."""
    assert ffncalc(command[0], "/proc/self/mem", *command[1:]) == (
        2,
        "",
        "ffncalc: error: /proc/self/mem: can't be read: Input/output error\n",
    )


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_endless_file(ffncalc: Run) -> None:
    """A file without an end is read up to the limit."""
    assert "/dev/zero: over 16 MB" in ffncalc("params", "/dev/zero").err


def test_large_file_is_not_read(ffncalc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file over the limit is refused by its size, before any of it is read."""
    with open(tmp_path / "m.yaml", "wb") as file:
        file.truncate(2**40)
    opened = []

    def spy(*args: Any) -> Any:
        opened.append(open(*args))  # noqa: SIM115
        return opened[-1]

    monkeypatch.setattr("ffncalc.config.open", spy, raising=False)
    monkeypatch.setattr("ffncalc.config._bounded", lambda data, file: pytest.fail(f"{len(data)} bytes were read"))
    assert "over 16 MB" in ffncalc("params", tmp_path / "m.yaml").err
    assert [file.closed for file in opened] == [True]


def test_header_of_a_checkpoint(ffncalc: Run, tmp_path: Path) -> None:
    """A header beyond the format's 100 MB, or beyond its file, is refused unread."""
    for length in (10**8 + 1, 2**63, 50):
        (tmp_path / "m.safetensors").write_bytes(struct.pack("<Q", length) + b"{}")
        assert "not safetensors: a header of" in ffncalc("params", tmp_path / "m.safetensors").err


# ------------------------------------------------------------------ a process and its surroundings
def process(*args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """`ffncalc ARGS` in a process of its own."""
    command = [sys.executable, "-c", START, *args]
    return subprocess.run(command, env=ENV, check=False, text=True, timeout=60, stderr=subprocess.PIPE, **options)


CHECKS = "checks:\n  - {model: own.yaml, params.total: {max: 7B}}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "args",
    [
        ["check", "checks.yaml"],
        ["check", "checks.yaml", "--json"],
        ["diff", "own.yaml", "gpt2"],
        ["params", "own.yaml", "--assert", "total < 1"],
    ],
)
def test_full_disk(write: Write, tmp_path: Path, args: list[str]) -> None:
    """Output that can't be written is exit code 2, also where a check would have failed."""
    write(OWN, "own.yaml")
    write(CHECKS, "checks.yaml")
    with open("/dev/full", "w") as full:
        done = process(*args, stdout=full, cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "ffncalc: error: standard output: No space left on device",
    )


def test_full_disk_keeps_the_baseline(write: Write, tmp_path: Path) -> None:
    """A baseline that can't be written leaves the old one as it was, and nothing beside it."""
    write(OWN, "own.yaml")
    write(CHECKS, "checks.yaml")
    assert process("check", "--record", "checks.yaml", stdout=subprocess.PIPE, cwd=tmp_path).returncode == 0
    before = (tmp_path / "checks.baseline.json").read_bytes()
    write(OWN.replace("128", "256"), "own.yaml")

    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = process("check", "--record", "checks.yaml", stdout=subprocess.PIPE, cwd=tmp_path, preexec_fn=small_files)
    assert (done.returncode, done.stderr) == (
        2,
        "ffncalc: error: checks.baseline.json: can't be written: File too large\n",
    )
    assert (tmp_path / "checks.baseline.json").read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["checks.baseline.json", "checks.yaml", "own.yaml"]


def test_atomic_write(tmp_path: Path) -> None:
    """A file is replaced as a whole, through a link, with its permissions; an error names the path asked for."""
    target, link = tmp_path / "a", tmp_path / "b"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    atomic.write(str(link), "new")
    assert (target.read_text(), link.is_symlink(), target.stat().st_mode & 0o777) == ("new", True, 0o640)
    with pytest.raises(InputError, match=r"none/x: can't be written: No such file"):
        atomic.write(str(tmp_path / "none/x"), "new")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a", "b"]


def test_closed_pipe(write: Write, tmp_path: Path) -> None:
    """A reader that goes away ends `check` as it ends any filter, with 141."""
    write(OWN, "own.yaml")
    many = ", ".join(["own.yaml"] * 20_000)
    write(f"checks:\n  - {{model: [{many}], params.total: {{max: 7B}}}}\n", "checks.yaml")
    script = '"$@" | head -1; echo ${PIPESTATUS[0]}'
    command = ["bash", "-c", script, "-", sys.executable, "-c", START, "check", "checks.yaml"]
    done = subprocess.run(command, cwd=tmp_path, env=ENV, check=True, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("20,000 checks hold\n141\n", "")


def test_ctrl_c(tmp_path: Path) -> None:
    """Ctrl-C while a model is read from standard input ends with 130 and not a word."""
    command = [sys.executable, "-c", START, "params", "-"]
    child = subprocess.Popen(command, env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err) == (130, b"", b"")


def test_no_network_and_no_other_process(write: Write, tmp_path: Path) -> None:
    """A check opens no socket, starts no process, and imports neither pickle nor a web client."""
    write(OWN, "own.yaml")
    write(CHECKS, "checks.yaml")
    watch = """
import sys
def hook(event, args):
    kind, processes = event.split(".")[0], ("os.system", "os.exec", "os.fork", "pickle.find_class")
    if kind in ("socket", "subprocess", "urllib", "http") or event in processes:
        print(event, file=sys.stderr, flush=True)
sys.addaudithook(hook)
"""
    command = [sys.executable, "-c", watch + START, "check", "checks.yaml"]
    done = subprocess.run(command, cwd=tmp_path, env=ENV, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
