"""`ffncalc flops` as a document."""

from __future__ import annotations

from fractions import Fraction

from ffncalc.expr import Expr
from ffncalc.number import ratio
from ffncalc.plain import plain_form, plain_text
from ffncalc.render.document import Bar, Cell, Document, Line, Share, Table, scaled, shown, signed
from ffncalc.render.params import layers_label
from ffncalc.report.flops import KINDS, Flops, Kinds
from ffncalc.workload import PASSES

LABELS = {
    "ffn": "FFN",
    "attention_projections": "attention projections",
    "attention_scores": "attention scores",
    "head": "head",
    "other": "other",
}
N_TEXT = "active parameters without position tables, and without the token table where it isn't the head"
# The plain form of one layer and token, in FLOPs: a multiple of d², or of d times the length for the scores.
TEXTBOOK = {"ffn": (16, "16d²"), "attention_projections": (8, "8d²"), "attention_scores": (4, "4Td")}


def document(report: Flops) -> Document:
    """The answer, FFN against attention, the layers against the plain form, the crossover, the rules of thumb."""
    blocks: Document = [Line(headline(report), headline=True), Line(workload(report)), kinds_table(report)]
    blocks += [layer_table(report), Line(crossover(report))]
    if report.rules:
        blocks += [rules_table(report), Line(f"N = {report.n_rule.value:,}: {N_TEXT}.")]
    if report.training_run is not None:
        run = f"{report.training_run:,} FLOPs ({scaled(report.training_run)})"
        blocks.insert(2, Line(f"Training on {report.work.tokens:,} tokens: {run}."))
    return blocks


def headline(report: Flops) -> str:
    """`llama-7b: 29,261,612,187,648 FLOPs a sequence (29.3 T), 14,287,896,576 a token (14.3 B)`."""
    per_token, whole = report.per_token["total"].value, report.total["total"].value
    batch = f"batch of {report.work.batch:,} sequences" if report.work.batch > 1 else "sequence"
    each = f"{per_token:,} a token ({scaled(per_token)})"
    return f"{report.model.spec.name}: {whole:,} FLOPs a {batch} ({scaled(whole)}), {each}"


def workload(report: Flops) -> str:
    """What was counted, in a sentence."""
    work = report.work
    length = f"T = {work.seq_len:,} tokens" + (
        f", S = {work.source_len:,} source rows" if work.source_len is not None else ""
    )
    pairs = "causal pairs only" if work.causal else "every pair of tokens (full; --causal counts the masked half out)"
    passes = {
        "forward": "forward pass",
        "train": "forward and backward (3 × forward)",
        "recompute": "forward twice and backward (4 × forward)",
    }
    return f"At {length}, {pairs}; {passes[work.passes]}; 1 multiply-accumulate = 2 FLOPs, matmuls only."


def _groups(report: Flops) -> list[tuple[str, Kinds]]:
    groups = [("per token", report.per_token)]
    if report.per_source_token["total"]:
        groups.append(("per source row", report.per_source_token))
    if report.per_sequence["total"]:
        groups.append(("once a sequence", report.per_sequence))
    return [*groups, ("in total", report.total)]


def kinds_table(report: Flops) -> Table:
    """What the FLOPs go to, per token and in total."""
    groups = _groups(report)
    whole = report.total["total"].value
    kinds = [kind for kind in KINDS if kind != "other" or any(group[kind] for _, group in groups)]
    rows: list[tuple[Cell, ...]] = []
    for kind in kinds:
        share = report.total[kind].value / whole if whole else 0.0
        rows.append((LABELS[kind], *(group[kind].value for _, group in groups), Share(share), Bar(share)))
    rows.append(("total", *(group["total"].value for _, group in groups), Share(1.0 if whole else 0.0), None))
    return Table(("FLOPs", *(name for name, _ in groups), "share", ""), tuple(rows), total_from=len(kinds))


def layer_table(report: Flops) -> Table:
    """One layer and one of its tokens: each number, its form in d, and where the model stands to the plain form."""
    factor = PASSES[report.work.passes]
    width = report.model.spec.d_model
    rows: list[tuple[Cell, ...]] = []
    for layer in report.layers:
        length = "S" if layer.kind.is_source else "T"
        tokens = (report.work.source_len if layer.kind.is_source else report.work.seq_len) or 0
        for kind in ("ffn", "attention_projections", "attention_scores"):
            number = layer.kinds[kind]
            if number:
                form = plain_text(plain_form(number, width))
                label = f"{layers_label(layer.kind)} (× {layer.kind.n_stored.value:,})"
                short = LABELS[kind].removeprefix("attention ")
                multiple, text = TEXTBOOK[kind]
                size = width.value * (tokens if kind == "attention_scores" else width.value)
                stands = standing(number, multiple * size, text.replace("T", length), factor, width)
                rows.append((label, short, number.value, form, stands))
    return Table(("one layer, one token", "of", "FLOPs", "in d", "plain form"), tuple(rows))


def standing(number: Expr, plain: int, text: str, factor: int, width: Expr) -> str:
    """Whether a layer is at, above or below its plain form (times the passes made), and by which share of that."""
    if any("min" in name for (_, kept) in plain_form(number, width) for name in kept):
        return "windowed"
    off = Fraction(number.value, plain * factor) - 1
    text = text if factor == 1 else f"{factor} × {text}"
    if not off:
        return f"at {text}"
    return f"{'above' if off > 0 else 'below'} {text} ({signed(ratio(off, 1))})"


def crossover(report: Flops) -> str:
    """From which context length on attention costs more than the FFN."""
    if report.crossover_seq_len is not None:
        return f"Attention overtakes the FFN at T = {shown(report.crossover_seq_len)} tokens."
    if len(report.model.spec.stacks) > 1:
        return "No single T at which attention overtakes the FFN: two stacks of unlike lengths."
    return "Attention and FFN cost the same at no context length."


def rules_table(report: Flops) -> Table:
    """The rules of thumb beside the exact numbers."""
    rows: list[tuple[Cell, ...]] = []
    for rule in report.rules:
        rows.append((rule.rule, rule.of, rule.value, rule.exact, signed(rule.off)))
    return Table(("rule of thumb", "for", "says", "exact", "off by"), tuple(rows))
