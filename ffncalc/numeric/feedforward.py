"""Feed-forward networks for users: every variant, forward and backward, for X of shape (..., d_model).

    plain:  Y = φ(X·W_up + b_up)·W_down + b_down
    gated:  Y = (φ(X·W_gate + b_gate) ⊙ (X·W_up + b_up))·W_down + b_down

Shapes, dtypes and NaN are checked here (`checks` has the rules); the arithmetic is in `ffn_rows`.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ffncalc.errors import InputError
from ffncalc.numeric.activations import Activation, activation
from ffncalc.numeric.checks import (
    Array,
    expect_one_of,
    expect_rows,
    expect_shape,
    number_array,
    prepare,
    report_nan,
)
from ffncalc.numeric.ffn_rows import Gradients, Weights, forward_only, recomputed_backward

LAYOUTS = ("in_out", "out_in")
ORDERS = ("gate_up", "up_gate", "interleaved")

Layout = Literal["in_out", "out_in"]
Order = Literal["gate_up", "up_gate", "interleaved"]
Names = tuple[str, str, str, str, str, str]

# What the arrays are called in an error message, in the order of `Weights`.
NAMES: Names = ("W_up", "W_down", "W_gate", "b_up", "b_down", "b_gate")
TEXT_NAMES: Names = ("W1", "W2", "W_gate", "b1", "b2", "b_gate")


class Variant(NamedTuple):
    """What tells one FFN from another: its activation, and whether the activated branch gates a linear one."""

    activation: str
    gated: bool


# The variants of Shazeer (2020), "GLU Variants Improve Transformer", and the squared ReLU of So et al. (2021).
# GELU is the exact one in both places, and Swish is SiLU (β = 1), as there.
VARIANTS: dict[str, Variant] = {
    "relu": Variant("relu", gated=False),
    "gelu": Variant("gelu", gated=False),
    "swish": Variant("silu", gated=False),
    "glu": Variant("sigmoid", gated=True),
    "bilinear": Variant("identity", gated=True),
    "reglu": Variant("relu", gated=True),
    "geglu": Variant("gelu", gated=True),
    "swiglu": Variant("silu", gated=True),
    "relu2": Variant("relu_squared", gated=False),
}


# ---- what goes in


class Problem(NamedTuple):
    """One call: X and dY as rows, the weights in the text's layout, and what to make of the result."""

    X: Array
    dY: Array | None  # noqa: N815 - the gradient of Y
    weights: Weights
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    named: dict[str, ArrayLike | None]


def _swap_layout(weights: Weights) -> Weights:
    gate = None if weights.gate is None else weights.gate.T
    return weights._replace(up=weights.up.T, down=weights.down.T, gate=gate)


def _expect_weights(weights: Weights, names: Names, d_model: int, layout: str) -> None:
    """Check the shapes, in the caller's layout; X has said d_model, W_up says d_ff."""
    up, down, gate, b_up, b_down, b_gate = names
    turn = 1 if layout == "in_out" else -1
    into, out_of = ("(d_model, d_ff)", "(d_ff, d_model)")[::turn]
    expect_shape(up, weights.up, (d_model, None)[::turn], into)
    d_ff = weights.up.shape[::turn][1]
    if not d_ff:
        raise InputError(f"{up} has shape {weights.up.shape}; d_ff at least 1 is wanted")
    expect_shape(down, weights.down, (d_ff, d_model)[::turn], out_of)
    if weights.gate is not None:
        expect_shape(gate, weights.gate, (d_model, d_ff)[::turn], into)
    for name, bias in ((b_up, weights.b_up), (b_gate, weights.b_gate)):
        if bias is not None:
            expect_shape(name, bias, (d_ff,), "(d_ff)")
    if weights.b_down is not None:
        expect_shape(b_down, weights.b_down, (d_model,), "(d_model)")


def problem(
    X: ArrayLike, dY: ArrayLike | None, arrays: tuple[ArrayLike | None, ...], names: Names, layout: str = "in_out"
) -> Problem:
    """One call, checked; `arrays` and `names` in the order of `Weights`."""
    expect_one_of("layout", layout, LAYOUTS)
    named = {"X": X, "dY": dY} | dict(zip(names, arrays, strict=True))
    (x, dy, *rest), dtype = prepare(named, optional=("dY", *names[2:]))
    expect_rows("X", x)
    weights = Weights(*rest)
    _expect_weights(weights, names, x.shape[-1], layout)
    if dy is not None:
        expect_shape("dY", dy, x.shape, "the shape of X")
        dy = dy.reshape(-1, x.shape[-1])
    weights = weights if layout == "in_out" else _swap_layout(weights)
    return Problem(x.reshape(-1, x.shape[-1]), dy, weights, dtype, x.shape, named)


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def _run(call: Problem, act: Activation) -> Array:
    Y = forward_only(call.X, call.weights, act)
    report_nan(Y, call.named)
    return Y.astype(call.dtype, copy=False).reshape(call.shape)


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def _run_backward(call: Problem, act: Activation, layout: str = "in_out") -> Gradients:
    if call.dY is None:
        raise InputError("dY is missing")
    dX, grads = recomputed_backward(call.dY, call.X, call.weights, act)
    report_nan(dX, call.named)
    grads = grads.map(lambda array: array.astype(call.dtype, copy=False))
    grads = grads if layout == "in_out" else _swap_layout(grads)
    return Gradients(dX.astype(call.dtype, copy=False).reshape(call.shape), grads)


# ---- the functions with the names of the text


