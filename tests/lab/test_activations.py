"""The activations measured: every figure of the text is found, none is typed in."""

import math

import numpy as np
import pytest

from ffncalc.errors import InputError
from ffncalc.numeric import derivative, gelu, gelu_tanh
from ffncalc.numeric.experiments.activations import activations, bisected, extreme, narrowed

REPORT = activations()
SHAPES = {shape.name: shape for shape in REPORT.shapes}
ERRORS = {approximation.name: approximation.error for approximation in REPORT.approximations}


@pytest.mark.parametrize(
    ("name", "feature", "value", "at"),
    [
        pytest.param("gelu", "minimum", -0.16997, -0.7518, id="gelu-dips"),
        pytest.param("silu", "minimum", -0.27846, -1.27846, id="silu-dips"),
        pytest.param("gelu", "lowest_slope", -0.12890, -math.sqrt(2), id="gelu-slopes-down"),
        pytest.param("gelu", "highest_slope", 1.12890, math.sqrt(2), id="gelu-slopes-up"),
        pytest.param("sigmoid", "highest_slope", 0.25, 0.0, id="sigmoid"),
    ],
)
def test_features(name: str, feature: str, value: float, at: float) -> None:
    """A feature is where the text says, to its digits."""
    found = getattr(SHAPES[name], feature)
    assert found.value == pytest.approx(value, abs=5e-6)
    assert found.at == pytest.approx(at, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "value", "at"),
    [("gelu_tanh", 4.7324e-4, 2.6989), ("gelu_sigmoid", 2.0335e-2, 2.2704)],
)
def test_errors_of_the_approximations(name: str, value: float, at: float) -> None:
    """The largest error is found where it is: no input of a fine grid has a larger one."""
    found = ERRORS[name]
    assert (found.value, found.at) == (pytest.approx(value, rel=1e-4), pytest.approx(at, abs=1e-4))
    if name == "gelu_tanh":
        z = np.linspace(-8, 8, 1_000_001)
        assert np.abs(gelu(z) - gelu_tanh(z)).max() <= found.value * (1 + 1e-12)


def test_minima_are_where_the_slope_is_nothing() -> None:
    """At a minimum the derivative is 0 up to rounding."""
    for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu"):
        minimum = SHAPES[name].minimum
        assert minimum is not None
        assert abs(float(derivative(name, minimum.at))) < 1e-15


@pytest.mark.parametrize("name", ["relu", "relu_squared", "identity", "tanh", "sigmoid"])
def test_what_has_no_dip_has_no_minimum(name: str) -> None:
    """A flat stretch or a limit is no minimum."""
    assert SHAPES[name].minimum is None


def test_searches() -> None:
    """A crossing is found to the last digit, a parabola's lowest place to half of them."""
    assert bisected(lambda x: x**3 - 2, 1, 2) == pytest.approx(2 ** (1 / 3), rel=1e-15)
    assert narrowed(lambda x: (x - 0.3) ** 2, -1, 2) == pytest.approx(0.3, abs=1e-8)
    assert extreme(lambda z: z) is None


def test_one_and_unknown() -> None:
    """One activation can be asked for; a name that isn't one is refused."""
    assert [shape.name for shape in activations(("silu",)).shapes] == ["silu"]
    with pytest.raises(InputError, match="activation is 'gellu'"):
        activations(("gellu",))
