"""FLOPs: 2 for each multiply-accumulate of a matmul, and nothing else, as torch's own counter counts them.

What runs once for each decoder token at context T, once for each source row and once a sequence is kept apart; the
total is batch × (T × per_token + S × per_source_token + per_sequence), with the causal mask's exact number of pairs if
asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from ffncalc.blocks.ends import TOKEN_TABLE
from ffncalc.errors import InputError
from ffncalc.expr import ONE, Expr, size, total
from ffncalc.hidden import MAX_FLOAT
from ffncalc.model import LayerOps, Model
from ffncalc.number import ratio
from ffncalc.ops import Op, Rows, active, macs_per_row
from ffncalc.report.params import table_is_head
from ffncalc.workload import PASSES, Workload, causal_pairs, for_model, keys_met, position_table

GROUPS = ("per_token", "per_source_token", "per_sequence", "total")
KINDS = ("ffn", "attention_projections", "attention_scores", "head", "other")
Kinds = dict[str, Expr]


class Rule(NamedTuple):
    """A rule of thumb that people quote, what it gives, and the exact number that it stands in for."""

    rule: str
    value: int
    exact: int
    of: str

    @property
    def off(self) -> float | int:
        """How far the rule is from the exact number, as a share of the exact number."""
        return ratio(self.value - self.exact, self.exact) if self.exact else 0.0


class LayerFlops(NamedTuple):
    """One kind of layer: FLOPs of one such layer and one of its tokens."""

    kind: LayerOps
    kinds: Kinds


class Flops(NamedTuple):
    """All that `ffncalc flops` says. Each of the groups has the keys of `KINDS`, and their sum as `total`."""

    model: Model
    work: Workload
    per_token: Kinds
    per_source_token: Kinds
    per_sequence: Kinds
    total: Kinds
    layers: tuple[LayerFlops, ...]
    crossover_seq_len: float | None
    rules: tuple[Rule, ...]
    training_run: int | None
    n_rule: Expr
    warnings: tuple[str, ...]

    def groups(self) -> dict[str, Kinds]:
        """The groups, by their names in the JSON."""
        return {name: getattr(self, name) for name in GROUPS}


def kind_of(op: Op) -> str:
    """Which of `KINDS` an operation's FLOPs belong to."""
    if op.part == "attention":
        return "attention_scores" if op.rows.kind in ("pair", "cross") or not op.weights else "attention_projections"
    return op.part if op.part in ("ffn", "head") else "other"


def flops(model: Model, work: Workload | None = None) -> Flops:
    """Count the FLOPs of a model on a workload. Raises InputError where the family's can't be counted."""
    work = work or Workload()
    groups = counts(model, work)
    work = for_model(work, model.spec)
    factor = PASSES[work.passes]
    n_rule = rule_parameters(model)
    forward = groups["per_token"]["total"].value // factor
    return Flops(
        model=model,
        work=work,
        **groups,
        layers=tuple(_layer(kind, work, factor) for kind in model.layers),
        crossover_seq_len=crossover(model),
        rules=rules_of_thumb(model, work, n_rule.value, forward),
        training_run=_training_run(model, work),
        n_rule=n_rule,
        warnings=(*model.spec.warnings, *_warnings(model, work)),
    )


def counts(model: Model, work: Workload) -> dict[str, Kinds]:
    """The FLOPs alone, by group and kind as in the JSON; the lengths of `work` are filled in where they are missing."""
    spec = model.spec
    if spec.flops:
        raise InputError(f"{spec.name}: FLOPs of {spec.family} are not counted: {spec.flops}")
    if spec.n_vocab is None:
        raise InputError(
            f"{spec.name}: the head's FLOPs need a vocabulary; give --vocab-size N or leave it off with --head none"
        )
    if _sourceless(model):
        raise InputError(f"{spec.name}: FLOPs are not counted: its cross-attention has no encoder here to attend to")
    work = for_model(work, spec)
    rows = {"per_token": "token", "per_source_token": "source", "per_sequence": "once"}
    groups = {group: _scaled(_sum(_placed(model, work, row)), PASSES[work.passes]) for group, row in rows.items()}
    return groups | {"total": _total(model, work)}


