"""The activations and their derivatives, accurate over the whole line.

A kernel works on one flat chunk and writes where it is told, so that the FFN can run it in place between two matrix
products. `value(z, out, work)` may be given `out is z`; `both(z, a, slope, work)` may be given `a is z`. `work` is
`WORK_ROWS` rows of scratch, as long as z. `value_of`, `derivative` and the functions with the names of the text wrap
the kernels for arrays of any shape.

How the digits are kept (relative error at most 1e-12 in float64 and 1e-5 in float32, down to the smallest normal
number; a derivative's error is measured against the terms it is the difference of, near its own zero):
* exact GELU is max(z, 0) - |z|·Φ(-|z|), and Φ(-y) = exp(-y²/2)·P(y)/Q(y). P/Q approximates erfcx(y/√2)/2; all its
  coefficients are positive, so nothing cancels. One rational, no branches: in NumPy, half the time of scipy's erf.
* x·σ(q) is x / (1 + exp(-q)). Where exp(-q) would overflow, exp(q) is applied in two factors; elsewhere the second
  factor is exactly 1, so a value never depends on its neighbours.
* tanh GELU is x·σ(2u) with u = √(2/π)·(x + 0.044715·x³): the tanh form loses the negative tail.

An activation of NaN is NaN, in its place.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ffncalc.errors import InputError
from ffncalc.numeric.checks import Array, compute_dtype, expect_one_of, number_array

Work = Sequence[Array]
Value = Callable[[Array, Array, Work], None]
Both = Callable[[Array, Array, Array, Work], None]

WORK_ROWS = 4
CHUNK_BYTES = 1 << 17  # a chunk and its scratch stay in a level-2 cache of 1 MB


class Activation(NamedTuple):
    """Kernels of one activation: its value, and its value together with its derivative."""

    value: Value
    both: Both


# ---- Φ(-y) = exp(-y²/2)·P(y)/Q(y): coefficients by interpolation at Chebyshev nodes, tests/golden/numeric/fit_tail.py

TAIL_P = {
    "d": (0.5, 0.7758577209030002, 0.5954446719693803, 0.2903132931433541, 0.0981308959658345, 0.023751350888201746,
          0.004115983017212425, 0.0004941506706428816, 3.757916535870989e-05, 1.3993048118643565e-06),
    "f": (0.5000000020195996, 0.4375937007939662, 0.18267022756395898, 0.04042960576918461, 0.004082358524791503),
}  # fmt: skip
TAIL_Q = {
    "d": (1.0, 2.349600002608859, 2.5655989100829704, 1.718839864814702, 0.7848013162542371, 0.2561065130662715,
          0.06076744505109421, 0.010411436397331716, 0.0012421595801411335, 9.419699842335464e-05,
          3.5075370062550256e-06),
    "f": (1.0, 1.6730722810342096, 1.200255081794842, 0.4679680460669196, 0.10134849167433184, 0.010232834964710953),
}  # fmt: skip
TAIL_END = {"d": 39.0, "f": 14.5}  # beyond it exp(-y²/2) is 0
SIGMOID_LOW = {"d": -709.0, "f": -88.0}  # exp(-q) is finite down to here
SLOPE_END = 30.0  # |x| beyond which σ(2u) of the tanh GELU is exactly 0 or 1


def _horner(coefficients: tuple[float, ...], y: Array, out: Array) -> None:
    np.multiply(y, coefficients[-1], out=out)
    for coefficient in coefficients[-2:0:-1]:
        out += coefficient
        out *= y
    out += coefficients[0]


def _normal_tail(y: Array, tail: Array, density: Array) -> None:
    """tail = Φ(-y) and density = exp(-y²/2), for y from 0 to TAIL_END."""
    _horner(TAIL_P[y.dtype.char], y, tail)
    _horner(TAIL_Q[y.dtype.char], y, density)
    tail /= density
    np.multiply(y, y, out=density)
    density *= -0.5
    np.exp(density, out=density)
    tail *= density


def _gelu(z: Array, out: Array, work: Work) -> None:
    y, tail, density, *_ = work
    np.abs(z, out=y)
    np.minimum(y, TAIL_END[z.dtype.char], out=y)
    _normal_tail(y, tail, density)
    tail *= y
    np.maximum(z, 0, out=out)
    out -= tail


def _gelu_both(z: Array, a: Array, slope: Array, work: Work) -> None:
    y, tail, density, sign = work
    np.abs(z, out=y)
    np.minimum(y, TAIL_END[z.dtype.char], out=y)
    _normal_tail(y, tail, density)
    np.copysign(1, z, out=sign)
    # slope = Φ(z) + z·φ(z), with Φ(z) = tail or 1 - tail, never 0.5 ± something: the left tail keeps its digits
    np.multiply(density, y, out=slope)
    slope *= 1 / math.sqrt(2 * math.pi)
    slope -= tail
    slope *= sign
    y *= tail
    np.maximum(sign, 0, out=sign)
    slope += sign
    np.maximum(z, 0, out=a)
    a -= y


# ---- x·σ(q), for Swish, SiLU, sigmoid GELU, tanh GELU and the sigmoid itself


class _Deep(NamedTuple):
    """The operands of x·σ(q) where exp(-q) would overflow: q cut at the limit, and the factor that was cut off."""

    x: Array | float
    q: Array
    factor: Array


def _deep(x: Array | float, q: Array) -> _Deep | None:
    low, largest = SIGMOID_LOW[q.dtype.char], float(np.finfo(q.dtype).max)
    if q.min() >= low:  # False for NaN too: what stands beside one is still computed with care
        return None
    finite = np.where(q < low, np.clip(x, -largest, largest), x)
    return _Deep(finite, np.maximum(q, low), np.exp(np.minimum(q - low, 0)))


def _one_plus_exp(q: Array, out: Array) -> None:
    np.negative(q, out=out)
    np.exp(out, out=out)
    out += 1


def _times_sigmoid(x: Array | float, q: Array, out: Array, t: Array) -> None:
    """out = x·σ(q); `out` may be x or q, t is scratch."""
    deep = _deep(x, q)
    _one_plus_exp(q if deep is None else deep.q, t)
    np.divide(x if deep is None else deep.x, t, out=out)
    if deep is not None:
        out *= deep.factor


def _times_sigmoid_both(x: Array, q: Array, a: Array, sigma: Array) -> None:
    """a = x·σ(q) and sigma = σ(q); `a` may be x or q."""
    deep = _deep(x, q)
    _one_plus_exp(q if deep is None else deep.q, sigma)
    np.divide(1, sigma, out=sigma)
    np.multiply(x if deep is None else deep.x, sigma, out=a)
    if deep is not None:
        a *= deep.factor
        sigma *= deep.factor


def _scaled(z: Array, beta: float, out: Array) -> Array:
    """β·z, without a pass over memory where it is z, and 0 (not NaN) at ±inf where β is 0."""
    if beta == 1:
        return z
    np.multiply(z, beta, out=out)
    if beta == 0:
        out[...] = 0
    return out


@cache
def swish_activation(beta: float) -> Activation:
    """Swish z·σ(βz): SiLU for β = 1, the sigmoid GELU for β = 1.702."""
    if not math.isfinite(beta):
        raise InputError(f"swish's beta is {beta}; a finite number is wanted")

    def value(z: Array, out: Array, work: Work) -> None:
        _times_sigmoid(z, _scaled(z, beta, work[1]), out, work[0])

    def both(z: Array, a: Array, slope: Array, work: Work) -> None:
        # slope = σ + β·a·(1 - σ); a is cut to finite there, because at +inf it meets 1 - σ = 0
        _times_sigmoid_both(z, _scaled(z, beta, work[1]), a, slope)
        rest, largest = work[0], float(np.finfo(z.dtype).max)
        np.subtract(1, slope, out=rest)
        rest *= np.clip(a, -largest, largest, out=work[1])
        if beta != 1:
            rest *= beta
        slope += rest

    return Activation(value, both)


_TANH_LINEAR = 2 * math.sqrt(2 / math.pi)  # 2u = x·(LINEAR + CUBIC·x²)
_TANH_CUBIC = 0.044715 * _TANH_LINEAR


_TANH_FAR = -7.0  # below it float32's rounding of 2u would show in exp(2u)


def _two_u(x: Array, out: Array) -> None:
    np.multiply(x, x, out=out)
    out *= _TANH_CUBIC
    out += _TANH_LINEAR
    out *= x
    if x.dtype == np.float32 and not x.min() >= _TANH_FAR:
        far = x < _TANH_FAR
        wide = x[far].astype(np.float64)
        out[far] = wide * (_TANH_LINEAR + _TANH_CUBIC * wide * wide)


def _gelu_tanh(z: Array, out: Array, work: Work) -> None:
    _two_u(z, work[1])
    _times_sigmoid(z, work[1], out, work[0])


def _gelu_tanh_both(z: Array, a: Array, slope: Array, work: Work) -> None:
    near, q, inner = work[0], work[1], work[2]
    np.clip(z, -SLOPE_END, SLOPE_END, out=near)
    _two_u(near, q)
    _times_sigmoid_both(near, q, q, slope)
    # slope = σ + x·σ·(1 - σ)·d(2u)/dx
    np.multiply(near, near, out=inner)
    inner *= 3 * _TANH_CUBIC
    inner += _TANH_LINEAR
    inner *= q
    np.subtract(1, slope, out=near)
    inner *= near
    slope += inner
    np.maximum(z, SLOPE_END, out=near)
    near -= SLOPE_END
    np.add(q, near, out=a)


# ---- the plain ones


def _sigmoid(z: Array, out: Array, work: Work) -> None:
    _times_sigmoid(1.0, z, out, work[0])


def _bell(t: Array, slope: Array) -> None:
    """slope = t/(1 + t)², which is σ' for t = exp(-|z|): σ·(1 - σ) would lose the right tail."""
    np.add(t, 1, out=slope)
    np.divide(t, slope, out=t)
    np.divide(t, slope, out=slope)


