"""`ffncalc params MODEL...`."""

from typing import TYPE_CHECKING, Annotated

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
    Strict,
    Tied,
    VocabSize,
    output_format,
    whole_number,
)
from ffncalc.errors import InputError

if TYPE_CHECKING:
    from ffncalc.report.params import Params

ModelOptions = tuple[str | None, str | None, bool | None]  # --head, --vocab-size, --tied


def command(
    models: Models,
    head: Head = None,
    vocab_size: VocabSize = None,
    tied: Tied = None,
    strict: Strict = False,
    against: Annotated[
        str | None, typer.Option("--against", metavar="CONFIG", help="Hold a checkpoint's tensors against this config.")
    ] = None,
    advise: Annotated[
        bool, typer.Option("--advise", help="Say what published guidance on hardware has to say of the widths.")
    ] = False,
    tensor_parallel: Annotated[
        str, typer.Option("--tensor-parallel", metavar="N", help="Devices that a layer is split over, for --advise.")
    ] = "8",
    asserts: Asserts = None,
    format: Format = "table",
    json: Json = False,
    explain: Explain = False,
) -> int:
    """Per kind of layer, by component and in total: what is stored, and what one token passes through.

    The FFN's share of a block comes first. --explain gives the formula of every number. Of a checkpoint (.safetensors,
    its index, or a folder of shards) the headers are read, and --against says where it departs from a config.
    """
    from ffncalc.config import is_checkpoint
    from ffncalc.export import params_data
    from ffncalc.report.params import params

    form = output_format(format, json)
    if against or any(is_checkpoint(name) for name in models):
        return checkpoints(models, against, asserts, form, (head, vocab_size, tied), strict)
    reports = [params(model) for model in load_all(models, head, vocab_size, tied)]
    failed = checked.failures(asserts, reports, params_data, "params", "dims")
    output.warn((w for report in reports for w in report.warnings), strict)
    if advise:
        with_advice(reports, tensor_parallel, form, explain)
    else:
        output.show(form, reports, params_data, "params", "explain_params" if explain else None)
    return checked.exit_code(failed)


def with_advice(reports: "list[Params]", tensor_parallel: str, form: str, explain: bool) -> None:
    """Print the counts, and what is said of the widths."""
    from ffncalc.export import advised_data
    from ffncalc.report.advice import Advised, advise

    if explain:
        raise InputError("--advise and --explain are two answers; ask for one of them")
    degree = whole_number("--tensor-parallel", tensor_parallel)
    output.show(form, [Advised(report, advise(report.model, degree)) for report in reports], advised_data, "advice")


def checkpoints(
    models: list[str], against: str | None, asserts: list[str] | None, form: str, options: ModelOptions, strict: bool
) -> int:
    """Count checkpoints from their headers, or hold one against a config."""
    from ffncalc.checkpoint import read
    from ffncalc.export import against_data, checkpoint_data
    from ffncalc.report.checkpoint import compare, count

    if against and len(models) > 1:
        raise InputError("--against takes one checkpoint")
    tensors = {name: read(name) for name in models}
    if against is None:
        counts = [count(name, found) for name, found in tensors.items()]
        failed = checked.failures(asserts, counts, checkpoint_data, "params")
        output.show(form, counts, checkpoint_data, "checkpoint")
        return checked.exit_code(failed)
    (model,) = load_all([against], *options)
    output.warn(model.spec.warnings, strict)
    held = compare(models[0], tensors[models[0]], model)
    failed = checked.failures(asserts, [held], against_data, "params")
    output.show(form, [held], against_data, "checkpoint")
    return checked.exit_code(failed)
