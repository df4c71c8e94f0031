"""The options that several commands share, declared once, and how their texts are read.

A value stays text until the command reads it with one of the functions below: they say what was given, and what was
meant, which Typer's own messages don't. Declarations keep to one form, because shell completion reads them off the
source: `typer.Option("--name", metavar="...", help="...")`.
"""

from typing import Annotated

import typer

from ffncalc.errors import InputError, nearest

FORMATS = ("table", "json", "csv", "markdown")

# ------------------------------------------------------------------ what is read
Models = Annotated[
    list[str],
    typer.Argument(metavar="MODEL", help="A bundled name, a YAML or JSON file, a folder with config.json, or -."),
]
Head = Annotated[
    str | None,
    typer.Option(
        "--head",
        metavar="causal|mlm|seq2seq|pooler|none",
        help="The head to count (default: what the file names, else the family's language-model head).",
    ),
]
VocabSize = Annotated[
    str | None, typer.Option("--vocab-size", metavar="N", help="Rows of the token embedding, instead of the config's.")
]
Tied = Annotated[
    bool | None, typer.Option("--tied/--untied", help="Whether the head shares the token embedding's matrix.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Take a warning for an error.")]

SeqLen = Annotated[
    str | None,
    typer.Option("--seq-len", metavar="T", help="Tokens a sequence (default: 2048, or the position table's length)."),
]

Seed = Annotated[str, typer.Option("--seed", metavar="N", help="Where the random numbers start.")]

# ------------------------------------------------------------------ what is checked
Asserts = Annotated[
    list[str] | None,
    typer.Option(
        "--assert", metavar="EXPR", help="Exit with 1 unless this holds, such as 'total <= 7B'; may be repeated."
    ),
]

# ------------------------------------------------------------------ what is printed
Out = Annotated[
    str | None,
    typer.Option("--out", metavar="FILE", help="Draw into a .svg, .png or .html file (default: text)."),
]
Format = Annotated[str, typer.Option("--format", metavar="table|json|csv|markdown", help="How to print the result.")]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
Explain = Annotated[bool, typer.Option("--explain", help="Give each number's formula: symbols, then values.")]


def one_of(option: str, text: str, choices: tuple[str, ...]) -> str:
    """The choice that the text names. Raises InputError with all of them, and the nearest."""
    if text in choices:
        return text
    from ffncalc.number import shortened

    near = nearest(text.lower(), choices, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise InputError(f"{option} is one of {', '.join(choices)}, not {shortened(text)}{hint}")


def output_format(text: str, json: bool, formats: tuple[str, ...] = FORMATS) -> str:
    """Which of the formats `--format` and `--json` ask for together."""
    if json and text not in ("table", "json"):
        raise InputError(f"--json and --format {text} ask for two formats; leave one of them")
    return "json" if json else one_of("--format", text, formats)


# ------------------------------------------------------------------ numbers
def whole_number(option: str, text: str) -> int:
    """A positive whole number, exactly: 4096, 4_096, 4,096, 4k (4000), 4Ki (4096), 1.5B, 1e12."""
    from ffncalc.number import read

    try:
        value = read(text)
    except InputError as error:
        raise InputError(f"{option} {error}") from None
    if value is None or value.denominator != 1 or not value:
        raise not_whole(option, text)
    return value.numerator


def optional(option: str, text: str | None) -> int | None:
    """A positive whole number where the option is given."""
    return None if text is None else whole_number(option, text)


def not_whole(option: str, text: str) -> InputError:
    """The error for a text that is no count of anything."""
    from ffncalc.number import shortened

    forms = "write it like 4096, 4k (4000), 4Ki (4096), 1.5B or 1e12"
    return InputError(f"{option} takes a positive whole number, not {shortened(text)}; {forms}")


def positive_number(option: str, text: str) -> float:
    """A positive number that may have a fraction, such as 1.3."""
    from ffncalc.number import shortened

    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise InputError(f"{option} takes a positive number such as 1.3, not {shortened(text)}")
    return value
