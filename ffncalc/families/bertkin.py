"""BERT with something of its own: more tables at the bottom, adapters, attention that doesn't meet every key."""

from __future__ import annotations

from collections.abc import Iterator

from ffncalc.blocks.encoder_heads import (
    CLASSIFIERS,
    DENSE_CLASSIFIERS,
    bare_extra,
    label_of_sequence,
    mlm_head_once,
    next_sentence,
    nothing,
    pretraining,
    tagger,
)
from ffncalc.blocks.ends import lm_head, mlm_head, pooler
from ffncalc.expr import ONE, ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.bert import AFTER_PADDING, ALWAYS_PROJECTED, BERT, BERT_HEADS, ROBERTA, ROBERTA_HEADS
from ffncalc.families.row import Reader, also, count, derived, flag, key, sized, when
from ffncalc.ops import ONCE, Op, Weight, contraction, linear, lookup, scale
from ffncalc.resolve import View
from ffncalc.spec import Spec

NO_TYPES = {"embedding.token_types": ZERO}
TAGGERS = {"tagger": tagger, "span": tagger}


def _pooler(view: View) -> Iterator[Op]:
    """A pooler that is part of the stack, whatever head stands on it."""
    yield linear("other", "pooler", view.get("d_model"), view.get("d_model"), bias=True, rows=ONCE)


POOLED = {"model_extra": also(_pooler)}


def pooled_tagger(spec: Spec) -> tuple[Op, ...]:
    """A class for each token, and a pooler that nothing reads."""
    return (*pooler(spec), *tagger(spec))


def weights_only(op: Op) -> Op:
    """An operation that text alone never runs."""
    return op._replace(axes=())


# ------------------------------------------------------------------ RemBERT, RoFormer, BERT generation, DPR, Splinter
def _rembert_head(view: View) -> Iterator[Op]:
    d, wide, vocabulary = view.get("d_model"), sized(view, "output_embedding_size", "d_output"), view.get("n_vocab")
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
    "arXiv:1907.12461; transformers BertGenerationDecoder, BertGenerationEncoder: no token types, no pooler, no transform",
    NO_TYPES,
    {"vocab_size": 50358, "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096},
    heads={"causal": _generation_head},
)


def _dpr_projection(view: View) -> Iterator[Op]:
    wide = view.size("projection_dim", "d_projection", zero=True)
    if isinstance(wide, Expr) and wide.value:
        yield linear("other", "encode_proj", view.get("d_model"), wide, bias=True, rows=ONCE)


