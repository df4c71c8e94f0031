"""`ffncalc forward [MODEL|VARIANT]`."""

from typing import TYPE_CHECKING, Annotated

import typer

from ffncalc.cli import numeric, output
from ffncalc.cli.options import Explain, Format, Json, Seed, Strict, one_of, optional, output_format, whole_number

if TYPE_CHECKING:
    from ffncalc.model import Model


What = Annotated[
    str,
    typer.Argument(
        metavar="MODEL|VARIANT",
        help="A model, or one FFN: relu, gelu, swish, glu, bilinear, reglu, geglu, swiglu, relu2.",
    ),
]
DModel = Annotated[str | None, typer.Option("--d-model", metavar="D", help="Width of the stream (64, or the input's).")]
DFf = Annotated[
    str | None, typer.Option("--d-ff", metavar="N", help="Hidden width, of an expert too (the model's own ratio).")
]
Rule = Annotated[
    str | None, typer.Option("--rule", metavar="llama|8/3|4d|matched", help="Work the hidden width out by this rule.")
]
MultipleOf = Annotated[
    str | None, typer.Option("--multiple-of", metavar="N", help="Round it to a multiple of this (rule llama).")
]
Tokens = Annotated[str | None, typer.Option("--tokens", metavar="T", help="Tokens (8, or the input's).")]
Layers = Annotated[str, typer.Option("--layers", metavar="N", help="Run the model's first N blocks.")]
Dtype = Annotated[str, typer.Option("--dtype", metavar="float16|float32|float64", help="What the numbers are.")]
Backward = Annotated[bool, typer.Option("--backward", help="Differentiate too, and check each gradient.")]
Weights = Annotated[
    str | None, typer.Option("--weights", metavar="FILE.npz", help="Arrays by the names that --save writes.")
]
Input = Annotated[
    str | None, typer.Option("--input", metavar="X.npy", help="The stream, (T, d_model) or (batch, T, d_model).")
]
Save = Annotated[
    str | None, typer.Option("--save", metavar="OUT.npz", help="Write input, weights, steps and gradients.")
]


def command(
    model: What = "swiglu",
    d_model: DModel = None,
    d_ff: DFf = None,
    rule: Rule = None,
    multiple_of: MultipleOf = None,
    tokens: Tokens = None,
    layers: Layers = "1",
    seed: Seed = "0",
    dtype: Dtype = "float64",
    backward: Backward = False,
    weights: Weights = None,
    input: Input = None,
    save: Save = None,
    strict: Strict = False,
    format: Format = "table",
    json: Json = False,
    explain: Explain = False,
) -> None:
    """On random weights or yours: each step, and the multiply-accumulates executed beside those predicted.

    A model keeps its own structure (norms, attention, residuals, FFN or experts) and its proportions. Without a MODEL
    the SwiGLU FFN runs alone.
    """
    numeric.one_thread()
    from ffncalc.export import forward_data, forward_rows
    from ffncalc.hidden import RULES
    from ffncalc.numeric.feedforward import VARIANTS
    from ffncalc.report.forward import DTYPES, Settings, explain_forward, forward

    form = output_format(format, json)
    settings = Settings(
        d_model=optional("--d-model", d_model),
        d_ff=optional("--d-ff", d_ff),
        rule=one_of("--rule", rule, RULES) if rule is not None else None,
        multiple_of=optional("--multiple-of", multiple_of),
        tokens=optional("--tokens", tokens),
        seed=numeric.seed_number(seed),
        dtype=one_of("--dtype", dtype, DTYPES),
        layers=whole_number("--layers", layers),
        backward=backward,
        weights=weights,
        input=input,
        save=save,
    )
    report = forward(model if model in VARIANTS else _load(model), settings)
    output.warn(report.plan.warnings, strict)
    formulas = explain_forward(report) if explain else None
    numeric.show(form, report, forward_data, forward_rows, "forward.document", formulas)


def _load(name: str) -> "Model":
    """The model, by what reads configs, which an FFN alone has no use for."""
    from ffncalc.loading import load

    return load(name)
