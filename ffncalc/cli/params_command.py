"""`ffncalc params MODEL...`."""

from ffncalc.cli import output
from ffncalc.cli.models import load_all
from ffncalc.cli.options import Explain, Format, Head, Json, Models, Strict, Tied, VocabSize, output_format


def command(
    models: Models,
    head: Head = None,
    vocab_size: VocabSize = None,
    tied: Tied = None,
    strict: Strict = False,
    format: Format = "table",
    json: Json = False,
    explain: Explain = False,
) -> None:
    """Per kind of layer, by component and in total: what is stored, and what one token passes through.

    The FFN's share of a block comes first. --explain gives the formula of every number.
    """
    from ffncalc.export import params_data
    from ffncalc.report.params import params

    form = output_format(format, json)
    reports = [params(model) for model in load_all(models, head, vocab_size, tied)]
    output.warn((w for report in reports for w in report.warnings), strict)
    output.show(form, reports, params_data, "params", "explain_params" if explain else None)
