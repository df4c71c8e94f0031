"""One list of operations, and every count read off it."""

import pytest

from ffncalc.expr import Expr, size
from ffncalc.ops import (
    PAIR,
    TOKEN,
    Op,
    active,
    buffers,
    contraction,
    linear,
    lookup,
    macs_per_row,
    of_part,
    parameters,
    scale,
    stored,
)

D, D_FF, V, N, K, H = (
    size(*s) for s in (("d_model", 24), ("d_ff", 40), ("n_vocab", 101), ("n_experts", 10), ("top_k", 3), ("n_heads", 6))
)


@pytest.mark.parametrize(
    ("op", "weights", "used", "kept", "macs"),
    [
        pytest.param(linear("ffn", "up", D, D_FF), 24 * 40, 24 * 40, 0, 24 * 40, id="matrix"),
        pytest.param(
            linear("ffn", "up", D, D_FF, True), 24 * 40 + 40, 24 * 40 + 40, 0, 24 * 40, id="a-bias-is-no-matmul"
        ),
        pytest.param(linear("head", "lm_head", D, V, tied=True), 0, 0, 0, 24 * 101, id="a-tied-head-has-macs-only"),
        pytest.param(linear("head", "lm_head", D, V, True, tied=True), 101, 101, 0, 24 * 101, id="its-bias-is-its-own"),
        pytest.param(
            linear("ffn", "experts", D, D_FF, True, copies=N, used=K),
            10 * (960 + 40),
            3 * (960 + 40),
            0,
            3 * 960,
            id="experts",
        ),
        pytest.param(linear("ffn", "twice", D, D_FF, copies=N), 9600, 9600, 0, 9600, id="copies-that-all-run"),
        pytest.param(lookup("embedding", "embed", V, D), 101 * 24, 101 * 24, 0, 0, id="a-lookup-has-weights-only"),
        pytest.param(scale("norm", "norm", D), 24, 24, 0, 0, id="norm"),
        pytest.param(scale("norm", "norm", D, bias=True), 48, 48, 0, 0, id="norm-with-bias"),
        pytest.param(scale("norm", "q_norm", H, D), 6 * 24, 6 * 24, 0, 0, id="table-of-norms"),
        pytest.param(stored("ffn", "correction", N), 0, 0, 10, 0, id="a-buffer-is-no-parameter"),
        pytest.param(contraction("attention", "scores", H, D), 0, 0, 0, 6 * 24, id="scores-have-macs-only"),
    ],
)
def test_counts_of_one_operation(op: Op, weights: int, used: int, kept: int, macs: int) -> None:
    """Parameters, what a token passes through, what is stored beside, and the matmul of one row."""
    assert (parameters([op]).value, active([op]).value, buffers([op]).value, macs_per_row(op).value) == (
        weights,
        used,
        kept,
        macs,
    )


def test_shapes_and_names() -> None:
    """A matrix is (out, in), as the reference library registers it; its bias is as long as what comes out."""
    op = linear("ffn", "mlp.up_proj", D, D_FF, bias=True)
    assert [(w.name, [s.value for s in w.shape]) for w in op.weights] == [
        ("mlp.up_proj.weight", [40, 24]),
        ("mlp.up_proj.bias", [40]),
    ]


def test_rows() -> None:
    """A matrix runs on every token, scores on every pair, unless told."""
    assert (linear("ffn", "up", D, D_FF).rows, contraction("attention", "scores", H).rows) == (TOKEN, PAIR)


def test_sums_over_a_list() -> None:
    """Counts add up over operations and over components."""
    ops = [
        linear("ffn", "up", D, D_FF),
        scale("norm", "norm", D),
        lookup("embedding", "embed", V, D),
        linear("ffn", "down", D_FF, D),
    ]
    by_part: list[Expr] = [parameters(of_part(ops, part)) for part in ("ffn", "norm", "embedding")]
    assert [n.value for n in by_part] == [1920, 24, 2424]
    assert parameters(ops).value == 1920 + 24 + 2424
    assert parameters(of_part(ops, "ffn")).formula() == "2·d_model·d_ff"
