"""Attention: every switch, forward and backward."""

import numpy as np
import pytest

from ffncalc.errors import InputError
from ffncalc.numeric import Attention, Norm, Rotary, attention, count_macs, rms_norm, self_attention
from ffncalc.numeric.differences import check_gradients

D, T, BATCH = 14, 5, 2

KINDS = {
    "multi-head": Attention(6, 6, 4),
    "grouped": Attention(6, 3, 4),
    "multi-query": Attention(6, 1, 4),
    "not causal": Attention(6, 3, 4, causal=False),
    "biases": Attention(6, 3, 4, bias=("q", "k", "v", "o")),
    "some biases": Attention(6, 3, 4, bias=("q", "v")),
    "window": Attention(6, 3, 4, window=2),
    "two-sided window": Attention(6, 3, 4, causal=False, window=2),
    "rotary": Attention(6, 3, 4, rotary=Rotary(4)),
    "partial rotary": Attention(6, 2, 8, rotary=Rotary(6, theta=100.0)),
    "rotary neighbours": Attention(6, 3, 4, rotary=Rotary(4, pairs="neighbours")),
    "norm a head": Attention(6, 3, 4, qk_norm="head", rotary=Rotary(4)),
    "norm all heads": Attention(6, 3, 4, qk_norm="full", norm=Norm(offset=1.0)),
    "sinks": Attention(6, 3, 4, sinks=True, window=3),
    "scale": Attention(6, 3, 4, scale=0.3),
}


def case(layer, seed=0):
    """x and weights for one layer."""
    draw = np.random.default_rng(seed).standard_normal
    return {"x": draw((BATCH, T, D))} | {name: draw(shape) for name, shape in attention.shapes(layer, D).items()}


def one_pair_at_a_time(x, layer, w):
    """Attention by the definition: a loop over batch, heads and queries, rotation by complex numbers."""
    n_heads, n_kv_heads, d_head = layer[:3]
    parts = {n: x @ w[f"{n}.weight"] + w.get(f"{n}.bias", 0) for n in "qkv"}
    mixed = np.zeros((BATCH, T, n_heads, d_head))
    for b, h, t in np.ndindex(BATCH, n_heads, T):
        shared = h // (n_heads // n_kv_heads)
        seen = [s for s in range(T) if is_seen(layer, t, s)]
        q = vector(parts["q"][b], "q", h, t, layer, w)
        keys = [vector(parts["k"][b], "k", shared, s, layer, w) for s in seen]
        scale = d_head**-0.5 if layer.scale is None else layer.scale
        weights = np.exp([q @ k * scale for k in keys])
        weights /= weights.sum() + (np.exp(w["sinks"][h]) if layer.sinks else 0)
        mixed[b, t, h] = sum(
            a * parts["v"][b, s].reshape(-1, d_head)[shared] for a, s in zip(weights, seen, strict=True)
        )
    return mixed.reshape(BATCH, T, -1) @ w["o.weight"] + w.get("o.bias", 0)


def is_seen(layer, t, s):
    """Whether query t sees key s."""
    if not layer.causal:
        return layer.window is None or abs(t - s) <= layer.window // 2
    return s <= t and (layer.window is None or t - s < layer.window)


def vector(rows, name, head, position, layer, w):
    """One head's query or key at one position."""
    row = rows[position]
    weight, offset = w.get(f"{name}_norm.weight"), layer.norm.offset
    if layer.qk_norm == "full":
        row = rms_norm(row, weight, offset=offset)
    row = row.reshape(-1, layer.d_head)[head]
    if layer.qk_norm == "head":
        row = rms_norm(row, weight, offset=offset)
    if layer.rotary is None:
        return row
    width, theta, pairs = layer.rotary
    turned, rest = row[:width], row[width:]
    a, b = (turned[::2], turned[1::2]) if pairs == "neighbours" else np.split(turned, 2)
    z = (a + 1j * b) * np.exp(1j * position * theta ** (-np.arange(0, width, 2) / width))
    out = np.stack([z.real, z.imag], -1).ravel() if pairs == "neighbours" else np.concatenate([z.real, z.imag])
    return np.concatenate([out, rest])


