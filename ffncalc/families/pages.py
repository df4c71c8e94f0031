"""BERT for pages: encoders that also know where on a page, in a table or in a document's tree each token stands."""

from __future__ import annotations

from collections.abc import Iterator

from ffncalc.blocks.encoder_heads import CLASSIFIERS, DENSE_CLASSIFIERS, label_of_sequence, nothing, tagger
from ffncalc.blocks.ends import mlm_head, pooler
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.bert import BERT, POOLED, ROBERTA, weights_only
from ffncalc.families.readers import also, count, flag, key, when
from ffncalc.ops import Op, Weight, contraction, linear, lookup, scale
from ffncalc.spec import Spec
from ffncalc.view import View


def pooled_tagger(spec: Spec) -> tuple[Op, ...]:
    """A class for each token, and a pooler that nothing reads."""
    return (*pooler(spec), *tagger(spec))


def _boxes(view: View, x_and_y: Expr, width_and_height: Expr) -> Iterator[Op]:
    rows = view.single("max_2d_position_embeddings", "n_positions_2d")
    for name, width in (("x", x_and_y), ("y", x_and_y), ("h", width_and_height), ("w", width_and_height)):
        yield lookup("embedding", f"embed_{name}_positions", rows, width)


LAYOUTLM = BERT.like(
    "layoutlm",
    "arXiv:1912.13318; transformers LayoutLMForMaskedLM: tables for the edges and sizes of boxes; always with the "
    "pooler",
    {
        **POOLED,
        "cross": False,
        "stack_extra": also(
            lambda view: _boxes(view, view.get("d_model"), view.get("d_model")), "max_2d_position_embeddings"
        ),
    },
    {"max_2d_position_embeddings": 1024},
    heads={"mlm": mlm_head, "classifier": label_of_sequence, "tagger": tagger, "span": tagger},
)


def _seven_types(view: View) -> Iterator[Op]:
    sizes, _ = view.resolver.raw("type_vocab_sizes")
    if not isinstance(sizes, list) or not all(isinstance(n, int) and n > 0 for n in sizes):
        view.fail("type_vocab_sizes has to be a list of sizes", "type_vocab_sizes")
    for i, rows in enumerate(sizes):
        yield lookup(
            "embedding",
            f"embed_token_types_{i}",
            size("token_types", rows, f"type_vocab_sizes[{i}]"),
            view.get("d_model"),
        )


TAPAS = BERT.like(
    "tapas",
    "arXiv:2004.02349; transformers TapasForMaskedLM: a table of token types for each property of a cell",
    {"embedding.token_types": ZERO, "stack_extra": also(_seven_types, "type_vocab_sizes")},
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
    d, unit = view.get("d_model"), view.single("xpath_unit_hidden_size", "d_unit")
    depth = view.single("max_depth", "max_depth")
    tags, subscripts = (
        view.single("max_xpath_tag_unit_embeddings", "n_tags"),
        view.single("max_xpath_subs_unit_embeddings", "n_subs"),
    )
    yield lookup("embedding", "xpath_tags", tags, unit, copies=depth)
    yield lookup("embedding", "xpath_subscripts", subscripts, unit, copies=depth)
    yield weights_only(linear("embedding", "xpath_unitseq2_embeddings", depth * unit, d, bias=True))
    yield linear("embedding", "xpath_unitseq2_inner", depth * unit, 4 * d, bias=True)
    yield linear("embedding", "xpath_inner2emb", 4 * d, d, bias=True)


MARKUPLM = BERT.like(
    "markuplm",
    "arXiv:2110.08518; transformers MarkupLMModel: the path of each token in the document, through an FFN; one of "
    "its matrices "
    "is stored and never runs",
    {
        "cross": False,
        "stack_extra": also(
            _paths,
            "xpath_unit_hidden_size",
            "max_depth",
            "max_xpath_tag_unit_embeddings",
            "max_xpath_subs_unit_embeddings",
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
    return size(
        "d_layout" if wide.value == view.get("d_model").value else "d_ff_layout",
        wide.value // ratio,
        f"1/{ratio} of it",
    )


def _layout_stream(view: View) -> Iterator[Op]:
    """LiLT's second stream beside each layer: narrower, its scores added to the text's."""
    d, d_ff, heads = (
        _narrow(view, view.get("d_model")),
        _narrow(view, view.get("ffn.d_ff")),
        view.get("attention.n_heads"),
    )
    for name in ("query", "key", "value"):
        yield linear("attention", f"layout_{name}", d, d, bias=True)
    pairs = contraction(
        "attention", "layout_scores", heads, size("d_head_layout", d.value // heads.value, "d_layout / n_heads")
    )
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
        yield from _boxes(view, view.single("coordinate_size", "d_coordinate"), view.single("shape_size", "d_shape"))
    if view.flag("visual_embed"):
        patch, channels = view.single("patch_size", "patch"), view.single("num_channels", "n_channels")
        one = size("one", 1)
        patches = size("n_patches", (view.number("input_size") // patch.value) ** 2, "(input_size / patch_size)²")
        weights = (Weight("patch_embed.weight", (d, channels, patch, patch)), Weight("patch_embed.bias", (d,)))
        yield Op("patch_embed", "embedding", weights)
        yield Op("pos_embed", "embedding", (Weight("pos_embed", (one, patches + 1, d)),))
        yield Op("cls_token", "other", (Weight("cls_token", (one, one, d)),))
        yield from (scale("norm", name, d, bias=True) for name in ("patch_norm", "page_norm"))
    if view.flag("has_relative_attention_bias"):
        yield weights_only(linear("other", "rel_pos_bias", view.single("rel_pos_bins", "bins"), heads))
    if view.flag("has_spatial_attention_bias"):
        bins = view.single("rel_2d_pos_bins", "bins_2d")
        yield from (weights_only(linear("other", f"rel_pos_{axis}_bias", bins, heads)) for axis in "xy")


PAGE_KEYS = [
    "text_embed",
    "max_2d_position_embeddings",
    "coordinate_size",
    "shape_size",
    "visual_embed",
    "patch_size",
    "num_channels",
    "input_size",
    "has_relative_attention_bias",
    "rel_pos_bins",
    "has_spatial_attention_bias",
    "rel_2d_pos_bins",
]
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

ROWS = by_name(LAYOUTLM, TAPAS, BROS, MARKUPLM, LILT, LAYOUTLMV3)