def _sigmoid_both(z: Array, a: Array, slope: Array, work: Work) -> None:
    t = work[1]
    np.abs(z, out=t)
    np.negative(t, out=t)
    np.exp(t, out=t)
    _bell(t, slope)
    _sigmoid(z, a, work)


def _tanh(z: Array, out: Array, work: Work) -> None:
    np.tanh(z, out=out)


def _tanh_both(z: Array, a: Array, slope: Array, work: Work) -> None:
    t = work[1]
    np.abs(z, out=t)
    t *= -2
    np.exp(t, out=t)
    _bell(t, slope)
    slope *= 4
    np.tanh(z, out=a)


def _relu(z: Array, out: Array, work: Work) -> None:
    np.maximum(z, 0, out=out)


def _relu_both(z: Array, a: Array, slope: Array, work: Work) -> None:
    np.greater(z, 0, out=slope)
    slope[np.isnan(z)] = np.nan
    np.maximum(z, 0, out=a)


def _relu_squared(z: Array, out: Array, work: Work) -> None:
    np.maximum(z, 0, out=out)
    np.multiply(out, out, out=out)


def _relu_squared_both(z: Array, a: Array, slope: Array, work: Work) -> None:
    np.maximum(z, 0, out=work[0])
    np.add(work[0], work[0], out=slope)
    np.multiply(work[0], work[0], out=a)


