"""`ffncalc lab ...` as documents: tables, and pictures in plain text."""

from __future__ import annotations

from ffncalc.numeric.experiments import activations as acts
from ffncalc.numeric.experiments import collapse as deep
from ffncalc.numeric.experiments import facts as stored
from ffncalc.numeric.experiments import gelu as masked
from ffncalc.render.document import Document, Line, Share, Table, percent
from ffncalc.render.drawing import picture, plot
from ffncalc.report import variants as matched

MARKS = "*o+x"
DRAWN = ("relu", "gelu", "silu", "relu_squared")
FEATURES = ("activation", " minimum", "      at", "min slope", "      at", "max slope", "      at")


# ---- activations


def activations(report: acts.Report) -> Document:
    """Values, features, errors of the approximations; a picture of the values (of one: of its slope too)."""
    one = len(report.shapes) == 1
    return [
        Line(activations_headline(report), headline=True),
        value_table(report),
        Table(FEATURES, tuple(map(_features, report.shapes))),
        Table(("approximation of GELU", "largest error", "at"), tuple(_error(e) for e in report.approximations)),
        *(_one_curve(report.curves[0]) if one else _many_curves(report)),
    ]


def activations_headline(report: acts.Report) -> str:
    """The errors of the approximations in a sentence, which is what the measuring is for."""
    errors = ", ".join(f"{e.name} {e.error.value:.3g} at ±{e.error.at:.3f}" for e in report.approximations)
    return f"Largest errors of GELU's approximations: {errors}"


def value_table(report: acts.Report) -> Table:
    """One row an activation, one column an input."""
    rows = tuple((shape.name, *(short(value) for value in shape.values)) for shape in report.shapes)
    return Table(("z", *(f"{z:>6}" for z in report.inputs)), rows)


def short(value: float) -> str:
    """Six characters: three decimals, or a power of ten."""
    return (f"{value:.3f}" if value == 0 or abs(value) >= 1e-3 else f"{value:.0e}").rjust(6)


def _features(shape: acts.Shape) -> tuple[str, ...]:
    places = (shape.minimum, shape.lowest_slope, shape.highest_slope)
    return shape.name, *(text for place in places for text in _place(place))


def _place(place: acts.Place | None) -> tuple[str, str]:
    return ("       -", "") if place is None else (f"{place.value:8.5f}", f"{place.at:8.4f}")


def _error(found: acts.Approximation) -> tuple[str, str, str]:
    return found.name, f"{found.error.value:.4e}", f"±{found.error.at:.4f}"


def _many_curves(report: acts.Report) -> list[Line]:
    marks = dict(zip(MARKS, [curve for curve in report.curves if curve.name in DRAWN], strict=True))
    legend = ", ".join(f"{mark} {curve.name}" for mark, curve in marks.items())
    highest = max(z for z, _ in report.curves[0].values)
    low_enough = {mark: [point for point in curve.values if point[1] <= highest] for mark, curve in marks.items()}
    return picture([legend, *plot(low_enough, label="{:4.1f}".format)])


def _one_curve(curve: acts.Curves) -> list[Line]:
    return picture(
        [f"* {curve.name}, ' its slope", *plot({"*": curve.values, "'": curve.slopes}, label="{:5.2f}".format)]
    )


# ---- GELU as a mean


def gelu(report: masked.Report) -> Document:
    """The means closing in, drawn against their target, then the whole curve."""
    samples = report.estimates[-1].samples
    return [
        Line(f"GELU({report.z:g}) = {report.z:g}·Φ({report.z:g}) = {report.gelu:.6f}", headline=True),
        Line(
            f"The mask keeps {report.z:g} where a standard normal number is below it (probability {report.kept:.4f}) "
            "and makes it 0 elsewhere; the mean closes in on GELU, ten times closer with a hundred times the masks."
        ),
        Table(("masks", "mean", "± error", "off by, in errors", "2 errors to each side"), tuple(_interval(report))),
        Line(f"The whole curve at {samples:,} masks:"),
        Table(("z", "mean of m·z", "± error", "z·Φ(z)"), tuple(_curve_row(point) for point in report.curve)),
        *picture(
            [*plot({"o": [(point.z, point.mean) for point in report.curve], "*": report.exact}, height=12), GELU_LEGEND]
        ),
    ]


GELU_LEGEND = "o mean of m·z, * z·Φ(z)"


def _interval(report: masked.Report) -> list[tuple[int | str, ...]]:
    widest = max((2 * e.error + abs(e.mean - report.gelu) for e in report.estimates), default=0.0) or 1.0
    return [
        (
            e.samples,
            f"{e.mean:9.6f}",
            f"{e.error:.6f}",
            f"{e.off:+.2f}",
            interval(e.mean - report.gelu, 2 * e.error, widest),
        )
        for e in report.estimates
    ]


def interval(middle: float, reach: float, widest: float, half: int = 14) -> str:
    """`----o--|--`: an interval around `middle`, the target at the bar in the centre, the widest filling the line."""
    cells = [" "] * (2 * half + 1)
    low, at, high = (round((middle + side * reach) / widest * half) + half for side in (-1, 0, 1))
    cells[max(low, 0) : high + 1] = "-" * (min(high, 2 * half) - max(low, 0) + 1)
    cells[half] = "|"
    cells[at] = "o"
    return "".join(cells)


def _curve_row(point: masked.Point) -> tuple[str, ...]:
    return f"{point.z:4.1f}", f"{point.mean:9.6f}", f"{point.error:.6f}", f"{point.gelu:9.6f}"


# ---- three facts


