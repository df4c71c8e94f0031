"""What a sweep runs over: named sizes, each with its values, and the numbers that are wanted at every point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ffncalc import edit
from ffncalc.errors import InputError, nearest
from ffncalc.expr import Expr
from ffncalc.model import Model
from ffncalc.ops import PARTS
from ffncalc.report import flops, params
from ffncalc.report.flops import KINDS
from ffncalc.workload import Workload

PARAMS = tuple(f"params.{name}" for name in ("total", "active", "active_without_embedding", "stored", *PARTS))
_GROUPS = ("per_token", "per_source_token", "per_sequence", "total")
FLOPS = tuple(f"flops.{group}.{kind}" for group in _GROUPS for kind in (*KINDS, "total"))
# A dimension of the workload -> the field it is there, and the origin of the size that it makes in an expression.
WORKLOAD = {"T": ("seq_len", "--seq-len"), "seq_len": ("seq_len", "--seq-len"), "batch": ("batch", "--batch")}
WORKLOAD |= {"S": ("source_len", "--source-len"), "source_len": ("source_len", "--source-len")}


class Axis(NamedTuple):
    """One size: its name, its values in the order they were given, and where it is stated."""

    name: str
    values: tuple[int, ...]
    origin: str


class Space(NamedTuple):
    """A config, the sizes that vary, the workload beside them, and the names of the numbers wanted."""

    start: edit.Base
    axes: tuple[Axis, ...]
    work: Workload
    numbers: tuple[str, ...]


Point = Mapping[str, int]


def space(
    start: edit.Base, sizes: Mapping[str, Sequence[int]], work: Workload | None = None, numbers: Sequence[str] = ()
) -> Space:
    """The space of those sizes; without `numbers`, all there are. Raises InputError for unknown names."""
    if not sizes:
        raise InputError("no size varies; name one, such as d_model=1024:8192:256")
    axes = tuple(_axis(start, name, values) for name, values in sizes.items())
    _told_apart(start, axes)
    model = edit.model_of(start, {})
    if model.spec.n_vocab is None and not any("vocab" in axis.name for axis in axes):
        raise InputError(f"{model.spec.name}: its vocabulary is not stated; sweep n_vocab, or give --vocab-size N")
    return Space(start, axes, work or Workload(), tuple(map(_known, numbers)) or tuple(_everything(model, work)))


def _axis(start: edit.Base, name: str, values: Sequence[int]) -> Axis:
    values = tuple(map(int, values))
    if not values:
        raise InputError(f"{name} has no values")
    if name in WORKLOAD:
        return Axis(name, values, WORKLOAD[name][1])
    return Axis(name, values, f"key {edit.key_of(start, name)}")


def _told_apart(start: edit.Base, axes: Sequence[Axis]) -> None:
    seen: dict[str, str] = {}
    for axis in axes:
        if axis.origin in seen:
            raise InputError(f"{seen[axis.origin]} and {axis.name} are one size; give it once")
        seen[axis.origin] = axis.name
    if start.options.n_vocab and f"key {edit.key_of(start, 'n_vocab')}" in seen:
        raise InputError("--vocab-size fixes the vocabulary, and it is swept as well; leave one of them")


def _known(name: str) -> str:
    known = (*PARAMS, *FLOPS)
    if name in known:
        return name
    near = nearest(name, known, n=1)
    raise InputError(
        f"{name!r} is no number of a sweep; "
        + (f"did you mean {near[0]}?" if near else "they are called as in JSON: params.total, flops.per_token.total")
    )


def _everything(model: Model, work: Workload | None) -> Iterator[str]:
    """All numbers that this model has; FLOPs only where they are counted, source rows only where there are some."""
    yield from PARAMS
    if model.spec.flops:
        return
    groups = flops.counts(model, work or Workload())
    for name in FLOPS:
        group = name.split(".")[1]
        if group in ("per_token", "total") or groups[group]["total"]:
            yield name


def numbers_at(where: Space, point: Point) -> dict[str, Expr]:
    """The wanted numbers at one point, by resolving and counting the edited config. Raises InputError."""
    model = edit.model_of(where.start, {name: value for name, value in point.items() if name not in WORKLOAD})
    found: dict[str, Expr | None] = {}
    if any(name.startswith("params.") for name in where.numbers):
        found = {f"params.{name}": number for name, number in params.counts(model).items()}
    if any(name.startswith("flops.") for name in where.numbers):
        lengths: dict[str, Any] = {WORKLOAD[name][0]: value for name, value in point.items() if name in WORKLOAD}
        work = where.work._replace(**lengths)
        counted = flops.counts(model, work)
        found |= {f"flops.{group}.{kind}": number for group, kinds in counted.items() for kind, number in kinds.items()}
    return {name: number for name in where.numbers if (number := found[name]) is not None}
