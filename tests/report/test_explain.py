"""--explain: every substituted text gives its value, for every number of every bundled model."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from ffncalc import bundled
from ffncalc.export import flops_data, hidden_data, params_data
from ffncalc.loading import load
from ffncalc.report.compare import compare
from ffncalc.report.explain import Explained, explain_compare, explain_flops, explain_hidden, explain_params
from ffncalc.report.flops import flops
from ffncalc.report.hidden import hidden
from ffncalc.report.params import params
from ffncalc.workload import Workload


def evaluated(text: str) -> int:
    """What a substituted text comes to."""
    return int(eval(text.replace(",", "").replace("×", "*"), {"__builtins__": {}}))


def wrong(explained: Iterable[Explained]) -> list[str]:
    """The names whose text doesn't give their value, or whose formula has another shape than that text."""
    return [
        e.name
        for e in explained
        if evaluated(e.substituted) != e.value or e.formula.count(" + ") != e.substituted.count(" + ")
    ]


def numbers(data: Any, path: str) -> Any:
    """The number at a path of the JSON, such as `layers[0].ffn`."""
    for part in path.replace("[", ".").replace("]", "").split("."):
        data = data[int(part)] if part.isdigit() else data.get(part, 0)
    return data


@pytest.mark.parametrize("name", bundled.names())
def test_substituted_texts_give_the_values(name: str) -> None:
    """Of parameters and of FLOPs, with a batch, the causal mask and a pass other than forward."""
    model = load(name)
    assert wrong(explain_params(params(model))) == []
    assert wrong(explain_flops(flops(model, Workload(77, batch=3, causal=True, passes="train")))) == []


@pytest.mark.parametrize("name", ["gpt2", "deepseek-v3", "t5-base", "bert-base", "gpt-oss-20b"])
def test_names_are_paths_of_the_json(name: str) -> None:
    """Each explained number is the one at its name in the JSON, and every number there is explained."""
    model = load(name)
    for report, data, explained in (
        (p := params(model), params_data(p), list(explain_params(p))),
        (f := flops(model), flops_data(f), list(explain_flops(f))),
    ):
        assert {e.name: numbers(data, e.name) for e in explained} == {e.name: e.value for e in explained}
        groups = ("params",) if report is p else ("per_token", "per_source_token", "per_sequence", "total")
        assert {f"{g}.{key}" for g in groups for key in data[g]} <= {e.name for e in explained}


def by_name(explained: Iterable[Explained]) -> dict[str, Explained]:
    """The explained numbers by name."""
    return {e.name: e for e in explained}


@pytest.mark.parametrize(
    ("model", "name", "formula", "substituted", "plain", "value"),
    [
        ("gpt2", "layers[0].ffn", "2·d_model·d_ff + d_ff + d_model", "2 × 768 × 3,072 + 3,072 + 768",
         "8d² + 5d", 4_722_432),
        ("gpt2", "layers[0].attention", "4·d_model² + 4·d_model", "4 × 768 × 768 + 4 × 768", "4d² + 4d", 2_362_368),
        ("llama-7b", "layers[0].ffn", "3·d_model·d_ff", "3 × 4,096 × 11,008", None, 135_266_304),
        ("llama-7b", "params.ffn", "3·n_layers·d_model·d_ff", "3 × 32 × 4,096 × 11,008", None, 4_328_521_728),
        ("llama-7b", "params.total", "embedding + attention + ffn + norm + head",
         "131,072,000 + 2,147,483,648 + 4,328,521,728 + 266,240 + 131,072,000", None, 6_738_415_616),
        ("gemma-2b", "layers[0].ffn", "3·d_model·d_ff", "3 × 2,048 × 16,384", "24d²", 100_663_296),
        ("mixtral-8x7b", "layers[0].ffn", "3·n_experts·d_model·d_ff + n_experts·d_model",
         "3 × 8 × 4,096 × 14,336 + 8 × 4,096", "84d² + 8d", 1_409_318_912),
    ],
)  # fmt: skip
def test_params_read_as_people_write_them(
    model: str, name: str, formula: str, substituted: str, plain: str | None, value: int
) -> None:
    """The formula in symbols, in values, and in d where that is a textbook's."""
    found = by_name(explain_params(params(load(model))))[name]
    assert (found.formula, found.substituted, found.plain, found.value) == (formula, substituted, plain, value)


@pytest.mark.parametrize(
    ("name", "formula", "plain"),
    [
        ("layers[0].ffn", "4·d_model·d_ff", "16d²"),
        ("layers[0].attention_projections", "8·d_model²", "8d²"),
        ("layers[0].attention_scores", "4·n_heads·d_head·T", "4Td"),
        ("per_token.head", "2·n_vocab·d_model", None),
        ("total.attention_scores", "4·n_layers·n_heads·d_head·T²", None),
    ],
)
def test_flops_read_as_people_write_them(name: str, formula: str, plain: str | None) -> None:
    """16d² against 8d² + 4Td."""
    found = by_name(explain_flops(flops(load("gpt2"))))[name]
    assert (found.formula.replace("d_model·T", "n_heads·d_head·T"), found.plain) == (formula, plain)


def test_sizes_say_where_they_are_from() -> None:
    """Each leaf of a formula: its name, its value, its origin."""
    found = by_name(explain_params(params(load("llama-7b"))))["layers[0].ffn"]
    assert [(leaf.name, leaf.value, leaf.origin) for leaf in found.sizes] == [
        ("d_model", 4096, "key d_model"),
        ("d_ff", 11008, "rule llama: int(2 × 4d / 3), round up to a multiple of 256"),
    ]


def test_hidden_and_compare() -> None:
    """The parameters that a width gives, and every model's numbers with its name in front."""
    found = by_name(explain_hidden(hidden(4096, "llama")))
    assert {name: (e.formula, e.value) for name, e in found.items()} == {
        "ffn.params": ("3·d_model·d_ff", 135_266_304),
        "ffn.ungated_params": ("2·d_model·d_ff", 134_217_728),
    }
    both = list(explain_compare(compare([load("gpt2"), load("llama-7b")])))
    assert wrong(both) == []
    assert {e.name.split(": ")[0] for e in both} == {"gpt2", "llama-7b"}


def test_plain_data() -> None:
    """Reports are plain data: JSON holds them without loss."""
    for data in (
        params_data(params(load("gpt2"))),
        flops_data(flops(load("gpt2"))),
        hidden_data(hidden(4096, "matched")),
    ):
        assert json.loads(json.dumps(data)) == data
