"""`ffncalc hidden-dim D`."""

from typing import Annotated

import typer

from ffncalc.cli import asserts as checked
from ffncalc.cli import output
from ffncalc.cli.options import (
    Asserts,
    Explain,
    Format,
    Json,
    one_of,
    optional,
    output_format,
    positive_number,
    whole_number,
)
from ffncalc.errors import InputError


def command(
    d_model: Annotated[str, typer.Argument(metavar="D", help="The model's width, such as 4096.")],
    multiple_of: Annotated[
        str | None, typer.Option("--multiple-of", metavar="N", help="Round to a multiple of this (rule llama: 256).")
    ] = None,
    multiplier: Annotated[
        str | None, typer.Option("--multiplier", metavar="F", help="Multiply before rounding, such as 1.3.")
    ] = None,
    rule: Annotated[
        str | None, typer.Option("--rule", metavar="llama|8/3|4d|matched", help="The rule (default: llama).")
    ] = None,
    rounding: Annotated[
        str | None,
        typer.Option("--round", metavar="up|nearest|down", help="Which way (default: up; matched: nearest)."),
    ] = None,
    infer: Annotated[
        str | None, typer.Option("--infer", metavar="W", help="Find the rules and multiples that give this width.")
    ] = None,
    asserts: Asserts = None,
    format: Format = "table",
    json: Json = False,
    explain: Explain = False,
) -> int:
    """LLaMA's rule unless told: int(2 x 4d / 3), times the multiplier, rounded up to a multiple.

    Each step is shown, with the parameters that the width gives and how far they are from the ungated 8 d^2.
    """
    from ffncalc.export import hidden_data
    from ffncalc.hidden import ROUNDINGS, RULES
    from ffncalc.report.hidden import hidden

    form = output_format(format, json)
    if infer is not None:
        given = {
            "--multiple-of": multiple_of,
            "--multiplier": multiplier,
            "--rule": rule,
            "--round": rounding,
            "--assert": asserts,
        }
        others = [name for name, value in given.items() if value not in (None, [])] + ["--explain"] * explain
        return inferred(d_model, infer, form, others)
    report = hidden(
        whole_number("D", d_model),
        one_of("--rule", rule or "llama", RULES),
        optional("--multiple-of", multiple_of),
        positive_number("--multiplier", multiplier) if multiplier is not None else None,
        one_of("--round", rounding, ROUNDINGS) if rounding is not None else None,
    )
    failed = checked.failures(asserts, [report], hidden_data)
    output.show(form, [report], hidden_data, "hidden", "explain_hidden" if explain else None)
    return checked.exit_code(failed)


def inferred(d_model: str, width: str, form: str, others: list[str]) -> int:
    """The ways to a width, instead of a width."""
    from ffncalc.export import infer_rows, inferred_data
    from ffncalc.report.infer import infer

    if others:
        raise InputError(f"--infer tries every rule and multiple; {others[0]} doesn't go with it")
    report = infer(whole_number("D", d_model), whole_number("--infer", width))
    if form == "csv":
        output.write_data("csv", infer_rows(report))
    else:
        output.show(form, [report], inferred_data, "infer")
    return 0