def _identity(z: Array, out: Array, work: Work) -> None:
    if out is not z:
        np.copyto(out, z)


def _identity_both(z: Array, a: Array, slope: Array, work: Work) -> None:
    slope[...] = 1
    slope[np.isnan(z)] = np.nan
    _identity(z, a, work)


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(_relu, _relu_both),
    "relu_squared": Activation(_relu_squared, _relu_squared_both),
    "gelu": Activation(_gelu, _gelu_both),
    "gelu_tanh": Activation(_gelu_tanh, _gelu_tanh_both),
    "gelu_sigmoid": swish_activation(1.702),
    "silu": swish_activation(1.0),
    "sigmoid": Activation(_sigmoid, _sigmoid_both),
    "tanh": Activation(_tanh, _tanh_both),
    "identity": Activation(_identity, _identity_both),
}


def activation(name: str) -> Activation:
    """The kernels of the activation with this name; InputError for a name that isn't one."""
    expect_one_of("activation", name, ACTIVATIONS)
    return ACTIVATIONS[name]


# ---- on arrays of any shape


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def _over_chunks(kernel: Value, x: ArrayLike) -> Array:
    array = number_array("x", x)
    z = array.astype(compute_dtype(array.dtype), copy=False).reshape(-1)
    out = np.empty_like(z)
    step = CHUNK_BYTES // z.itemsize
    work = list(np.empty((WORK_ROWS, min(step, z.size)), z.dtype))
    for start in range(0, z.size, step):
        chunk = z[start : start + step]
        kernel(chunk, out[start : start + step], [row[: chunk.size] for row in work])
    result: Array = out.astype(array.dtype, copy=False).reshape(array.shape)[()]
    return result


