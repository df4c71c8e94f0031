"""BERT with something of its own: other ends, adapters, attention in which not every token meets every other."""

from __future__ import annotations

from collections.abc import Iterator

from ffncalc.blocks.encoder_heads import (
    CLASSIFIERS,
    DENSE_CLASSIFIERS,
    bare_extra,
    next_sentence,
    nothing,
    pretraining,
    tagger,
)
from ffncalc.blocks.ends import lm_head, mlm_head, pooler
from ffncalc.expr import ONE, ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.bert import ALWAYS_PROJECTED, BERT, BERT_HEADS, POOLED, ROBERTA, ROBERTA_HEADS, weights_only
from ffncalc.families.readers import also, derived, flag, key
from ffncalc.families.row import Reader
from ffncalc.ops import ONCE, Op, Weight, linear, lookup, scale
from ffncalc.spec import Spec
from ffncalc.view import View

NO_TYPES = {"embedding.token_types": ZERO}
TAGGERS = {"tagger": tagger, "span": tagger}


# ------------------------------------------------------------------ RemBERT, RoFormer, BERT generation, DPR, Splinter
def _rembert_head(view: View) -> Iterator[Op]:
    d, wide, vocabulary = view.get("d_model"), view.single("output_embedding_size", "d_output"), view.get("n_vocab")
    yield linear("head", "predictions.dense", d, wide, bias=True)
    yield scale("head", "predictions.norm", wide, bias=True)
    yield linear("head", "predictions.decoder", wide, vocabulary, bias=True)


REMBERT = BERT.like(
    "rembert",
    "arXiv:2010.12821; transformers RemBertForMaskedLM: narrow input tables, a wide output matrix, never tied",
    {
        "tied": False,
        "embedding.width": key("input_embedding_size"),
        "stack_extra": ALWAYS_PROJECTED,
        "head_extra": also(_rembert_head, "output_embedding_size"),
    },
    {
        "vocab_size": 250300,
        "hidden_size": 1152,
        "num_hidden_layers": 32,
        "num_attention_heads": 18,
        "intermediate_size": 4608,
        "input_embedding_size": 256,
        "output_embedding_size": 1664,
    },
    ignores=("tie_word_embeddings",),
    heads={"mlm": bare_extra, "causal": bare_extra, "pooler": pooler, **CLASSIFIERS},
)
ROFORMER = BERT.like(
    "roformer",
    "arXiv:2104.09864; transformers RoFormerForMaskedLM: rotary positions, whose sines the class stores; no pooler",
    {
        "embedding.width": key("embedding_size", "d_model"),
        "positions.width": derived(lambda view: view.get("attention.d_head")),
    },
    {"vocab_size": 50000, "max_position_embeddings": 1536},
    ignores=("rotary_value",),
    heads={"mlm": mlm_head, "causal": mlm_head, **DENSE_CLASSIFIERS},
)


def _generation_head(spec: Spec) -> tuple[Op, ...]:
    """The tied output matrix and a bias, which an untied one registers twice."""
    (head,) = lm_head(spec)
    bias = Weight("lm_head.bias", (spec.n_vocab or ZERO,), copies=ONE if spec.tied else 2 * ONE)
    return (head._replace(weights=(*head.weights, bias)),)


BERT_GENERATION = BERT.like(
    "bert-generation",
    "arXiv:1907.12461; transformers BertGenerationDecoder, BertGenerationEncoder: no token types, no pooler, no "
    "transform",
    NO_TYPES,
    {
        "vocab_size": 50358,
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
    },
    heads={"causal": _generation_head},
)


def _dpr_projection(view: View) -> Iterator[Op]:
    wide = view.size("projection_dim", "d_projection", zero=True)
    if isinstance(wide, Expr) and wide.value:
        yield linear("other", "encode_proj", view.get("d_model"), wide, bias=True, rows=ONCE)


DPR = BERT.like(
    "dpr",
    "arXiv:2004.04906; transformers DPRQuestionEncoder, DPRContextEncoder: no pooler, a projection where "
    "projection_dim says so",
    {"cross": False, "model_extra": also(_dpr_projection, "projection_dim")},
    ignores=("is_decoder", "add_cross_attention", "tie_word_embeddings"),
    heads={"none": nothing},
)
SPLINTER = BERT.like(
    "splinter",
    "arXiv:2101.00438; transformers SplinterModel: no pooler, and no head that is counted",
    {"cross": False},
    ignores=("question_token_id", "tie_word_embeddings"),
    heads={"none": nothing},
)


# ------------------------------------------------------------------ LUKE, RoCBERT, X-MOD
def _entities(view: View) -> Iterator[Op]:
    d, rows, wide = (
        view.get("d_model"),
        view.single("entity_vocab_size", "n_entities"),
        view.single("entity_emb_size", "d_entity"),
    )
    yield lookup("embedding", "embed_entities", rows, wide)
    if wide.value != d.value:
        yield weights_only(linear("embedding", "entity_projection", wide, d))
    positions = view.get("positions.n_positions") + view.get("positions.offset")
    yield lookup("embedding", "embed_entity_positions", positions, d)
    yield lookup("embedding", "embed_entity_types", view.get("embedding.token_types"), d)
    yield scale("norm", "entity_norm", d, bias=True)


