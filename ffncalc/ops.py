"""Operations with weights attached: the one list from which every count is read.

A model is a list of `Op` records in execution order. Each says what it contracts over (`axes`), how often (`rows`, the
thing it runs once for, and `uses`, how many times per row) and which weights it owns. Then

    parameters = Σ product(shape) × copies          over weights that are neither tied nor buffers
    active     = Σ product(shape) × copies used     the same, routed experts at top_k of n_experts
    MACs       = Σ product(axes) × uses × rows
    FLOPs      = 2 × MACs

and nothing about a count is written anywhere else. Scores have MACs and no weights, a lookup has weights and no MACs, a
tied head has MACs and a weight that is counted elsewhere.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ffncalc.expr import ONE, ZERO, Expr, as_expr, product, total

PARTS = ("embedding", "attention", "ffn", "norm", "head", "other")


class Rows(NamedTuple):
    """What an operation runs once for.

    `token`: each token of its own stack; `source`: each row of the encoder's output, from inside the decoder; `once`:
    once a sequence; `pair`: each query-key pair of its own stack; `cross`: each pair of a token and a source row.
    `window` bounds the keys a query meets (an index's top-k does too); `sides` 2: it reaches to both sides; `chunked`:
    it has fixed borders.
    """

    kind: str
    window: Expr | None = None
    sides: int = 1
    chunked: bool = False


TOKEN = Rows("token")
SOURCE = Rows("source")
ONCE = Rows("once")
PAIR = Rows("pair")
CROSS = Rows("cross")


class Weight(NamedTuple):
    """One tensor, or `copies` of it. `used` of the copies meet one token (None: all of them)."""

    name: str
    shape: tuple[Expr, ...]
    copies: Expr = ONE
    used: Expr | None = None
    tied: bool = False  # counted where it is tied to
    buffer: bool = False  # stored with the checkpoint, but no parameter


class Op(NamedTuple):
    """One operation: its name, the component it belongs to, its weights, and the matmul it does (if any)."""

    name: str
    part: str
    weights: tuple[Weight, ...] = ()
    axes: tuple[Expr, ...] = ()
    rows: Rows = TOKEN
    uses: Expr = ONE


# ------------------------------------------------------------------ the five ways of making one
def linear(
    part: str,
    name: str,
    d_in: Expr | int,
    d_out: Expr | int,
    bias: bool = False,
    *,
    rows: Rows = TOKEN,
    copies: Expr = ONE,
    used: Expr | None = None,
    tied: bool = False,
) -> Op:
    """A matrix that every row is multiplied by, shape (out, in), and its bias; of `copies` a row uses `used`."""
    d_in, d_out = as_expr(d_in), as_expr(d_out)
    weights = [Weight(f"{name}.weight", (d_out, d_in), copies, used, tied=tied)]
    if bias:
        weights.append(Weight(f"{name}.bias", (d_out,), copies, used))
    return Op(name, part, tuple(weights), (d_out, d_in), rows, copies if used is None else used)


def lookup(part: str, name: str, rows_of_table: Expr | int, width: Expr | int, *, copies: Expr = ONE) -> Op:
    """A table of vectors of which each token picks one: weights and no matmul."""
    return Op(name, part, (Weight(f"{name}.weight", (as_expr(rows_of_table), as_expr(width)), copies),))


def scale(part: str, name: str, *shape: Expr | int, bias: bool = False, copies: Expr = ONE) -> Op:
    """An elementwise weight (a norm, a sink, a bare bias), and a bias of the same shape: weights and no matmul."""
    sizes = tuple(as_expr(s) for s in shape)
    names = ("weight", "bias") if bias else ("weight",)
    return Op(name, part, tuple(Weight(f"{name}.{kind}", sizes, copies) for kind in names))


def stored(part: str, name: str, *shape: Expr | int) -> Op:
    """A buffer that the checkpoint holds and the class does not register as a parameter."""
    return Op(name, part, (Weight(name, tuple(as_expr(s) for s in shape), buffer=True),))


def contraction(part: str, name: str, *axes: Expr | int, rows: Rows = PAIR) -> Op:
    """A matmul without weights, such as query-key scores: `axes` are what one row of it multiplies over."""
    return Op(name, part, (), tuple(as_expr(a) for a in axes), rows)


# ------------------------------------------------------------------ reading counts off
def parameters(ops: Iterable[Op]) -> Expr:
    """Distinct parameters: every weight that is neither tied to another nor a buffer."""
    return total(product(w.shape) * w.copies for w in _own_weights(ops))


def active(ops: Iterable[Op]) -> Expr:
    """The parameters that one token passes through: routed experts at top_k, everything else whole."""
    return total(product(w.shape) * (w.copies if w.used is None else w.used) for w in _own_weights(ops))


def _own_weights(ops: Iterable[Op]) -> Iterator[Weight]:
    return (w for op in ops for w in op.weights if not (w.tied or w.buffer))


def buffers(ops: Iterable[Op]) -> Expr:
    """Numbers that the checkpoint stores beyond the parameters."""
    return total(product(w.shape) * w.copies for op in ops for w in op.weights if w.buffer)


def macs_per_row(op: Op) -> Expr:
    """Multiply-accumulates of one row (a token, a pair, ...) of this operation."""
    return product(op.axes) * op.uses if op.axes else ZERO


def of_part(ops: Iterable[Op], part: str) -> list[Op]:
    """Those of one component."""
    return [op for op in ops if op.part == part]
