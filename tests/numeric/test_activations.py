"""Activations: values, tails, limits, dtypes and shapes."""

import math

import numpy as np
import pytest

from ffncalc.errors import InputError
from ffncalc.numeric import (
    ACTIVATIONS,
    derivative,
    gelu,
    gelu_sigmoid,
    gelu_tanh,
    normal_cdf,
    relu,
    silu,
    swish,
    swish_derivative,
)
from ffncalc.numeric.activations import CHUNK_BYTES, activation, derivative_of, swish_activation, value_of

ALL = sorted(ACTIVATIONS)

# From public bug reports: input, what it has to give (float64), which function.
REPORTED = {
    # mlx 744: the constant is 1.702, not 1.773
    "sigmoid gelu's constant": (
        gelu_sigmoid,
        [-3, -1, -0.5, 0, 0.5, 1, 2, 3],
        [-0.018071309707785966, -0.1542042340671787, -0.1496115633936199, 0.0, 0.35038843660638014,
         0.8457957659328212, 1.9356586231442083, 2.981928690292214],
    ),
    # tt-metal 54903: the negative tail is not 0
    "exact gelu's negative tail": (
        gelu,
        [-4.0, -3.5, 0.25, 2.5],
        [-0.00012668496733247986, -0.0008142017766243376, 0.14967658142073093, 2.4844758366855597],
    ),
    # AiDotNet.Tensors 594: tanh by exponentials overflows
    "tanh gelu far out": (
        gelu_tanh,
        [10.5, 15.5, 21.657723, 40, 1000.0, 1000000.0, -40, -1000.0],
        [10.5, 15.5, 21.657723, 40.0, 1000.0, 1000000.0, -0.0, -0.0],
    ),
    # dfdx 915: parentheses of the derivative
    "silu's derivative": (
        lambda x: derivative("silu", x),
        [-2, -1, 0, 1, 2],
        [-0.09078424878489547, 0.07232948812851325, 0.5, 0.9276705118714869, 1.0907842487848955],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REPORTED.values(), ids=REPORTED)
def test_reported_values(case):
    """What went wrong elsewhere is right here, to twelve digits."""
    function, x, expected = case
    np.testing.assert_allclose(function(np.array(x)), expected, rtol=1e-12, atol=0)


# math.erfc and math.exp are correct to the last digit or two and know nothing of the kernels.
DIRECT = {
    "gelu": lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
    "silu": lambda x: x / (1 + math.exp(-x)) if x > -700 else x * math.exp(x),
    "gelu_sigmoid": lambda x: x / (1 + math.exp(-1.702 * x)) if x > -400 else x * math.exp(1.702 * x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x),
    "tanh": math.tanh,
    "relu_squared": lambda x: max(x, 0.0) ** 2,
}
LINE = np.concatenate([np.linspace(-40, 40, 4001), np.linspace(-760, -690, 701), -np.logspace(-290, 3, 400)])


@pytest.mark.parametrize("name", DIRECT)
def test_float64_keeps_its_digits_over_the_line(name):
    """The relative error is at most 1e-12 wherever the value is a normal number."""
    expected = np.array([DIRECT[name](x) for x in LINE.tolist()])
    normal = np.abs(expected) > np.finfo(float).tiny
    np.testing.assert_allclose(value_of(ACTIVATIONS[name], LINE)[normal], expected[normal], rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", ALL)
def test_float32_keeps_its_digits_over_the_line(name):
    """In float32 the relative error against float64 is at most 1e-5, derivative included (away from its zero)."""
    x = np.concatenate([np.linspace(-40, 40, 200_001), np.linspace(-110, -80, 3001)]).astype(np.float32)
    wide = x.astype(np.float64)
    for function in (value_of, derivative_of):
        expected = function(ACTIVATIONS[name], wide)
        got = function(ACTIVATIONS[name], x)
        normal = np.abs(expected) > np.finfo(np.float32).tiny
        floor = 0.02 if function is derivative_of else 0.0  # |z| near the zero of the slope
        scale = np.where(np.abs(wide) < 3, np.maximum(np.abs(expected), floor), np.abs(expected))
        assert np.max(np.abs(got - expected)[normal] / scale[normal]) < 1e-5


LIMITS = {
    "relu": (0, math.inf, 0, 1),
    "relu_squared": (0, math.inf, 0, math.inf),
    "gelu": (0, math.inf, 0, 1),
    "gelu_tanh": (0, math.inf, 0, 1),
    "gelu_sigmoid": (0, math.inf, 0, 1),
    "silu": (0, math.inf, 0, 1),
    "sigmoid": (0, 1, 0, 0),
    "tanh": (-1, 1, 0, 0),
    "identity": (-math.inf, math.inf, 1, 1),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ALL)
def test_limits_at_infinity(name, dtype):
    """At ±inf, value and derivative have their limits; at ±1e6 and the largest number there is no NaN, no warning."""
    low, high, slope_low, slope_high = LIMITS[name]
    x = np.array([-np.inf, np.inf, -1e6, 1e6, np.finfo(dtype).min, np.finfo(dtype).max, 0.0], dtype)
    value, slope = value_of(ACTIVATIONS[name], x), derivative(name, x)
    assert (value[:2].tolist(), slope[:2].tolist()) == ([low, high], [slope_low, slope_high])
    assert not np.isnan(value).any()
    assert not np.isnan(slope).any()


@pytest.mark.parametrize("name", ALL)
def test_derivative_is_the_slope(name):
    """The derivative is the central difference of the value."""
    x, step = np.linspace(-6.03, 6.04, 301), 1e-6
    measured = (value_of(ACTIVATIONS[name], x + step) - value_of(ACTIVATIONS[name], x - step)) / (2 * step)
    np.testing.assert_allclose(derivative(name, x), measured, rtol=1e-7, atol=2e-9)


@pytest.mark.parametrize("name", ALL)
def test_a_value_does_not_depend_on_its_neighbours(name):
    """One number alone, in a long array, or beside -inf and NaN gives the same bits."""
    x = np.linspace(-30, 30, CHUNK_BYTES // 8 + 77)
    beside = np.concatenate([x[:1000], [-np.inf, np.nan, -800.0], x[1000:]])
    whole, mixed = value_of(ACTIVATIONS[name], x), value_of(ACTIVATIONS[name], beside)
    alone = [float(value_of(ACTIVATIONS[name], float(v))) for v in x[::997]]
    assert whole[::997].tolist() == alone
    assert np.delete(mixed, [1000, 1001, 1002]).tolist() == whole.tolist()
    assert np.isnan(mixed[1001])


@pytest.mark.parametrize("name", ALL)
def test_nan_stays_where_it_is(name):
    """NaN in is NaN out, in the value and in the derivative, and nothing else is."""
    x = np.array([1.0, np.nan, -2.0])
    for got in (value_of(ACTIVATIONS[name], x), derivative(name, x)):
        assert np.isnan(got).tolist() == [False, True, False]


@pytest.mark.parametrize("alias", [False, True], ids=["apart", "in place"])
@pytest.mark.parametrize("name", ALL)
def test_kernels_in_place(name, alias):
    """A kernel gives the same where its result is written over its input."""
    z = np.linspace(-50, 50, 501)
    expected = value_of(ACTIVATIONS[name], z), derivative(name, z)
    work = list(np.full((4, z.size), np.nan))
    out, a, slope = (np.full_like(z, np.nan) for _ in range(3))
    first, second = z.copy(), z.copy()
    with np.errstate(all="ignore"):
        ACTIVATIONS[name].value(first, first if alias else out, work)
        ACTIVATIONS[name].both(second, second if alias else a, slope, work)
    np.testing.assert_array_equal(first if alias else out, expected[0])
    np.testing.assert_allclose(second if alias else a, expected[0], rtol=1e-15, atol=1e-300)
    np.testing.assert_array_equal(slope, expected[1])


DTYPES = {
    "float16": (np.float16, np.float16),
    "float32": (np.float32, np.float32),
    "float64": (np.float64, np.float64),
    "int32": (np.int32, np.float64),
    "uint8": (np.uint8, np.float64),
    "bool": (np.bool_, np.float64),
    "big-endian": (np.dtype(">f4"), np.float32),
}


@pytest.mark.parametrize(("given", "expected"), DTYPES.values(), ids=DTYPES)
def test_dtypes(given, expected):
    """Floats keep their dtype and integers become float64."""
    got = gelu(np.array([[0, 1, 1]]).astype(given))
    assert (got.dtype, got.shape) == (np.dtype(expected), (1, 3))
    assert got[0, 1] == pytest.approx(0.8413447, rel=1e-3)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3, 5)], ids=str)
