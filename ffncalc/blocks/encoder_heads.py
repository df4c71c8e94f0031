"""What stands on an encoder beside its masked-LM head: classifiers, and the second task of its pretraining.

A classifier of whole sequences works on one vector a sequence (rows ONCE), a tagger on every token.
"""

from __future__ import annotations

from functools import partial

from ffncalc.blocks.ends import lm_head, mlm_head, pooler
from ffncalc.expr import Expr
from ffncalc.families.row import HeadBuilder
from ffncalc.ops import ONCE, TOKEN, Op, Rows, linear
from ffncalc.spec import Spec

mlm_head_once = partial(mlm_head, untied_biases=1)  # its bias is the output matrix's own, as ELECTRA's generator has it


def extra_then(head: HeadBuilder) -> HeadBuilder:
    """`head_extra`, then `head` without it."""
    return lambda spec: (*spec.head_extra, *head(spec))


transformed_lm_head = extra_then(lm_head)


def bare_extra(spec: Spec) -> tuple[Op, ...]:
    """A head that is `head_extra` and nothing else."""
    return spec.head_extra


def to_labels(spec: Spec, rows: Rows = TOKEN, classes: Expr | int | None = None) -> Op:
    """d_model x classes with a bias: as many classes as the config's labels, unless stated."""
    return linear(
        "head", "classifier", spec.d_model, spec.n_labels if classes is None else classes, bias=True, rows=rows
    )


def tagger(spec: Spec) -> tuple[Op, ...]:
    """A class for each token (or, with two of them, the start and the end of an answer)."""
    return (to_labels(spec),)


def pooled_classifier(spec: Spec, classes: Expr | int | None = None) -> tuple[Op, ...]:
    """The pooler and a class for the sequence."""
    return (*pooler(spec), to_labels(spec, ONCE, classes))


def dense_classifier(spec: Spec, classes: Expr | int | None = None) -> tuple[Op, ...]:
    """RoBERTa's classifier: a dense layer of its own in place of the pooler, then the classes."""
    dense = linear("head", "classifier.dense", spec.d_model, spec.d_model, bias=True, rows=ONCE)
    return (dense, to_labels(spec, ONCE, classes))


def label_of_sequence(spec: Spec) -> tuple[Op, ...]:
    """Nothing but the classes, on a mean or on the first token."""
    return (to_labels(spec, ONCE),)


def extra_once_classifier(spec: Spec, classes: Expr | int | None = None) -> tuple[Op, ...]:
    """`head_extra` on one vector a sequence, then the classes."""
    return (*(op._replace(rows=ONCE) for op in spec.head_extra), to_labels(spec, ONCE, classes))


def nothing(spec: Spec) -> tuple[Op, ...]:
    """The bare stack, where that is what the family is used as."""
    return ()


def next_sentence(spec: Spec) -> tuple[Op, ...]:
    """The pooler, and whether one sentence follows another."""
    return pooled_classifier(spec, 2)


def pretraining(spec: Spec) -> tuple[Op, ...]:
    """Both tasks of BERT's pretraining: masked tokens and the next sentence."""
    return (*mlm_head(spec), *next_sentence(spec))


def sentence_order(spec: Spec) -> tuple[Op, ...]:
    """Both tasks of ALBERT's pretraining: masked tokens, and the order of two sentences as a label."""
    return (*mlm_head(spec), *pooled_classifier(spec))


def discriminator(spec: Spec) -> tuple[Op, ...]:
    """ELECTRA's discriminator: for each token a dense layer and one number, whether it was replaced."""
    return (
        linear("head", "discriminator.dense", spec.d_model, spec.d_model, bias=True),
        linear("head", "discriminator.prediction", spec.d_model, 1, bias=True),
    )


# By the name of the class's ending (ffncalc.resolve): what BERT's kin and RoBERTa's kin have.
CLASSIFIERS: dict[str, HeadBuilder] = {"classifier": pooled_classifier, "tagger": tagger, "span": tagger}
DENSE_CLASSIFIERS: dict[str, HeadBuilder] = {"classifier": dense_classifier, "tagger": tagger, "span": tagger}
POOLED_CHOICE: dict[str, HeadBuilder] = {"choice": partial(pooled_classifier, classes=1)}
DENSE_CHOICE: dict[str, HeadBuilder] = {"choice": partial(dense_classifier, classes=1)}
