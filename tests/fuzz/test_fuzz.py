"""Nothing that is fed to ffncalc gives a traceback, a flood, a hang, or a total whose components don't add up.

20,000 inputs, the same ones in every run, in one process. FFNCALC_FUZZ=50 makes it fifty times as many and
FFNCALC_FUZZ_SEED chooses others: that is the long run, by hand.
"""

import functools
import json
import os
import resource
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from drive import Answer, complaint, run, sums_up
from hypothesis import HealthCheck, given, seed, settings
from mutate import mutants
from seeds import CHECKS, EXPRESSION_PIECES, EXPRESSIONS, HUGGING_FACE, OWN, configs, header, safetensors
from structured import CONFIGS

from ffncalc.cli import lean, start

TIMES = int(os.environ.get("FFNCALC_FUZZ", "1"))
SEED = int(os.environ.get("FFNCALC_FUZZ_SEED", "1"))
MEGABYTES = 256


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Signals stay as they are, each command is built once, and the working folder is empty."""
    monkeypatch.setattr(start, "prepare_signals", lambda: None)
    monkeypatch.setattr(lean, "load", functools.cache(lean.load))
    for name in ("GITHUB_WORKSPACE", "FFNCALC_DEBUG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def broken(inputs: Iterable[bytes], file: str, checked: Callable[[], str | None]) -> list[tuple[str, bytes]]:
    """The inputs for which something is wrong, each with what; the first ten."""
    found = []
    before = peak()
    for data in inputs:
        Path(file).write_bytes(data)
        wrong = checked()
        found += [(wrong, data)] if wrong else []
    assert peak() - before < MEGABYTES
    return found[:10]


def peak() -> int:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def counted(file: str, *args: str) -> str | None:
    """What is wrong with `params` of a file, whose JSON must add up."""
    answer = run("params", file, "--json", *args)
    return complaint(answer) or sums_up(answer)


def wrong(answer: Answer) -> str | None:
    """What is wrong with an answer that may be exit code 1, with a line for each assertion or check that failed."""
    said = answer.err.splitlines()
    if answer.code == 1 and not any(line.startswith("ffncalc: check failed: ") for line in said):
        return f"exit code 1 without a reason: {said}"
    return complaint(answer)


@pytest.mark.parametrize(("ending", "count"), [("yaml", 4500), ("json", 6000)])
def test_mutated_configs(ending: str, count: int) -> None:
    """Parameters of a config with a few bytes changed, of ours or of Hugging Face's."""
    seeds = [data for kind, data in configs() if kind == ending]
    file = f"m.{ending}"
    assert broken(mutants(seeds, TIMES * count, SEED), file, lambda: counted(file)) == []


@pytest.mark.parametrize(("ending", "args"), [("yaml", ["--json"]), ("json", ["--explain"])])
def test_mutated_configs_flops(ending: str, args: list[str]) -> None:
    """FLOPs of such configs, as JSON and as text with every formula."""
    seeds = [data for kind, data in configs() if kind == ending]
    file = f"m.{ending}"
    inputs = mutants(seeds, TIMES * 1000, SEED + 1)
    assert broken(inputs, file, lambda: complaint(run("flops", file, *args))) == []


def test_mutated_checks() -> None:
    """Checks files with a few bytes changed, in a form for people and in one for machines."""
    Path("own.yaml").write_text(OWN)
    Path("other.yaml").write_text("family: gpt2\nd_model: 64\nn_heads: 4\nn_layers: 2\nn_vocab: 10\n")
    forms = iter(["table", "junit", "sarif", "github", "json", "csv", "markdown"] * (TIMES * 1000))
    checked = lambda: wrong(run("check", "c.yaml", "--format", next(forms)))  # noqa: E731
    assert broken(mutants(CHECKS, TIMES * 2500, SEED), "c.yaml", checked) == []


def test_mutated_expressions() -> None:
    """Assertions with a few bytes changed."""
    Path("small.json").write_text(json.dumps(HUGGING_FACE[0]))
    texts = [text.encode() for text in EXPRESSIONS]
    found = []
    for data in mutants(texts, TIMES * 3000, SEED, EXPRESSION_PIECES):
        text = data.decode("utf-8", "surrogateescape").replace("\0", "")
        found += [(why, data) for why in [wrong(run("params", "small.json", "--json", f"--assert={text}"))] if why]
    assert found[:10] == []


def test_mutated_checkpoints() -> None:
    """Safetensors files with a few bytes changed: anywhere, and in a header whose length is then stated rightly."""
    checked = lambda: complaint(run("params", "m.safetensors", "--json"))  # noqa: E731
    inputs = mutants([safetensors(header())], TIMES * 500, SEED)
    inputs += map(safetensors, mutants([header(), b"[]", b"{}"], TIMES * 500, SEED))
    assert broken(inputs, "m.safetensors", checked) == []


@seed(SEED)
@settings(
    max_examples=TIMES * 1000,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(CONFIGS)
def test_structured_configs(values: dict[str, object]) -> None:
    """Configs with the wrong kinds of values in the right places, as JSON and as text."""
    Path("s.json").write_text(json.dumps(values))
    Path("small.json").write_text(json.dumps(HUGGING_FACE[0]))
    assert counted("s.json") is None
    for args in (["flops", "s.json", "--explain"], ["diff", "s.json", "small.json"]):
        assert complaint(run(*args)) is None


def test_complaints_would_be_seen() -> None:
    """Each promise of `complaint` and `sums_up` can be broken."""
    fine = Answer(0, "x\n", "", 0.1)
    assert complaint(fine) is None
    for bad in (
        fine._replace(code=3),
        fine._replace(seconds=2.1),
        fine._replace(out="\x1b[2J"),
        fine._replace(err="x" * 2000),
        fine._replace(err="ffncalc: warning: x\n" * 50),
        fine._replace(err="ffncalc: error: x\n"),
        fine._replace(code=2, err="ffncalc: error: x\n"),
        fine._replace(code=2, out="", err="a\nb\n"),
    ):
        assert complaint(bad) is not None
    parts = dict.fromkeys(("embedding", "attention", "ffn", "norm", "head", "other"), 2)
    for totals, ends in (
        ((12, 12, 12), None),
        ((11, 11, 12), "components"),
        ((12, 13, 12), "active"),
        ((12, 12, 11), "active"),
    ):
        total, active, stored = totals
        out = json.dumps({"params": {"total": total, "active": active, "stored": stored, **parts}})
        assert (sums_up(fine._replace(out=out)) or "").startswith(ends or "")
