"""What a whole `ffncalc` process costs, as ratios within one interleaved run: `python tests/bench/bench_startup.py`.

CPU time (user + system) of each process from its start to its end, by os.wait4: medians over rounds in which every case
runs once. Everything is byte-compiled first, and PYTHONDONTWRITEBYTECODE and PYTHONUNBUFFERED are unset. What a user
might run instead (transformers on the meta device, llm-flops) is timed where the interpreter of --other has it.
"""

import argparse
import compileall
import fcntl
import os
import pty
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
ENTRY = "from ffncalc.cli import main; main()"  # what an installed `ffncalc` script holds
TAB = "import os; os.environ['FFNCALC_COMPLETE'] = 'bash'; "
META = """
import torch
from transformers import LlamaConfig, LlamaForCausalLM
sizes = dict(hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, num_attention_heads=32, vocab_size=32000)
with torch.device("meta"):
    model = LlamaForCausalLM(LlamaConfig(**sizes))
print(sum(weight.numel() for weight in model.parameters()))
"""
LLM_FLOPS = "from llmflops import estimate; print(estimate(model='meta-llama/Llama-2-7b-hf', sequence_length=2048))"
MODEL = """family: llama
d_model: 4096
n_layers: {n_layers}
n_heads: 32
d_ff: 11008
n_vocab: 32000
"""


class Case(NamedTuple):
    """A process to time, and what its time is a ratio to."""

    name: str
    command: list[str]
    base: str
    target: float | None = None
    terminal: bool = False


def ffncalc(*args: str) -> list[str]:
    """The command line of `ffncalc ARGS`."""
    return [sys.executable, "-c", ENTRY, *args]


def cases(folder: Path, other: str) -> list[Case]:
    """Every process that is compared, the two bases first."""
    for n_layers in (32, 10_000):
        (folder / f"own-{n_layers}.yaml").write_text(MODEL.format(n_layers=n_layers))
    (folder / "checks.yaml").write_text("checks: [{model: llama-7b, params.total: {max: 7B}}]\n")
    own, deep, check = (str(folder / name) for name in ("own-32.yaml", "own-10000.yaml", "checks.yaml"))
    bare, typer = "python -c pass", "import typer"
    return [
        Case(bare, [sys.executable, "-c", "pass"], bare),
        Case(typer, [sys.executable, "-c", "import typer"], typer),
        Case("ffncalc --version", ffncalc("--version"), bare, 1.2),
        Case("a TAB (completion)", [sys.executable, "-c", TAB + ENTRY, "configs", "lla"], bare),
        Case("ffncalc --help, piped", ffncalc("--help"), typer, 1.15),
        Case("ffncalc completion bash", ffncalc("completion", "bash"), typer),
        Case("ffncalc params llama-7b --json", ffncalc("params", "llama-7b", "--json"), typer, 1.35),
        Case("ffncalc params llama-7b, piped", ffncalc("params", "llama-7b"), typer, 1.35),
        Case("ffncalc params own.yaml --json", ffncalc("params", own, "--json"), typer, 1.35),
        Case("ffncalc params llama-7b, terminal", ffncalc("params", "llama-7b"), typer, 1.9, terminal=True),
        Case("ffncalc check, one bundled model", ffncalc("check", check), typer, 1.4),
        Case("10,000 layers --json", ffncalc("params", deep, "--json"), "ffncalc params own.yaml --json", 1.05),
        Case("transformers, meta device", [other, "-c", META], "ffncalc params llama-7b --json"),
        Case("llm-flops", [other, "-c", LLM_FLOPS], "ffncalc params llama-7b --json"),
    ]


def environment() -> dict[str, str]:
    """The environment of a user: byte code is kept, output is buffered, nothing else runs in parallel."""
    unset = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "FFNCALC_COMPLETE", "FFNCALC_DEBUG", "COLUMNS"}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    kept = {key: value for key, value in os.environ.items() if key not in unset}
    return kept | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TERM": "xterm"}


def on_pipe() -> tuple[int, int]:
    """Both ends of a pipe, the reader's first."""
    return os.pipe()


def on_terminal() -> tuple[int, int]:
    """Both ends of a pseudo-terminal of 120 columns, the reader's first."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    return leader, follower


def cpu_seconds(case: Case, env: dict[str, str]) -> float | None:
    """User and system time of one process; None if it fails."""
    opened: Callable[[], tuple[int, int]] = on_terminal if case.terminal else on_pipe
    reader, writer = opened()
    process = subprocess.Popen(case.command, env=env, stdout=writer, stderr=subprocess.DEVNULL)
    os.close(writer)
    drain(reader)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime if process.returncode == 0 else None


def drain(reader: int) -> None:
    """Read to the end; a terminal ends with an error when its other side closes."""
    try:
        while os.read(reader, 65536):
            pass
    except OSError:
        pass
    finally:
        os.close(reader)


def measure(todo: list[Case], rounds: int) -> dict[str, list[float]]:
    """Times by case, from interleaved rounds; a case that fails in the first round is left out."""
    env = environment()
    todo = [case for case in todo if cpu_seconds(case, env) is not None]
    times: dict[str, list[float]] = {case.name: [] for case in todo}
    for turn in range(rounds):
        for case in todo:
            if times[case.name] and turn >= 3 and times[case.name][0] > 2:  # seconds a run: three will do
                continue
            seconds = cpu_seconds(case, env)
            times[case.name] += [] if seconds is None else [seconds]
    return times


def row(case: Case, times: dict[str, list[float]]) -> str:
    """One line of the table: median, and the median of the ratios within a round."""
    if case.name not in times:
        return f"| {case.name} | not here | | |"
    milliseconds = 1000 * statistics.median(times[case.name])
    target = f"{case.target:.2f}" if case.target else ""
    ratios = [a / b for a, b in zip(times[case.name], times.get(case.base, []), strict=False)]
    ratio = f"{statistics.median(ratios):.2f} × {case.base}" if ratios else ""
    return f"| {case.name} | {milliseconds:.1f} | {ratio} | {target} |"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--other", default=sys.executable, help="an interpreter that has transformers or llm-flops")
    options = parser.parse_args()
    compileall.compile_dir(ROOT / "ffncalc", quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        todo = cases(Path(folder), options.other)
        times = measure(todo, options.rounds)
    print("| process | CPU ms | ratio | target |", "|---|---|---|---|", sep="\n")
    print(*(row(case, times) for case in todo), sep="\n")


if __name__ == "__main__":
    main()
