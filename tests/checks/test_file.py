"""Checks files: what each condition stands for, where it stands, and what is never let through."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from ffncalc.checks import file as reader
from ffncalc.checks.run import run
from ffncalc.checks.schema import schema
from ffncalc.errors import InputError
from ffncalc.text import parse

Write = Callable[..., str]
OWN = "family: llama\nd_model: 64\nn_layers: 3\nn_heads: 4\nd_ff: 192\nn_vocab: 100\n"
BIG = OWN.replace("192", "256")


def checked(write: Write, text: str) -> list[bool]:
    """Which conditions of a file hold, beside own.yaml and big.yaml."""
    write(OWN, "own.yaml")
    write(BIG, "big.yaml")
    return [result.holds for result in run([reader.read(write(text, "checks.yaml"))]).results]


def conditions(text: str) -> str:
    """A checks file of one model with these lines for it."""
    return "checks:\n  - model: own.yaml\n" + "".join(f"    {line}\n" for line in text.split("\n"))


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("dims.d_ff: 192", "dims.d_ff: 193"),
        ("dims.d_ff: {equals: 0.192k}", "dims.d_ff: {equals: 0.193k}"),
        ("dims.d_ff: {min: 192}", "dims.d_ff: {min: 193}"),
        ("dims.d_ff: {max: 192}", "dims.d_ff: {max: 191}"),
        ("dims.d_ff: {max: 1.92e2}", "dims.d_ff: {max: 1.91e2}"),
        ("dims.d_ff: {max: 0.000192 million}", "dims.d_ff: {max: 0.000191 million}"),
        ("dims.d_ff: {max: 2 * 96}", "dims.d_ff: {max: 2 * 95}"),
        ("dims.d_ff: {within: 200 ± 4 %}", "dims.d_ff: {within: 200 ± 3.9 %}"),
        ("dims.d_ff: {within: 200 +- 8}", "dims.d_ff: {within: 200 +- 7}"),
        ("dims.d_ff: {multiple_of: 64}", "dims.d_ff: {multiple_of: 128}"),
        ("dims.d_ff: {divisible_by: 8}", "dims.d_ff: {divisible_by: 5}"),
        ("dims.d_ff: {one_of: [1, 192]}", "dims.d_ff: {one_of: [1, 2]}"),
        ("dims.d_model: {same_as: big.yaml}", "dims.d_ff: {same_as: big.yaml}"),
        ("dims.d_ff: {same_as: big.yaml ± 25 %}", "dims.d_ff: {same_as: big.yaml ± 24 %}"),
        ("dims.d_ff: {at_most: 0.75 × big.yaml}", "dims.d_ff: {at_most: 0.74 × big.yaml}"),
        ("dims.d_ff: {at_most: 0.75 * big.yaml}", "dims.d_ff: {at_most: 74 % * big.yaml}"),
        ("dims.d_ff: {at_least: 0.75 x big.yaml}", "dims.d_ff: {at_least: big.yaml}"),
        ("dims.d_ff: {at_most: llama-7b}", "dims.d_ff: {at_least: llama-7b}"),
        ("ffn_share: {within: 69 % ± 1 %}", "ffn_share: {within: 0.66 ± 0.01}"),
        ("layers[*].ffn: 36_864", "layers[0].ffn: 36_865"),
        ("seq_len: 100\nflops.total.head: 1_280_000", "seq_len: 101\nflops.total.head: 1_280_000"),
        ("pass: train\nseq_len: 1\nflops.total.head: 38_400", "seq_len: 1\nflops.total.head: 38_400"),
        ("tied: true\nparams.head: 0", "params.head: 0"),
        ("vocab_size: 7\ndims.n_vocab: 7", "vocab_size: 8\ndims.n_vocab: 7"),
        ("head: none\nparams.head: 0", "head: causal\nparams.head: 0"),
        ("crossover_seq_len: {min: 1}", "crossover_seq_len: {max: 1}"),
        ("assert: dims.d_ff == 192", "assert: [dims.d_ff == 193]"),
    ],
)
def test_conditions(write: Write, good: str, bad: str) -> None:
    """Each condition holds where it should, and fails where it is off by the least."""
    assert checked(write, conditions(good)) == [True]
    assert checked(write, conditions(bad)) == [False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("# only a comment\n", "is empty"),
        ("checks:\n", "checks is a list of models and what must hold of each, not nothing"),
        ("checks: []\n", "not a list of 0"),
        ("check: []\n", "line 1, column 1: key 'check' is not known; did you mean checks?"),
        ("- model: own.yaml\n", "a checks file has `checks`"),
        ("checks: [own.yaml]\n", "line 1, column 10: each of the checks is a mapping"),
        ("checks: [{model: own.yaml}]\n", "nothing is checked of it"),
        ("checks: [{model: own.yaml, seq_len: 4}]\n", "nothing is checked of it"),
        ("checks: [{params.total: 3}]\n", "model is a bundled name"),
        ("checks: [{model: [], params.total: 3}]\n", "model is a bundled name"),
        (
            conditions("params.totl: 3"),
            "line 3, column 5: params.totl of own.yaml is no number that ffncalc reports; did you mean params.total?",
        ),
        (conditions("parms.total: 3"), "line 3, column 5: key 'parms.total' is not known"),
        (conditions("d_ff: 3"), "key 'd_ff' is not known"),
        (conditions("seqlen: 3\nparams.total: 3"), "did you mean seq_len?"),
        (conditions("params.total: {maximum: 3}"), "line 3, column 20: key 'maximum' is not known"),
        (conditions("params.total: {mx: 3}"), "did you mean max?"),
        (conditions("params.total: {}"), "params.total takes a number, or conditions"),
        (conditions("params.total:"), "params.total takes a number, or conditions such as {max: 7B}, not nothing"),
        (conditions("params.total: {max: }"), "max takes a number, such as 7B, not nothing"),
        (conditions("params.total: {max: true}"), "max takes a number, such as 7B, not true"),
        (conditions("params.total: {max: [1, 2]}"), "max takes a number, such as 7B, not a list of 2"),
        (conditions("params.total: {max: 7X}"), "max: column 1: '7X': no unit 'X'"),
        (conditions("params.total: {max: total}"), "max: column 1: 'total' is a name; a number is expected"),
        (conditions("params.total: {max: 7B ± 1 %}"), "max takes one number; a tolerance goes with `within`"),
        (conditions("params.total: {within: 7B}"), "within takes a number with a tolerance"),
        (conditions("params.total: {multiple_of: 0}"), "multiple_of takes a positive whole number"),
        (conditions("params.total: {multiple_of: 2.5}"), "multiple_of takes a positive whole number"),
        (conditions("params.total: {one_of: 3}"), "one_of takes a list of numbers"),
        (conditions("params.total: {same_as: 3}"), "same_as takes a model"),
        (conditions("params.total: {same_as: nothing.yaml}"), "nothing.yaml: no such file"),
        (conditions("params.total: {same_as: lama-7b}"), "did you mean llama-7b"),
        (conditions("params.total: {at_most: big.yaml ± 1 %}"), "at_most takes no tolerance"),
        (conditions("params.total: {same_as: baseline}"), "there is no baseline"),
        (conditions("params.total: {max: 1, max: 2}"), "key 'max' stands twice"),
        (conditions("params.total: 1\nparams.total: 2"), "line 4, column 5: key 'params.total' stands twice"),
        (conditions("seq_len: 0\nparams.total: 3"), "seq_len takes a positive whole number"),
        (conditions("batch: many\nparams.total: 3"), "batch takes a positive whole number"),
        (conditions("causal: 1\nparams.total: 3"), "causal is one of true, false, not 1"),
        (conditions("pass: backward\nparams.total: 3"), "pass is one of forward, train, recompute"),
        (conditions("head: mlm\nparams.total: 3"), "llama has no 'mlm' head"),
        (conditions("source_len: 4\nflops.total.total: 3"), "has no encoder beside a decoder"),
        (conditions("assert: 3"), "assert takes text"),
        (conditions("assert: [params.total]"), "line 3, column 14: assert: column 13: nothing is compared"),
        (conditions("dims.d_ff.x: 3"), "dims.d_ff.x of own.yaml is no number"),
        (conditions("params: 3"), "params of own.yaml is a group"),
        (conditions("params.total: 010"), "does not read the same everywhere"),
        ("checks: [{model: 'no*.yaml', params.total: 3}]", "line 1, column 11: no*.yaml matches no file in"),
        ("checks: [{model: 'a**.yaml', params.total: 3}]", "a**.yaml is no glob"),
        ("checks: [{model: nothing.yaml, params.total: 3}]", "nothing.yaml: no such file"),
        ("checks: [{model: lama-7b, params.total: 3}]", "did you mean llama-7b"),
        ("checks: [{model: '-', params.total: 3}]", "'-' is neither a bundled model nor a file"),
    ],
)
def test_refused(write: Write, text: str, message: str) -> None:
    """What isn't understood, matches nothing or checks nothing is an error with its place: never a silent pass."""
    with pytest.raises(InputError) as error:
        checked(write, text)
    assert message in str(error.value)


