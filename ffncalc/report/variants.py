"""The matched FFN variants side by side, and which models have which FFN: everything read off the bundled configs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ffncalc import bundled
from ffncalc.blocks.ffn import ffn as ffn_ops
from ffncalc.errors import InputError
from ffncalc.expr import Expr, size, total
from ffncalc.hidden import hidden_width
from ffncalc.loading import load
from ffncalc.model import Model
from ffncalc.numeric.described import ACTIVATION_NAMES, own_name
from ffncalc.numeric.experiments.variants import Output, run
from ffncalc.numeric.feedforward import VARIANTS
from ffncalc.ops import Op, active, macs_per_row, parameters
from ffncalc.plain import in_terms_of
from ffncalc.spec import Attention, Ffn, Layer

if TYPE_CHECKING:
    from ffncalc.report.explain import Explained

EXPERIMENT = "shazeer-"  # the bundled configs of the matched experiment
MAX_TOKENS = 4096
NO_ATTENTION = Attention()


class Matched(NamedTuple):
    """One variant of the matched experiment (arXiv:2002.05202): its sizes, the paper's figure, and a run."""

    variant: str
    activation: str
    matrices: int
    d_ff: int
    params: int
    flops: int
    log_perplexity: float | None
    run: Output


class Use(NamedTuple):
    """A kind of FFN and the bundled models that have it.

    `matched`: parameters in d at matched size (4d plain, 8/3·d gated). `ratios` are the lowest and highest d_ff / d of
    the models (of one expert); `total` and `active` the lowest and highest parameters of one FFN in d².
    """

    kind: str
    activation: str
    matrices: int
    matched: str
    ratios: tuple[float, float]
    total: tuple[float, float]
    active: tuple[float, float]
    series: tuple[str, ...]
    models: tuple[str, ...]


class Report(NamedTuple):
    """All that `ffncalc lab variants` says."""

    d_model: int
    tokens: int
    seed: int
    matched: tuple[Matched, ...]
    used: tuple[Use, ...]


def variants(tokens: int = 8, seed: int = 0) -> Report:
    """The eight matched variants, counted and run, and the other bundled models' kinds of FFN. Raises InputError."""
    if tokens > MAX_TOKENS:
        raise InputError(f"--tokens is {tokens:,}; at most {MAX_TOKENS:,} are run")
    models = {name: load(f"{EXPERIMENT}{name}") for name in VARIANTS if bundled.path_of(f"{EXPERIMENT}{name}")}
    d_model = next(iter(models.values())).spec.d_model.value
    ffns = {name: _first_ffn(model) for name, model in models.items()}
    outputs = run({name: ffn.d_ff.value for name, ffn in ffns.items()}, d_model, tokens, seed)
    matched = tuple(_matched(name, ffns[name], models[name].spec.d_model, outputs[name]) for name in models)
    for one in matched:
        if 2 * one.run.macs != tokens * one.flops:
            raise ArithmeticError(f"{one.variant}: {2 * one.run.macs} FLOPs executed, {tokens * one.flops} predicted")
    return Report(d_model, tokens, seed, matched, tuple(used()))


def _first_ffn(model: Model) -> Ffn:
    return model.spec.stacks[0].kinds[0].layer.ffn


def operations(ffn: Ffn, d_model: Expr, attention: Attention = NO_ATTENTION) -> list[Op]:
    """The operations of one FFN on a stream of this width; persistent vectors have the heads of the attention."""
    return list(ffn_ops(ffn, d_model, attention))


def _matched(name: str, ffn: Ffn, d_model: Expr, output: Output) -> Matched:
    ops = operations(ffn, d_model)
    published = bundled.read(bundled.file_of(f"{EXPERIMENT}{name}")).get("published") or {}
    return Matched(
        variant=name,
        activation=ACTIVATION_NAMES[ffn.activation],
        matrices=len(ops),
        d_ff=ffn.d_ff.value,
        params=parameters(ops).value,
        flops=total(2 * macs_per_row(op) for op in ops).value,
        log_perplexity=published.get("log_perplexity"),
        run=output,
    )


def explain_variants(report: Report) -> Iterator[Explained]:
    """The parameters and FLOPs of each variant with their formulas."""
    from ffncalc.report.explain import explained

    for one in report.matched:
        model = load(f"{EXPERIMENT}{one.variant}")
        ops = operations(_first_ffn(model), model.spec.d_model)
        yield explained(f"{one.variant}.params", parameters(ops))
        yield explained(f"{one.variant}.flops", total(2 * macs_per_row(op) for op in ops))


# ---- who uses what


class _Found(NamedTuple):
    """One kind of layer of one bundled model."""

    name: str
    layer: Layer
    d_model: Expr

    @property
    def ratio(self) -> float:
        """d_ff / d_model."""
        return self.layer.ffn.d_ff.value / self.d_model.value

    def in_squares(self, count: Callable[[list[Op]], Expr]) -> float:
        """A count of its FFN's parameters as a multiple of d²."""
        return count(operations(self.layer.ffn, self.d_model, self.layer.attention)).value / self.d_model.value**2


def used() -> Iterator[Use]:
    """The kinds of FFN of the bundled models but for the experiment's: plain ones first, mixtures of experts last."""
    groups: dict[tuple[str, str], list[_Found]] = {}
    for name in bundled.names():
        if not name.startswith(EXPERIMENT):
            for stack in load(name).spec.stacks:
                for kind in stack.kinds:
                    groups.setdefault(_kind(kind.layer.ffn), []).append(_Found(name, kind.layer, stack.d_model))
    order = {"plain": 0, "gated": 1, "moe": 2}
    for (name, activation), found in sorted(groups.items(), key=lambda item: (order.get(item[0][0], 3), item[0])):
        yield _use(name, activation, found)


def _kind(ffn: Ffn) -> tuple[str, str]:
    kind = ffn.kind if isinstance(ffn.kind, str) else own_name(ffn.kind)
    return kind, ACTIVATION_NAMES.get(ffn.activation, ffn.activation)


def _use(kind: str, activation: str, found: list[_Found]) -> Use:
    gated = kind == "gated" or (kind == "moe" and found[0].layer.ffn.expert == "gated")
    names = tuple(dict.fromkeys(one.name for one in found))
    return Use(
        kind=kind,
        activation=activation,
        matrices=3 if gated else 2,
        matched=matched_size(kind),
        ratios=_ends(one.ratio for one in found),
        total=_ends(one.in_squares(parameters) for one in found),
        active=_ends(one.in_squares(active) for one in found),
        series=tuple(dict.fromkeys(map(series, names))),
        models=names,
    )


def _ends(numbers: Iterator[float]) -> tuple[float, float]:
    found = [round(number, 4) for number in numbers]
    return min(found), max(found)


def matched_size(kind: str) -> str:
    """Parameters in d of a plain FFN of width 4d, or of a gated one of 8/3·d: `8d²`; nothing for other kinds."""
    if kind not in ("plain", "gated"):
        return ""
    d = size("d_model", 3)  # any multiple of 3
    width = hidden_width(d.value, "matched" if kind == "gated" else "4d").d_ff
    return in_terms_of(parameters(operations(Ffn(kind, d_ff=size("d_ff", width)), d)), d)


def series(name: str) -> str:
    """A bundled name without its size: `llama-3-8b` is of `llama-3`, `t5-v1_1-base` of `t5-v1_1`."""
    return re.sub(r"-(\d+(\.\d+)?[bm]|\d+x\d+b|small|base|medium|large|big|xl|xxl|mini|lite)(-.*)?$", "", name)