def _entity_queries(view: View) -> Iterator[Op]:
    if view.flag("use_entity_aware_attention"):
        d = view.get("d_model")
        yield from (
            weights_only(linear("attention", f"{name}_query", d, d, bias=True)) for name in ("w2e", "e2w", "e2e")
        )


def _entity_head(view: View) -> Iterator[Op]:
    d, rows, wide = (
        view.get("d_model"),
        view.single("entity_vocab_size", "n_entities"),
        view.single("entity_emb_size", "d_entity"),
    )
    ops = (
        linear("head", "entity_predictions.dense", d, wide, bias=True),
        scale("head", "entity_predictions.norm", wide, bias=True),
        linear("head", "entity_predictions.decoder", wide, rows, tied=view.get("tied")),
        scale("head", "entity_predictions.bias", rows),
    )
    yield from map(weights_only, ops)


def _luke_head(spec: Spec) -> tuple[Op, ...]:
    """The pooler; words as RoBERTa's head predicts them, on a matrix of its own whatever is tied; and entities."""
    own = mlm_head(spec._replace(tied=False), untied_biases=1 if spec.tied else 2)
    return (*pooler(spec), *own, *spec.head_extra)


ENTITY_KEYS = ("entity_vocab_size", "entity_emb_size")
LUKE = ROBERTA.like(
    "luke",
    "arXiv:2010.01057; transformers LukeForMaskedLM: a table of entities and queries for them; FLOPs are those of "
    "text alone",
    {
        "cross": False,
        "extra": also(_entity_queries, "use_entity_aware_attention"),
        "stack_extra": also(_entities, *ENTITY_KEYS),
        "head_extra": also(_entity_head, *ENTITY_KEYS),
    },
    {
        "vocab_size": 50267,
        "entity_vocab_size": 500000,
        "entity_emb_size": 256,
        "use_entity_aware_attention": True,
    },
    ignores=("bert_model_name", "cls_entity_prediction"),
    heads={"mlm": _luke_head, "pooler": pooler, **TAGGERS},
)


def _sound_and_shape(view: View) -> Iterator[Op]:
    d, sound, shape = (
        view.get("d_model"),
        view.single("pronunciation_embed_dim", "d_sound"),
        view.single("shape_embed_dim", "d_shape"),
    )
    yield lookup("embedding", "embed_pronunciation", view.single("pronunciation_vocab_size", "n_sounds"), sound)
    yield lookup("embedding", "embed_shape", view.single("shape_vocab_size", "n_shapes"), shape)
    if view.flag("concat_input"):
        joined = d + (sound if view.flag("enable_pronunciation") else 0) + (shape if view.flag("enable_shape") else 0)
        yield linear("embedding", "map_inputs_layer", joined, d, bias=True)


SOUND_DEFAULTS = {
    "enable_pronunciation": True,
    "enable_shape": True,
    "pronunciation_embed_dim": 768,
    "pronunciation_vocab_size": 910,
    "shape_embed_dim": 512,
    "shape_vocab_size": 24858,
    "concat_input": True,
}
ROC_BERT = BERT.like(
    "roc_bert",
    "doi:10.18653/v1/2022.acl-long.65; transformers RoCBertForMaskedLM: tables for the sound and the shape of a "
    "character",
    {"stack_extra": also(_sound_and_shape, *SOUND_DEFAULTS)},
    SOUND_DEFAULTS,
    heads={k: head for k, head in BERT_HEADS.items() if k not in ("pretraining", "nsp")},
)


