"""Reports as plain data: what --json prints, each with the name and version of its schema, whole numbers exact."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ffncalc.report.dims import dims

if TYPE_CHECKING:  # a command imports the reports that it makes, and no other
    from ffncalc.expr import Expr
    from ffncalc.model import LayerOps, Model
    from ffncalc.report.advice import Advised
    from ffncalc.report.catalogue import Bundled, Family
    from ffncalc.report.checkpoint import Comparison as CheckpointComparison
    from ffncalc.report.checkpoint import Counted
    from ffncalc.report.compare import Comparison
    from ffncalc.report.diff import Diff
    from ffncalc.report.explain import Explained
    from ffncalc.report.flops import Flops
    from ffncalc.report.forward import Forward
    from ffncalc.report.hidden import Hidden
    from ffncalc.report.infer import Inferred, Origin
    from ffncalc.report.params import Params
    from ffncalc.search.budget import Found
    from ffncalc.search.table import Sweep


def to_json(data: Any) -> str:
    """JSON text, one line a key (a list of numbers on one), without escapes for what can be read."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    for _ in range(2):  # lists of numbers, then lists of those; a line break can't stand inside a JSON string
        text = re.sub(rf"\[\n\s*({_ITEM}(?:,\n\s*{_ITEM})*)\n\s*\]", _on_one_line, text)
    # What JSON lets through as it is and a terminal would act on (C1 controls, changes of direction) is escaped too.
    return re.sub(r"[^\x00-\x7e]", _escaped, text)


_ITEM = r"(?:-?\d+|\[[-\d, ]+\])"


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]


def _on_one_line(found: re.Match[str]) -> str:
    return "[" + re.sub(r"\s+", " ", found[1]) + "]"


def head(schema: str, model: Model) -> dict[str, Any]:
    """What stands at the top of a model's JSON."""
    spec = model.spec
    return {
        "schema": f"ffncalc/{schema}/1",
        "model": spec.name,
        "family": spec.family,
        "source": spec.source,
        "head": spec.head,
        "dims": dims(model),
    }


def layer_head(kind: LayerOps) -> dict[str, Any]:
    """Which layers are of this kind: the stack, ranges (inclusive), how many are stored, how often each runs."""
    data: dict[str, Any] = {"stack": kind.stack, "ranges": [list(r) for r in kind.ranges], "count": kind.n_stored.value}
    if kind.runs.value > 1:
        data["runs"] = kind.runs.value
    return data


def values(numbers: Mapping[str, Expr | None]) -> dict[str, int | None]:
    """The numbers without their formulas."""
    return {name: None if number is None else number.value for name, number in numbers.items()}


def params_data(report: Params) -> dict[str, Any]:
    """`ffncalc/params/1`."""
    shown = ("attention", "ffn", "norm", "other")
    return head("params", report.model) | {
        "params": values(report.numbers()),
        "layers": [
            layer_head(layer.kind)
            | {part: number.value for part, number in layer.parts.items() if part in shown or number}
            | {"total": layer.total.value}
            for layer in report.layers
        ],
        "ffn_share": report.ffn_share,
        "warnings": list(report.warnings),
    }


def advised_data(report: Advised) -> dict[str, Any]:
    """`ffncalc/params/1` with the advice on the model's sizes."""
    return params_data(report.params) | {"advice": [entry._asdict() for entry in report.advice]}


def flops_data(report: Flops) -> dict[str, Any]:
    """`ffncalc/flops/1`."""
    work = report.work
    workload: dict[str, Any] = {"batch": work.batch, "seq_len": work.seq_len}
    if work.source_len is not None:
        workload["source_len"] = work.source_len
    workload |= {"pairs": "causal" if work.causal else "full", "pass": work.passes}
    data = head("flops", report.model) | {"workload": workload}
    data |= {group: values(kinds) for group, kinds in report.groups().items()}
    data |= {
        "layers": [layer_head(layer.kind) | values(layer.kinds) for layer in report.layers],
        "crossover_seq_len": report.crossover_seq_len,
        "rules_of_thumb": [
            {"rule": r.rule, "of": r.of, "value": r.value, "exact": r.exact, "off": round(r.off, 6)}
            for r in report.rules
        ],
        "rule_n": report.n_rule.value,
    }
    if work.tokens is not None:
        data["training_run"] = {"tokens": work.tokens, "flops": report.training_run}
    return data | {"warnings": list(report.warnings)}


