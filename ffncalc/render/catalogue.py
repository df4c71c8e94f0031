"""`ffncalc configs` and `ffncalc families` as documents."""

from __future__ import annotations

from collections.abc import Sequence

from ffncalc.render.document import Document, Line, Table
from ffncalc.report.catalogue import Bundled, Family


def configs(entries: Sequence[Bundled]) -> Document:
    """The bundled configs."""
    rows = tuple(
        (e.name, e.total if e.total is not None else "unknown", e.family, ", ".join(e.aliases[:2])) for e in entries
    )
    return [
        Line(f"{len(entries)} bundled configs; `ffncalc configs NAME` prints one", headline=True),
        Table(("name", "parameters", "family", "also called"), rows),
    ]


def families(entries: Sequence[Family]) -> Document:
    """The families, and what is exact in each."""
    rows = tuple(
        (e.name, ", ".join(e.model_types), e.status, "exact" if e.flops == "exact" else "refused") for e in entries
    )
    known = [e for e in entries if e.status != "refused"]
    types = sum(len(e.model_types) for e in known)
    return [
        Line(f"{len(known)} families, read for {types} model types; `ffncalc families NAME` shows one", headline=True),
        Table(("family", "model types", "parameters", "FLOPs"), rows),
    ]


def family(entry: Family) -> Document:
    """One family: what its row says, switch by switch, and the defaults of its class."""
    blocks: Document = [
        Line(f"{entry.name}: {entry.status}; FLOPs {entry.flops}", headline=True),
        Line(f"Source: {entry.source}"),
    ]
    if entry.note:
        blocks.append(Line(entry.note))
    if entry.switches:
        blocks.append(Table(("switch", "value"), tuple(entry.switches.items())))
    if entry.defaults:
        rows = tuple((key, "null" if value is None else str(value)) for key, value in entry.defaults.items())
        blocks.append(Table(("key", "default of the class"), rows))
    return blocks
