"""`ffncalc forward` as a document: what ran, every step, the counts side by side, the gradients."""

from __future__ import annotations

from collections.abc import Iterator

from ffncalc.numeric.executed import NEARLY_OFF, Gradient, Step
from ffncalc.render.document import Document, Line, Share, Table, percent
from ffncalc.render.drawing import blocks, real
from ffncalc.report.forward import Forward


def document(report: Forward) -> Document:
    """The answer, what the network is, its steps block by block, its counts, its gradients."""
    return [
        Line(headline(report), headline=True),
        *(Line(text) for text in what_ran(report)),
        counts(report),
        Line(PAIRS if any(op.rows.kind == "pair" for ops in report.plan.layers for op in ops) else MACS),
        *steps(report),
        *gradients(report),
    ]


PAIRS = (
    "1 multiply-accumulate = 2 FLOPs. All T × T pairs of tokens are multiplied, and those a mask hides then left out."
)
MACS = "1 multiply-accumulate = 2 FLOPs."


def headline(report: Forward) -> str:
    """`llama-7b at d_model 64: 403,456 multiply-accumulates, as predicted`."""
    executed = f"{report.run.macs:,} multiply-accumulates, as predicted"
    return f"{report.plan.name} at d_model {report.plan.network.d_model:,}: {executed}"


def what_ran(report: Forward) -> Iterator[str]:
    """The layers in words, like ones together; the tokens; where the numbers came from."""
    words = report.plan.words
    if len(words) == 1:
        yield f"{report.plan.of}: {words[0]}."
    else:
        for text in dict.fromkeys(words):
            layers = [str(i) for i, other in enumerate(words) if other == text]
            yield f"{report.plan.of}, layer {', '.join(layers)}: {text}."
    settings = report.settings
    batch = f"{report.shape[0]} sequences of " if len(report.shape) == 3 else ""
    computed = ", computed in float32" if settings.dtype == "float16" else ""
    weights = f"weights from {settings.weights}" if settings.weights else f"random weights, seed {settings.seed}"
    yield f"{batch}{report.shape[-2]} tokens, {settings.dtype}{computed}; {weights}."


def counts(report: Forward) -> Table:
    """What was executed beside what was predicted."""
    rows = [("multiply-accumulates", report.run.macs, report.macs.value)]
    if report.run.backward_macs is not None:
        rows.append(("of the backward pass", report.run.backward_macs, 2 * report.macs.value))
    return Table(("", "executed", "predicted"), (*rows, ("parameters", report.arrays, report.params.value)))


# ---- steps


def steps(report: Forward) -> Iterator[Line | Table]:
    """A table of steps for each block, then the hidden units that are off."""
    groups: dict[str, list[Step]] = {}
    for step in report.run.steps:
        layer, name = split(step.name)
        groups.setdefault(layer, []).append(step._replace(name=name))
    for layer, found in groups.items():
        if layer:
            yield Line(f"Layer {layer}")
        yield step_table(found)
        if any(step.off is not None for step in found):
            yield off_table(found)
    yield Line(f"Nearly off: not 0, but within {percent(NEARLY_OFF)} of the step's spread.")


def split(name: str) -> tuple[str, str]:
    """The layer (empty where there is one block only) and the name within it."""
    if not name.startswith("layers."):
        return "", name
    _, layer, rest = name.split(".", 2)
    return layer, rest


def step_table(found: list[Step]) -> Table:
    """Name, shape, mean, spread and histogram of each step, from its lowest entry to its highest."""
    rows = tuple((s.name, shape(s.shape), real(s.mean), real(s.std), blocks(s.counts)) for s in found)
    return Table(("step", "shape", "mean", "spread", "low to high"), rows)


def off_table(found: list[Step]) -> Table:
    """How many hidden units are off."""
    rows = tuple((s.name, Share(s.off), Share(s.nearly_off or 0.0)) for s in found if s.off is not None)
    return Table(("hidden units", "exactly off", "nearly off"), rows)


def shape(sizes: tuple[int, ...]) -> str:
    """`8×64`."""
    return "×".join(f"{size:,}" for size in sizes)


# ---- gradients


def gradients(report: Forward) -> Iterator[Line | Table]:
    """Each gradient beside its finite differences."""
    found = report.run.gradients
    if not found:
        return
    yield Table(("gradient of", "shape", "length", "slope", "measured", "error", ""), tuple(map(gradient_row, found)))
    yield Line(
        "Slope: along one random direction, from the backward pass and measured by two runs in float64; the error is "
        "relative to the gradient's length."
    )
    if not all(gradient.agrees for gradient in found):
        yield Line("Where a unit or a choice of experts switches between the two runs, the slopes differ rightly.")


def gradient_row(g: Gradient) -> tuple[str, ...]:
    """One gradient as cells."""
    slopes = real(g.norm), real(g.slope), real(g.measured)
    verdict = "agrees" if g.agrees else "differs"
    return (
        g.name.removeprefix("layers."),
        shape(g.shape),
        *slopes,
        "-" if g.error is None else f"{g.error:.0e}",
        verdict,
    )
