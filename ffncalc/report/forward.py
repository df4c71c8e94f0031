"""`ffncalc forward`: a model's own structure run at a small width, beside what the calculator predicts for it.

The prediction is read off the operations of the scaled layer, the same that `params` and `flops` count, and what is
executed is plain NumPy that knows nothing of them. They have to be equal; if they aren't, the fault is ffncalc's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ffncalc.blocks.ffn import ffn as ffn_ops
from ffncalc.errors import InputError
from ffncalc.expr import Expr, size, total
from ffncalc.hidden import hidden_width
from ffncalc.model import Model, layer_ops
from ffncalc.numeric import described, executed, files
from ffncalc.numeric.checks import SUPPORTED
from ffncalc.numeric.executed import Run
from ffncalc.numeric.feedforward import VARIANTS
from ffncalc.numeric.moe import Ffn
from ffncalc.numeric.network import Network, is_buffer, shapes
from ffncalc.numeric.scaled import scaled
from ffncalc.ops import Op, macs_per_row, parameters
from ffncalc.spec import Attention, Layer, LayerKind, Spec
from ffncalc.spec import Ffn as FfnSpec

if TYPE_CHECKING:
    from ffncalc.numeric.checks import Array
    from ffncalc.report.explain import Explained

DEFAULT_D_MODEL = 64
DEFAULT_TOKENS = 8
DTYPES = tuple(str(dtype) for dtype in SUPPORTED)
MAX_NUMBERS = 2**27  # in one array: 1 GiB in float64
MAX_MACS = 10**12  # about a minute of one core


class Settings(NamedTuple):
    """What a run is made of beside its model; None is the default, or what follows from the other settings."""

    d_model: int | None = None
    d_ff: int | None = None
    rule: str | None = None
    multiple_of: int | None = None
    tokens: int | None = None
    seed: int = 0
    dtype: str = "float64"
    layers: int = 1
    backward: bool = False
    weights: str | None = None
    input: str | None = None
    save: str | None = None


class Plan(NamedTuple):
    """What is run: its name and what that is of, its layers' operations and what each is in words, and the network."""

    name: str
    of: str
    layers: tuple[tuple[Op, ...], ...]
    words: tuple[str, ...]
    network: Network
    warnings: tuple[str, ...] = ()


class Forward(NamedTuple):
    """All that `ffncalc forward` says."""

    plan: Plan
    settings: Settings
    shape: tuple[int, ...]
    macs: Expr
    params: Expr
    arrays: int
    run: Run


def forward(model: Model | str, settings: Settings) -> Forward:
    """Run a model (a `Model`, or the name of an FFN variant) and hold it against its prediction. Raises InputError."""
    if settings.dtype not in DTYPES:
        raise InputError(f"dtype is {settings.dtype!r}; one of {', '.join(DTYPES)} is wanted")
    source = settings.weights if settings.input is None and _holds_input(settings) else settings.input
    x = None if source is None else files.read_rows(source, settings.d_model)
    if settings.input and settings.tokens and x is not None and settings.tokens != x.shape[-2]:
        raise InputError(f"--tokens {settings.tokens}, but {settings.input} has {x.shape[-2]}; leave --tokens out")
    d_model = settings.d_model or (x.shape[-1] if x is not None else DEFAULT_D_MODEL)
    plan = plan_variant(model, d_model, settings) if isinstance(model, str) else plan_model(model, d_model, settings)
    shape = (settings.tokens or DEFAULT_TOKENS, d_model) if x is None else x.shape
    return _run(plan, settings, shape, x)


def _holds_input(settings: Settings) -> bool:
    return settings.weights is not None and settings.tokens is None and files.holds_input(settings.weights)


