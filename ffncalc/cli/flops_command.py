"""`ffncalc flops MODEL...`."""

from typing import Annotated

import typer

from ffncalc.cli import asserts as checked
from ffncalc.cli import output
from ffncalc.cli.models import load_all
from ffncalc.cli.options import (
    Asserts,
    Explain,
    Format,
    Head,
    Json,
    Models,
    SeqLen,
    Strict,
    Tied,
    VocabSize,
    one_of,
    optional,
    output_format,
    whole_number,
)


def command(
    models: Models,
    seq_len: SeqLen = None,
    source_len: Annotated[
        str | None, typer.Option("--source-len", metavar="S", help="Rows of the encoder beside a decoder (default: T).")
    ] = None,
    batch: Annotated[str, typer.Option("--batch", metavar="B", help="Sequences.")] = "1",
    causal: Annotated[bool, typer.Option("--causal", help="Count only the pairs that the causal mask leaves.")] = False,
    passes: Annotated[
        str, typer.Option("--pass", metavar="forward|train|recompute", help="train is 3 x forward, recompute 4 x.")
    ] = "forward",
    tokens: Annotated[
        str | None, typer.Option("--tokens", metavar="D", help="Add the total of training on D tokens, such as 2T.")
    ] = None,
    head: Head = None,
    vocab_size: VocabSize = None,
    tied: Tied = None,
    strict: Strict = False,
    asserts: Asserts = None,
    format: Format = "table",
    json: Json = False,
    explain: Explain = False,
) -> int:
    """FFN against attention's projections and scores, the head apart; where attention overtakes the FFN.

    A multiply-accumulate is 2 FLOPs; only matmuls count, as torch's own counter has it. Rules of thumb stand beside.
    """
    from ffncalc.export import flops_data
    from ffncalc.report.flops import flops
    from ffncalc.workload import PASSES, Workload

    form = output_format(format, json)
    work = Workload(
        optional("--seq-len", seq_len),
        optional("--source-len", source_len),
        whole_number("--batch", batch),
        causal,
        one_of("--pass", passes, tuple(PASSES)),
        optional("--tokens", tokens),
    )
    reports = [flops(model, work) for model in load_all(models, head, vocab_size, tied)]
    failed = checked.failures(asserts, reports, flops_data, "total", "per_token")
    output.warn((w for report in reports for w in report.warnings), strict)
    output.show(form, reports, flops_data, "flops", "explain_flops" if explain else None)
    return checked.exit_code(failed)
