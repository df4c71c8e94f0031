"""What the commands of the numeric mode share. Nothing here imports NumPy: `one_thread` has to come first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ffncalc.cli import output
from ffncalc.cli.options import whole_number
from ffncalc.errors import InputError

if TYPE_CHECKING:
    from ffncalc.render.document import Document
    from ffncalc.report.explain import Explained

MAX_SEED = 2**32 - 1

Seed = Annotated[str, typer.Option("--seed", metavar="N", help="Where the random numbers start.")]


def one_thread() -> None:
    """Have NumPy's BLAS run on one thread unless the user says otherwise: arrays are small, and threads cost more."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def seed_number(text: str) -> int:
    """A seed: a whole number from 0 on. Raises InputError."""
    value = 0 if text.strip("0") == "" and text else whole_number("--seed", text)
    if value > MAX_SEED:
        raise InputError(f"--seed is {value}; a whole number from 0 to {MAX_SEED} is wanted")
    return value


def optional(option: str, text: str | None) -> int | None:
    """A positive whole number where the option is given."""
    return None if text is None else whole_number(option, text)


def show(
    form: str,
    data: Callable[[], Mapping[str, Any]],
    rows: Callable[[], Iterable[Mapping[str, Any]]],
    document: Callable[[], Document],
    explained: Iterable[Explained] | None = None,
) -> None:
    """Print one report: its JSON, its CSV rows or its document, whichever was asked for, with its formulas if wanted."""
    if form == "json":
        from ffncalc.export import explain_data

        formulas = {} if explained is None else {"explain": explain_data(explained)}
        output.write_data(form, {**data(), **formulas})
    elif form == "csv":
        output.write_data(form, list(rows()))
    else:
        from ffncalc.render.explain import document as formulas_document

        blocks = document() + ([] if explained is None else formulas_document(list(explained)))
        print(output.text(form, [blocks]), end="")