@pytest.mark.parametrize("layer", KINDS.values(), ids=KINDS)
def test_forward_is_the_definition(layer):
    """The two products give what a loop over pairs gives."""
    w = case(layer)
    y, _ = attention.forward(w["x"], layer, w)
    np.testing.assert_allclose(y, one_pair_at_a_time(w["x"], layer, w), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("layer", KINDS.values(), ids=KINDS)
def test_backward(layer):
    """Every gradient passes its finite-difference check."""
    w = case(layer)
    dy = np.random.default_rng(1).standard_normal(w["x"].shape)
    dx, grads = attention.backward(dy, attention.forward(w["x"], layer, w)[1], layer, w)
    assert {"x", *grads} == w.keys()
    slopes = check_gradients(lambda v: float((attention.forward(v["x"], layer, v)[0] * dy).sum()), w, {"x": dx} | grads)
    assert {name: slope.error for name, slope in slopes.items() if slope.error > 1e-6} == {}


@pytest.mark.parametrize("layer", KINDS.values(), ids=KINDS)
def test_macs(layer):
    """Forward executes the projections and the full square of pairs; backward exactly twice that."""
    w = case(layer)
    rows, width, kv_width = BATCH * T, layer.n_heads * layer.d_head, layer.n_kv_heads * layer.d_head
    expected = rows * (2 * D * width + 2 * D * kv_width) + 2 * BATCH * T * T * width
    with count_macs() as macs:
        y, cache = attention.forward(w["x"], layer, w)
    assert macs.total == expected
    with count_macs() as macs:
        attention.backward(y, cache, layer, w)
    assert macs.total == 2 * expected


def test_trace():
    """Each step is traced with its name; probabilities are rows that add up to 1, by head."""
    layer, steps = KINDS["grouped"], {}
    w = case(layer)
    attention.forward(w["x"], layer, w, steps.__setitem__)
    assert list(steps) == ["q", "k", "v", "scores", "probabilities", "mixed", "o"]
    assert steps["probabilities"].shape == (BATCH, 6, T, T)
    np.testing.assert_allclose(steps["probabilities"].sum(-1), 1)


def test_softmax_of_large_scores():
    """Scores of 1e4 don't overflow."""
    probabilities, _ = attention.softmax(np.array([[1e4, 1e4 - 1, -1e4]]))
    np.testing.assert_allclose(probabilities, [[1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1)), 0]])


def test_softmax_of_a_large_sink():
    """A sink far above the scores takes all, without overflow."""
    with np.errstate(over="raise", invalid="raise"):
        probabilities, at_sink = attention.softmax(np.array([[1.0, 2.0]]), np.array([[1e4]]))
    assert (probabilities.tolist(), at_sink.tolist()) == ([[0.0, 0.0]], [[1.0]])


def test_for_users():
    """`self_attention` is the layer, for X of shape (..., T, d_model), in X's dtype."""
    layer = KINDS["grouped"]
    w = case(layer)
    matrices = [w[f"{name}.weight"] for name in "qkvo"]
    expected, _ = attention.forward(w["x"], layer, w)
    np.testing.assert_allclose(self_attention(w["x"], *matrices, 6, 3), expected)
    np.testing.assert_allclose(self_attention(w["x"][1], *matrices, 6, 3), expected[1])
    half = self_attention(w["x"].astype(np.float16), *(m.astype(np.float16) for m in matrices), 6, 3)
    assert half.dtype == np.float16


WEIGHTS = [np.ones((D, 24)), np.ones((D, 12)), np.ones((D, 12)), np.ones((24, D))]
BAD = {
    "heads": ((np.ones((T, D)), *WEIGHTS, 5), r"W_q has shape \(14, 24\); its columns can't be shared by 5 heads"),
    "groups": ((np.ones((T, D)), *WEIGHTS, 6, 4), "6 query heads can't share 4 key/value heads"),
    "v": ((np.ones((T, D)), *WEIGHTS[:2], np.ones((D, 24)), WEIGHTS[3], 6, 3), r"W_v has shape \(14, 24\)"),
    "token": ((np.ones(D), *WEIGHTS, 6, 3), r"X has shape \(14,\)"),
    "NaN": ((np.full((T, D), np.nan), *WEIGHTS, 6, 3), "X holds NaN"),
}


@pytest.mark.parametrize(("given", "message"), BAD.values(), ids=BAD)
def test_bad_input(given, message):
    """What doesn't fit is named."""
    with pytest.raises(InputError, match=message):
        self_attention(*given)


def test_bad_rotary():
    """A rotation wider than the head, or odd, is refused."""
    with pytest.raises(InputError, match="rotary width is 6; an even number from 2 to d_head = 4"):
        self_attention(np.ones((T, D)), *WEIGHTS, 6, 3, rotary=Rotary(6))