def _sourceless(model: Model) -> bool:
    crosses = any(op.rows.kind == "cross" for kind in model.layers for op in kind.ops)
    return crosses and not any(stack.is_source for stack in model.spec.stacks)


# ------------------------------------------------------------------ placing operations
Placed = tuple[str, Expr]  # kind, FLOPs of one row


def _all_ops(model: Model) -> Iterator[tuple[str, Op, Expr | int, bool]]:
    """(stack, operation, how often it stands in the model, whether its own tokens are source rows)."""
    for kind in model.layers:
        for op in kind.ops:
            yield kind.stack, op, kind.n_stored * kind.runs, kind.is_source
    for op in model.outer:
        yield "", op, 1, False


def _row_of(op: Op, is_source: bool) -> str:
    if op.rows.kind in ("once", "source"):
        return op.rows.kind
    return "source" if is_source else "token"


def _one_row(op: Op, work: Workload, is_source: bool) -> Expr:
    """FLOPs of one row of an operation; for scores, of one query over all the keys it meets."""
    macs = 2 * macs_per_row(op)
    if op.rows.kind == "pair":
        return macs * keys_met(op.rows, _length(work, is_source))
    return macs * _length(work, True) if op.rows.kind == "cross" else macs


def _length(work: Workload, is_source: bool) -> Expr:
    return size("S", work.source_len or 0, "--source-len") if is_source else size("T", work.seq_len or 0, "--seq-len")


def _placed(model: Model, work: Workload, row: str) -> Iterator[Placed]:
    for _, op, times, is_source in _all_ops(model):
        if op.axes and _row_of(op, is_source) == row:
            yield kind_of(op), _one_row(op, work, is_source) * times


def _sum(placed: Iterable[Placed]) -> Kinds:
    parts: dict[str, list[Expr]] = {kind: [] for kind in KINDS}
    for kind, number in placed:
        parts[kind].append(number)
    kinds = {kind: total(numbers) for kind, numbers in parts.items()}
    return kinds | {"total": total(kinds.values())}


def _scaled(kinds: Kinds, factor: int) -> Kinds:
    return {kind: factor * number for kind, number in kinds.items()}


def _layer(kind: LayerOps, work: Workload, factor: int) -> LayerFlops:
    own = "source" if kind.is_source else "token"
    placed = (
        (kind_of(op), _one_row(op, work, kind.is_source))
        for op in kind.ops
        if op.axes and _row_of(op, kind.is_source) == own
    )
    return LayerFlops(kind, _scaled(_sum(placed), factor))


def _total(model: Model, work: Workload) -> Kinds:
    """FLOPs of the whole batch: every operation as often as it runs in a sequence, the causal mask's pairs counted
    exactly."""
    factor = PASSES[work.passes] * (size("batch", work.batch, "--batch") if work.batch > 1 else ONE)
    placed = (
        (kind_of(op), 2 * macs_per_row(op) * _runs_in_sequence(op, work, kind, is_source) * times)
        for kind, op, times, is_source in _all_ops(model)
        if op.axes
    )
    return {kind: factor * number for kind, number in _sum(placed).items()}


def _runs_in_sequence(op: Op, work: Workload, stack: str, is_source: bool) -> Expr:
    length = _length(work, is_source)
    if op.rows.kind == "pair" and work.causal and stack == "decoder":
        return size(
            "causal_pairs", causal_pairs(op.rows, length.value), "query-key pairs that the mask leaves of a sequence"
        )
    if op.rows.kind == "pair":
        return length * keys_met(op.rows, length)
    if op.rows.kind == "cross":
        return length * _length(work, True)
    return {"token": length, "source": _length(work, True), "once": ONE}[op.rows.kind]


