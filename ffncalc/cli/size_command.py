"""`ffncalc size --params N`."""

from typing import Annotated, Any

import typer

from ffncalc.cli import output
from ffncalc.cli.options import (
    FORMATS,
    Json,
    SeqLen,
    Tied,
    one_of,
    optional,
    output_format,
    positive_number,
    whole_number,
)
from ffncalc.errors import InputError


def command(
    params: Annotated[
        str | None, typer.Option("--params", metavar="N", help="A budget of parameters, such as 7B.")
    ] = None,
    active: Annotated[
        str | None,
        typer.Option("--active", metavar="N", help="A budget of active parameters (for experts, with --like)."),
    ] = None,
    flops: Annotated[
        str | None, typer.Option("--flops", metavar="N", help="A budget of forward FLOPs per token, at --seq-len.")
    ] = None,
    like: Annotated[
        str | None,
        typer.Option("--like", metavar="MODEL", help="Start from this config (default: a LLaMA-like decoder)."),
    ] = None,
    d_model: Annotated[
        str | None, typer.Option("--d-model", metavar="VALUES", help="Widths: 2048,4096 or first:last:step.")
    ] = None,
    layers: Annotated[str | None, typer.Option("--layers", metavar="VALUES", help="Layers, such as 24:40.")] = None,
    heads: Annotated[
        str | None, typer.Option("--heads", metavar="VALUES", help="Query heads (default: d_model / 128).")
    ] = None,
    kv_heads: Annotated[
        str | None,
        typer.Option("--kv-heads", metavar="VALUES", help="Key/value heads (default: as many as query heads)."),
    ] = None,
    d_ff: Annotated[
        str | None, typer.Option("--d-ff", metavar="VALUES", help="Hidden widths (default: by the FFN's rule).")
    ] = None,
    d_head: Annotated[str | None, typer.Option("--d-head", metavar="N", help="Width of a head (default: 128).")] = None,
    vocab: Annotated[
        str | None, typer.Option("--vocab", metavar="VALUES", help="Vocabularies (default: 32,000).")
    ] = None,
    ffn: Annotated[
        str,
        typer.Option("--ffn", metavar="relu|gelu|swish|glu|bilinear|reglu|geglu|swiglu|relu2", help="The FFN."),
    ] = "swiglu",
    multiple_of: Annotated[
        str, typer.Option("--multiple-of", metavar="N", help="What the FFN's rule rounds up to a multiple of.")
    ] = "256",
    tensor_parallel: Annotated[
        str, typer.Option("--tensor-parallel", metavar="N", help="What heads, d_ff and vocabulary must divide by.")
    ] = "1",
    aspect: Annotated[
        str | None,
        typer.Option("--aspect", metavar="A..B", help="d_model / n_layers (default: 64..192, unless both are given)."),
    ] = None,
    tied: Tied = None,
    seq_len: SeqLen = None,
    keep: Annotated[str, typer.Option("--keep", metavar="N", help="How many configs to propose.")] = "10",
    within: Annotated[str, typer.Option("--within", metavar="PERCENT", help="How far off a proposal may be.")] = "10",
    out: Annotated[str | None, typer.Option("--out", metavar="FILE", help="Save the nearest as a YAML config.")] = None,
    format: Annotated[
        str, typer.Option("--format", metavar="table|json|csv|markdown|yaml", help="How to print the result.")
    ] = "table",
    json: Json = False,
) -> None:
    """One of --params, --active and --flops is the budget; every config of the stated space is looked at.

    Proposals are ranked by how near they are; each has been loaded and counted, so its numbers are exact.
    """
    from ffncalc.cli.progress import Progress
    from ffncalc.search.budget import size
    from ffncalc.search.limits import VARIANTS
    from ffncalc.search.ranges import between

    form = output_format(format, json, (*FORMATS, "yaml"))
    if like is not None and (tied is not None or ffn != "swiglu"):
        raise InputError(
            "--like takes the FFN and the tie from that config; leave --ffn and --tied away, or change the file"
        )
    bar = Progress("widths and heads")
    report = size(
        **{
            name: whole_number(f"--{name}", text)
            for name, text in (("params", params), ("active", active), ("flops", flops))
            if text is not None
        },
        like=like,
        ffn=one_of("--ffn", ffn, VARIANTS),
        d_model=listed("--d-model", d_model, 128),
        n_layers=listed("--layers", layers),
        n_heads=listed("--heads", heads),
        n_kv_heads=listed("--kv-heads", kv_heads),
        d_ff=listed("--d-ff", d_ff, 64),
        n_vocab=listed("--vocab", vocab),
        d_head=optional("--d-head", d_head),
        multiple_of=whole_number("--multiple-of", multiple_of),
        tensor_parallel=whole_number("--tensor-parallel", tensor_parallel),
        aspect=between("--aspect", aspect) if aspect is not None else None,
        tied=bool(tied),
        seq_len=optional("--seq-len", seq_len),
        keep=whole_number("--keep", keep),
        within=percentage(within),
        report=bar,
    )
    bar.finish()
    printed(report, form, out)


def listed(option: str, text: str | None, step: int = 1) -> list[int]:
    """The values of an option, in order; none where it isn't given."""
    from ffncalc.search.ranges import values

    found = sorted(values(option, text, step)) if text is not None else []
    if found and found[0] < 1:
        raise InputError(f"{option} takes positive whole numbers, not 0")
    return found


def percentage(text: str) -> float:
    """`10` or `10%` as a share."""
    return positive_number("--within", text.rstrip(" %")) / 100


def printed(report: Any, form: str, out: str | None) -> None:
    """The report, and the nearest config in a file."""
    from ffncalc.config import name_of
    from ffncalc.export import size_data, size_rows
    from ffncalc.render.size import yaml_text

    if out is not None:
        save(out, yaml_text(report.candidates[0], name_of(out)))
    if form == "yaml":
        print(yaml_text(report.candidates[0], f"{report.kind}-{report.budget}"), end="")
    elif form == "csv":
        output.write_data("csv", size_rows(report))
    else:
        output.show(form, [report], size_data, "size")


def save(path: str, text: str) -> None:
    """Write a file. Raises InputError where that can't be done."""
    from ffncalc.atomic import write
    from ffncalc.cli.start import complain

    write(path, text)
    complain("note", f"{path}: the nearest config")