def test_null_is_no_number(write: Write) -> None:
    """A condition on a number that isn't known is an error."""
    write(json.dumps({"dim": 64, "n_layers": 2, "n_heads": 4, "vocab_size": -1}), "params.json")
    text = "checks: [{model: params.json, params.ffn: {min: 1}, params.total: {min: 1}}]"
    with pytest.raises(InputError, match=r"params.total of params.json is not known \(null\)"):
        checked(write, text)


def test_globs(write: Write) -> None:
    """A glob's files are checked in the order of their names; the place is the condition's own."""
    for name in ("m/b.yaml", "m/a.yaml", "m/deep/er/c.yaml"):
        write(OWN, name)
    text = "checks:\n  - model: [m/**/*.yaml, own.yaml]\n    dims.d_ff: {min: 1,\n      max: 5}\n"
    write(OWN, "own.yaml")
    results = run([reader.read(write(text, "checks.yaml"))]).results
    assert [r.model for r in results[::2]] == ["m/a.yaml", "m/b.yaml", "m/deep/er/c.yaml", "own.yaml"]
    assert [(r.line, r.column, r.holds) for r in results[:2]] == [(3, 17, True), (4, 7, False)]


def test_paths_are_from_the_file(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path is looked for beside the checks file, never in the working folder, which shadows no bundled name."""
    write(BIG, "elsewhere/own.yaml")
    write(BIG, "elsewhere/gpt2")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert checked(write, "checks: [{model: own.yaml, dims.d_ff: 192}, {model: gpt2, dims.d_ff: 3072}]") == [True, True]


def test_a_loop_of_links(write: Write, tmp_path: Path) -> None:
    """A glob through folders that link to each other ends."""
    write(OWN, "own.yaml")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "up").symlink_to(tmp_path, target_is_directory=True)
        (tmp_path / name / "down").symlink_to(tmp_path / name, target_is_directory=True)
    assert checked(write, "checks: [{model: '**/own.yaml', dims.d_ff: 192}]") == [True]


EXAMPLE = """baseline: b.json
checks:
  - model: [own.yaml, big.yaml]
    seq_len: 4k
    params.total: {max: 7B, min: 1_000, within: 1k ± 1 %, equals: 4, same_as: baseline, at_most: 1.05 × big.yaml}
    dims.d_ff: {multiple_of: 256, divisible_by: 8, one_of: [1, 2k]}
    layers[*].ffn: 3
    assert: [params.total > 1]
"""


def test_schema() -> None:
    """The schema is one, it lets the example through, and it refuses what the reader refuses by its form."""
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(parse(EXAMPLE, "x", as_json=False).values, schema())
    for bad in (
        "checks: []",
        "check: []",
        "checks: [{model: a}]",
        conditions("d_ff: 3"),
        conditions("params.total: {mx: 3}"),
        conditions("params.total: {}"),
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(parse(bad, "x", as_json=False).values, schema())
