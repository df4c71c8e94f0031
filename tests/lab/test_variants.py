"""The matched variants cost the same, and who uses what is read off the bundled configs."""

import pytest

from ffncalc import bundled
from ffncalc.report.variants import matched_size, series, variants

REPORT = variants(tokens=2)
USED = {(use.kind, use.activation): use for use in REPORT.used}
# arXiv:2002.05202, table 1: held-out log-perplexity after 524,288 steps
PUBLISHED = {
    "relu": 1.677, "gelu": 1.679, "swish": 1.683, "glu": 1.663,
    "bilinear": 1.648, "reglu": 1.645, "geglu": 1.633, "swiglu": 1.636,
}  # fmt: skip


def test_all_eight_cost_the_same() -> None:
    """The same parameters, the same FLOPs, and what ran executed them."""
    assert {m.variant: m.log_perplexity for m in REPORT.matched} == PUBLISHED
    assert {(m.params, m.flops) for m in REPORT.matched} == {(8 * 768**2, 16 * 768**2)}
    assert {2 * m.run.macs for m in REPORT.matched} == {2 * 16 * 768**2}


@pytest.mark.parametrize(("matrices", "d_ff"), [(2, 3072), (3, 2048)])
def test_widths(matrices: int, d_ff: int) -> None:
    """Two matrices have 4d, three have 8/3·d."""
    assert {m.d_ff for m in REPORT.matched if m.matrices == matrices} == {d_ff}


def test_only_relu_is_off() -> None:
    """Half of the units are exactly off where ReLU is in it, none elsewhere."""
    for m in REPORT.matched:
        assert (0.4 < m.run.off < 0.6) if m.activation == "relu" else m.run.off == 0


@pytest.mark.parametrize(
    ("kind", "activation", "members"),
    [
        ("plain", "relu", {"transformer", "t5"}),
        ("plain", "gelu", {"bert"}),
        ("plain", "gelu_tanh", {"gpt2", "gpt3"}),
        ("plain", "relu_squared", {"primer", "nemotron-4"}),
        ("gated", "gelu_tanh", {"t5-v1_1", "gemma"}),
        ("gated", "silu", {"palm", "llama", "mistral", "qwen", "deepseek-llm"}),
        ("moe", "silu", {"mixtral", "deepseek-v3"}),
    ],
)
def test_closing_table(kind: str, activation: str, members: set[str]) -> None:
    """Every row of the text's closing table is there with the models it names."""
    use = USED[kind, activation]
    assert members <= set(use.series)
    assert use.matched == ("" if kind == "moe" else "8d²")
    assert use.matrices == (2 if kind == "plain" else 3)


def test_experts_hold_much_and_run_little() -> None:
    """Mixtures hold many times 8d² and run few of them: Mixtral's 84d², of which 21d² run."""
    use = USED["moe", "silu"]
    assert use.total[0] > 8 * 8
    assert use.active[1] == pytest.approx(21, abs=0.01)


def test_every_bundled_model_has_its_place() -> None:
    """All bundled models but the experiment's are in the table."""
    listed = {name for use in REPORT.used for name in use.models}
    assert listed == {name for name in bundled.names() if not name.startswith("shazeer-")}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("llama-3.2-1b", "llama-3.2"), ("mixtral-8x22b", "mixtral"), ("qwen3-30b-a3b", "qwen3"), ("gpt2-xl", "gpt2"),
     ("t5-v1_1-xxl", "t5-v1_1"), ("primer", "primer"), ("deepseek-v2-lite", "deepseek-v2"), ("phi-3-mini", "phi-3")],
)  # fmt: skip
def test_series(name: str, expected: str) -> None:
    """A name without its size."""
    assert series(name) == expected


def test_matched_size() -> None:
    """8d² for both, from the operations; nothing for kinds without a matched width."""
    assert [matched_size(kind) for kind in ("plain", "gated", "moe")] == ["8d²", "8d²", ""]