# ------------------------------------------------------------------ where attention overtakes
def crossover(model: Model) -> float | None:
    """The smallest T > 0 at which full-pair attention of the stack costs as much as its FFN; None where there is none.

    Attention's cost is piecewise linear in T (a windowed layer's stops growing at its window), so it is solved exactly,
    from one window to the next.
    """
    if len(model.spec.stacks) > 1:
        return None
    ahead = Fraction(0)  # FFN minus what attention does for a token at any T
    slopes: dict[int | None, int] = {}  # reach of the window (None: no end) -> FLOPs per token and key
    for kind in model.layers:
        times = (kind.n_stored * kind.runs).value
        for op in kind.ops:
            cost = 2 * macs_per_row(op).value * times
            if op.rows.kind == "pair":
                reach = _reach(op.rows)
                slopes[reach] = slopes.get(reach, 0) + cost
            elif op.rows.kind == "token" and op.axes:
                ahead += {"ffn": cost, "attention_projections": -cost, "attention_scores": -cost}.get(kind_of(op), 0)
    return _solve(ahead, slopes)


def _reach(rows: Rows) -> int | None:
    return None if rows.window is None else keys_met(rows, size("T", 10 * rows.window.value + 10)).value


def _solve(ahead: Fraction, slopes: dict[int | None, int]) -> float | None:
    if ahead <= 0:
        return None
    start = 0
    for reach in (*sorted(r for r in slopes if r is not None), None):
        slope = sum(s for r, s in slopes.items() if r is None or r > start)
        if not slope:
            return None
        found = start + ahead / slope
        if reach is None or found <= reach:
            return float(found) if found < MAX_FLOAT else int(found)
        ahead -= slope * (reach - start)
        start = reach
    return None


# ------------------------------------------------------------------ rules of thumb
def rule_parameters(model: Model) -> Expr:
    """The N of the rules: active parameters without the input embedding (where it isn't the head) and positions."""
    dropped = {op.name for op in model.outer if op.part == "embedding" and not op.axes}
    if table_is_head(model):
        dropped.discard(TOKEN_TABLE)
    inside = total(active(kind.ops) * kind.n_stored for kind in model.layers)
    return inside + active(op for op in model.outer if op.name not in dropped)


def rules_of_thumb(model: Model, work: Workload, n: int, forward: int) -> tuple[Rule, ...]:
    """The rules that people quote beside the exact number; none for an encoder-decoder, where one N has no meaning."""
    if len(model.spec.stacks) > 1:
        return ()
    train, heads = PASSES["train"] * forward, _width_of_all_heads(model)
    rules = [
        Rule("2N", 2 * n, forward, "forward, per token"),
        Rule("6N", 6 * n, train, "training, per token"),
        Rule(
            "6N + 12·L·H·Q·T",
            6 * n + 12 * heads * (work.seq_len or 0),
            train,
            "training, per token",
        ),
    ]
    if work.tokens:
        rules.append(Rule("6ND", 6 * n * work.tokens, _training_run(model, work) or 0, "training run"))
    return tuple(rules)


def _width_of_all_heads(model: Model) -> int:
    """The rules' L·H·Q: the width of all heads of all layers; without grouped attention, that of their values."""
    layers = [((kind.n_stored * kind.runs).value, kind.layer.attention) for kind in model.spec.stacks[0].kinds]
    grouped = sum(times * a.n_heads.value * a.d_head.value for times, a in layers if a.kind == "grouped")
    return grouped or sum(times * a.n_heads.value * a.d_v.value for times, a in layers)


def _training_run(model: Model, work: Workload) -> int | None:
    """FLOPs of training on D tokens in sequences of T: 3 × the forward pass, rounded down to a whole FLOP."""
    if not work.tokens or not work.seq_len:
        return None
    one = _total(model, work._replace(batch=1, passes="train"))["total"].value
    return one * work.tokens // work.seq_len


def _warnings(model: Model, work: Workload) -> Iterator[str]:
    table = position_table(model.spec)
    if table and (work.seq_len or 0) > table:
        yield f"seq_len {work.seq_len:,} is beyond the {table:,} positions of {model.spec.name}'s table"
    if work.causal and not any(kind.stack == "decoder" for kind in model.layers):
        yield f"--causal changes nothing: {model.spec.name} is an encoder"
