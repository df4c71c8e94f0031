"""The commands end to end: formats, several MODELs, exit codes, and the JSON that scripts rely on."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ffncalc import bundled
from ffncalc.cli.commands import COMMANDS, under

ROOT = Path(__file__).parents[2]
OWN = "family: decoder\nd_model: 24\nn_layers: 5\nn_vocab: 101\nn_heads: 6\nd_ff: 40\n"
KINDS = ["ffn", "attention_projections", "attention_scores", "head", "other", "total"]
PARTS = ["embedding", "attention", "ffn", "norm", "head", "other"]


def in_a_process(*args: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """`ffncalc ARGS` in a process of its own."""
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "PYTHONIOENCODING", "PYTHONUTF8")}
    env |= {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    command = [sys.executable, "-m", "ffncalc", *args]
    return subprocess.run(command, capture_output=True, check=False, timeout=60, env=env, **options)


def of_json(result: Any) -> Any:
    """The JSON that a run printed, nothing else having gone wrong."""
    assert (result.code, result.err) == (0, "")
    return json.loads(result.out)


# ------------------------------------------------------------------ the JSON contract
def test_params_json(ffncalc: Any) -> None:
    """`ffncalc/params/1`, key by key."""
    found = of_json(ffncalc("params", "llama-7b", "--json"))
    assert isinstance(found.pop("source"), str)
    assert found.pop("head") == "causal"
    assert found == {
        "schema": "ffncalc/params/1",
        "model": "llama-7b",
        "family": "llama",
        "dims": {"d_model": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 32, "d_head": 128,
                 "d_ff": 11008, "n_vocab": 32000},
        "params": {
            "total": 6738415616, "active": 6738415616, "active_without_embedding": 6607343616, "stored": 6738415616,
            "embedding": 131072000, "attention": 2147483648, "ffn": 4328521728, "norm": 266240, "head": 131072000,
            "other": 0,
        },
        "layers": [{
            "stack": "decoder", "ranges": [[0, 31]], "count": 32,
            "attention": 67108864, "ffn": 135266304, "norm": 8192, "other": 0, "total": 202383360,
        }],
        "ffn_share": 0.668367,
        "warnings": [],
    }  # fmt: skip


def test_flops_json(ffncalc: Any) -> None:
    """`ffncalc/flops/1`, key by key."""
    found = of_json(ffncalc("flops", "llama-7b", "--json"))
    nothing = dict.fromkeys(KINDS, 0)
    token = {
        "ffn": 8657043456, "attention_projections": 4294967296, "attention_scores": 1073741824, "head": 262144000,
        "other": 0, "total": 14287896576,
    }  # fmt: skip
    assert list(found)[:6] == ["schema", "model", "family", "source", "head", "dims"]
    assert found["schema"] == "ffncalc/flops/1"
    assert found["workload"] == {"batch": 1, "seq_len": 2048, "pairs": "full", "pass": "forward"}
    assert found["per_token"] == token
    assert found["per_source_token"] == found["per_sequence"] == nothing
    assert found["total"] == {kind: 2048 * n for kind, n in token.items()}
    layer = {kind: token[kind] // 32 for kind in KINDS} | {"head": 0, "total": (token["total"] - token["head"]) // 32}
    assert found["layers"] == [{"stack": "decoder", "ranges": [[0, 31]], "count": 32, **layer}]
    assert found["crossover_seq_len"] == 8320.0
    assert [list(rule) for rule in found["rules_of_thumb"]] == [["rule", "of", "value", "exact", "off"]] * 3
    assert found["warnings"] == []


@pytest.mark.parametrize(
    ("options", "workload"),
    [
        (
            ["--batch", "3", "--causal", "--pass", "train"],
            {"batch": 3, "seq_len": 2048, "source_len": 2048, "pairs": "causal", "pass": "train"},
        ),
        (
            ["--seq-len", "1k", "--source-len", "77"],
            {"batch": 1, "seq_len": 1000, "source_len": 77, "pairs": "full", "pass": "forward"},
        ),
    ],
)  # fmt: skip
def test_workload_in_json(ffncalc: Any, options: list[str], workload: dict[str, Any]) -> None:
    """The workload that was asked for stands in the output."""
    assert of_json(ffncalc("flops", "t5-base", "--json", *options))["workload"] == workload


def test_training_run_in_json(ffncalc: Any) -> None:
    """`--tokens` adds the total of a training run, exactly."""
    found = of_json(ffncalc("flops", "gpt2", "--json", "--tokens", "2T"))
    assert found["training_run"] == {"tokens": 2 * 10**12, "flops": 3 * found["total"]["total"] * 2 * 10**12 // 1024}


def test_hidden_dim_json(ffncalc: Any) -> None:
    """`ffncalc/hidden-dim/1`, key by key."""
    found = of_json(ffncalc("hidden-dim", "4096", "--json"))
    assert found == {
        "schema": "ffncalc/hidden-dim/1",
        "d_model": 4096,
        "d_ff": 11008,
        "rule": "llama",
        "steps": [
            {"step": "int(2 × 4d / 3)", "value": 10922},
            {"step": "round up to a multiple of 256", "value": 11008},
        ],
        "gated": True,
        "params": 135266304,
        "ungated_params": 134217728,
        "off": 0.007812,
    }


def test_dims_of_unlike_layers(ffncalc: Any) -> None:
    """A size that differs between layers is the list of its values in order; two stacks have two numbers of layers."""
    assert of_json(ffncalc("params", "deepseek-v3", "--json"))["dims"]["d_ff"] == [18432, 2048]
    assert of_json(ffncalc("params", "t5-base", "--json"))["dims"]["n_layers"] == [12, 12]
    assert of_json(ffncalc("params", "gpt-oss-20b", "--json"))["dims"]["n_heads"] == 64
    layers = of_json(ffncalc("params", "gpt-oss-20b", "--json"))["layers"]
    assert [(layer["count"], layer["ranges"][:2]) for layer in layers] == [
        (12, [[0, 0], [2, 2]]),
        (12, [[1, 1], [3, 3]]),
    ]


def test_without_a_vocabulary(ffncalc: Any, write: Any) -> None:
    """Six numbers are null, the rest exact, a warning asks for it, exit 0."""
    path = write(
        '{"dim": 24, "n_layers": 5, "n_heads": 6, "multiple_of": 8, "norm_eps": 1e-5, "vocab_size": -1}', "params.json"
    )
    result = ffncalc("params", path, "--json")
    params = json.loads(result.out)["params"]
    assert {k for k, v in params.items() if v is None} == {
        "total",
        "active",
        "active_without_embedding",
        "stored",
        "embedding",
        "head",
    }
    assert params["ffn"] == 5 * 3 * 24 * 64
    assert json.loads(result.out)["dims"]["n_vocab"] is None
    assert (result.code, "--vocab-size" in result.err) == (0, True)


def test_explain_in_json(ffncalc: Any) -> None:
    """`explain` has a formula, its substituted text and its value by the path of each number."""
    found = of_json(ffncalc("params", "gpt2", "--json", "--explain"))["explain"]
    assert found["layers[0].ffn"] == {
        "formula": "2·d_model·d_ff + d_ff + d_model", "substituted": "2 × 768 × 3,072 + 3,072 + 768", "value": 4722432,
        "plain": "8d² + 5d",
    }  # fmt: skip
    assert {f"params.{part}" for part in [*PARTS, "total", "active", "stored"]} <= found.keys()


def test_explain_as_a_table(ffncalc: Any) -> None:
    """name = formula = substituted formula = value, and where each size is from."""
    out = ffncalc("params", "llama-7b", "--explain").out
    assert "layers[0].ffn = 3·d_model·d_ff = 3 × 4,096 × 11,008 = 135,266,304\n" in out
    assert (
        "in d: 2·d_model·d_ff + d_ff + d_model = 8d² + 5d = 4,722,432\n" in ffncalc("params", "gpt2", "--explain").out
    )
    assert "rule llama: int(2 × 4d / 3), round up to a multiple of 256" in out


def test_configs_json(ffncalc: Any) -> None:
    """One entry a bundled config, with what it counts to."""
    found = of_json(ffncalc("configs", "--json"))
    assert [entry["name"] for entry in found] == bundled.names()
    (gpt2,) = (entry for entry in found if entry["name"] == "gpt2")
    assert (gpt2["total"], gpt2["family"], "openai-community/gpt2" in gpt2["aliases"]) == (124439808, "gpt2", True)
    assert all(entry["source"] and isinstance(entry["total"], int) for entry in found)


def test_families_json(ffncalc: Any) -> None:
    """One entry a family: what it is read for, its source, whether it is exact."""
    found = of_json(ffncalc("families", "--json"))
    assert all({"family", "model_types", "source", "status"} <= entry.keys() for entry in found)
    assert {entry["status"] for entry in found} <= {"exact", "refused"}
    (llama,) = of_json(ffncalc("families", "llama", "--json"))
    assert (llama["family"], "llama" in llama["model_types"], llama["status"]) == ("llama", True, "exact")
    types = [kind for entry in found for kind in entry["model_types"]]
    assert len(types) == len(set(types))


# ------------------------------------------------------------------ formats and several MODELs
def test_several_models_are_a_list(ffncalc: Any) -> None:
    """One MODEL is an object, several are a list in the order they were given."""
    found = of_json(ffncalc("params", "llama-7b", "gpt2", "--json"))
    assert [entry["model"] for entry in found] == ["llama-7b", "gpt2"]
    assert [entry["model"] for entry in of_json(ffncalc("flops", "gpt2", "llama-7b", "--json"))] == ["gpt2", "llama-7b"]


@pytest.mark.parametrize("command", ["params", "flops", "compare"])
def test_csv(ffncalc: Any, command: str) -> None:
    """One row a model, columns named by their path in the JSON, numbers whole."""
    rows = list(csv.DictReader(io.StringIO(ffncalc(command, "gpt2", "llama-7b", "--format", "csv").out)))
    assert [row["model"] for row in rows] == ["gpt2", "llama-7b"]
    assert rows[1]["dims.d_ff"] == "11008"
    if command != "flops":
        assert [row["params.total"] for row in rows] == ["124439808", "6738415616"]
    else:
        assert rows[0]["total.total"] == "291648307200"


def test_compare_json(ffncalc: Any) -> None:
    """A flat row a model at one context length, columns named as in the JSON of params and flops."""
    rows = of_json(ffncalc("compare", "gpt2", "llama-7b", "--json"))
    single = of_json(ffncalc("flops", "llama-7b", "--json", "--seq-len", "1024"))
    assert [row["flops.seq_len"] for row in rows] == [1024, 1024]
    assert rows[1]["flops.per_token.total"] == single["per_token"]["total"]
    assert rows[1]["params.ffn"] == 4328521728


@pytest.mark.parametrize("form", ["table", "markdown"])
@pytest.mark.parametrize(
    "args",
    [
        ("params", "gpt2"),
        ("flops", "gpt2"),
        ("hidden-dim", "4096"),
        ("compare", "gpt2", "bert-base"),
        ("configs",),
        ("families",),
    ],
    ids=lambda args: args[0],
)
def test_every_command_in_words(ffncalc: Any, args: tuple[str, ...], form: str) -> None:
    """Every command that prints numbers has a table and Markdown."""
    result = ffncalc(*args, "--format", form)
    assert (result.code, result.err) == (0, "")
    assert ("| ---" in result.out) == (form == "markdown")


def test_a_printed_config_is_a_config(ffncalc: Any, write: Any) -> None:
    """`ffncalc configs llama-7b` prints a file that counts to the same; as JSON its values."""
    text = ffncalc("configs", "llama-7b").out
    again = of_json(ffncalc("params", write(text, "mine.yaml"), "--json"))
    assert again["params"] == of_json(ffncalc("params", "llama-7b", "--json"))["params"]
    assert of_json(ffncalc("configs", "llama-7b", "--json")) == yaml.safe_load(text)


def test_configs_schema(ffncalc: Any) -> None:
    """`ffncalc configs --schema` is a JSON schema for such files."""
    found = of_json(ffncalc("configs", "--schema"))
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert found["required"] == ["family"]


# ------------------------------------------------------------------ what goes wrong
@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(
            ("params", "llama-7c"),
            "'llama-7c' is neither a bundled model nor a file; did you mean llama-7b or",
            id="name",
        ),
        pytest.param(("params", "gpt2", "nowhere.yaml", "--json"), "nowhere.yaml: no such file", id="second"),
        pytest.param(
            ("flops", "gpt2", "llama-7b", "t5-base", "--source-len", "7"),
            "gpt2 has no encoder beside a decoder",
            id="source",
        ),
        pytest.param(
            ("params", "gpt2", "--head", "mlm"), "gpt2 has no 'mlm' head; want one of causal, none", id="head"
        ),
        pytest.param(
            ("params", "gpt2", "--head", "clm"),
            "--head is one of causal, mlm, seq2seq, pooler, none, not 'clm'",
            id="heads",
        ),
        pytest.param(
            ("params", "gpt2", "--format", "yaml"),
            "--format is one of table, json, csv, markdown, not 'yaml'",
            id="format",
        ),
        pytest.param(
            ("params", "gpt2", "--json", "--format", "csv"), "--json and --format csv ask for two formats", id="formats"
        ),
        pytest.param(
            ("params", "gpt2", "--vocab-size", "0"), "--vocab-size takes a positive whole number, not '0'", id="vocab"
        ),
        pytest.param(
            ("flops", "gpt2", "--seq-len", "1.5"), "--seq-len takes a positive whole number, not '1.5'", id="length"
        ),
        pytest.param(
            ("flops", "gpt2", "--pass", "backward"),
            "--pass is one of forward, train, recompute, not 'backward'",
            id="pass",
        ),
        pytest.param(("compare", "gpt2"), "compare takes two or more models", id="compare-one"),
        pytest.param(("hidden-dim", "0"), "D takes a positive whole number, not '0'", id="width"),
        pytest.param(
            ("hidden-dim", "4096", "--rule", "lama"),
            "--rule is one of llama, 8/3, 4d, matched, not 'lama'; did you mean",
            id="rule",
        ),
        pytest.param(
            ("hidden-dim", "4096", "--multiplier", "0"),
            "--multiplier takes a positive number such as 1.3",
            id="multiplier",
        ),
        pytest.param(
            ("hidden-dim", "4096", "--round", "off"), "--round is one of up, nearest, down, not 'off'", id="round"
        ),
        pytest.param(("configs", "llama-7c"), "'llama-7c' is neither a bundled model nor a file", id="config"),
        pytest.param(
            ("families", "lama"), "'lama' is not an architecture that ffncalc knows; did you mean llama", id="family"
        ),
        pytest.param(("params",), "missing argument", id="no-model"),
        pytest.param(("params", "gpt2", "--jsno"), "did you mean --json", id="option"),
        pytest.param(("parms", "gpt2"), "did you mean 'params'", id="command"),
        pytest.param(("params", "-", "-"), "- stands for standard input, which can be read once", id="stdin-twice"),
    ],
)
def test_errors(ffncalc: Any, args: tuple[str, ...], message: str) -> None:
    """Exit 2, one message on standard error, and nothing on standard output, also where other MODELs were fine."""
    result = ffncalc(*args)
    assert (result.code, result.out) == (2, "")
    assert message.lower() in result.err.lower()
    assert result.err.startswith("ffncalc: error: ")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("last", ["bad.yaml", "llama-7c"])
@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_nothing_is_printed_when_one_fails(ffncalc: Any, write: Any, form: str, last: str) -> None:
    """All MODELs are resolved before anything is printed."""
    path = write("family: decoder\nd_model: 1e4\n", last) if last.endswith("yaml") else last
    for command in ("params", "flops", "compare"):
        result = ffncalc(command, "gpt2", path, "--format", form)
        assert (result.code, result.out) == (2, "")


def test_warnings_beside_numbers(ffncalc: Any) -> None:
    """A warning goes to standard error, once, and the numbers come all the same."""
    result = ffncalc("flops", "gpt2", "gpt2", "--seq-len", "2048", "--json")
    assert result.err == "ffncalc: warning: seq_len 2,048 is beyond the 1,024 positions of gpt2's table\n"
    assert [entry["warnings"] for entry in json.loads(result.out)] == [
        [result.err.removeprefix("ffncalc: warning: ").rstrip()]
    ] * 2


# ------------------------------------------------------------------ where a process matters
def test_standard_input() -> None:
    """`-` reads a config from standard input."""
    done = in_a_process("params", "-", "--json", input=OWN.encode())
    assert json.loads(done.stdout)["params"]["ffn"] == 5 * 3 * 24 * 40
    assert (done.returncode, done.stderr) == (0, b"")


def test_head_of_a_pipe() -> None:
    """`| head -1` gets its line, and nobody hears of the closed pipe."""
    command = f"{sys.executable} -m ffncalc configs | head -1; echo ${{PIPESTATUS[0]}}"
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, timeout=60, env=env, text=True)
    first, code = done.stdout.splitlines()
    assert first == f"{len(bundled.names())} bundled configs; `ffncalc configs NAME` prints one"
    assert code in ("0", "141")
    assert done.stderr == ""


def test_in_the_c_locale() -> None:
    """With LANG=C and no UTF-8 the output is ASCII, every sign spelled."""
    env = {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = in_a_process("flops", "llama-7b", "--explain", env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"16.125d^2" in done.stdout
    assert b"?" not in done.stdout
    done.stdout.decode("ascii")


def test_any_folder_and_any_model(tmp_path: Path) -> None:
    """A run from elsewhere finds the bundled configs, and a folder with a config.json."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text('{"model_type": "gpt2", "n_layer": 3}')
    done = in_a_process("params", "mine", "gpt2", "--json", cwd=tmp_path)
    assert [(entry["model"], entry["dims"]["n_layers"]) for entry in json.loads(done.stdout)] == [
        ("mine", 3),
        ("gpt2", 12),
    ]


