"""`ffncalc size` as a document, and a proposal as the YAML file that it is to become."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

from ffncalc.render.document import Cell, Document, Line, Table, scaled, signed
from ffncalc.text import to_yaml

if TYPE_CHECKING:
    from ffncalc.search.budget import Candidate, Found

LABELS = {"params": "parameters", "active": "active parameters", "flops": "FLOPs per token"}


def document(report: Found) -> Document:
    """The nearest config, all that are proposed, and the space that was searched."""
    best = report.candidates[0]
    shown = [
        name
        for name in best.dims
        if any(c.dims[name] != best.dims["d_head"] or name != "d_head" for c in report.candidates)
    ]
    columns = (*shown, "parameters", *(["active"] if _has_experts(report) else []), "FLOPs per token", "off by")
    rows = tuple(_row(candidate, shown, _has_experts(report)) for candidate in report.candidates)
    headline = (
        f"{len(rows)} configs nearest to {scaled(report.budget)} {LABELS[report.kind]} of {report.points:,} searched"
    )
    return [
        Line(headline, headline=True),
        Table(columns, rows),
        Line(f"Searched: {space_text(report.space)}."),
        Line("--format yaml prints the first as a config; --out FILE saves it."),
    ]


def _has_experts(report: Found) -> bool:
    return any(c.params["active"] != c.params["total"] for c in report.candidates)


def _row(candidate: Candidate, shown: list[str], experts: bool) -> tuple[Cell, ...]:
    sizes = [_size(candidate.dims[name]) for name in shown]
    active = [candidate.params["active"]] if experts else []
    return (*sizes, candidate.params["total"], *active, candidate.flops_per_token, signed(candidate.off))


def _size(value: Any) -> Cell:
    return "/".join(f"{v:,}" for v in value) if isinstance(value, list) else value


def space_text(space: dict[str, Any]) -> str:
    """The space in one line: `d_model 256 to 32,768 by 128, ...`."""
    sizes = ", ".join(f"{name} {_values(value)}" for name, value in space.items() if name not in ("points", "seq_len"))
    return f"{sizes}; FLOPs at T = {space['seq_len']:,}"


def _values(value: Any) -> str:
    if isinstance(value, dict) and "step" in value:
        return f"{value['first']:,} to {value['last']:,} by {value['step']:,}"
    if isinstance(value, dict):
        return "by " + ", ".join(f"{key} {part}" for key, part in value.items())
    if isinstance(value, list):
        return "/".join(f"{part:,}" for part in value[:6]) + ("/..." if len(value) > 6 else "")
    return f"{value:,}" if isinstance(value, int) else str(value)


def yaml_text(candidate: Candidate, name: str) -> str:
    """A config file: what it comes to in a comment, then its sizes."""
    total = candidate.params["total"] or 0
    flops = f", {candidate.flops_per_token:,} FLOPs per token" if candidate.flops_per_token else ""
    head = f"# {total:,} parameters ({scaled(total)}){flops}; `ffncalc params {quote(f'{name}.yaml')}` counts them\n"
    body = {"family": None, "model_type": None, "name": name, **candidate.config}
    return head + to_yaml({key: value for key, value in body.items() if value is not None})
