"""RMS and layer normalisation."""

import numpy as np
import pytest

from ffncalc.errors import InputError
from ffncalc.numeric import Norm, layer_norm, norms, rms_norm
from ffncalc.numeric.differences import check_gradients

draw = np.random.default_rng(0).standard_normal

KINDS = {
    "rms": Norm("rms"),
    "gemma": Norm("rms", offset=1.0),
    "layer": Norm("layer", eps=1e-5, bias=True),
    "layer, no bias": Norm("layer"),
    "nothing learned": Norm("layer", weight=False),
}


@pytest.mark.parametrize("norm", KINDS.values(), ids=KINDS)
def test_backward(norm):
    """Every gradient passes its finite-difference check."""
    shapes = {"x": (2, 3, 7)} | norms.shapes(norm, "n", 7)
    arrays = {name: draw(shape) for name, shape in shapes.items()}
    dy = draw((2, 3, 7))
    dx, grads = norms.named_backward(dy, norms.named_forward(arrays["x"], norm, arrays, "n")[1], "n")
    assert {"x", *grads} == arrays.keys()
    slopes = check_gradients(
        lambda w: float((norms.named_forward(w["x"], norm, w, "n")[0] * dy).sum()), arrays, {"x": dx} | grads
    )
    assert max(slope.error for slope in slopes.values()) < 1e-7


def test_formulas():
    """The norms are their formulas."""
    x, weight, bias = draw((4, 7)), draw(7), draw(7)
    rms = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(rms_norm(x, weight), rms * weight, rtol=1e-12)
    np.testing.assert_allclose(rms_norm(x, weight, offset=1), rms * (1 + weight), rtol=1e-12)
    layer = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(layer_norm(x, weight, bias), layer * weight + bias, rtol=1e-12)


def test_bad_input():
    """A weight of the wrong size and NaN are named."""
    with pytest.raises(InputError, match=r"weight has shape \(6,\); \(d_model\) = \(7,\) is wanted"):
        rms_norm(np.ones((2, 7)), np.ones(6))
    with pytest.raises(InputError, match="bias holds NaN"):
        layer_norm(draw((2, 7)), np.ones(7), np.full(7, np.nan))