def hidden_data(report: Hidden) -> dict[str, Any]:
    """`ffncalc/hidden-dim/1`; a step that isn't whole yet is a number with a fraction."""
    width = report.width
    steps = [{"step": s.text, "value": s.number()} for s in width.steps]
    return {
        "schema": "ffncalc/hidden-dim/1",
        "d_model": width.d_model,
        "d_ff": width.d_ff,
        "rule": width.rule,
        "steps": steps,
        "gated": report.gated,
        "params": report.params.value,
        "ungated_params": report.ungated.value,
        "off": report.off,
    }


def inferred_data(report: Inferred) -> dict[str, Any]:
    """`ffncalc/hidden-dim/1` the other way round: the ways to a width."""
    summed = None
    if report.halves:
        ways = [origin_data(origin) for origin in report.halves]
        summed = {"d_ff": report.d_ff // 2, "used_by": list(report.half_used_by), "candidates": ways}
    data = {
        "schema": "ffncalc/hidden-dim/1",
        "d_model": report.d_model,
        "d_ff": report.d_ff,
        "used_by": list(report.used_by),
    }
    return data | {"candidates": [origin_data(origin) for origin in report.origins], "summed": summed}


def origin_data(origin: Origin) -> dict[str, Any]:
    """One way to a width."""
    return origin._asdict() | {"used_by": list(origin.used_by)}


def infer_rows(report: Inferred) -> list[dict[str, Any]]:
    """The ways to a width as flat rows."""
    ways = inferred_data(report)["candidates"]
    return [{"d_model": report.d_model} | way | {"used_by": " ".join(way["used_by"])} for way in ways]


def compare_rows(report: Comparison, explain: bool = False) -> list[dict[str, Any]]:
    """`ffncalc compare`: one flat row a model, columns named by their path in the JSON."""
    rows = [compare_data(params, flops, report.seq_len) for params, flops in report.models]
    if explain:
        from ffncalc.report.explain import explain_flops, explain_params

        for row, (params, flops) in zip(rows, report.models, strict=True):
            row["explain"] = explain_data([*explain_params(params), *(explain_flops(flops) if flops else ())])
    return rows


def compare_data(params: Params, flops: Flops | None, seq_len: int) -> dict[str, Any]:
    """One row of `ffncalc compare`: a model's numbers by their path in the JSON; without those of FLOPs where they
    aren't counted."""
    data = params_data(params)
    row = {"model": data["model"], "family": data["family"], "dims": data["dims"], "params": data["params"]}
    row |= {"ffn_share": data["ffn_share"], "flops": {"seq_len": seq_len}}
    if flops:
        row["flops"]["per_token"] = values(flops.per_token)
    return by_path(row | {"crossover_seq_len": flops.crossover_seq_len if flops else None})


def diff_data(report: Diff, names: tuple[str, str]) -> dict[str, Any]:
    """`ffncalc/diff/1`; `off` is the change as a share of the old number."""
    return {
        "schema": "ffncalc/diff/1",
        "old": names[0],
        "new": names[1],
        "sizes": [{"name": c.name, "old": c.old, "new": c.new} for c in report.sizes],
        "numbers": [{"name": c.name, "old": c.old, "new": c.new, "off": c.off} for c in report.numbers],
        "seq_len": report.seq_len,
        "warnings": list(report.warnings),
    }


def checkpoint_data(report: Counted) -> dict[str, Any]:
    """`ffncalc/checkpoint/1`."""
    data = {"schema": "ffncalc/checkpoint/1", "model": report.name, "tensors": report.tensors}
    return data | {"params": {"total": report.total, "stored": report.stored, **report.parts}, "dtypes": report.dtypes}


def against_data(report: CheckpointComparison) -> dict[str, Any]:
    """`ffncalc/checkpoint/1` with a config beside it: what agrees and what doesn't."""
    differences = [
        {"kind": d.kind, "tensor": d.name, "found": d.found and list(d.found), "wanted": d.wanted and list(d.wanted)}
        for d in report.differences
    ]
    found = {"against": report.model.spec.name, "matched": report.matched, "differences": differences}
    return checkpoint_data(report.checkpoint) | found


def size_data(report: Found) -> dict[str, Any]:
    """`ffncalc/size/1`."""
    return {
        "schema": "ffncalc/size/1",
        "budget": {report.kind: report.budget},
        "space": report.space | {"points": report.points},
        "candidates": [candidate._asdict() | {"off": round(candidate.off, 6)} for candidate in report.candidates],
    }


def size_rows(report: Found) -> list[dict[str, Any]]:
    """The candidates as flat rows, columns named by their path in the JSON."""
    keys = ("dims", "params", "flops_per_token", "off")
    return [flat({key: candidate[key] for key in keys}) for candidate in size_data(report)["candidates"]]


def sweep_data(report: Sweep) -> dict[str, Any]:
    """`ffncalc/sweep/1`: a row a config, sizes and numbers as in the CSV."""
    listed = {name: column.tolist() for name, column in report.columns.items()}
    rows = [dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)]
    return {"schema": "ffncalc/sweep/1", "refused": report.refused, "rows": rows}


