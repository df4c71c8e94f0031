"""What the commands of the numeric mode share. Nothing here imports NumPy: `one_thread` has to come first."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ffncalc.cli import output
from ffncalc.errors import InputError
from ffncalc.number import read, shortened

if TYPE_CHECKING:
    from ffncalc.report.explain import Explained

MAX_SEED = 2**32 - 1
PICTURE = 72
BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = str.maketrans(BLOCKS, "_.:-=+*#")


def one_thread() -> None:
    """Have NumPy's BLAS run on one thread unless the user says otherwise: arrays are small, and threads cost more."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def seed_number(text: str) -> int:
    """A seed: a whole number from 0 on. Raises InputError."""
    value = read(text)
    if value is None or value.denominator != 1 or value > MAX_SEED:
        raise InputError(f"--seed is a whole number from 0 to {MAX_SEED}, not {shortened(text)}")
    return value.numerator


def show(
    form: str,
    report: Any,
    to_data: Callable[[Any], dict[str, Any]],
    to_rows: Callable[[Any], list[dict[str, Any]]],
    renderer: str,
    explained: Iterable[Explained] | None = None,
) -> None:
    """Print a report: its JSON, its rows of CSV or its document, with its formulas where they are given.

    `renderer` is a module of `ffncalc.render` and its function, "forward.document", imported only where it is used.
    """
    if form == "csv":
        output.write_data(form, to_rows(report))
    elif form == "json":
        from ffncalc.export import explain_data

        formulas = {} if explained is None else {"explain": explain_data(explained)}
        output.write_data(form, to_data(report) | formulas)
    else:
        module, function = renderer.split(".")
        document = getattr(import_module(f"ffncalc.render.{module}"), function)(report)
        if form == "markdown" or _is_narrow():
            from ffncalc.render.drawing import without_pictures

            document = without_pictures(document)
        if explained is not None:
            from ffncalc.render.explain import document as formulas_of

            document = document + formulas_of(list(explained))
        text = output.text(form, [document])
        print(text if _has_blocks() else text.translate(ASCII_BLOCKS), end="")


def _has_blocks() -> bool:
    """Whether standard output can write the blocks of a histogram."""
    try:
        BLOCKS.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _is_narrow() -> bool:
    """Whether standard output is a terminal without room for a picture."""
    return sys.stdout.isatty() and shutil.get_terminal_size().columns < PICTURE


def show_lab(
    form: str, experiment: str, report: Any, listed: str, explained: Iterable[Explained] | None = None
) -> None:
    """Print the report of an experiment; its CSV has a row for each entry of the field `listed`."""
    from ffncalc.export import flat, lab_data, plain

    show(
        form,
        report,
        lambda found: lab_data(experiment, found),
        lambda found: [flat(plain(entry)) for entry in getattr(found, listed)],
        f"lab.{experiment}",
        explained,
    )


def real(option: str, text: str) -> float:
    """A number of either sign. Raises InputError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{option} takes a number such as -0.75, not {shortened(text)}")
    return value
