"""The two ends of a model: embeddings at the bottom, heads at the top."""

from __future__ import annotations

from collections.abc import Iterator

from ffncalc.expr import Expr, as_expr
from ffncalc.ops import ONCE, Op, Weight, linear, lookup, scale
from ffncalc.spec import Norm, Spec, Stack

TOKEN_TABLE = "embed_tokens"


def norm(kind: Norm, name: str, width: Expr, part: str = "norm") -> Iterator[Op]:
    """One normalisation of the given width; a kind without weights lists nothing."""
    if kind.kind != "none":
        yield scale(part, name, width, bias=kind.kind == "layer" and kind.bias)


def tokens(spec: Spec) -> Iterator[Op]:
    """The token table."""
    width = spec.stacks[-1].embedding.width or spec.d_model
    yield lookup("embedding", TOKEN_TABLE, spec.n_vocab or 0, width)


def embedding(spec: Spec, stack: Stack) -> Iterator[Op]:
    """What a stack adds to the tokens before its first block: positions, token types, a projection, a norm."""
    name = f"{stack.name}.embed" if len(spec.stacks) > 1 else "embed"
    width = stack.embedding.width or stack.d_model
    if stack.embedding.token_types:
        yield lookup("embedding", f"{name}_token_types", stack.embedding.token_types, width)
    if stack.positions.kind == "learned":
        yield lookup(
            "embedding",
            f"{name}_positions",
            stack.positions.n_positions + stack.positions.offset,
            stack.positions.width or width,
        )
    if stack.embedding.norm:
        yield from norm(stack.norm, f"{name}_norm", width)
    if width.value != stack.d_model.value:
        yield linear("embedding", f"{name}_projection", width, stack.d_model, stack.embedding.bias)


# ------------------------------------------------------------------ heads
def lm_head(spec: Spec) -> tuple[Op, ...]:
    """d_model x n_vocab: the token embedding itself where it is tied."""
    return (linear("head", "lm_head", spec.d_model, spec.n_vocab or 0, spec.head_bias, tied=spec.tied),)


def mlm_head(spec: Spec, untied_biases: int = 2) -> tuple[Op, ...]:
    """BERT's masked-LM head: a transform (dense, norm), then the tied output matrix with a bias of its own.

    An untied one registers that bias twice, the head's and the output matrix's, in most of BERT's kin.
    """
    d, width = spec.d_model, spec.stacks[-1].embedding.width or spec.d_model
    decoder = linear("head", "predictions.decoder", width, spec.n_vocab or 0, tied=spec.tied)
    bias = Weight("predictions.bias", (as_expr(spec.n_vocab or 0),), copies=as_expr(1 if spec.tied else untied_biases))
    return (
        linear("head", "predictions.transform", d, width, bias=True),
        *norm(Norm("layer"), "predictions.norm", width, part="head"),
        decoder._replace(weights=(*decoder.weights, bias)),
    )


def pooler(spec: Spec) -> tuple[Op, ...]:
    """A dense layer on the first token, once a sequence."""
    return (linear("other", "pooler", spec.d_model, spec.d_model, bias=True, rows=ONCE),)
