"""The search for a budget: what brute force over the same small space finds, and proposals that count as they say."""

from functools import cache
from itertools import product
from typing import Any

import pytest

from ffncalc import flops, load, params, size
from ffncalc.errors import InputError

SPACE = {"d_model": [64, 96, 128, 160], "n_layers": range(1, 20), "d_ff": [96, 200, 333], "n_vocab": [101, 307]}
START = {"family": "llama", "d_head": 16, "tied": False}


@cache
def everything() -> list[tuple[tuple[int, ...], dict[str, int]]]:
    """(layers, width, ...) and the numbers of every config of the space, each counted on its own, at T = 32."""
    found = []
    for d, layers, d_ff, vocabulary in product(*SPACE.values()):
        model = load(
            {**START, "d_model": d, "n_layers": layers, "n_heads": d // 16, "d_ff": d_ff, "n_vocab": vocabulary}
        )
        report = params(model)
        numbers = {
            "params": int(report.total or 0),
            "active": int(report.active or 0),
            "flops": int(flops(model, 32).per_token["total"]),
        }
        found.append(((layers, d, d_ff, vocabulary), numbers))
    return found


def brute(kind: str, budget: int, keep: int) -> list[tuple[int, ...]]:
    """(how far off, layers, width, ...) of the nearest configs."""
    return sorted((abs(numbers[kind] - budget), *sizes) for sizes, numbers in everything())[:keep]


@pytest.mark.parametrize("budget", [60_000, 399_999, 1_000_000, 2_500_000])
@pytest.mark.parametrize("kind", ["params", "active", "flops"])
def test_brute_force(kind: str, budget: int) -> None:
    """The nearest configs are those that counting every config of the space finds, in the same order of distance."""
    budgets: dict[str, Any] = {kind: budget}
    found = size(**budgets, **SPACE, d_head=16, keep=100, within=100.0, seq_len=32)
    assert found.points == 4 * 19 * 3 * 2
    got = [
        (round(abs(c.off) * budget), c.dims["n_layers"], c.dims["d_model"], c.dims["d_ff"], c.dims["n_vocab"])
        for c in found.candidates
    ]
    assert [entry[0] for entry in got] == [entry[0] for entry in brute(kind, budget, 100)]
    assert sorted(got)[:90] == brute(kind, budget, 90)


@pytest.mark.parametrize("ffn", ["swiglu", "geglu", "gelu", "relu2"])
@pytest.mark.parametrize("t", [1, 8])
def test_proposals_count_as_they_say(ffn: str, t: int) -> None:
    """Each proposal loads without a warning and gives the numbers beside it; its sizes divide by the degree."""
    found = size(1_300_000_000, ffn=ffn, tensor_parallel=t, keep=4, seq_len=512)
    assert found.candidates
    for candidate in found.candidates:
        model = load(candidate.config)
        report = params(model)
        assert report.warnings == ()
        assert {
            name: number.value for name, number in report.numbers().items() if number is not None
        } == candidate.params
        assert flops(model, 512).per_token["total"] == candidate.flops_per_token
        assert candidate.off == (candidate.params["total"] - 1_300_000_000) / 1_300_000_000
        assert not any(candidate.dims[name] % t for name in ("n_heads", "n_kv_heads", "d_ff", "n_vocab"))


def test_widths_that_follow_divide_too() -> None:
    """A d_ff that a rule gives has to divide by the degree as well as a listed one."""
    found = size(1_000_000_000, multiple_of=100, tensor_parallel=8, keep=5, within=1.0)
    assert all(candidate.dims["d_ff"] % 8 == 0 for candidate in found.candidates)
    assert any(candidate.dims["d_ff"] % 8 for candidate in size(1_000_000_000, multiple_of=100, keep=40).candidates)


def test_experts_by_active_parameters() -> None:
    """From a mixture's config, active parameters are what the budget is of; its stated sizes stay."""
    found = size(active=13_000_000_000, like="mixtral-8x7b", keep=3)
    assert [c.dims["n_experts"] for c in found.candidates] == [8] * 3
    assert {c.dims["d_ff"] for c in found.candidates} == {14336}
    assert all(abs((c.params["active"] or 0) - 13_000_000_000) < 0.1 * 13_000_000_000 for c in found.candidates)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        pytest.param({}, "want one budget", id="no-budget"),
        pytest.param({"params": 10**9, "flops": 10**9}, "want one budget", id="two-budgets"),
        pytest.param(
            {"params": 7 * 10**9, "d_model": [1024], "n_layers": [2]},
            r"nearest has 91,231,232 .*binds: d_model 1,024; n_layers 2",
            id="too-large",
        ),
        pytest.param(
            {"params": 1000, "d_model": [1024, 2048], "n_layers": [2, 3]},
            "binds: d_model at least 1,024; n_layers at least 2",
            id="too-small",
        ),
        pytest.param(
            {"params": 7 * 10**9, "d_model": [1024, 16384], "n_layers": [32]},
            "the steps between its values are too wide|binds: n_layers 32",
            id="steps-too-wide",
        ),
        pytest.param(
            {"params": 7 * 10**9, "n_vocab": [50257], "tensor_parallel": 8},
            "n_vocab must divide by 8$",
            id="vocabulary",
        ),
        pytest.param({"params": 7 * 10**9, "d_model": [1000]}, "d_model must divide by d_head 128", id="no-heads"),
        pytest.param(
            {"params": 7 * 10**9, "d_model": [1024], "aspect": (2000.0, 3000.0)}, "must be in 2000..3000", id="aspect"
        ),
        pytest.param(
            {"params": 7 * 10**9, "n_kv_heads": [7], "d_model": [4096]},
            "is not a multiple of n_kv_heads 7",
            id="groups",
        ),
        pytest.param({"params": 7 * 10**9, "ffn": "swigloo"}, "not known", id="ffn"),
    ],
)
def test_impossible(asked: dict[str, Any], message: str) -> None:
    """A budget that nothing meets, or a space without points, says which limit is to blame and what is nearest."""
    with pytest.raises(InputError, match=message):
        size(**asked)


@pytest.mark.parametrize("like", ["deepseek-v3", "t5-small"])
def test_depths_that_decide_the_structure(like: str) -> None:
    """Where every size decides what a layer looks like, no size is left over and each point is looked at on its own."""
    want = params(like).total
    assert want is not None
    own = load(like).spec
    found = size(
        want.value,
        like=like,
        d_model=[own.stacks[-1].d_model.value],
        n_layers=[1, own.stacks[-1].n_layers],
        n_heads=[own.stacks[-1].kinds[-1].layer.attention.n_heads.value],
    )
    assert found.candidates[0].params["total"] == want


@pytest.mark.parametrize("layers", [range(1, 10_000_001), [30, 7, 32, 40, 28]], ids=["millions", "unordered"])
def test_depths_within_the_aspect(layers: Any) -> None:
    """Of any list of depths, those within the bounds of d_model / n_layers are searched and no others."""
    found = size(7 * 10**9, d_model=[4096], n_layers=layers, aspect=(102.4, 146.0))
    within = [n for n in sorted(layers)[:100] if 102.4 <= 4096 / n <= 146.0]
    assert found.points == len(within)
    assert {candidate.dims["n_layers"] for candidate in found.candidates} <= set(within)