def test_numbers_of_any_length(write: Any) -> None:
    """Sizes of hundreds of digits multiply to thousands, and are printed to the last one."""
    big = 6 * 10**990
    text = OWN.replace("d_model: 24", f"d_model: {big}").replace("d_ff: 40", f"d_ff: {big}").replace("101", str(big))
    path = write(text.replace("n_layers: 5", f"n_layers: {big}"))
    done = in_a_process("flops", path, "--seq-len", "1e990", "--batch", "1e990", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert f'"ffn": {2 * 3 * 6**3}'.encode() + b"0" * 4950 in done.stdout
    assert in_a_process("hidden-dim", "1e900", "--rule", "8/3").returncode == 0


@pytest.mark.parametrize("name", [name for name in COMMANDS if not under(name)])
def test_help_has_no_python_types(ffncalc: Any, name: str) -> None:
    """An argument stands in the help by its name, and its dots stand in the usage line once."""
    text = ffncalc(*name.split(), "--help").out
    assert not re.search(r"<(str|list)|\.\.\.[]}]\.\.\.", text)


@pytest.mark.parametrize(
    ("args", "rows"),
    [
        pytest.param(
            ("deepseek-v3",),
            {
                ("decoder 0-2", "FFN"): "below 16d² (-3.6 %)",  # 792,723,456 of 822,083,584
                ("decoder 0-2", "projections"): "below 8d² (-9.0 %)",  # 374,210,560 of 411,041,792
                ("decoder 3-60", "FFN"): "below 16d² (-3.1 %)",  # the router too: 796,393,472
            },
            id="terms-of-other-powers",
        ),
        pytest.param(
            ("t5-small", "--seq-len", "128", "--source-len", "512", "--pass", "train"),
            {
                ("encoder 0", "scores"): "at 3 × 4Sd",
                ("decoder 0", "scores"): "above 3 × 4Td (+400.0 %)",  # 4Sd beside it, and S is 4T
                ("decoder 0", "projections"): "above 3 × 8d² (+50.0 %)",
            },
            id="two-lengths",
        ),
        pytest.param(("gpt-oss-20b",), {("decoder 0, 2, ..., 22", "scores"): "windowed"}, id="window"),
    ],
)
def test_standing_to_the_plain_form(ffncalc: Any, args: tuple[str, ...], rows: dict[tuple[str, str], str]) -> None:
    """What a layer is above or below the plain form by is its exact number against that form's."""
    lines = [re.split(r"  +", line) for line in ffncalc("flops", *args).out.splitlines()]
    found = {(line[0].split(" (")[0], line[1]): line[-1] for line in lines if len(line) == 5}
    assert {key: found[key] for key in rows} == rows
