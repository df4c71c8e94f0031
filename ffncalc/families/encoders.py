"""Encoders on rotary positions: ModernBERT, Nomic BERT, GTE, EuroBERT, ESM and others of their time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ffncalc.blocks.encoder_heads import (
    CLASSIFIERS,
    DENSE_CLASSIFIERS,
    bare_extra,
    extra_once_classifier,
    extra_then,
    label_of_sequence,
    mlm_head_once,
    nothing,
    tagger,
    to_labels,
    transformed_lm_head,
)
from ffncalc.blocks.ends import lm_head, mlm_head, pooler
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.bert import BERT
from ffncalc.families.llama import LLAMA, SIDE_BY_SIDE, SLIDING
from ffncalc.families.readers import also, derived, divided, each_layer, flag, key, layer_types, text
from ffncalc.families.row import PerLayer, Reader
from ffncalc.ops import ONCE, TOKEN, Op, Weight, linear, scale
from ffncalc.spec import Ffn, Spec
from ffncalc.view import View

NO_TABLES = {"cross": False, "positions.kind": "rotary", "embedding.token_types": ZERO}


def every(default: int, name: str = "", first_is_full: bool = False) -> Reader:
    """Windows by rule: of every so many layers (the key's number, if there is one) the last or the first sees all."""

    def kind(view: View, layer: int) -> str:
        period = (view.number(name) if name else 0) or default
        return "full_attention" if (layer if first_is_full else layer + 1) % period == 0 else "sliding_attention"

    keys = (name,) if name else ()
    return Reader(keys, lambda view, switch: PerLayer(kind(view, layer) for layer in range(view.n_layers())))


def windows(kinds: Reader, window: Reader) -> Reader:
    """The window of each layer: from layer_types, else from the class's own rule `kinds`."""
    table = {"full_attention": ZERO, "sliding_attention": window}

    def by_rule(view: View, switch: str) -> PerLayer:
        width = window.read(view, switch)
        return PerLayer(width if kind == "sliding_attention" else ZERO for kind in kinds.read(view, switch))

    return layer_types("layer_types", table, Reader((*kinds.keys, *window.keys), by_rule))


def _both_sides(view: View, switch: str) -> Expr:
    """A window that reaches sliding_window tokens to each side."""
    reach = view.number("sliding_window")
    return size("window", 2 * reach, "2 x sliding_window")


BOTH_SIDES = Reader(("sliding_window",), _both_sides, holds_it=False)


# ------------------------------------------------------------------ ModernBERT
def _local_attention(view: View, switch: str) -> Expr:
    """ModernBERT's local_attention is the whole window, half to each side; files of late say half of it."""
    half = view.number("sliding_window")
    whole = view.number("local_attention")
    return size("window", 2 * half, "2 x sliding_window") if half else size("window", whole, "local_attention")


def _half_local_attention(view: View, switch: str) -> Expr:
    """The decoder's window is half of ModernBERT's: as far as that one reaches back."""
    half = view.number("sliding_window") or view.number("local_attention") // 2
    return size("window", half, "local_attention / 2")


def _prediction_head(view: View) -> Iterator[Op]:
    d = view.get("d_model")
    yield linear("head", "head.dense", d, d, view.flag("classifier_bias"))
    yield scale("head", "head.norm", d, bias=view.get("norm.bias"))


WINDOW_KEYS = ("local_attention", "sliding_window")
ALTERNATING = every(3, "global_attn_every_n_layers", first_is_full=True)
MODERNBERT = BERT.like(
    "modernbert",
    "arXiv:2412.13663; transformers ModernBertForMaskedLM: no norm before the first attention, windows that reach to "
    "both sides",
    {
        **NO_TABLES,
        "attention.bias": flag("attention_bias", "qkvo", ""),
        "attention.window": windows(ALTERNATING, Reader(WINDOW_KEYS, _local_attention, holds_it=False)),
        "attention.sides": 2,
        "ffn.kind": "gated",
        "ffn.activation": text("hidden_activation", "gelu"),
        "ffn.bias": flag("mlp_bias"),
        "norm.bias": flag("norm_bias"),
        "norm.place": each_layer((), lambda view, layer: "pre" if layer else "second"),
        "norm.final": True,
        "head_bias": flag("decoder_bias"),
        "head_extra": also(_prediction_head, "classifier_bias", "norm_bias"),
    },
    {
        "vocab_size": 50368,
        "intermediate_size": 1152,
        "num_hidden_layers": 22,
        "local_attention": 128,
        "decoder_bias": True,
    },
    ignores=(
        "max_position_embeddings",
        "classifier_pooling",
        "classifier_activation",
        "mlp_dropout",
        "deterministic_flash_attn",
        "sparse_prediction",
        "sparse_pred_ignore_index",
        "initializer_cutoff_factor",
        "reference_compile",
        "repad_logits_with_grad",
        "global_rope_theta",
        "local_rope_theta",
    ),
    heads={
        "mlm": transformed_lm_head,
        "classifier": extra_once_classifier,
        "tagger": extra_then(tagger),
        "span": extra_then(tagger),
        "choice": partial(extra_once_classifier, classes=1),
    },
)
MODERNBERT_DECODER = MODERNBERT.like(
    "modernbert-decoder",
    "arXiv:2507.11412 (Ettin); transformers ModernBertDecoderForCausalLM: ModernBERT with a causal mask and half its "
    "window",
    {
        "attention.window": windows(ALTERNATING, Reader(WINDOW_KEYS, _half_local_attention, holds_it=False)),
        "attention.sides": 1,
    },
    heads={"causal": transformed_lm_head},
    stacks=("decoder",),
)


# ------------------------------------------------------------------ Nomic BERT, GTE, Jina
def _has_experts(view: View, layer: int) -> bool:
    every_n = view.number("moe_every_n_layers")
    return bool(view.number("num_experts") and every_n and (layer + 1) % every_n == 0)


def _nomic_ffn(view: View, layer: int) -> str:
    """Gated, unless the authors' own `activation_function` is none of those with a gate."""
    dense = "gated" if (view.text("activation_function") or "swiglu") in ("swiglu", "glu", "geglu") else "plain"
    return "moe" if _has_experts(view, layer) else dense


def _nomic_bias(view: View, layer: int) -> bool:
    first, second = view.flag("mlp_fc1_bias"), view.flag("mlp_fc2_bias")
    if first != second:
        view.fail("mlp_fc1_bias and mlp_fc2_bias differ, which is not counted", "mlp_fc1_bias")
    return first and not _has_experts(view, layer)


def _expert_bias(view: View, layer: int) -> tuple[Op, ...]:
    return (scale("ffn", "mlp.experts.bias", view.get("d_model")),) if _has_experts(view, layer) else ()


EXPERT_KEYS = ("num_experts", "moe_every_n_layers")
NOMIC_BERT = BERT.like(
    "nomic_bert",
    "arXiv:2402.01613; transformers NomicBertForMaskedLM; of the authors' own files also their keys, biases and, from "
    "nomic-embed-text-v2 on (arXiv:2502.07972), experts in every other layer, which share one bias",
    {
        **NO_TABLES,
        "embedding.token_types": BERT.says["embedding.token_types"],
        "attention.d_head": key("head_dim", divided("d_model", "attention.n_heads", "d_head")),
        "attention.bias": flag("qkv_proj_bias", "qkvo", ""),
        "ffn.kind": each_layer(("activation_function", *EXPERT_KEYS), _nomic_ffn),
        "ffn.bias": each_layer(("mlp_fc1_bias", "mlp_fc2_bias", *EXPERT_KEYS), _nomic_bias),
        "ffn.expert": "plain",
        "ffn.n_experts": derived(lambda view: view.size("num_experts", "ffn.n_experts", zero=True) or ZERO),
        "ffn.top_k": derived(lambda view: view.size("moe_top_k", "ffn.top_k", zero=True) or ZERO),
        "extra": each_layer(EXPERT_KEYS, _expert_bias),
    },
    {"vocab_size": 30528, "moe_top_k": 2},
    spellings={
        "n_embd": "hidden_size",
        "n_layer": "num_hidden_layers",
        "n_head": "num_attention_heads",
        "n_inner": "intermediate_size",
        "n_positions": "max_position_embeddings",
    },
    ignores=(
        "max_position_embeddings",
        "causal",
        "dense_seq_output",
        "fused_bias_fc",
        "fused_dropout_add_ln",
        "max_trained_positions",
        "mlp_checkpoint_lvl",
        "expert_choice_router",
        "moe_impl",
        "moe_normalize_expert_weights",
        "moe_resid_pdrop",
        "ffn_div",
        "pad_vocab_to_multiple_of",
        "pad_vocab_size_multiple",
        "parallel_block",
        "parallel_block_tied_norm",
        "prenorm",
        "rotary_emb_scale_base",
        "rotary_emb_interleaved",
        "rotary_scaling_factor",
        "scale_attn_by_inverse_layer_idx",
        "use_rms_norm",
        "use_xentropy",
        "num_shared_experts",
    ),
    heads={"mlm": mlm_head, **CLASSIFIERS},
)


def gated_with_bias_below(f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """A gated FFN of which only the last matrix has a bias."""
    yield linear("ffn", f"{prefix}.gate_proj", d, f.d_ff)
    yield linear("ffn", f"{prefix}.up_proj", d, f.d_ff)
    yield linear("ffn", f"{prefix}.down_proj", f.d_ff, d, bias=True)


GTE = BERT.like(
    "gte",
    "arXiv:2407.19669; transformers GteForMaskedLM (its files call it `new`): a gated FFN, no pooler",
    {
        **NO_TABLES,
        "positions.kind": Reader(
            ("position_embedding_type",),
            lambda view, switch: "learned" if view.text("position_embedding_type") == "absolute" else "rotary",
        ),
        "embedding.token_types": BERT.says["embedding.token_types"],
        "ffn.kind": gated_with_bias_below,
    },
    {"vocab_size": 250048, "type_vocab_size": 1, "max_position_embeddings": 8192},
    ignores=(
        "layer_norm_type",
        "logn_attention_clip1",
        "logn_attention_scale",
        "pack_qkv",
        "unpad_inputs",
        "use_memory_efficient_attention",
    ),
    heads={"mlm": mlm_head_once, **CLASSIFIERS},
    model_types=("gte", "new"),
)


def _jina_head(spec: Spec) -> tuple[Op, ...]:
    """RoBERTa's head; its own bias is counted with the token table, where the class registers it."""
    *ops, decoder = mlm_head(spec, untied_biases=1)
    weight, bias = decoder.weights
    weights = (weight,) if spec.tied else (weight, bias._replace(name="predictions.decoder.bias"))
    return (*ops, decoder._replace(weights=weights), Op("predictions.bias", "embedding", (bias,)))


JINA_V3 = BERT.like(
    "jina_embeddings_v3",
    "arXiv:2409.10173; transformers JinaEmbeddingsV3ForMaskedLM: XLM-RoBERTa on rotary positions, its adapters left "
    "off",
    {**NO_TABLES, "embedding.token_types": BERT.says["embedding.token_types"]},
    {
        "vocab_size": 250002,
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
        "type_vocab_size": 1,
    },
    ignores=("max_position_embeddings",),
    heads={"mlm": _jina_head, "pooler": pooler, **DENSE_CLASSIFIERS},
)

# ------------------------------------------------------------------ on Llama's blocks
BIDIRECTIONAL = {"attention.window": ZERO}


def _before_pooling(view: View) -> Iterator[Op]:
    """EuroBERT's classifier: on every token where the mean is taken late, else on one vector a sequence."""
    d, rows = view.get("d_model"), TOKEN if (view.text("classifier_pooling") or "late") == "late" else ONCE
    yield linear("head", "classifier.dense", d, d, bias=True, rows=rows)


def _eurobert_classifier(spec: Spec) -> tuple[Op, ...]:
    return (*spec.head_extra, to_labels(spec, spec.head_extra[0].rows))


EUROBERT = LLAMA.like(
    "eurobert",
    "arXiv:2503.05500; transformers EuroBertForMaskedLM: Llama's blocks without a mask",
    {**BIDIRECTIONAL, "head_bias": flag("mlp_bias"), "head_extra": also(_before_pooling, "classifier_pooling")},
    {
        "vocab_size": 128256,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
    },
    ignores=("clf_pooling",),
    heads={"mlm": lm_head, "classifier": _eurobert_classifier, "tagger": tagger, "span": tagger},
    stacks=("encoder",),
)


def _norms_of_queries_and_keys(view: View) -> Iterator[Op]:
    """ESM C's norms on queries and on keys span d_model, whatever the heads are wide."""
    yield from (scale("norm", f"self_attn.{name}_norm", view.get("d_model")) for name in ("q", "k"))


def _final_norm_weight(view: View) -> Iterator[Op]:
    """The last norm, which has no bias where those of the blocks have one."""
    yield scale("norm", "norm", view.get("d_model"))


ESMC = EUROBERT.like(
    "esmc",
    "transformers EsmcForMaskedLM (ESM Cambrian): norms on all queries and on all keys; the head is never tied",
    {
        "tied": False,
        "head_bias": False,
        "extra": also(_norms_of_queries_and_keys),
        "norm.kind": "layer",
        "norm.final": False,
        "stack_extra": also(_final_norm_weight),
    },
    {
        "vocab_size": 64,
        "hidden_size": 2560,
        "intermediate_size": 6912,
        "num_hidden_layers": 80,
        "num_attention_heads": 40,
    },
    ignores=("tie_word_embeddings",),
    heads={"mlm": mlm_head_once, **DENSE_CLASSIFIERS},
)


def _bottleneck(view: View) -> Iterator[Op]:
    d, narrow = view.get("d_model"), view.single("prediction_head_size", "d_prediction")
    yield linear("head", "head.linear1", d, narrow)
    yield linear("head", "head.linear2", narrow, d)


def _ultrabert_window(view: View, switch: str) -> PerLayer | Expr:
    """`attention_windows` (a width for each layer, none where it is null), layer_types, or two of three layers."""
    listed, _ = view.resolver.raw("attention_windows")
    if not isinstance(listed, list) or view.resolver.values.get("layer_types") is not None:
        found: PerLayer = windows(every(3), BOTH_SIDES).read(view, switch)
        return found
    if len(listed) != view.n_layers():
        view.fail(f"attention_windows has {len(listed)} entries for {view.n_layers()} layers", "attention_windows")
    reach = next((window for window in listed if window), view.number("sliding_window"))
    width = size("window", 2 * reach, "2 x attention_windows")
    return PerLayer(width if window else ZERO for window in listed)


ULTRABERT = EUROBERT.like(
    "ultrabert",
    "transformers UltrabertForMaskedLM: Llama's blocks, windows of sliding_window tokens to each side, a bottleneck "
    "before the head",
    {
        "head_bias": False,
        "attention.window": Reader(
            ("attention_windows", "layer_types", "sliding_window"), _ultrabert_window, holds_it=False
        ),
        "attention.sides": 2,
        "head_extra": also(_bottleneck, "prediction_head_size"),
    },
    {
        "vocab_size": 32000,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "sliding_window": 128,
        "prediction_head_size": 768,
    },
    ignores=("classifier_pooling",),
    heads={"mlm": transformed_lm_head, "classifier": label_of_sequence, "tagger": tagger, "span": tagger},
)
COHERE_COMPASS = LLAMA.like(
    "cohere_compass_text",
    "transformers CohereCompassForCausalLM: Cohere's parallel blocks under one norm without a bias",
    {
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "attention.window": layer_types("layer_types", SLIDING, ZERO),
        "ffn.bias": False,
        **SIDE_BY_SIDE,
    },
    {
        "vocab_size": 256000,
        "hidden_size": 8192,
        "intermediate_size": 22528,
        "num_hidden_layers": 40,
        "num_attention_heads": 64,
        "sliding_window": 4096,
        "tie_word_embeddings": True,
    },
    ignores=("head_dim", "pooling"),
)


# ------------------------------------------------------------------ ESM-2, and the text halves of image models
def _contacts(view: View) -> Iterator[Op]:
    """One weight for each attention map of each layer, from which contacts are predicted when asked for."""
    maps = view.get("n_layers") * view.get("attention.n_heads")
    weights = (Weight("contact_head.weight", (size("one", 1), maps)), Weight("contact_head.bias", (size("one", 1),)))
    yield Op("contact_head", "other", weights)


ESM = BERT.like(
    "esm",
    "doi:10.1126/science.ade2574 (ESM-2); transformers EsmForMaskedLM: pre-norm, rotary positions where the file "
    "says so",
    {
        "positions.kind": Reader(
            ("position_embedding_type",),
            lambda view, switch: (
                "learned" if (view.text("position_embedding_type") or "absolute") == "absolute" else "rotary"
            ),
        ),
        "norm.place": "pre",
        "norm.final": True,
        "embedding.token_types": ZERO,
        "embedding.norm": flag("emb_layer_norm_before"),
        "stack_extra": also(_contacts),
    },
    {"vocab_size": 33, "max_position_embeddings": 1026},
    ignores=("token_dropout", "vocab_list", "is_folding_model", "esmfold_config"),
    heads={"mlm": mlm_head_once, "pooler": pooler, **DENSE_CLASSIFIERS},
)


def _text_projection(view: View) -> Iterator[Op]:
    wide = view.single("projection_dim", "d_projection")
    yield linear("head", "text_projection", view.get("d_model"), wide, rows=ONCE)


CLIP_TEXT = BERT.like(
    "clip_text_model",
    "arXiv:2103.00020; transformers CLIPTextModel: a causal mask, pre-norm; with the projection in "
    "CLIPTextModelWithProjection",
    {
        "cross": False,
        "norm.place": "pre",
        "norm.final": True,
        "embedding.token_types": ZERO,
        "embedding.norm": False,
        "head_extra": also(_text_projection, "projection_dim"),
    },
    {
        "vocab_size": 49408,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 8,
        "max_position_embeddings": 77,
        "projection_dim": 512,
    },
    heads={"none": nothing, "projection": bare_extra},
    stacks=("decoder",),
)
TIPSV2_TEXT = CLIP_TEXT.like(
    "tipsv2_text_model",
    "transformers Tipsv2TextModel: sinusoidal positions, no mask",
    {"positions.kind": "sinusoidal", "head_extra": ()},
    {"vocab_size": 32000, "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12},
    ignores=("max_position_embeddings", "scale_sqrt_depth", "pooling_epsilon"),
    heads={"none": nothing},
    stacks=("encoder",),
)

ROWS = by_name(
    MODERNBERT,
    MODERNBERT_DECODER,
    NOMIC_BERT,
    GTE,
    JINA_V3,
    EUROBERT,
    ESMC,
    ULTRABERT,
    COHERE_COMPASS,
    ESM,
    CLIP_TEXT,
    TIPSV2_TEXT,
)
