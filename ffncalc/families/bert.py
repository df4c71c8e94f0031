"""BERT and the encoders of its kind: post-norm blocks on learned positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ffncalc.blocks.encoder_heads import (
    CLASSIFIERS,
    DENSE_CHOICE,
    DENSE_CLASSIFIERS,
    POOLED_CHOICE,
    discriminator,
    mlm_head_once,
    next_sentence,
    pretraining,
    sentence_order,
)
from ffncalc.blocks.ends import mlm_head, pooler
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.readers import also, count, derived, divided, flag, key, text
from ffncalc.families.row import PerLayer, Reader, Row
from ffncalc.ops import ONCE, Op, linear, lookup
from ffncalc.spec import Ffn
from ffncalc.view import View


def _cross(view: View, switch: str) -> bool:
    """Cross-attention in each layer: only as a decoder, which the classes insist on."""
    if view.flag("add_cross_attention") and not view.flag("is_decoder"):
        view.fail("add_cross_attention needs is_decoder: true", "add_cross_attention")
    return view.flag("add_cross_attention")


AS_DECODER = Reader(("add_cross_attention", "is_decoder"), _cross, holds_it=False)


def _decodes(view: View, switch: str) -> bool:
    """is_decoder masks what follows a token, in the classes that know of being a decoder."""
    return view.resolver.row.says["cross"] is AS_DECODER and view.flag("is_decoder")


DECODES = Reader(("is_decoder",), _decodes, holds_it=False)


def usable_positions(name: str, offset: int) -> Reader:
    """A table of which the first `offset` rows are never met, because positions start after the padding token's."""

    def read(view: View, switch: str) -> Expr:
        rows = view.size(name, switch) or view.missing(name)
        if not isinstance(rows, Expr) or rows.value <= offset:
            view.fail(f"{name} has to be more than {offset}: its first {offset} rows belong to no position", name)
        return size("n_positions", rows.value - offset, f"{name} - {offset}")

    return Reader((name,), read)


AFTER_PADDING = {"positions.n_positions": usable_positions("max_position_embeddings", 2), "positions.offset": 2}


def _pooler(view: View) -> Iterator[Op]:
    """A pooler that is part of the stack, whatever head stands on it."""
    yield linear("other", "pooler", view.get("d_model"), view.get("d_model"), bias=True, rows=ONCE)


POOLED = {"model_extra": also(_pooler)}


def weights_only(op: Op) -> Op:
    """An operation that text alone never runs."""
    return op._replace(axes=())


# Only files of MosaicBERT (arXiv:2312.17482) and JinaBERT (arXiv:2310.19923) have these keys;
# their model_type is bert's.
GATED_KEYS = ("feed_forward_type", "alibi_starting_size")


