"""A hidden width with what it costs: the parameters it gives, and how far that is from the ungated 8d²."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from ffncalc.blocks.ffn import mlp
from ffncalc.expr import Expr, size
from ffncalc.hidden import Width, hidden_width, positive
from ffncalc.number import ratio
from ffncalc.ops import parameters


class Hidden(NamedTuple):
    """All that `ffncalc hidden-dim` says.

    `params` are those of an FFN of this width without biases (three matrices, two for the ungated rule 4d), `ungated`
    the 8d² of two matrices of width 4d, `off` the difference as a share of them. `matched` is the width at which three
    matrices hold the same as those two.
    """

    width: Width
    gated: bool
    params: Expr
    ungated: Expr
    off: float | int
    matched: Width


def hidden(
    d: int, rule: str, multiple_of: int | None = None, multiplier: float | None = None, rounding: str | None = None
) -> Hidden:
    """The width that the rule gives, with its parameters. Raises InputError."""
    width = hidden_width(d, rule, multiple_of, multiplier, rounding)
    gated = rule != "4d"
    params = ffn_parameters(d, width.d_ff, bias=False, gated=gated, origin=f"rule {rule}")
    ungated = ffn_parameters(d, 4 * d, bias=False, gated=False, origin="4 × d_model")
    off = ratio(Fraction((params.value - ungated.value) * 10**6 // ungated.value), 10**6)
    return Hidden(width, gated, params, ungated, off, hidden_width(d, "matched"))


def ffn_parameters(d: int, d_ff: int, bias: bool, gated: bool, origin: str = "") -> Expr:
    """Parameters of one FFN, from the very operations that a model's FFN is made of."""
    return parameters(mlp(gated, size("d_model", d, "given"), size("d_ff", d_ff, origin), bias, "mlp"))


def ffn_param_count(d: int, d_ff: int, bias: bool = True, gated: bool = False) -> int:
    """Parameters of an FFN of model width `d` and hidden width `d_ff`.

    Ungated: two matrices, and biases of d_ff + d. Gated: three matrices, and biases of 2·d_ff + d. Source: Vaswani et
    al. 2017, equation 2; Shazeer 2020, section 2.
    """
    return ffn_parameters(positive(d, "d"), positive(d_ff, "d_ff"), bias, gated).value
