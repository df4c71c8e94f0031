"""The configs nearest to a budget of parameters, active parameters or FLOPs per token: every point of a stated space.

float64 ranks, cell by cell and a slab at a time; what is kept is counted anew in whole numbers, and every config that
is proposed has been loaded and counted like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ffncalc import edit
from ffncalc.errors import FfncalcError, InputError
from ffncalc.export import values
from ffncalc.keys import WORDS
from ffncalc.loading import load
from ffncalc.report import flops as flops_report
from ffncalc.report import params as params_report
from ffncalc.report.dims import dims
from ffncalc.search import limits as lim
from ffncalc.search.cells import Cell, Polynomial, cell, points, value_at
from ffncalc.search.limits import Limits, Part
from ffncalc.search.polynomial import evaluate, nested, slabs, spread
from ffncalc.search.space import Point, Space
from ffncalc.workload import DEFAULT_SEQ_LEN, Workload

BUDGETS = {"params": "params.total", "active": "params.active", "flops": "flops.per_token.total"}
SPARE = 32  # kept beyond what is asked for, so that rounding in float64 can't decide what is shown


class Candidate(NamedTuple):
    """A config near the budget: as YAML would hold it, its sizes, its exact numbers, how far it is off (a share)."""

    config: dict[str, Any]
    dims: dict[str, Any]
    params: dict[str, int | None]
    flops_per_token: int | None
    off: float


class Found(NamedTuple):
    """What a search found: the budget (one of `BUDGETS`, and its value), the space, its points, the nearest configs."""

    kind: str
    budget: int
    space: dict[str, Any]
    points: int
    candidates: tuple[Candidate, ...]


class _Near(NamedTuple):
    off: int
    point: dict[str, int]
    part: Part


def size(
    params: int | None = None,
    *,
    active: int | None = None,
    flops: int | None = None,
    like: str | dict[str, Any] | None = None,
    ffn: str = "swiglu",
    d_model: Sequence[int] = (),
    n_layers: Sequence[int] = (),
    n_heads: Sequence[int] = (),
    n_kv_heads: Sequence[int] = (),
    d_ff: Sequence[int] = (),
    n_vocab: Sequence[int] = (),
    d_head: int | None = None,
    multiple_of: int = 256,
    tensor_parallel: int = 1,
    aspect: tuple[float, float] | None = None,
    tied: bool = False,
    seq_len: int | None = None,
    keep: int = 10,
    within: float = 0.1,
    report: Callable[[int, int], None] = lambda done, of: None,
) -> Found:
    """The configs nearest to one budget: parameters, active parameters, or forward FLOPs per token at `seq_len`.

    It starts from a LLaMA-like decoder (32,000 words, untied, heads of 128, d_ff by LLaMA's rule), or from `like`,
    whose stated sizes stay unless a list is given for them. `aspect` bounds d_model / n_layers; `tensor_parallel` has
    to divide the heads, d_ff and the vocabulary. Raises InputError for an empty space, and where nothing is within
    `within` (a share) of the budget: the error says which limits bind, and what the nearest is.
    """
    budgets = {
        name: value for name, value in (("params", params), ("active", active), ("flops", flops)) if value is not None
    }
    if len(budgets) != 1:
        raise InputError("want one budget: --params, --active or --flops (per token)")
    kind, budget = next(iter(budgets.items()))
    if like is None:
        like = lim.llama_like(ffn, None if n_heads and not d_head else d_head or 128, multiple_of, 32000, tied)
    start = edit.base(like)
    if not d_head and not n_heads:
        found = dims(edit.model_of(start, {}))["d_head"]
        d_head = found if isinstance(found, int) else 128
    n_layers = sorted(n_layers)
    bounds = aspect or (None if d_model and n_layers else lim.ASPECT)
    limits = Limits(
        d_model or lim.D_MODEL,
        n_layers or lim.N_LAYERS,
        n_heads,
        n_kv_heads,
        d_ff,
        n_vocab,
        d_head or 128,
        tensor_parallel,
        bounds,
    )
    where = Space(start, (), Workload(seq_len), (BUDGETS[kind],))
    near, count = nearest(where, budget, limits, keep, report)
    if near[0].off > within * budget:
        raise InputError(_misses(where, kind, budget, limits, near[0], within))
    proposed = tuple(_candidate(where, kind, budget, entry) for entry in near if entry.off <= within * budget)
    described = lim.described(limits, start) | {"seq_len": seq_len or DEFAULT_SEQ_LEN}
    return Found(kind, budget, described, count, proposed)


# ------------------------------------------------------------------ searching
def nearest(
    where: Space, budget: int, limits: Limits, keep: int, report: Callable[[int, int], None]
) -> tuple[list[_Near], int]:
    """The `keep` points nearest to the budget (of equals, the shallower first), and how many were searched."""
    dropped: Counter[str] = Counter()
    searched, best = 0, _Best(budget, keep)
    listed = list(lim.parts(where.start, limits, dropped))
    for i, part in enumerate(listed):
        why = lim.undivided(where.start, part.point, limits.tensor_parallel)
        if why:
            dropped[why] += 1
            continue
        for found in cell(where, part.point, part.plain):
            if isinstance(found, Cell):
                searched += points(found.plain)
                best.look(part, found)
            else:
                dropped[found.why.rpartition(": ")[2]] += 1
        report(i + 1, len(listed))
    if not searched:
        reasons = ", and ".join(why for why, count in dropped.most_common(2) if count) or "it has no points"
        raise InputError(f"no config in the space: {reasons}")
    return best.sorted(), searched


class _Best:
    """The nearest points so far."""

    def __init__(self, budget: int, keep: int) -> None:
        self.budget, self.keep = budget, keep
        self.near: list[_Near] = []

    def look(self, part: Part, found: Cell) -> None:
        """Take what a cell has that is nearer than the worst of those kept, or as near."""
        number = next(iter(found.numbers.values()))
        low, high = (value_at(number, [end(axis.values) for axis in found.plain]) for end in (min, max))
        if max(low - self.budget, self.budget - high, 0) > self._worst():
            return
        step = nested({powers: float(c) for powers, c in number.items()}, on_grid=True)
        sizes = [np.array(axis.values, dtype=np.float64) for axis in found.plain]
        for slab in slabs([len(size) for size in sizes]):
            used = spread([size[piece] for size, piece in zip(sizes, slab, strict=True)])
            off = np.abs(evaluate(step, used) - float(self.budget))
            off = np.broadcast_to(off, np.broadcast_shapes(*(size.shape for size in used)))
            self._take(part, found, number, off, slab)

    def _worst(self) -> float:
        return float("inf") if len(self.near) < self.keep + SPARE else float(self.near[-1].off) * (1 + 1e-9) + 1

    def _take(self, part: Part, found: Cell, number: Polynomial, off: Any, slab: tuple[slice, ...]) -> None:
        chosen = np.flatnonzero(off <= self._worst())
        if not len(chosen):
            return
        if len(chosen) > 4 * (self.keep + SPARE):
            chosen = np.argpartition(off.reshape(-1), self.keep + SPARE)[: self.keep + SPARE]
        indices = [part.tolist() for part in np.unravel_index(chosen, off.shape)] if off.ndim else []
        for places in zip(*indices, strict=True) if indices else [()]:
            picked = [axis.values[piece.start + i] for axis, piece, i in zip(found.plain, slab, places, strict=True)]
            point = {**found.point, **{axis.name: value for axis, value in zip(found.plain, picked, strict=True)}}
            self.near.append(_Near(abs(value_at(number, picked) - self.budget), point, part))
        self.near = self.sorted(SPARE)

    def sorted(self, spare: int = 0) -> list[_Near]:
        """The nearest first."""
        order = sorted(self.near, key=lambda near: (near.off, near.point["n_layers"], *near.point.values()))
        return order[: self.keep + spare]


# ------------------------------------------------------------------ saying
def config_of(start: edit.Base, point: Point) -> dict[str, Any]:
    """The config at a point, without what was said of the one it was made from."""
    about = ("name", "aliases", "source", "published", "notes")
    stated = {key: value for key, value in edit.edited(start, point).values.items() if key not in about}
    first = [key for key in ("family", "model_type", *WORDS) if key in stated]
    return {key: stated[key] for key in (*first, *stated)}


def _candidate(where: Space, kind: str, budget: int, near: _Near) -> Candidate:
    config = config_of(where.start, near.point)
    model = load(config)
    counted = values(params_report.counts(model))
    per_token = None if model.spec.flops else flops_report.counts(model, where.work)["per_token"]["total"].value
    value = {"params": counted["total"], "active": counted["active"], "flops": per_token}[kind] or 0
    if abs(value - budget) != near.off:
        raise FfncalcError(f"the search and the count differ for {config}; please report it")
    return Candidate(config, dims(model), counted, per_token, (value - budget) / budget)


def _misses(where: Space, kind: str, budget: int, limits: Limits, near: _Near, within: float) -> str:
    """What is nearest, and which limits keep it from being nearer."""
    config = load(config_of(where.start, near.point))
    counted = values(params_report.counts(config))
    value = {"params": counted["total"], "active": counted["active"]}.get(kind) if kind != "flops" else None
    if value is None:
        value = flops_report.counts(config, where.work)["per_token"]["total"].value
    above = budget > value
    stops = "; ".join(_binding(limits, near, above)) or "the steps between its values are too wide"
    shown = ", ".join(f"{name} {number:,}" for name, number in near.point.items())
    what = {"params": "parameters", "active": "active parameters", "flops": "FLOPs per token"}[kind]
    return (
        f"no config in the space is within {within:.0%} of {budget:,} {what}; the nearest has {value:,} ({shown}); "
        f"what binds: {stops}"
    )


def _binding(limits: Limits, near: _Near, above: bool) -> list[str]:
    """The limits that the nearest config stands at, on the side of the budget."""
    end, sign = (max, "at most") if above else (min, "at least")
    stops = []
    for name in ("d_model", "n_layers", "d_ff", "n_heads", "n_kv_heads", "n_vocab"):
        allowed = getattr(limits, name)
        if allowed and near.point.get(name) == end(allowed):
            stops.append(f"{name} {sign} {end(allowed):,}" if len(allowed) > 1 else f"{name} {allowed[0]:,}")
    layers = next(axis.values for axis in near.part.plain if axis.name == "n_layers")
    if limits.aspect and near.point["n_layers"] == end(layers) != end(limits.n_layers):
        stops.append(f"d_model / n_layers in {lim.shown_aspect(limits)}")
    return stops