def half_gated(f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """A gated FFN with a bias on the way down only, as in the code published with MosaicBERT and JinaBERT."""
    yield linear("ffn", f"{prefix}.gate_proj", d, f.d_ff)
    yield linear("ffn", f"{prefix}.up_proj", d, f.d_ff)
    yield linear("ffn", f"{prefix}.down_proj", f.d_ff, d, bias=True)


def _ffn_kind(view: View, switch: str) -> Any:
    kind = view.text("feed_forward_type")
    gated = view.number("alibi_starting_size") > 0 if kind is None else kind != "original"
    return half_gated if gated else "plain"


def _positions(view: View, switch: str) -> str:
    """ALiBi in those two, learned elsewhere: the class takes no notice of what else position_embedding_type says."""
    stated = view.text("feed_forward_type") is not None and view.text("position_embedding_type") == "alibi"
    return "alibi" if stated or view.number("alibi_starting_size") > 0 else "learned"


BERT_HEADS = {
    "mlm": mlm_head,
    "causal": mlm_head,
    "pretraining": pretraining,
    "nsp": next_sentence,
    "pooler": pooler,
    **CLASSIFIERS,
    **POOLED_CHOICE,
}
ROBERTA_HEADS = {"mlm": mlm_head, "causal": mlm_head, "pooler": pooler, **DENSE_CLASSIFIERS, **POOLED_CHOICE}

BERT = Row(
    name="bert",
    source="arXiv:1810.04805; transformers BertForMaskedLM, BertModel (pooler)",
    heads=BERT_HEADS,
    stacks=("encoder",),
    says={
        "d_model": key("hidden_size"),
        "n_layers": key("num_hidden_layers"),
        "n_vocab": key("vocab_size"),
        "tied": flag("tie_word_embeddings"),
        "cross": AS_DECODER,
        "decodes": DECODES,
        "attention.n_heads": key("num_attention_heads"),
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "attention.bias": "qkvo",
        "ffn.kind": Reader(GATED_KEYS, _ffn_kind, holds_it=False),
        "ffn.activation": text("hidden_act", "gelu"),
        "ffn.d_ff": key("intermediate_size"),
        "ffn.bias": True,
        "norm.place": "post",
        "norm.final": False,
        "positions.kind": Reader((*GATED_KEYS, "position_embedding_type"), _positions, holds_it=False),
        "positions.n_positions": key("max_position_embeddings"),
        "embedding.token_types": count("type_vocab_size"),
        "embedding.norm": True,
    },
    defaults={
        "vocab_size": 30522,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "tie_word_embeddings": True,
    },
    ignores=(
        "directionality", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
        "pooler_size_per_head", "pooler_type", "emb_pooler",
    ),
)  # fmt: skip

ROBERTA = BERT.like(
    "roberta",
    "arXiv:1907.11692; transformers RobertaForMaskedLM: positions start after the padding token's, at 2",
    AFTER_PADDING,
    {"vocab_size": 50265},
    heads=ROBERTA_HEADS,
)
XLM_ROBERTA = ROBERTA.like(
    "xlm-roberta", "arXiv:1911.02116; transformers XLMRobertaForMaskedLM", None, {"vocab_size": 30522}
)
CAMEMBERT = XLM_ROBERTA.like("camembert", "arXiv:1911.03894; transformers CamembertForMaskedLM")
DATA2VEC = XLM_ROBERTA.like("data2vec-text", "arXiv:2202.03555; transformers Data2VecTextForMaskedLM")
PRE_NORM = {"norm.place": "pre", "norm.final": True}
XLM_ROBERTA_XL = ROBERTA.like(
    "xlm-roberta-xl",
    "arXiv:2105.00572; transformers XLMRobertaXLForMaskedLM: pre-norm, no norm on the embeddings",
    {**PRE_NORM, "embedding.norm": False},
    {
        "vocab_size": 250880,
        "hidden_size": 2560,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "intermediate_size": 10240,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
    },
)
ROBERTA_PRELAYERNORM = ROBERTA.like(
    "roberta-prelayernorm", "arXiv:1904.01038; transformers RobertaPreLayerNormForMaskedLM: pre-norm", PRE_NORM
)
IBERT = XLM_ROBERTA.like(
    "ibert",
    "arXiv:2101.01321; transformers IBertForMaskedLM: RoBERTa in integers",
    {"cross": False},
    ignores=("quant_mode", "force_dequant"),
)


def _task_types(view: View) -> Iterator[Op]:
    """ERNIE's table of task types, where the config switches it on."""
    if view.flag("use_task_id"):
        yield lookup(
            "embedding", "embed_task_types", view.single("task_type_vocab_size", "task_types"), view.get("d_model")
        )


ERNIE = BERT.like(
    "ernie",
    "arXiv:1904.09223; transformers ErnieForMaskedLM",
    {"stack_extra": also(_task_types, "use_task_id", "task_type_vocab_size")},
    {"task_type_vocab_size": 3},
)
MEGATRON_BERT = BERT.like(
    "megatron-bert",
    "arXiv:1909.08053; transformers MegatronBertForMaskedLM: pre-norm, no norm on the embeddings",
    {**PRE_NORM, "embedding.norm": False},
    {
        "vocab_size": 29056,
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
    },
)
ELECTRA = BERT.like(
    "electra",
    "arXiv:2003.10555; transformers ElectraForMaskedLM (generator), ElectraForPreTraining (discriminator): no pooler",
    {"embedding.width": key("embedding_size")},
    {"embedding_size": 128, "hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024},
    heads={
        "mlm": mlm_head_once,
        "causal": mlm_head_once,
        "pretraining": discriminator,
        **DENSE_CLASSIFIERS,
        **DENSE_CHOICE,
    },
)


def _stored_layers(view: View, switch: str) -> Expr:
    """ALBERT stores num_hidden_groups groups of inner_group_num layers; num_hidden_layers says how often groups run."""
    groups, inner = (view.single(name, name) for name in ("num_hidden_groups", "inner_group_num"))
    return size("n_stored", groups.value * inner.value, "num_hidden_groups x inner_group_num")


def _runs(view: View, switch: str) -> Expr | PerLayer:
    """How often a stored layer runs: group floor(i / (layers / groups)) stands at place i."""
    layers, groups = view.single("num_hidden_layers", "runs"), view.number("num_hidden_groups")
    if layers.value % groups == 0:
        return size("runs", layers.value // groups, "num_hidden_layers / num_hidden_groups")
    met = [i * groups // layers.value for i in range(layers.value)]
    inner = view.number("inner_group_num")
    return PerLayer(size("runs", met.count(group), f"group {group}") for group in range(groups) for _ in range(inner))


def _projected_anyway(view: View) -> Iterator[Op]:
    """The projection of the tables to d_model where both are as wide: ALBERT's kin has it all the same."""
    d, width = view.get("d_model"), view.get("embedding.width")
    if d.value == width.value:
        yield linear("embedding", "embed_projection", width, d, bias=True)


ALWAYS_PROJECTED = also(_projected_anyway)
ALBERT_LAYERS = ("num_hidden_layers", "num_hidden_groups", "inner_group_num")
ALBERT = BERT.like(
    "albert",
    "arXiv:1909.11942; transformers AlbertForMaskedLM: one group of layers that runs num_hidden_layers times",
    {
        "cross": False,
        "n_layers": Reader(ALBERT_LAYERS, _stored_layers),
        "runs": Reader(ALBERT_LAYERS, _runs),
        "embedding.width": key("embedding_size"),
        "stack_extra": ALWAYS_PROJECTED,
    },
    {
        "vocab_size": 30000,
        "embedding_size": 128,
        "hidden_size": 4096,
        "num_attention_heads": 64,
        "intermediate_size": 16384,
        "num_hidden_groups": 1,
        "inner_group_num": 1,
    },
    ignores=("down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks"),
    heads={"mlm": mlm_head, "pretraining": sentence_order, "pooler": pooler, **CLASSIFIERS, **POOLED_CHOICE},
)
DISTILBERT = BERT.like(
    "distilbert",
    "arXiv:1910.01108; transformers DistilBertForMaskedLM: no token types, no pooler",
    {
        "cross": False,
        "d_model": key("dim"),
        "n_layers": key("n_layers"),
        "attention.n_heads": key("n_heads"),
        "ffn.activation": text("activation", "gelu"),
        "ffn.d_ff": key("hidden_dim"),
        "embedding.token_types": ZERO,
    },
    {"dim": 768, "n_layers": 6, "n_heads": 12, "hidden_dim": 3072},
    spellings={"hidden_size": "dim", "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers"},
    ignores=("sinusoidal_pos_embds", "qa_dropout", "seq_classif_dropout"),
    heads={"mlm": mlm_head_once, **DENSE_CLASSIFIERS, **DENSE_CHOICE},
)


def _relative_positions(view: View) -> Iterator[Op]:
    """One number a head for each bucket of relative positions, for all layers."""
    buckets = view.single("relative_attention_num_buckets", "relative")
    yield lookup("attention", "relative_attention_bias", buckets, view.get("attention.n_heads"))


MPNET = BERT.like(
    "mpnet",
    "arXiv:2004.09297; transformers MPNetForMaskedLM: one table of relative positions for all layers, no token types",
    {
        **AFTER_PADDING,
        "cross": False,
        "embedding.token_types": ZERO,
        "stack_extra": also(_relative_positions, "relative_attention_num_buckets"),
    },
    {"vocab_size": 30527, "relative_attention_num_buckets": 32},
    heads={"mlm": mlm_head, "pooler": pooler, **DENSE_CLASSIFIERS, **POOLED_CHOICE},
)

ROWS = by_name(
    BERT,
    ROBERTA,
    XLM_ROBERTA,
    CAMEMBERT,
    DATA2VEC,
    XLM_ROBERTA_XL,
    ROBERTA_PRELAYERNORM,
    IBERT,
    ERNIE,
    MEGATRON_BERT,
    ELECTRA,
    ALBERT,
    DISTILBERT,
    MPNET,
)
