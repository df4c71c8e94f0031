"""An FFN as a key-value memory (Geva et al. 2021): FFN(x) = Σ coefficient_i·v_i + b_down.

The key k_i is column i of W_up, the value v_i row i of W_down, and the coefficient what the hidden unit holds for x:
φ(x·k_i + b_i), and for a gated FFN φ(x·g_i)·(x·k_i), the gate being part of it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ffncalc.errors import InputError
from ffncalc.numeric import ffn_rows
from ffncalc.numeric.activations import activation
from ffncalc.numeric.checks import Array, expect_shape, prepare, report_nan
from ffncalc.numeric.feedforward import NAMES, TEXT_NAMES, Names, Problem, problem
from ffncalc.numeric.matmul import matmul


class Memories(NamedTuple):
    """One token's memories: coefficients (d_ff,) and contributions (d_ff, d_model), coefficient_i·v_i in row i.

    The contributions add up to the output, less the output bias.
    """

    coefficients: Array
    contributions: Array


def ffn_memories(x: ArrayLike, W1: ArrayLike, b1: ArrayLike, W2: ArrayLike, k: int) -> tuple[Array, Array, Array]:
    """(coef, top, partial) of a ReLU FFN without output bias, for one token x of shape (d_model,).

    `coef` (d_ff,) is max(0, x·k_i + b_i) of every memory, `top` the indices of the k largest (largest first, of equals
    the lower index), `partial` (d_model,) the sum of those k memories' contributions.
    """
    call = _one_token(x, (W1, W2, None, b1, None, None), TEXT_NAMES)
    d_ff = len(call.weights.down)
    if not isinstance(k, (int, np.integer)) or not 0 <= k <= d_ff:
        raise InputError(f"k is {k!r}; 0 to d_ff = {d_ff}, a whole number, is wanted")
    coef = _coefficients(call, "relu")
    top = np.argsort(-coef, kind="stable")[:k]
    partial = matmul(coef[None, top], call.weights.down[top])[0]
    report_nan(partial, call.named)
    return coef.astype(call.dtype, copy=False), top, partial.astype(call.dtype, copy=False)


def memories(
    x: ArrayLike,
    W_gate: ArrayLike | None,
    W_up: ArrayLike,
    W_down: ArrayLike,
    activation_name: str,
    *,
    b_gate: ArrayLike | None = None,
    b_up: ArrayLike | None = None,
) -> Memories:
    """All memories of any FFN for one token x of shape (d_model,); W_gate is None for one without a gate."""
    call = _one_token(x, (W_up, W_down, W_gate, b_up, None, b_gate), NAMES)
    coefficients = _coefficients(call, activation_name)
    contributions = coefficients[:, None] * call.weights.down
    report_nan(contributions, call.named)
    return Memories(coefficients.astype(call.dtype, copy=False), contributions.astype(call.dtype, copy=False))


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def rank_one_edit(
    W_down: ArrayLike, coefficients: ArrayLike, wanted: ArrayLike, b_down: ArrayLike | None = None
) -> Array:
    """W_down with one fact rewritten: a token with these coefficients h (d_ff,) writes `wanted` (d_model,).

    W + hᵀ·(wanted - b_down - h·W) / (h·h), the smallest change that does it (Meng et al. 2022, with no statistics of
    other keys). What tokens with coefficients orthogonal to h write is left alone.
    """
    named = {"W_down": W_down, "coefficients": coefficients, "wanted": wanted, "b_down": b_down}
    (down, h, value, bias), dtype = prepare(named, optional=("b_down",))
    expect_shape("W_down", down, (None, None), "(d_ff, d_model)")
    expect_shape("coefficients", h, down.shape[:1], "(d_ff)")
    for name, array in (("wanted", value), ("b_down", bias)):
        if array is not None:
            expect_shape(name, array, down.shape[1:], "(d_model)")
    largest = np.abs(h).max(initial=0)
    if largest == 0:
        raise InputError("coefficients are all 0: a token that fires no memory can't be made to write anything")
    change = value - matmul(h[None], down)[0] - (0 if bias is None else bias)
    unit = h / largest  # whose squares neither overflow nor vanish
    edited: Array = down + matmul(unit[:, None], change[None] / largest) / matmul(unit[None], unit[:, None])
    report_nan(edited, named)
    return edited.astype(dtype, copy=False)


def _one_token(x: ArrayLike, arrays: tuple[ArrayLike | None, ...], names: Names) -> Problem:
    call = problem(x, None, arrays, names)
    if len(call.shape) != 1:
        raise InputError(f"x has shape {call.shape}; one token, (d_model), is wanted")
    return call


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def _coefficients(call: Problem, activation_name: str) -> Array:
    coefficients: Array = ffn_rows.hidden(call.X, call.weights, activation(activation_name))[0]
    report_nan(coefficients, call.named)
    return coefficients
