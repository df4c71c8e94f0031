"""The counting matmul."""

import threading

import numpy as np
import pytest

from ffncalc.numeric.matmul import count_macs, linear, linear_backward, matmul

SHAPES = {
    "plain": ((3, 5), (5, 7), 3 * 5 * 7),
    "batch": ((2, 4, 3, 5), (2, 4, 5, 7), 2 * 4 * 3 * 5 * 7),
    "broadcast": ((2, 4, 3, 5), (5, 7), 2 * 4 * 3 * 5 * 7),
    "empty": ((0, 5), (5, 7), 0),
    "nothing to contract": ((3, 0), (0, 7), 0),
}


@pytest.mark.parametrize(("a", "b", "expected"), SHAPES.values(), ids=SHAPES)
def test_counts(a, b, expected):
    """The MACs are the product of all the axes involved, and the product is NumPy's."""
    left, right = np.ones(a), np.ones(b)
    with count_macs() as macs:
        product = matmul(left, right)
    assert macs.total == expected
    np.testing.assert_array_equal(product, np.matmul(left, right))


def test_nested_counters_and_threads():
    """An inner counter's work is in the outer one's; another thread's is not; nothing is counted outside."""
    a = np.ones((2, 2))
    with count_macs() as outer:
        matmul(a, a)
        with count_macs() as inner:
            matmul(a, a)
        thread = threading.Thread(target=matmul, args=(a, a))
        thread.start()
        thread.join()
    matmul(a, a)
    assert (inner.total, outer.total) == (8, 16)


def test_strided_views():
    """Views that BLAS can't take are multiplied all the same."""
    a, b = np.arange(60.0).reshape(6, 10)[::2, ::3], np.arange(48.0).reshape(8, 6)[::2, ::-2]
    np.testing.assert_array_equal(matmul(a, b), np.einsum("ij,jk->ik", a, b))


def test_linear():
    """x·W + b for x of any leading shape, and its gradients."""
    draw = np.random.default_rng(0).standard_normal
    x, w = draw((2, 3, 5)), {"q.weight": draw((5, 7)), "q.bias": draw(7)}
    np.testing.assert_allclose(linear(x, w, "q"), x @ w["q.weight"] + w["q.bias"])
    dy = draw((2, 3, 7))
    dx, grads = linear_backward(dy, x, w, "q")
    np.testing.assert_allclose(dx, dy @ w["q.weight"].T)
    np.testing.assert_allclose(grads["q.weight"], np.einsum("bti,bto->io", x, dy))
    np.testing.assert_allclose(grads["q.bias"], dy.sum(axis=(0, 1)))
