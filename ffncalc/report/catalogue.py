"""What ffncalc knows: the bundled configs, and the architectures it understands."""

from __future__ import annotations

from typing import Any, NamedTuple

from ffncalc import bundled, families, recurrent
from ffncalc.families.row import Reader, Row
from ffncalc.loading import load
from ffncalc.report.params import params
from ffncalc.spec import MEANING


class Bundled(NamedTuple):
    """A bundled config: its names, where its sizes are from, and the total that comes out."""

    name: str
    aliases: tuple[str, ...]
    family: str
    source: str
    total: int | None


def bundled_configs() -> list[Bundled]:
    """All bundled configs, counted."""
    found = []
    for name in bundled.names():
        report = params(load(name))
        spec = report.model.spec
        total = report.total.value if report.total is not None else None
        found.append(Bundled(name, tuple(bundled.aliases(name)), spec.family, spec.source, total))
    return found


class Family(NamedTuple):
    """A family: the model types it is read for, where it comes from, and what it counts exactly."""

    name: str
    model_types: tuple[str, ...]
    source: str
    status: str
    flops: str
    note: str
    switches: dict[str, str]
    defaults: dict[str, Any]


def family(row: Row) -> Family:
    """What a row resolves to, switch by switch: the keys that it is read from, or what it is fixed at."""
    return Family(
        row.name,
        row.model_types or (row.name,),
        row.source,
        "exact",
        row.flops or "exact",
        row.note,
        _switches(row),
        dict(row.defaults),
    )


def _switches(row: Row) -> dict[str, str]:
    """What the row says; a generic row takes every other switch from the file as well."""
    says = {switch: _said(entry) for switch, entry in row.says.items()}
    if row.name not in families.MODULES["generic"]:
        return says
    return {switch: says.get(switch, f"{meaning} (the file's)") for switch, meaning in MEANING.items()}


def _said(entry: Any) -> str:
    if isinstance(entry, Reader):
        return f"from {', '.join(entry.keys)}" if entry.keys else "follows from other sizes"
    if callable(entry):
        return str(getattr(entry, "func", entry).__name__)  # a builder, or a partial of one
    text = {True: "yes", False: "no", "": "none"}.get(entry) if isinstance(entry, (bool, str)) else None
    return text or (str(entry) if isinstance(entry, str) else str(getattr(entry, "value", entry)))


def refused() -> list[Family]:
    """The model types that are known for their recurrent layers, and refused."""
    why = "layers are recurrent; files of such a type that hold attention layers alone are counted where there is a row"
    return [
        Family(name, (name,), f"transformers, model type {name}", "refused", "refused", f"{layers} {why}", {}, {})
        for layers, listed in recurrent.BY_DEFAULT.items()
        for name in listed.split()
        if families.row(name) is None
    ]


def all_families() -> list[Family]:
    """Every family, those that are refused last."""
    return [*(family(row) for row in families.rows()), *refused()]


def find(name: str) -> Family:
    """The family of that name or that model type. Raises InputError with the nearest names."""
    known = next((entry for entry in refused() if entry.name == name), None)
    return known or family(families.find(name, "families", "FAMILY"))