def _run(plan: Plan, settings: Settings, shape: tuple[int, ...], x: Array | None) -> Forward:
    macs, params = predicted_macs(plan, shape), total(parameters(ops) for ops in plan.layers)
    _check_size(plan, shape, macs.value * (3 if settings.backward else 1))
    wanted = shapes(plan.network)
    weights = (
        files.read_weights(settings.weights, wanted)
        if settings.weights is not None
        else executed.draw_weights(plan.network, settings.seed)
    )
    rows = executed.draw_rows(shape, settings.seed, 1) if x is None else x
    run = executed.run(
        rows,
        plan.network,
        weights,
        settings.dtype,
        settings.seed,
        backward=settings.backward,
        keep=settings.save is not None,
    )
    arrays = sum(array.size for name, array in weights.items() if not is_buffer(name))
    _expect_equal("multiply-accumulates", run.macs, macs.value)
    _expect_equal("parameters", arrays, params.value)
    if run.backward_macs is not None:
        _expect_equal("multiply-accumulates of the backward pass", run.backward_macs, 2 * macs.value)
    if settings.save is not None:
        files.save(settings.save, {"x": rows, **weights, "y": run.y, **run.kept})
    return Forward(plan, settings, shape, macs, params, arrays, run)


def _expect_equal(what: str, found: int, predicted: int) -> None:
    if found != predicted:
        raise ArithmeticError(f"{found} {what} were executed, {predicted} predicted")


def predicted_macs(plan: Plan, shape: tuple[int, ...]) -> Expr:
    """Multiply-accumulates of the operations on rows of this shape: a token's T times, a pair's for all T × T pairs."""
    tokens = size("T", shape[-2], "--tokens")
    batch = size("batch", shape[0], "--input") if len(shape) == 3 and shape[0] > 1 else 1
    rows = {"token": batch * tokens, "pair": batch * tokens * tokens}
    return total(macs_per_row(op) * rows[op.rows.kind] for ops in plan.layers for op in ops if op.axes)


def _check_size(plan: Plan, shape: tuple[int, ...], macs: int) -> None:
    """InputError where the run would not be a small one, before anything is drawn."""
    heads = [part.attention.n_heads for part in plan.network.parts if not isinstance(part, Ffn) and part.attention]
    rows = shape[0] * shape[1] if len(shape) == 3 else shape[0]
    widest = max((w.value for ops in plan.layers for op in ops for w in op.axes), default=1)
    largest = max(
        *(parameters([op]).value for ops in plan.layers for op in ops),
        max(heads, default=0) * rows * shape[-2],
        rows * widest,
    )
    if largest > MAX_NUMBERS or macs > MAX_MACS:
        what = f"{macs:,} multiply-accumulates" if macs > MAX_MACS else f"an array of {largest:,} numbers"
        raise InputError(
            f"{plan.name}: {what} is no small run; choose a smaller --d-model, --d-ff, --tokens or --layers"
        )


# ---- one FFN alone


def plan_variant(name: str, d_model: int, settings: Settings) -> Plan:
    """An FFN variant alone, without biases; its width is the matched experiment's unless the settings say another."""
    if name not in VARIANTS:
        raise InputError(f"variant {name!r} is not known; one of {', '.join(VARIANTS)} is wanted")
    if settings.layers != 1:
        raise InputError(f"--layers goes with a MODEL; {name} is one FFN")
    variant = VARIANTS[name]
    d_ff = own_width(d_model, settings) or rule_width(d_model, "matched" if variant.gated else "4d", None)
    spec = FfnSpec("gated" if variant.gated else "plain", variant.activation, d_ff)
    part = Ffn(d_ff.value, variant.activation, variant.gated)
    ops = tuple(ffn_ops(spec, size("d_model", d_model, "--d-model"), Attention()))
    return Plan(name, "FFN variant", (ops,), (ffn_words(spec),), Network(d_model, (part,)))


def own_width(d_model: int, settings: Settings) -> Expr | None:
    """The hidden width that the settings ask for; None where they leave it to the model."""
    if settings.d_ff is None:
        rule, multiple = settings.rule, settings.multiple_of
        return rule_width(d_model, rule or "llama", multiple) if rule or multiple else None
    if settings.rule or settings.multiple_of:
        raise InputError("--d-ff states the width and --rule or --multiple-of works it out; leave one of them")
    return size("d_ff", settings.d_ff, "--d-ff")


def rule_width(d_model: int, rule: str, multiple_of: int | None) -> Expr:
    """The width that a rule gives, saying so."""
    width = hidden_width(d_model, rule, multiple_of)
    return size("d_ff", width.d_ff, width.origin)