def _adapters(view: View) -> Iterator[Op]:
    """X-MOD: one adapter for each language, of which a token passes through its own."""
    d, languages, _ = view.get("d_model"), *view.resolver.raw("languages")
    if not isinstance(languages, list):
        view.fail("languages has to be a list", "languages")
    if view.flag("adapter_layer_norm"):
        yield scale("norm", "adapter_norm", d, bias=True)
    factor = view.number("adapter_reduction_factor") or 1
    narrow, copies = (
        size("d_adapter", d.value // factor, f"d_model / {factor}"),
        size("n_languages", len(set(languages)), "languages"),
    )
    for name, rows, columns in (("dense1", d, narrow), ("dense2", narrow, d)):
        yield linear("ffn", f"adapter.{name}", rows, columns, bias=True, copies=copies)._replace(uses=ONE)


XMOD = ROBERTA.like(
    "xmod",
    "arXiv:2205.06266; transformers XmodForMaskedLM: RoBERTa with an adapter for each language in each layer",
    {
        "norm.place": flag("pre_norm", "pre", "post"),
        "norm.final": flag("pre_norm"),
        "extra": also(_adapters, "languages", "adapter_reduction_factor", "adapter_layer_norm"),
    },
    {"vocab_size": 30522, "adapter_reduction_factor": 2, "languages": ["en_XX"]},
    ignores=("adapter_reuse_layer_norm", "ln_before_adapter", "default_language"),
    heads=ROBERTA_HEADS,
)


# ------------------------------------------------------------------ attention that doesn't meet every key
def _head_convolution(name: str) -> Reader:
    def ops(view: View) -> Iterator[Op]:
        taps = view.size(name, "taps")
        if isinstance(taps, Expr):
            yield scale("attention", "self_attn.conv", view.get("attention.n_heads"), taps)

    return also(ops, name)


TWO_MORE_POSITIONS = {"cross": False, "positions.offset": 2}
NYSTROMFORMER = BERT.like(
    "nystromformer",
    "arXiv:2102.03902; transformers NystromformerForMaskedLM: a convolution beside each head, no pooler",
    {**TWO_MORE_POSITIONS, "extra": _head_convolution("conv_kernel_size")},
    {"vocab_size": 30000, "max_position_embeddings": 510, "conv_kernel_size": 65},
    ignores=("segment_means_seq_len", "num_landmarks", "inv_coeff_init_option", "add_cross_attention", "is_decoder"),
    heads={"mlm": mlm_head, **DENSE_CLASSIFIERS},
    flops="tokens meet through landmarks",
)
YOSO = BERT.like(
    "yoso",
    "arXiv:2111.09714; transformers YosoForMaskedLM: attention by hashing, no pooler",
    {**TWO_MORE_POSITIONS, "extra": _head_convolution("conv_window")},
    {"vocab_size": 50265, "max_position_embeddings": 4096, "type_vocab_size": 1},
    ignores=(
        "use_expectation",
        "hash_code_len",
        "num_hash",
        "use_fast_hash",
        "lsh_backward",
        "add_cross_attention",
        "is_decoder",
    ),
    heads={"mlm": mlm_head, **DENSE_CLASSIFIERS},
    flops="which tokens meet depends on their hashes",
)
MRA = BERT.like(
    "mra",
    "arXiv:2207.10284; transformers MraForMaskedLM: attention at two resolutions, no pooler",
    TWO_MORE_POSITIONS,
    {"vocab_size": 50265, "type_vocab_size": 1},
    ignores=(
        "block_per_row",
        "approx_mode",
        "initial_prior_first_n_blocks",
        "initial_prior_diagonal_n_blocks",
        "add_cross_attention",
        "is_decoder",
    ),
    heads={"mlm": mlm_head, **DENSE_CLASSIFIERS},
    flops="which blocks of tokens meet depends on the data",
)


def _all_meet(view: View, switch: str) -> str:
    full = (view.text("attention_type") or "block_sparse") == "original_full"
    return "" if full else "random blocks of tokens meet; attention_type: original_full is counted"


BIG_BIRD = BERT.like(
    "big_bird",
    "arXiv:2007.14062; transformers BigBirdForMaskedLM: blocks of tokens that meet at random; always with the pooler",
    {
        **POOLED,
        "attention.bias": flag("use_bias", "qkvo", "o"),
        "flops": Reader(("attention_type",), _all_meet, holds_it=False),
    },
    {"vocab_size": 50358, "max_position_embeddings": 4096, "use_bias": True},
    ignores=("rescale_embeddings", "block_size", "num_random_blocks"),
    heads={
        "mlm": mlm_head,
        "causal": mlm_head,
        "pretraining": lambda spec: pretraining(spec)[:-2] + next_sentence(spec)[1:],
        "classifier": DENSE_CLASSIFIERS["classifier"],
        "tagger": tagger,
    },
)


def _global_projections(view: View) -> Iterator[Op]:
    d = view.get("d_model")
    yield from (linear("attention", f"self_attn.{name}_global", d, d, bias=True) for name in ("query", "key", "value"))


LONGFORMER = ROBERTA.like(
    "longformer",
    "arXiv:2004.05150; transformers LongformerForMaskedLM: queries, keys and values of their own for global tokens",
    {"cross": False, "extra": also(_global_projections)},
    {"vocab_size": 30522},
    ignores=(
        "attention_window",
        "onnx_export",
        "attention_mode",
        "attention_dilation",
        "autoregressive",
        "ignore_attention_mask",
    ),
    heads={k: head for k, head in ROBERTA_HEADS.items() if k not in ("causal", "span")},
    flops="which tokens are global is up to the task",
)

ROWS = by_name(
    REMBERT,
    ROFORMER,
    BERT_GENERATION,
    DPR,
    SPLINTER,
    LUKE,
    ROC_BERT,
    XMOD,
    NYSTROMFORMER,
    YOSO,
    MRA,
    BIG_BIRD,
    LONGFORMER,
)
