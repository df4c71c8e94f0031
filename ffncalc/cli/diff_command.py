"""`ffncalc diff OLD NEW`."""

from typing import Annotated

import typer

from ffncalc.cli import output
from ffncalc.cli.models import load_all
from ffncalc.cli.options import Format, Head, Json, SeqLen, Strict, Tied, VocabSize, optional, output_format
from ffncalc.config import Config


def command(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="The old one: a MODEL, or one at a git revision, HEAD~1:model.yaml.")
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new one, likewise.")],
    seq_len: SeqLen = None,
    head: Head = None,
    vocab_size: VocabSize = None,
    tied: Tied = None,
    strict: Strict = False,
    format: Format = "table",
    json: Json = False,
) -> None:
    """Two configs, or one config at two revisions: ffncalc diff HEAD~1:model.yaml model.yaml.

    Numbers that did not move are left out. As Markdown it makes a comment on a pull request.
    """
    from ffncalc.export import diff_data
    from ffncalc.render.diff import document
    from ffncalc.report.diff import diff

    form = output_format(format, json)
    length = optional("--seq-len", seq_len)
    before, after = load_all([at_revision(old), at_revision(new)], head, vocab_size, tied)
    report = diff(before, after, length)
    output.warn(report.warnings, strict)
    names = (old, new)
    if form in ("json", "csv"):
        data = diff_data(report, names)
        output.write_data(form, data["numbers"] if form == "csv" else data)
    else:
        print(output.text(form, [document(report, names)]), end="")


def at_revision(name: str) -> str | Config:
    """A config at a git revision where the name has that form, else the name as it is."""
    from ffncalc.revision import is_revision, read

    return read(name) if is_revision(name) else name