DPR = BERT.like(
    "dpr",
    "arXiv:2004.04906; transformers DPRQuestionEncoder, DPRContextEncoder: no pooler, a projection where projection_dim says so",
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


# ------------------------------------------------------------------ tables for pages, tables and markup
def _boxes(view: View, x_and_y: Expr, width_and_height: Expr) -> Iterator[Op]:
    rows = sized(view, "max_2d_position_embeddings", "n_positions_2d")
    for name, width in (("x", x_and_y), ("y", x_and_y), ("h", width_and_height), ("w", width_and_height)):
        yield lookup("embedding", f"embed_{name}_positions", rows, width)


LAYOUTLM = BERT.like(
    "layoutlm",
    "arXiv:1912.13318; transformers LayoutLMForMaskedLM: tables for the edges and sizes of boxes; always with the pooler",
    {
        **POOLED,
        "cross": False,
        "stack_extra": also(lambda view: _boxes(view, view.get("d_model"), view.get("d_model")), "max_2d_position_embeddings"),
    },
    {"max_2d_position_embeddings": 1024},
    heads={"mlm": mlm_head, "classifier": label_of_sequence, **TAGGERS},
)


def _seven_types(view: View) -> Iterator[Op]:
    sizes, _ = view.resolver.raw("type_vocab_sizes")
    if not isinstance(sizes, list) or not all(isinstance(n, int) and n > 0 for n in sizes):
        view.fail("type_vocab_sizes has to be a list of sizes", "type_vocab_sizes")
    for i, rows in enumerate(sizes):
        yield lookup("embedding", f"embed_token_types_{i}", size("token_types", rows, f"type_vocab_sizes[{i}]"), view.get("d_model"))


TAPAS = BERT.like(
    "tapas",
    "arXiv:2004.02349; transformers TapasForMaskedLM: a table of token types for each property of a cell",
    {**NO_TYPES, "stack_extra": also(_seven_types, "type_vocab_sizes")},
    {"max_position_embeddings": 1024, "type_vocab_sizes": [3, 256, 256, 2, 256, 256, 10]},
    ignores=(
        "positive_label_weight",
        "num_aggregation_labels",
        "aggregation_loss_weight",
        "use_answer_as_supervision",
        "answer_loss_importance",
        "use_normalized_answer_loss",
        "huber_loss_delta",
        "aggregation_temperature",
        "temperature",
        "use_gumbel_for_cells",
        "use_gumbel_for_aggregation",
        "average_approximation_function",
        "cell_selection_preference",
        "answer_loss_cutoff",
        "max_num_rows",
        "max_num_columns",
        "average_logits_per_cell",
        "select_one_column",
        "allow_empty_column_selection",
        "init_cell_selection_weights_to_zero",
        "reset_position_index_per_cell",
        "disable_per_token_loss",
        "aggregation_labels",
        "no_aggregation_label_index",
        "softmax_temperature",
    ),
    heads={"mlm": mlm_head, "pooler": pooler, "classifier": CLASSIFIERS["classifier"]},
)


def _box_projection(view: View) -> Iterator[Op]:
    d, heads = view.get("d_model"), view.get("attention.n_heads")
    sines = view.size("dim_bbox_sinusoid_emb_2d", "d_bbox") or size("d_bbox", d.value // 4, "d_model / 4")
    wide = view.size("dim_bbox_projection", "d_head") or size("d_head", d.value // heads.value, "d_model / n_heads")
    if isinstance(sines, Expr) and isinstance(wide, Expr):
        yield weights_only(linear("embedding", "bbox_projection", sines, wide))


BROS = BERT.like(
    "bros",
    "arXiv:2108.04539; transformers BrosModel: the sines of boxes, projected for each pair of tokens",
    {"stack_extra": also(_box_projection, "dim_bbox_sinusoid_emb_2d", "dim_bbox_projection")},
    ignores=(
        "dim_bbox",
        "bbox_scale",
        "n_relations",
        "dim_bbox_sinusoid_emb_1d",
        "tie_word_embeddings",
    ),
    heads={"pooler": pooler, "tagger": pooled_tagger},
    flops="each pair of tokens has a box of its own, which passes through a matrix",
)


def _paths(view: View) -> Iterator[Op]:
    d, unit = view.get("d_model"), sized(view, "xpath_unit_hidden_size", "d_unit")
    depth = sized(view, "max_depth", "max_depth")
    tags, subscripts = sized(view, "max_xpath_tag_unit_embeddings", "n_tags"), sized(view, "max_xpath_subs_unit_embeddings", "n_subs")
    yield lookup("embedding", "xpath_tags", tags, unit, copies=depth)
    yield lookup("embedding", "xpath_subscripts", subscripts, unit, copies=depth)
    yield weights_only(linear("embedding", "xpath_unitseq2_embeddings", depth * unit, d, bias=True))
    yield linear("embedding", "xpath_unitseq2_inner", depth * unit, 4 * d, bias=True)
    yield linear("embedding", "xpath_inner2emb", 4 * d, d, bias=True)


MARKUPLM = BERT.like(
    "markuplm",
    "arXiv:2110.08518; transformers MarkupLMModel: the path of each token in the document, through an FFN; one of its matrices "
    "is stored and never runs",
    {
        "cross": False,
        "stack_extra": also(
            _paths, "xpath_unit_hidden_size", "max_depth", "max_xpath_tag_unit_embeddings", "max_xpath_subs_unit_embeddings"
        ),
    },
    {
        "max_xpath_tag_unit_embeddings": 256,
        "max_xpath_subs_unit_embeddings": 1024,
        "xpath_unit_hidden_size": 32,
        "max_depth": 50,
    },
    ignores=("tag_pad_id", "subs_pad_id", "tie_word_embeddings"),
    heads={"pooler": pooler, **CLASSIFIERS},
)


def _layout_embeddings(view: View) -> Iterator[Op]:
    d, sixth = view.get("d_model"), size("d_coordinate", view.get("d_model").value // 6, "d_model / 6")
    narrow = _narrow(view, d)
    yield from _boxes(view, sixth, sixth)
    yield lookup("embedding", "embed_box_positions", view.get("positions.n_positions") + 2, narrow)
    yield linear("embedding", "box_linear", 6 * sixth, narrow, bias=True)
    yield scale("norm", "layout_norm", narrow, bias=True)


def _narrow(view: View, wide: Expr) -> Expr:
    ratio = view.number("channel_shrink_ratio") or 1
    return size("d_layout" if wide.value == view.get("d_model").value else "d_ff_layout", wide.value // ratio, f"1/{ratio} of it")


def _layout_stream(view: View) -> Iterator[Op]:
    """LiLT's second stream beside each layer: narrower, its scores added to the text's."""
    d, d_ff, heads = _narrow(view, view.get("d_model")), _narrow(view, view.get("ffn.d_ff")), view.get("attention.n_heads")
    for name in ("query", "key", "value"):
        yield linear("attention", f"layout_{name}", d, d, bias=True)
    pairs = contraction("attention", "layout_scores", heads, size("d_head_layout", d.value // heads.value, "d_layout / n_heads"))
    yield pairs
    yield pairs._replace(name="layout_mixing")
    yield linear("attention", "layout_attention_output", d, d, bias=True)
    yield scale("norm", "layout_attention_norm", d, bias=True)
    yield linear("other", "layout_intermediate", d, d_ff, bias=True)
    yield linear("other", "layout_output", d_ff, d, bias=True)
    yield scale("norm", "layout_output_norm", d, bias=True)


LILT = ROBERTA.like(
    "lilt",
    "arXiv:2202.13669; transformers LiltModel: a narrower stream for the layout beside each layer",
    {
        "cross": False,
        "extra": also(_layout_stream, "channel_shrink_ratio"),
        "stack_extra": also(_layout_embeddings, "max_2d_position_embeddings", "channel_shrink_ratio"),
    },
    {"vocab_size": 30522, "channel_shrink_ratio": 4, "max_2d_position_embeddings": 1024},
    ignores=("tie_word_embeddings",),
    heads={"pooler": pooler, **DENSE_CLASSIFIERS},
)


def _page(view: View) -> Iterator[Op]:
    """LayoutLMv3 beside its text: boxes, the patches of the image, and what the distances between tokens add."""
    d, heads = view.get("d_model"), view.get("attention.n_heads")
    if view.flag("text_embed"):
        yield from _boxes(view, sized(view, "coordinate_size", "d_coordinate"), sized(view, "shape_size", "d_shape"))
    if view.flag("visual_embed"):
        patch, channels = sized(view, "patch_size", "patch"), sized(view, "num_channels", "n_channels")
        patches = size("n_patches", (view.number("input_size") // patch.value) ** 2, "(input_size / patch_size)²")
        weights = (Weight("patch_embed.weight", (d, channels, patch, patch)), Weight("patch_embed.bias", (d,)))
        yield Op("patch_embed", "embedding", (*weights, Weight("pos_embed", (patches + 1, d))))
        yield Op("cls_token", "other", (Weight("cls_token", (d,)),))
        yield from (scale("norm", name, d, bias=True) for name in ("patch_norm", "page_norm"))
    if view.flag("has_relative_attention_bias"):
        yield weights_only(linear("other", "rel_pos_bias", sized(view, "rel_pos_bins", "bins"), heads))
    if view.flag("has_spatial_attention_bias"):
        bins = sized(view, "rel_2d_pos_bins", "bins_2d")
        yield from (weights_only(linear("other", f"rel_pos_{axis}_bias", bins, heads)) for axis in "xy")


PAGE_KEYS = """text_embed max_2d_position_embeddings coordinate_size shape_size visual_embed patch_size num_channels input_size
    has_relative_attention_bias rel_pos_bins has_spatial_attention_bias rel_2d_pos_bins""".split()
LAYOUTLMV3 = ROBERTA.like(
    "layoutlmv3",
    "arXiv:2204.08387; transformers LayoutLMv3Model: text, boxes and image patches in one stack; no pooler",
    {
        "cross": False,
        "n_vocab": when("text_embed", key("vocab_size"))._replace(keys=("vocab_size", "text_embed")),
        "positions.kind": flag("text_embed", "learned", "none"),
        "embedding.token_types": when("text_embed", count("type_vocab_size")),
        "embedding.norm": flag("text_embed"),
        "stack_extra": also(_page, *PAGE_KEYS),
    },
    {
        "max_2d_position_embeddings": 1024,
        "coordinate_size": 128,
        "shape_size": 128,
        "has_relative_attention_bias": True,
        "rel_pos_bins": 32,
        "rel_2d_pos_bins": 64,
        "has_spatial_attention_bias": True,
        "text_embed": True,
        "visual_embed": True,
        "input_size": 224,
        "num_channels": 3,
        "patch_size": 16,
    },
    ignores=("max_rel_pos", "max_rel_2d_pos", "tie_word_embeddings", "second_input_size"),
    heads={"none": nothing},
    flops="what the distance of two tokens adds passes through a matrix, pair by pair",
)


# ------------------------------------------------------------------ LUKE, RoCBERT, X-MOD
def _entities(view: View) -> Iterator[Op]:
    d, rows, wide = view.get("d_model"), sized(view, "entity_vocab_size", "n_entities"), sized(view, "entity_emb_size", "d_entity")
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
        yield from (weights_only(linear("attention", f"{name}_query", d, d, bias=True)) for name in ("w2e", "e2w", "e2e"))


def _entity_head(view: View) -> Iterator[Op]:
    d, rows, wide = view.get("d_model"), sized(view, "entity_vocab_size", "n_entities"), sized(view, "entity_emb_size", "d_entity")
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
    "arXiv:2010.01057; transformers LukeForMaskedLM: a table of entities and queries for them; FLOPs are those of text alone",
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
    d, sound, shape = view.get("d_model"), sized(view, "pronunciation_embed_dim", "d_sound"), sized(view, "shape_embed_dim", "d_shape")
    yield lookup("embedding", "embed_pronunciation", sized(view, "pronunciation_vocab_size", "n_sounds"), sound)
    yield lookup("embedding", "embed_shape", sized(view, "shape_vocab_size", "n_shapes"), shape)
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
    "doi:10.18653/v1/2022.acl-long.65; transformers RoCBertForMaskedLM: tables for the sound and the shape of a character",
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
    narrow, copies = size("d_adapter", d.value // factor, f"d_model / {factor}"), size("n_languages", len(set(languages)), "languages")
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
    ignores=("use_expectation", "hash_code_len", "num_hash", "use_fast_hash", "lsh_backward", "add_cross_attention", "is_decoder"),
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
    ignores=("attention_window", "onnx_export", "attention_mode", "attention_dilation", "autoregressive", "ignore_attention_mask"),
    heads={k: head for k, head in ROBERTA_HEADS.items() if k not in ("causal", "span")},
    flops="which tokens are global is up to the task",
)

ROWS = by_name(
    REMBERT,
    ROFORMER,
    BERT_GENERATION,
    DPR,
    SPLINTER,
    LAYOUTLM,
    TAPAS,
    BROS,
    MARKUPLM,
    LILT,
    LAYOUTLMV3,
    LUKE,
    ROC_BERT,
    XMOD,
    NYSTROMFORMER,
    YOSO,
    MRA,
    BIG_BIRD,
    LONGFORMER,
)
