"""`--explain` as a document: name = formula = substituted formula = value."""

from __future__ import annotations

from collections.abc import Sequence

from ffncalc.render.document import Document, Line, Table
from ffncalc.report.explain import Explained


def document(explained: Sequence[Explained]) -> Document:
    """One line a number (a second where it has a textbook's form in d), and where each size came from."""
    blocks: Document = [Line("Formulas", headline=True)]
    for e in (e for e in explained if e.value):
        blocks.append(Line(f"{e.name} = {e.formula} = {e.substituted} = {e.value:,}"))
        if e.plain:
            blocks.append(Line(f"  in d: {e.formula} = {e.plain} = {e.value:,}"))
    sizes = sorted({leaf for e in explained for leaf in e.sizes})
    rows = tuple((leaf.name, leaf.value, leaf.origin) for leaf in sizes)
    return [*blocks, Table(("size", "value", "from"), rows)]