def value_of(act: Activation, x: ArrayLike) -> Array:
    """φ(x) elementwise, any shape; the dtype is x's (integers: float64)."""
    return _over_chunks(act.value, x)


def derivative_of(act: Activation, x: ArrayLike) -> Array:
    """φ'(x) elementwise, any shape; ReLU's is 0 at 0."""

    def slope_only(z: Array, out: Array, work: Work) -> None:
        act.both(z, np.empty_like(z), out, work)

    return _over_chunks(slope_only, x)


def derivative(name: str, x: ArrayLike) -> Array:
    """The derivative of the activation with this name (`ACTIVATIONS` lists them), elementwise."""
    return derivative_of(activation(name), x)


def gelu(x: ArrayLike) -> Array:
    """Exact GELU, x·Φ(x) with Φ the standard normal CDF (Hendrycks & Gimpel 2016)."""
    return value_of(ACTIVATIONS["gelu"], x)


def gelu_tanh(x: ArrayLike) -> Array:
    """The tanh approximation of GELU, x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), as in GPT-2."""
    return value_of(ACTIVATIONS["gelu_tanh"], x)


def gelu_sigmoid(x: ArrayLike) -> Array:
    """The sigmoid approximation of GELU, x·σ(1.702·x)."""
    return value_of(ACTIVATIONS["gelu_sigmoid"], x)


def silu(x: ArrayLike) -> Array:
    """SiLU, x·σ(x) with σ the logistic sigmoid."""
    return value_of(ACTIVATIONS["silu"], x)


def swish(x: ArrayLike, beta: float = 1.0) -> Array:
    """Swish, x·σ(β·x) (Ramachandran et al. 2017); β is one finite number."""
    return value_of(swish_activation(_number(beta)), x)


def _number(beta: float) -> float:
    if not isinstance(beta, (int, float, np.integer, np.floating)):
        raise InputError(f"swish's beta is {beta!r}; one finite number is wanted")
    return float(beta)


def swish_derivative(x: ArrayLike, beta: float = 1.0) -> Array:
    """The derivative of `swish` in x, σ(βx)·(1 + βx·(1 - σ(βx)))."""
    return derivative_of(swish_activation(_number(beta)), x)


def sigmoid(x: ArrayLike) -> Array:
    """The logistic sigmoid, 1/(1 + exp(-x))."""
    return value_of(ACTIVATIONS["sigmoid"], x)


def tanh(x: ArrayLike) -> Array:
    """The hyperbolic tangent."""
    return value_of(ACTIVATIONS["tanh"], x)


def relu(x: ArrayLike) -> Array:
    """ReLU, max(0, x)."""
    return value_of(ACTIVATIONS["relu"], x)


def relu_squared(x: ArrayLike) -> Array:
    """Squared ReLU, max(0, x)² (So et al. 2021, Primer)."""
    return value_of(ACTIVATIONS["relu_squared"], x)


def identity(x: ArrayLike) -> Array:
    """x itself: the "activation" of the bilinear FFN."""
    return value_of(ACTIVATIONS["identity"], x)


def normal_cdf(x: ArrayLike) -> Array:
    """Φ(x), the standard normal CDF: the probability with which GELU's mask keeps x."""
    return _over_chunks(_normal_cdf, x)


def _normal_cdf(z: Array, out: Array, work: Work) -> None:
    y, tail, density, *_ = work
    np.abs(z, out=y)
    np.minimum(y, TAIL_END[z.dtype.char], out=y)
    _normal_tail(y, tail, density)
    np.copyto(out, np.where(z < 0, tail, 1 - tail))