# ---- blocks of a model


def plan_model(model: Model, d_model: int, settings: Settings) -> Plan:
    """The first layers of a model, scaled down. InputError names what can't be run."""
    spec, stack = model.spec, model.spec.stacks[-1]
    if settings.layers > stack.n_layers:
        raise InputError(f"--layers {settings.layers} is more than the {stack.n_layers} layers of {spec.name}")
    _refuse(spec, described.missing_in_model(spec))
    d, d_ff = size("d_model", d_model, "--d-model"), own_width(d_model, settings)
    kinds = list(first_layers(stack.kinds, settings.layers))
    if settings.layers > 1 and any(kind.runs.value > 1 for kind in kinds):
        _refuse(spec, ["layer that is stored once and runs several times (one block runs: leave out --layers)"])
    for kind in dict.fromkeys(kinds):
        _refuse(spec, described.missing_in_layer(kind.layer))
    small = {kind: scaled(kind.layer, stack.d_model, d, d_ff) for kind in dict.fromkeys(kinds)}
    layers = [small[kind] for kind in kinds]
    return Plan(
        name=spec.name,
        of=spec.family,
        layers=tuple(tuple(layer_ops(layer, d)) for layer in layers),
        words=tuple(layer_words(layer) for layer in layers),
        network=Network(d_model, tuple(described.block(layer, d_model, stack) for layer in layers)),
        warnings=spec.warnings,
    )


def first_layers(kinds: tuple[LayerKind, ...], count: int) -> Iterator[LayerKind]:
    """The kind of each of the first layers, in the model's order."""
    for i in range(count):
        yield next(kind for kind in kinds if any(first <= i <= last for first, last in kind.ranges))


def _refuse(spec: Spec, missing: Iterator[str] | list[str]) -> None:
    found = list(missing)
    if found:
        raise InputError(f"{spec.name} can't be run on arrays: the numeric mode has no {', and no '.join(found)}")


def layer_words(layer: Layer) -> str:
    """`attention of 8 heads, 2 for keys and values, d_head 8; FFN gated, silu, d_ff 224; rms norms (pre)`."""
    norms = f"{layer.norm.kind if layer.norm.kind != 'none' else 'weightless'} norms ({layer.norm.place})"
    sublayers = [attention_words(layer.attention)] * (layer.attention.kind != "none")
    sublayers += [f"FFN {ffn_words(layer.ffn)}"] * (layer.ffn.kind != "none")
    return "; ".join([*sublayers, norms + (", side by side" if layer.parallel else "")])


def attention_words(a: Attention) -> str:
    """How many heads of which width."""
    shared = f", {a.n_kv_heads.value} for keys and values" if a.n_kv_heads.value != a.n_heads.value else ""
    window = f", window {a.window.value:,}" if a.window else ""
    return f"attention of {a.n_heads.value} heads{shared}, d_head {a.d_head.value}{window}"


def ffn_words(f: FfnSpec) -> str:
    """What kind of FFN, its activation and its width."""
    name = described.ACTIVATION_NAMES.get(f.activation, f.activation)
    if f.kind != "moe":
        return f"{f.kind}, {name}, d_ff {f.d_ff.value:,}"
    shared = f" and shared ones of d_ff {f.d_shared.value:,}" if f.d_shared else ""
    return f"of {f.n_experts.value} {f.expert} experts, top {f.top_k.value}, {name}, d_ff {f.d_ff.value:,}{shared}"


# ---- sizes and formulas


def dims(report: Forward) -> dict[str, int | list[int]]:
    """The sizes that were run, by name; of one that differs between layers, its distinct values."""
    found: dict[str, list[int]] = {}
    for leaf in (report.macs + report.params).leaves():
        if leaf.name not in ("T", "batch"):
            found.setdefault(leaf.name, []).append(leaf.value)
    return {name: sizes[0] if len(sizes) == 1 else sizes for name, sizes in found.items()}


def explain_forward(report: Forward) -> Iterator[Explained]:
    """The two predicted numbers with their formulas."""
    from ffncalc.report.explain import explained

    yield explained("macs.predicted", report.macs)
    yield explained("params.predicted", report.params)
