"""Parameters: against independent counts, by component, per kind of layer and in total."""

import json
from pathlib import Path
from typing import Any

import pytest

from ffncalc import bundled
from ffncalc.errors import InputError
from ffncalc.loading import load
from ffncalc.ops import PARTS
from ffncalc.report.params import Params, params

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "bundled.json").read_text())["models"]
MOE: dict[str, Any] = {
    "family": "decoder", "d_model": 24, "n_layers": 5, "n_vocab": 101, "n_heads": 6, "d_ff": 40,
    "layers": [{"repeat": 2}, {"repeat": 3, "ffn": {"kind": "moe", "n_experts": 10, "top_k": 3, "d_ff": 7}}],
}  # fmt: skip


def numbers(report: Params) -> dict[str, int | None]:
    """Every number of the report."""
    return {name: None if number is None else number.value for name, number in report.numbers().items()}


@pytest.mark.parametrize("name", bundled.names())
def test_golden(name: str) -> None:
    """Every component of every bundled model is what its reference class registers (golden/record_bundled.py)."""
    found = numbers(params(load(name)))
    del found["active_without_embedding"]
    assert found == dict.fromkeys(PARTS, 0) | GOLDEN[name]["params"]


def test_golden_is_complete() -> None:
    """Every bundled model is recorded."""
    assert sorted(GOLDEN) == sorted(bundled.names())


def test_kinds_of_layers() -> None:
    """Each kind of layer once: the numbers of one, how many there are, and which."""
    report = params(load(MOE))
    norm, attention = 48, 4 * 24 * 24
    dense, experts = 3 * 24 * 40, 10 * 3 * 24 * 7 + 24 * 10
    found = [
        (k.kind.ranges, k.kind.n_stored.value, {p: n.value for p, n in k.parts.items() if n}) for k in report.layers
    ]
    assert found == [
        (((0, 1),), 2, {"attention": attention, "ffn": dense, "norm": norm}),
        (((2, 4),), 3, {"attention": attention, "ffn": experts, "norm": norm}),
    ]
    assert report.layers[1].total.value == attention + experts + norm


def test_ffn_share_is_of_the_blocks() -> None:
    """The FFN's share leaves embedding, head and final norm out."""
    ffn = 2 * 3 * 24 * 40 + 3 * (10 * 3 * 24 * 7 + 24 * 10)
    blocks = ffn + 5 * (4 * 24 * 24 + 48)
    assert params(load(MOE)).ffn_share == round(ffn / blocks, 6)
    assert params(load("llama-7b")).ffn_share == 0.668367


def test_active() -> None:
    """Routed experts at top_k of n_experts, everything else whole; the token table left out where it isn't the head."""
    untied, tied = params(load(MOE)), params(load({**MOE, "tied": True}))
    idle = 3 * (10 - 3) * 3 * 24 * 7
    assert untied.total is not None
    assert untied.active is not None
    assert tied.active is not None
    assert untied.active.value == untied.total.value - idle
    assert numbers(untied)["active_without_embedding"] == untied.active.value - 101 * 24
    assert numbers(tied)["active_without_embedding"] == tied.active.value


def test_active_keeps_positions() -> None:
    """What is left out is the token table alone: positions meet every token."""
    model = load("gpt2", tied=False)
    found = numbers(params(model))
    assert found["active"] == 124_439_808 + 768 * 50257
    assert found["active_without_embedding"] == 124_439_808


def test_stored() -> None:
    """Correction biases are stored and are no parameters: one an expert and mixture layer, 14,848 in DeepSeek-V3."""
    found = numbers(params(load("deepseek-v3")))
    assert found["stored"] == (found["total"] or 0) + 58 * 256 == (found["total"] or 0) + 14848


@pytest.mark.parametrize(
    ("name", "head", "part", "number"),
    [
        ("bert-base", "mlm", "head", 768 * 768 + 768 + 2 * 768 + 30522),
        ("bert-base", "pooler", "other", 768 * 768 + 768),
        ("bert-base", "none", "other", 0),
        ("gpt2", "none", "head", 0),
        ("llama-7b", "none", "head", 0),
        ("t5-base", "none", "head", 0),
    ],
)
def test_heads(name: str, head: str, part: str, number: int) -> None:
    """A head brings its own weights; `none` is the bare stack."""
    assert numbers(params(load(name, head=head)))[part] == number


def test_head_that_a_family_has_not() -> None:
    """A head that isn't the family's is an error that lists those that are."""
    with pytest.raises(InputError, match="gpt2 has no 'mlm' head; want one of causal"):
        load("gpt2", head="mlm")


def test_without_a_vocabulary(write: Any) -> None:
    """A params.json without a vocabulary: what needs it is None, the rest exact, and a warning asks for it."""
    path = write(
        '{"dim": 24, "n_layers": 5, "n_heads": 6, "multiple_of": 8, "norm_eps": 1e-5, "vocab_size": -1}', "params.json"
    )
    report, known = params(load(path)), params(load(path, n_vocab=101, tied=False))
    unknown = [name for name, number in numbers(report).items() if number is None]
    assert unknown == ["total", "active", "active_without_embedding", "stored", "embedding", "head"]
    assert report.layers == known.layers
    assert numbers(known)["total"] == 5 * (4 * 24 * 24 + 3 * 24 * 64 + 48) + 24 + 2 * 101 * 24
    assert any("--vocab-size" in warning for warning in report.warnings)
    assert known.warnings == ()


def test_a_layer_that_runs_more_than_once() -> None:
    """ALBERT stores one layer and runs twelve: counted once."""
    model = load({"model_type": "albert", "hidden_size": 24, "num_attention_heads": 6, "intermediate_size": 40,
                  "embedding_size": 13, "vocab_size": 101, "num_hidden_layers": 12,
                  "max_position_embeddings": 33})  # fmt: skip
    (layer,) = params(model).layers
    assert (layer.kind.n_stored.value, layer.kind.runs.value) == (1, 12)
    assert layer.parts["ffn"].value == 2 * 24 * 40 + 40 + 24 == numbers(params(model))["ffn"]
