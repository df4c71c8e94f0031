"""What a model is run on: how many sequences of which length, which pairs of tokens meet, which passes are made."""

from __future__ import annotations

from typing import NamedTuple

from ffncalc.errors import InputError
from ffncalc.expr import Expr, size
from ffncalc.ops import Rows
from ffncalc.spec import Spec

DEFAULT_SEQ_LEN = 2048
# How many times the forward pass's FLOPs: backward costs one contraction per operand, each the forward's own.
PASSES = {"forward": 1, "train": 3, "recompute": 4}


class Workload(NamedTuple):
    """`seq_len` tokens a sequence (None: the default for the model); `source_len` rows of an encoder beside a
    decoder."""

    seq_len: int | None = None
    source_len: int | None = None
    batch: int = 1
    causal: bool = False
    passes: str = "forward"
    tokens: int | None = None


def for_model(work: Workload, spec: Spec) -> Workload:
    """The same with lengths filled in: 2048 tokens, or the position table's length where that is shorter."""
    for name in ("seq_len", "source_len", "batch", "tokens"):
        value = getattr(work, name)
        if value is not None and value < 1:
            raise InputError(f"{name} is {value}; want a positive whole number")
    if work.passes not in PASSES:
        raise InputError(f"pass {work.passes!r} is not known; want one of {', '.join(PASSES)}")
    table = position_table(spec)
    seq_len = work.seq_len or min(DEFAULT_SEQ_LEN, table or DEFAULT_SEQ_LEN)
    has_source = any(stack.is_source for stack in spec.stacks)
    if work.source_len and not has_source:
        raise InputError(f"{spec.name} has no encoder beside a decoder; --source-len does not apply")
    return work._replace(seq_len=seq_len, source_len=(work.source_len or seq_len) if has_source else None)


def position_table(spec: Spec) -> int | None:
    """Positions that the model's table of learned positions has rows for; None without such a table."""
    positions = spec.stacks[-1].positions
    return positions.n_positions.value if positions.kind == "learned" else None


def keys_met(rows: Rows, length: Expr) -> Expr:
    """Keys that one query of a pair operation meets in a sequence of `length`: all, or those in its window."""
    if rows.window is None:
        return length
    reach = 2 * (rows.window.value // 2) + 1 if rows.sides == 2 else rows.window.value
    if length.value <= reach:
        return length
    window = "2·(window/2) + 1" if rows.sides == 2 else "window"
    return size(f"min({length.formula()}, {window})", reach, rows.window.leaves()[0].origin)


def causal_pairs(rows: Rows, length: int) -> int:
    """Query-key pairs that a causal mask leaves of one sequence, within the window or the chunk if there is one."""
    window = min(rows.window.value if rows.window else length, length)
    if rows.chunked:
        return length // window * _triangle(window) + _triangle(length % window)
    return _triangle(window) + (length - window) * window


def _triangle(n: int) -> int:
    return n * (n + 1) // 2
