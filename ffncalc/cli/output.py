"""Where results go: the format that was asked for, on a terminal or in a pipe. Nothing is computed here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ffncalc.errors import InputError

if TYPE_CHECKING:
    from ffncalc.render.document import Document


def show(
    form: str,
    reports: Sequence[Any],
    to_data: Callable[[Any], dict[str, Any]],
    renderer: str,
    explain: str | None = None,
) -> None:
    """Print reports: JSON (one object, or a list of several), CSV (one row each), or a document each.

    `renderer` names the module of `ffncalc.render` whose `document` draws a report, `explain` the function of
    `ffncalc.report.explain` that gives its formulas (None: without them); each is imported only where it is used.
    """
    if explain and form == "csv":
        raise InputError("--explain has no place in a CSV row; ask for json or a table")
    explained = getattr(import_module("ffncalc.report.explain"), explain) if explain else None
    if form in ("json", "csv"):
        data = [to_data(report) for report in reports]
        if explained:
            from ffncalc.export import explain_data

            for entry, report in zip(data, reports, strict=True):
                entry["explain"] = explain_data(explained(report))
        write_data(form, data[0] if len(data) == 1 else data)
        return
    documents = [import_module(f"ffncalc.render.{renderer}").document(report) for report in reports]
    if explained:
        from ffncalc.render.explain import document as formulas

        documents = [
            document + formulas(list(explained(report))) for document, report in zip(documents, reports, strict=True)
        ]
    print(text(form, documents), end="")


def write_data(form: str, data: Any) -> None:
    """Print plain data as JSON, or as CSV with one row an object."""
    from ffncalc.export import flat, to_json

    if form == "json":
        print(to_json(data))
        return
    from ffncalc.render.document import to_csv

    rows = data if isinstance(data, list) else [data]
    print(to_csv(flat({k: v for k, v in row.items() if k != "explain"}) for row in rows), end="")


def text(form: str, documents: Sequence[Document]) -> str:
    """Documents as Markdown, as plain text at natural width in a pipe, or fitted to the terminal and in colour on
    one."""
    from ffncalc.render import document as plain

    documents = [plain.visible_document(document) for document in documents]
    if form == "markdown":
        return "\n".join(plain.markdown(document) for document in documents)
    if not sys.stdout.isatty():
        return "\n".join(plain.plain(document) for document in documents)
    import shutil

    width = shutil.get_terminal_size().columns
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return "\n".join(plain.plain(document, width, bars=True) for document in documents)
    from ffncalc.render.terminal import coloured

    return "\n".join(coloured(document, width) for document in documents)


def warn(warnings: Iterable[str], strict: bool) -> None:
    """Write warnings to standard error; with --strict the first one is an error."""
    from ffncalc.cli.start import complain

    for warning in dict.fromkeys(warnings):
        if strict:
            raise InputError(f"{warning} (--strict takes warnings for errors)")
        complain("warning", warning)