def test_shapes(shape):
    """Any shape goes in and comes out; the input is left alone."""
    x = np.full(shape, -1.5)
    assert np.shape(silu(x)) == shape
    assert (x == -1.5).all()


def test_views_that_are_not_contiguous():
    """A transposed, strided view is computed by position."""
    x = np.arange(24.0).reshape(4, 6)[::2, ::-3].T - 10
    np.testing.assert_array_equal(relu(x), np.where(x > 0, x, 0))


@pytest.mark.parametrize("x", [[1j], ["a"], [None], [[1.0], [1.0, 2.0]], np.array([1], np.longdouble)], ids=repr)
def test_what_is_not_numbers_is_refused(x):
    """Complex numbers, text, objects, ragged lists and long doubles are an InputError that names x."""
    with pytest.raises(InputError, match=r"^x "):
        gelu(x)


@pytest.mark.parametrize("beta", [0.3, 1.0, 2.5, -1.7, 0.0])
def test_swish_and_its_derivative(beta):
    """Swish is x·σ(βx) for any β, with its derivative and its limits."""
    x = np.linspace(-8, 8, 101)
    sigma = 1 / (1 + np.exp(-beta * x))
    np.testing.assert_allclose(swish(x, beta), x * sigma, rtol=1e-14)
    np.testing.assert_allclose(
        swish_derivative(x, beta), sigma + beta * x * sigma * (1 - sigma), rtol=1e-12, atol=1e-15
    )
    assert not np.isnan(swish([-np.inf, np.inf], beta)).any()


