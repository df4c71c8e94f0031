"""The finite-difference check itself."""

import numpy as np
import pytest

from ffncalc.numeric.differences import check_gradients

ARRAYS = {"a": np.linspace(-1, 2, 12).reshape(3, 4), "b": np.ones(5)}


def loss(w):
    """Σ a³ + Σ b."""
    return float((w["a"] ** 3).sum() + w["b"].sum())


def test_right_gradients_pass():
    """The gradient of the loss has a small error."""
    slopes = check_gradients(loss, ARRAYS, {"a": 3 * ARRAYS["a"] ** 2, "b": np.ones(5)})
    assert max(slope.error for slope in slopes.values()) < 1e-8


@pytest.mark.parametrize("entry", [(0, 0), (1, 3), (2, 2)], ids=str)
def test_one_wrong_entry_shows(entry):
    """A gradient that is off in one entry has a large error."""
    wrong = 3 * ARRAYS["a"] ** 2
    wrong[entry] *= 1.1
    assert check_gradients(loss, ARRAYS, {"a": wrong})["a"].error > 1e-4