def forward_data(report: Forward) -> dict[str, Any]:
    """`ffncalc/forward/1`: exact values, and nothing that differs between two runs of one seed."""
    from ffncalc.report.forward import dims as sizes

    settings, run = report.settings, report.run
    macs = {"executed": run.macs, "predicted": report.macs.value}
    data: dict[str, Any] = {
        "schema": "ffncalc/forward/1",
        "model": report.plan.name,
        "family": report.plan.of,
        "dims": sizes(report),
        "layers": list(report.plan.words),
        "workload": {
            "shape": list(report.shape),
            "pairs": "full",
            "seed": settings.seed,
            "dtype": settings.dtype,
            "weights": settings.weights,
            "input": settings.input,
        },
        "macs": macs,
        "params": {"arrays": report.arrays, "predicted": report.params.value},
        "steps": [plain(step) for step in run.steps],
        "gradients": [plain(gradient) for gradient in run.gradients],
    }
    if run.backward_macs is not None:
        data["backward_macs"] = {"executed": run.backward_macs, "predicted": 2 * report.macs.value}
    return data | {"warnings": list(report.plan.warnings)}


def forward_rows(report: Forward) -> list[dict[str, Any]]:
    """`ffncalc forward` as rows of CSV: one a step, then one a gradient."""
    steps = [{"kind": "step", **flat(plain(step))} for step in report.run.steps]
    return steps + [{"kind": "gradient", **flat(plain(gradient))} for gradient in report.run.gradients]


def lab_data(experiment: str, report: Any) -> dict[str, Any]:
    """`ffncalc/lab-EXPERIMENT/1`: the report as it is."""
    return {"schema": f"ffncalc/lab-{experiment}/1", **plain(report)}


def plain(value: Any) -> Any:
    """A record of records, numbers and texts as plain data: what has fields is an object, other tuples are lists."""
    if hasattr(value, "_asdict"):
        return {name: plain(field) for name, field in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: plain(field) for name, field in value.items()}
    return [plain(item) for item in value] if isinstance(value, (tuple, list)) else value


def configs_data(entry: Bundled) -> dict[str, Any]:
    """One of `ffncalc configs --json`."""
    keys = ("name", "aliases", "family", "source", "total")
    return {key: list(value) if isinstance(value := getattr(entry, key), tuple) else value for key in keys}


def family_data(family: Family) -> dict[str, Any]:
    """One of `ffncalc families --json`."""
    data = {
        "family": family.name,
        "model_types": list(family.model_types),
        "source": family.source,
        "status": family.status,
    }
    return data | {"flops": family.flops, "note": family.note, "switches": family.switches, "defaults": family.defaults}


def explain_data(explained: Iterable[Explained]) -> dict[str, dict[str, Any]]:
    """`explain` of the JSON: by each number's path, its formula, the same with values, and the value."""
    return {
        e.name: {"formula": e.formula, "substituted": e.substituted, "value": e.value}
        | ({"plain": e.plain} if e.plain else {})
        for e in explained
    }


def flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """One row of CSV: the scalars of a JSON object by their path, lists of them joined; lists of objects left out."""
    return {
        path: " ".join(str(item) for item in value) if isinstance(value, list) else value
        for path, value in by_path(data).items()
    }


def by_path(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The scalars and lists of scalars of a JSON object by their path (`dims.n_layers`); lists of objects left out."""
    row: dict[str, Any] = {}
    for name, value in data.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping):
            row |= by_path(value, f"{path}.")
        elif not (isinstance(value, list) and any(isinstance(item, (Mapping, list)) for item in value)):
            row[path] = value
    return row
