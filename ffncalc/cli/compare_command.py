"""`ffncalc compare A B...`."""

from ffncalc.cli import output
from ffncalc.cli.models import load_all
from ffncalc.cli.options import (
    Explain,
    Format,
    Head,
    Json,
    Models,
    SeqLen,
    Strict,
    Tied,
    VocabSize,
    optional,
    output_format,
)
from ffncalc.errors import InputError


def command(
    models: Models,
    seq_len: SeqLen = None,
    head: Head = None,
    vocab_size: VocabSize = None,
    tied: Tied = None,
    strict: Strict = False,
    format: Format = "table",
    json: Json = False,
    explain: Explain = False,
) -> None:
    """Sizes, parameters and FLOPs per token of each, at one context length for all.

    In JSON and CSV a model is a row, its columns named as in the JSON of params and flops (params.total).
    """
    from ffncalc.export import compare_rows
    from ffncalc.report.compare import compare

    if len(models) < 2:
        raise InputError("compare takes two or more models; for one there is `ffncalc params`")
    form = output_format(format, json)
    report = compare(load_all(models, head, vocab_size, tied), optional("--seq-len", seq_len))
    output.warn(report.warnings, strict)
    if form in ("json", "csv"):
        output.write_data(form, compare_rows(report, explain))
    else:
        output.show(form, [report], dict, "compare", "explain_compare" if explain else None)