def test_swish_wants_a_finite_beta():
    """An infinite β is an InputError."""
    with pytest.raises(InputError, match="beta is inf"):
        swish_activation(math.inf)


def test_unknown_activation():
    """A name that isn't one is an InputError that lists those that are."""
    with pytest.raises(InputError, match="'mish'; one of relu, relu_squared, gelu"):
        activation("mish")


def test_normal_cdf():
    """Φ keeps its left tail, and its right one is 1 minus it."""
    x = np.linspace(-37, 8, 301)
    expected = [math.erfc(-v / math.sqrt(2)) / 2 for v in x.tolist()]
    np.testing.assert_allclose(normal_cdf(x), expected, rtol=1e-12)


def test_the_figures_of_the_text():
    """Minima, the lowest slope, and the largest errors of the approximations come out as printed in the text."""
    x = np.linspace(-8, 8, 1_600_001)
    exact, smooth = gelu(x), silu(x)
    assert (exact.min(), x[exact.argmin()]) == pytest.approx((-0.16997, -0.7518), abs=1e-4)
    assert (smooth.min(), x[smooth.argmin()]) == pytest.approx((-0.27846, -1.2785), abs=1e-4)
    slope = derivative("gelu", x)
    assert (slope.min(), x[slope.argmin()]) == pytest.approx((-0.1289, -math.sqrt(2)), abs=1e-4)
    off = np.abs(gelu_tanh(x) - exact)
    assert (off.max(), abs(x[off.argmax()])) == pytest.approx((4.73e-4, 2.699), rel=1e-3)
    assert np.abs(gelu_sigmoid(x) - exact).max() == pytest.approx(0.02033487220914396, abs=1e-9)


class OfAnotherLibrary:
    """An array that won't become one of NumPy's, such as a tensor that needs a gradient."""

    def __array__(self, *_, **__):
        """Refuse."""
        raise RuntimeError("call detach() first")


@pytest.mark.parametrize(
    ("x", "message"),
    [
        pytest.param(OfAnotherLibrary(), "^x is not .*: call detach", id="refusing"),
        pytest.param(np.ma.masked_array([1.0, 2.0], mask=[False, True]), "^x is a masked array", id="masked"),
    ],
)
def test_arrays_that_are_more_than_numbers_are_refused(x, message):
    """What refuses to become a plain array, or would lose its mask in doing so, is an error that names it."""
    with pytest.raises(InputError, match=message):
        gelu(x)


@pytest.mark.parametrize("beta", [None, "1", [1.0], np.array([1.0, 2.0])], ids=str)
def test_swish_wants_one_beta(beta):
    """Beta is one number."""
    with pytest.raises(InputError, match="one finite number is wanted"):
        swish([1.0], beta)