def ffn(X: ArrayLike, W1: ArrayLike, b1: ArrayLike, W2: ArrayLike, b2: ArrayLike) -> Array:
    """GPT-2's FFN, gelu_tanh(X·W1 + b1)·W2 + b2, for X of shape (..., d_model).

    W1 is (d_model, d_ff), W2 (d_ff, d_model). InputError names an array whose shape doesn't fit or that holds NaN.
    """
    return _run(problem(X, None, (W1, W2, None, b1, b2, None), TEXT_NAMES), activation("gelu_tanh"))


def ffn_backward(
    dY: ArrayLike, X: ArrayLike, W1: ArrayLike, b1: ArrayLike, W2: ArrayLike, b2: ArrayLike
) -> tuple[Array, Array, Array, Array, Array]:
    """(dX, dW1, db1, dW2, db2) of `ffn`, for dY of X's shape."""
    call = problem(X, dY, (W1, W2, None, b1, b2, None), TEXT_NAMES)
    dX, grads = _run_backward(call, activation("gelu_tanh"))
    assert grads.b_up is not None
    assert grads.b_down is not None
    return dX, grads.up, grads.b_up, grads.down, grads.b_down


def swiglu_ffn(X: ArrayLike, W_gate: ArrayLike, W_up: ArrayLike, W_down: ArrayLike) -> Array:
    """LLaMA's FFN, (silu(X·W_gate) ⊙ X·W_up)·W_down, for X of shape (..., d_model).

    W_gate and W_up are (d_model, d_ff), W_down is (d_ff, d_model).
    """
    return glu_ffn(X, W_gate, W_up, W_down, "swiglu")


def swiglu_backward(
    dY: ArrayLike, X: ArrayLike, W_gate: ArrayLike, W_up: ArrayLike, W_down: ArrayLike
) -> tuple[Array, Array, Array, Array]:
    """(dX, dW_gate, dW_up, dW_down) of `swiglu_ffn`, for dY of X's shape; the intermediates are computed again."""
    dX, grads = glu_backward(dY, X, W_gate, W_up, W_down, "swiglu")
    assert grads.gate is not None
    return dX, grads.gate, grads.up, grads.down


def _variant(name: str, W_gate: ArrayLike | None) -> Activation:
    expect_one_of("variant", name, VARIANTS)
    variant = VARIANTS[name]
    if variant.gated != (W_gate is not None):
        wants = "gated: it needs W_gate" if variant.gated else "not gated: W_gate has to be None"
        raise InputError(f"variant {name!r} is {wants}")
    return activation(variant.activation)


def glu_ffn(
    X: ArrayLike,
    W_gate: ArrayLike | None,
    W_up: ArrayLike,
    W_down: ArrayLike,
    variant: str,
    *,
    layout: Layout = "in_out",
    b_gate: ArrayLike | None = None,
    b_up: ArrayLike | None = None,
    b_down: ArrayLike | None = None,
) -> Array:
    """Any FFN of `VARIANTS` by name, for X of shape (..., d_model).

    Gated: (φ(X·W_gate + b_gate) ⊙ (X·W_up + b_up))·W_down + b_down; a variant without a gate takes W_gate = None and
    is φ(X·W_up + b_up)·W_down + b_down. `layout` says how all the matrices are stored: "in_out" as in the text
    (W_up: (d_model, d_ff)) or "out_in" as in checkpoints ((d_ff, d_model)). It is never guessed.
    """
    act = _variant(variant, W_gate)
    return _run(problem(X, None, (W_up, W_down, W_gate, b_up, b_down, b_gate), NAMES, layout), act)


def glu_backward(
    dY: ArrayLike,
    X: ArrayLike,
    W_gate: ArrayLike | None,
    W_up: ArrayLike,
    W_down: ArrayLike,
    variant: str,
    *,
    layout: Layout = "in_out",
    b_gate: ArrayLike | None = None,
    b_up: ArrayLike | None = None,
    b_down: ArrayLike | None = None,
) -> Gradients:
    """The gradients of `glu_ffn`, for dY of X's shape; those of the matrices are in the layout of the matrices."""
    act = _variant(variant, W_gate)
    call = problem(X, dY, (W_up, W_down, W_gate, b_up, b_down, b_gate), NAMES, layout)
    return _run_backward(call, act, layout)


def _packed_axis_last(packed: ArrayLike, layout: str) -> Array:
    array = number_array("packed", packed)
    axis = -1 if layout == "in_out" else 0
    if array.ndim == 0 or array.shape[axis] % 2:
        raise InputError(f"packed has shape {array.shape}; an even size 2·d_ff is wanted on its axis {axis}")
    return np.moveaxis(array, axis, -1)


def split_gate_up(packed: ArrayLike, order: Order, *, layout: Layout = "in_out") -> tuple[Array, Array]:
    """(W_gate, W_up) as views of one packed matrix (or of packed pre-activations, or a packed bias).

    The order has to be said, because libraries differ: "gate_up" if the first half is the one that is activated,
    "up_gate" if the second half is, "interleaved" if they alternate, gate first (gpt-oss). The packed axis, of size
    2·d_ff, is the last for "in_out" and the first for "out_in".
    """
    expect_one_of("order", order, ORDERS)
    expect_one_of("layout", layout, LAYOUTS)
    array = _packed_axis_last(packed, layout)
    if order == "interleaved":
        parts = array[..., ::2], array[..., 1::2]
    else:
        half = array.shape[-1] // 2
        parts = array[..., :half], array[..., half:]
    gate, up = parts[::-1] if order == "up_gate" else parts
    return (gate, up) if layout == "in_out" else (np.moveaxis(gate, -1, 0), np.moveaxis(up, -1, 0))
