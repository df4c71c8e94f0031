"""What must hold of any model: random configs of the generic families."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ffncalc.expr import Expr
from ffncalc.loading import load
from ffncalc.ops import PARTS, of_part, parameters
from ffncalc.report.explain import explain_flops, explain_params
from ffncalc.report.flops import KINDS, flops
from ffncalc.report.params import params
from ffncalc.workload import Workload

small = st.integers(1, 50)


def but_not(**always: Any) -> Any:
    """A strategy for a mapping of which any key may be left out."""
    return st.fixed_dictionaries({}, optional=always)


FFN = but_not(kind=st.sampled_from(("plain", "gated")), bias=st.booleans(), d_ff=small) | st.fixed_dictionaries(
    {"kind": st.just("moe"), "n_experts": st.integers(4, 9), "top_k": st.integers(1, 4)},
    optional={
        "n_shared": st.integers(0, 3), "expert": st.sampled_from(("plain", "gated")), "bias": st.booleans(),
        "d_ff": small, "router_bias": st.booleans(), "shared_gate": st.booleans(), "correction": st.booleans(),
    },
)  # fmt: skip
ATTENTION = but_not(
    bias=st.lists(st.sampled_from("qkvo"), unique=True), qk_norm=st.sampled_from(("none", "head", "full", "table")),
    window=st.none() | small, sinks=st.booleans(), d_v=small, conv=st.integers(1, 4),
) | st.fixed_dictionaries(
    {"kind": st.just("latent"), "kv_lora_rank": small, "d_nope": small, "d_rope": small, "d_v": small},
    optional={"q_lora_rank": small},
)  # fmt: skip


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Any]:
    """A config of one of the generic families."""
    n_kv, times = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    groups = draw(st.lists(st.fixed_dictionaries({"repeat": st.integers(1, 4), "ffn": FFN}), min_size=1, max_size=3))
    return {
        "family": draw(st.sampled_from(("decoder", "encoder", "encoder-decoder"))),
        "n_layers": sum(group["repeat"] for group in groups),
        "n_heads": n_kv * times,
        "n_kv_heads": n_kv,
        "attention": draw(ATTENTION),
        "norm": draw(
            but_not(kind=st.sampled_from(("rms", "layer", "none")), place=st.sampled_from(("pre", "post", "both")))
        ),
        "embedding": draw(but_not(width=small, norm=st.booleans(), token_types=st.integers(0, 3))),
        "tied": draw(st.booleans()),
        "layers": groups,
        **{name: draw(small) for name in ("d_model", "n_vocab", "d_head", "d_ff")},
    }


def evaluated(text: str) -> int:
    """What a substituted text comes to."""
    return int(eval(text.replace(",", "").replace("×", "*"), {"__builtins__": {}}))


def value(number: Expr | None) -> int:
    """A number that is there."""
    assert number is not None
    return number.value


@settings(deadline=None, max_examples=50)
@given(configs())
def test_parameters(config: dict[str, Any]) -> None:
    """Components add up; layers × count and what is outside are the whole; active ≤ total ≤ stored; texts evaluate."""
    model = load(config)
    report = params(model)
    total = value(report.total)
    assert sum(value(report.parts[part]) for part in PARTS) == total
    inside = sum(layer.total.value * layer.kind.n_stored.value for layer in report.layers)
    assert inside + parameters(model.outer).value == total
    for part in PARTS:
        blocks = sum(layer.parts[part].value * layer.kind.n_stored.value for layer in report.layers)
        assert blocks + parameters(of_part(model.outer, part)).value == value(report.parts[part])
    assert value(report.active_without_embedding) <= value(report.active) <= total <= value(report.stored)
    assert [e.name for e in explain_params(report) if evaluated(e.substituted) != e.value] == []
    assert model.spec.warnings == ()


@settings(deadline=None, max_examples=60)
@given(configs(), st.integers(1, 40), st.integers(1, 3), st.booleans())
def test_flops(config: dict[str, Any], t: int, batch: int, causal: bool) -> None:
    """Kinds add up; causal is at most full; per token, layers × count is the whole but for the ends; texts evaluate."""
    model = load(config)
    full, report = flops(model, Workload(t, batch=batch)), flops(model, Workload(t, batch=batch, causal=causal))
    for group in (report.per_token, report.per_source_token, report.per_sequence, report.total):
        assert sum(group[kind].value for kind in KINDS) == group["total"].value
    assert report.total["total"].value <= full.total["total"].value
    groups = full.per_token, full.per_source_token, full.per_sequence
    assert full.total["total"].value == batch * (
        t * (groups[0]["total"].value + groups[1]["total"].value) + groups[2]["total"].value
    )
    assert [e.name for e in explain_flops(report) if evaluated(e.substituted) != e.value] == []


@settings(deadline=None, max_examples=30)
@given(configs())
def test_doubling_the_layers(config: dict[str, Any]) -> None:
    """Twice the layers of each kind are twice the blocks, and change nothing outside them."""
    config["family"] = "decoder"
    groups = [{**group, "repeat": 2 * group["repeat"]} for group in config["layers"]]
    once, twice = load(config), load({**config, "layers": groups, "n_layers": 2 * config["n_layers"]})
    blocks = [
        sum(layer.total.value * layer.kind.n_stored.value for layer in params(model).layers) for model in (once, twice)
    ]
    assert blocks[1] == 2 * blocks[0]
    assert parameters(once.outer) == parameters(twice.outer)
    scores = [flops(model, Workload(9)).per_token["attention_scores"].value for model in (once, twice)]
    assert scores[1] == 2 * scores[0]


@pytest.mark.parametrize("layers", [32, 10_000])
def test_cost_grows_with_the_kinds_of_layers(layers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting 10,000 like layers makes as many expressions as counting 32."""
    config = {"family": "llama", "d_model": 24, "n_heads": 6, "d_ff": 40, "n_vocab": 101}
    made: list[int] = []
    plain = Expr.__init__

    def counted(self: Expr, *args: Any) -> None:
        made.append(1)
        plain(self, *args)

    def cost(n: int) -> int:
        made.clear()
        model = load({**config, "n_layers": n})
        params(model)
        flops(model)
        return len(made)

    monkeypatch.setattr(Expr, "__init__", counted)
    assert cost(layers) == cost(2)


def test_like_layers_of_a_list_are_one_kind() -> None:
    """A list with one size for each of 10,000 layers costs as many kinds as it has sizes."""
    config = {"family": "decoder", "d_model": 24, "n_heads": 6, "n_vocab": 101, "n_layers": 10_000}
    model = load({**config, "d_ff": [40, 50] * 5000})
    assert [kind.n_stored.value for kind in model.layers] == [5000, 5000]
    assert value(params(model).total) == 10_000 * (4 * 24 * 24 + 48) + 5000 * 3 * 24 * 90 + 2 * 101 * 24 + 24