def facts(report: stored.Report) -> Document:
    """The memories, the answers, and with an edit the answers after it."""
    keys, n_facts = tuple(f"fires {memory.key}" for memory in report.memories), len(report.memories)
    before = Table(("query", *keys, "writes"), tuple(map(_answer, report.answers)))
    document: Document = [
        Line(f"{n_facts} facts in an FFN of {n_facts} hidden units, d_model {report.d_model}", headline=True),
        Line(
            "A memory's key is compared with the query; where it matches above the threshold, its value is written. "
            "The output matrix says which words that points at."
        ),
        Table(VALUES, tuple(map(_memory, report.memories))),
        before,
    ]
    if report.edit is None:
        return document
    edit = report.edit
    return [
        *document,
        Line(f"{edit.capital} rewritten: its key now writes {edit.country}", headline=True),
        Line(
            f"W2 changed by a matrix of rank {edit.rank}; what the other facts write changed by at most "
            f"{edit.others_change:g}."
        ),
        before._replace(rows=tuple(map(_answer, edit.answers))),
    ]


VALUES = ("key", "threshold", "value's top words (probability)")


def _memory(memory: stored.Memory) -> tuple[str, str, str]:
    return memory.key, f"{memory.threshold:9g}", _words(memory.words)


def _words(words: tuple[stored.Word, ...]) -> str:
    return ", ".join(f"{word.word} {word.logit:g} ({percent(word.probability)})" for word in words)


def _answer(answer: stored.Answer) -> tuple[str, ...]:
    written = ", ".join(f"{word.word} {word.logit:.3g}" for word in answer.words) or "nothing"
    return answer.query, *(f"{c:.3g}".rjust(11) for c in answer.coefficients), written


# ---- collapse


def collapse(report: deep.Report) -> Document:
    """The picture, and the distances after some of the layers."""
    s = report.setting
    marks = dict(zip(MARKS, report.curves, strict=False))
    curves = {mark: [(i, deep.decimal(d)) for i, d in enumerate(curve.distances)] for mark, curve in marks.items()}
    stacks = f"{s.tokens} tokens, d_model {s.d_model}, {deep.N_HEADS} heads, random weights (seed {s.seed}), no norms"
    return [
        Line("Distance of the tokens from all being the same, layer by layer", headline=True),
        Line(f"{stacks}; the FFN's weights spread by {s.gain:g}/√d_in."),
        *picture(plot(curves, label=lambda y: f"1e{round(y):+03d}")),
        *(Line(f"{mark} {curve.name}: {_fate(curve)}") for mark, curve in marks.items()),
        distance_table(report),
    ]


def _fate(curve: deep.Curve) -> str:
    layer = deep.collapsed_at(curve)
    return (
        f"{curve.distances[-1]:.2g} at the end" if layer is None else f"rank one, up to rounding, after layer {layer}"
    )


def distance_table(report: deep.Report) -> Table:
    """One row a layer (of many, about twelve), one column a stack."""
    depth = report.setting.depth
    step = -(-depth // 12)
    layers = [*range(0, depth, step), depth]
    rows = tuple((layer, *(f"{c.distances[layer]:.1e}".rjust(len(c.name)) for c in report.curves)) for layer in layers)
    return Table(("layer", *(curve.name for curve in report.curves)), rows)


# ---- variants


def variants(report: matched.Report) -> Document:
    """The matched experiment, then which models have which FFN."""
    return [
        Line(matched_headline(report), headline=True),
        Table(MATCHED, tuple(map(_matched, report.matched))),
        Line(
            "Log-perplexity: the paper's (arXiv:2002.05202, table 1), T5-base sizes, lower is better. Spread of the "
            "output and share of hidden units exactly off: run here on the same input, "
            f"{report.tokens} tokens, random weights, seed {report.seed}."
        ),
        Line("Who has which FFN (the bundled models)", headline=True),
        Table(USED, tuple(map(_use, report.used))),
        *(Line(f"{_kind(use)}: {', '.join(use.series)}") for use in report.used),
        Line(
            "Matched: parameters at d_ff = 4d for two matrices, 8/3·d for three; the other columns as the models have "
            "them."
        ),
    ]


MATCHED = ("FFN", "matrices", "d_ff", "parameters", "FLOPs/token", "log-ppl", "spread", "off")
USED = ("FFN", "matrices", "matched", "d_ff / d", "params / d²", "active / d²")


def matched_headline(report: matched.Report) -> str:
    """Whether all variants cost the same."""
    costs = {(m.params, m.flops) for m in report.matched}
    if len(costs) > 1:
        return f"The variants don't all cost the same at d_model {report.d_model}"
    params, flops = costs.pop()
    return (
        f"All {len(report.matched)} variants: {params:,} parameters, {flops:,} FLOPs a token (d_model {report.d_model})"
    )


def _matched(m: matched.Matched) -> tuple[str | int | Share, ...]:
    perplexity = "-" if m.log_perplexity is None else f"{m.log_perplexity:.3f}"
    return m.variant, m.matrices, m.d_ff, m.params, m.flops, perplexity, f"{m.run.spread:.4f}", Share(m.run.off)


def _kind(use: matched.Use) -> str:
    return f"{'experts' if use.kind == 'moe' else use.kind}, {use.activation}"


def _use(use: matched.Use) -> tuple[str | int, ...]:
    return _kind(use), use.matrices, use.matched or "-", span(use.ratios), span(use.total), span(use.active)


def span(ends: tuple[float, float]) -> str:
    """`2.4 to 5.34`, or one number where both are the same to three digits."""
    low, high = (f"{end:.3g}" for end in ends)
    return low if low == high else f"{low} to {high}"
