"""FFNs as key-value memories."""

import numpy as np
import pytest

from ffncalc.errors import InputError
from ffncalc.numeric import VARIANTS, ffn_memories, glu_ffn, memories, rank_one_edit, relu

D, F = 6, 10
draw = np.random.default_rng(0).standard_normal
X, W1, B1, W2 = draw(D), draw((D, F)), draw(F), draw((F, D))


@pytest.mark.parametrize("k", [0, 1, 4, F])
def test_ffn_memories(k):
    """The coefficients are ReLU's, the top k the largest in order, the partial sum their contributions."""
    coef, top, partial = ffn_memories(X, W1, B1, W2, k)
    np.testing.assert_allclose(coef, np.maximum(X @ W1 + B1, 0), rtol=1e-12, atol=1e-15)
    assert top.tolist() == sorted(range(F), key=lambda i: -coef[i])[:k]
    assert top.dtype.kind == "i"
    np.testing.assert_allclose(partial, sum((coef[i] * W2[i] for i in top), np.zeros(D)), rtol=1e-12, atol=1e-15)


def test_all_memories_make_the_output():
    """With k = d_ff the partial sum is the FFN's output without its bias."""
    np.testing.assert_allclose(ffn_memories(X, W1, B1, W2, F)[2], relu(X @ W1 + B1) @ W2, rtol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_contributions_add_up(variant):
    """Of any variant, the contributions add up to the output, and each is its coefficient times its value."""
    act, gated = VARIANTS[variant]
    gate, b_gate = (draw((D, F)), draw(F)) if gated else (None, None)
    found = memories(X, gate, W1, W2, act, b_gate=b_gate, b_up=B1)
    expected = glu_ffn(X, gate, W1, W2, variant, b_gate=b_gate, b_up=B1)
    np.testing.assert_allclose(found.contributions.sum(axis=0), expected, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(found.contributions, found.coefficients[:, None] * W2)


def test_rank_one_edit():
    """The edited key writes what is wanted, orthogonal keys write what they did, and the change has rank one."""
    h, other, wanted, bias = np.abs(draw(F)), draw(F), draw(D), draw(D)
    other -= h * (h @ other) / (h @ h)
    edited = rank_one_edit(W2, h, wanted, bias)
    np.testing.assert_allclose(h @ edited + bias, wanted, rtol=1e-12)
    np.testing.assert_allclose(other @ edited, other @ W2, rtol=1e-11)
    assert np.linalg.matrix_rank(edited - W2) == 1


BAD = {
    "k too large": (lambda: ffn_memories(X, W1, B1, W2, F + 1), "k is 11; 0 to d_ff = 10"),
    "k negative": (lambda: ffn_memories(X, W1, B1, W2, -1), "k is -1"),
    "two tokens": (lambda: ffn_memories(np.ones((2, D)), W1, B1, W2, 1), "x has shape .2, 6.; one token"),
    "bias": (lambda: ffn_memories(X, W1, B1[:-1], W2, 1), r"b1 has shape \(9,\)"),
    "NaN": (lambda: ffn_memories(X, W1, B1 * np.nan, W2, 1), "b1 holds NaN"),
    "silent key": (lambda: rank_one_edit(W2, np.zeros(F), X), "coefficients are all 0"),
    "value": (lambda: rank_one_edit(W2, B1, B1), r"wanted has shape \(10,\)"),
}


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, message):
    """What can't be is an InputError that says why."""
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("k", [-1, F + 1, 2.0, None, "2"])
def test_how_many_memories_is_a_whole_number(k):
    """Anything but a whole number from 0 to d_ff is refused."""
    with pytest.raises(InputError, match="0 to d_ff = 10, a whole number, is wanted"):
        ffn_memories(X, W1, B1, W2, k)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_rank_one_edit_of_coefficients_of_any_size(scale):
    """Coefficients whose squares would vanish or overflow still write what is wanted."""
    h = scale * draw(F)
    wanted = draw(D) * max(scale, 1)
    np.testing.assert_allclose(h @ rank_one_edit(W2, h, wanted), wanted, rtol=1e-9)


@pytest.mark.parametrize("missing", ["W_down", "coefficients", "wanted"])
def test_rank_one_edit_wants_its_arrays(missing):
    """A missing array is named."""
    arrays = {"W_down": W2, "coefficients": draw(F), "wanted": draw(D), missing: None}
    with pytest.raises(InputError, match=f"^{missing} is missing"):
        rank_one_edit(**arrays)
