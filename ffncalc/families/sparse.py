"""Decoders with sparse attention: an indexer chooses the keys that latent attention meets, or keys are compressed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ffncalc.blocks.sparse import (
    Indexer,
    gated_by_channel,
    gated_by_head,
    gated_queries,
    hyper_connection,
    indexed,
    shared_keys,
)
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.experts import DENSE_OR_SPARSE, FIRST_DENSE
from ffncalc.families.latent import DEEPSEEK_V3, ROUTED_OR_LISTED
from ffncalc.families.moe import listed, step
from ffncalc.families.readers import derived, each_layer, first_layers, key, layer_types
from ffncalc.families.row import PerLayer, Reader
from ffncalc.ops import Op, linear, scale
from ffncalc.view import View

INDEX_KEYS = (
    "index_n_heads",
    "index_head_dim",
    "indexer_types",
    "index_topk_pattern",
    "index_topk_freq",
    "index_skip_topk_offset",
)


def need(view: View, name: str, leaf: str) -> Expr:
    """The size that a key states, under the name of a leaf."""
    found = view.size(name, leaf)
    return found if isinstance(found, Expr) else view.missing(name)


# ------------------------------------------------------------------ which layers have an indexer
def index_of(view: View) -> Indexer:
    """The sizes of a config's indexer."""
    return Indexer(need(view, "index_n_heads", "n_index_heads"), need(view, "index_head_dim", "d_index"))


def has_indexer(view: View, layer: int) -> bool:
    """GLM-5's rule: indexer_types, else index_topk_pattern ("FSSF"), else each index_topk_freq-th from an offset on."""
    stated = (view.resolver.raw(name)[0] for name in ("indexer_types", "index_topk_pattern"))
    pattern = next((value for value in stated if value is not None), None)
    if pattern is not None:
        return _pattern(view, pattern)[layer] in {"F", "full"}
    first = max(layer - view.number("index_skip_topk_offset") + 1, 0)
    return first % max(view.number("index_topk_freq"), 1) == 0


def _pattern(view: View, stated: Any) -> str | list[str]:
    known = isinstance(stated, (str, list)) and set(stated) <= {"F", "S", "full", "shared"}
    if not known or len(stated) != view.n_layers():
        view.fail(
            f"indexer_types (or index_topk_pattern) has to say full or shared for each of {view.n_layers()} layers"
        )
    return stated  # type: ignore[no-any-return]


def with_index(block: Callable[..., Any], rule: Callable[[View, int], bool] | None = None) -> Reader:
    """For attention.kind: `block` with an indexer in the layers that the rule chooses (None: in all of them)."""

    def read(view: View, switch: str) -> Any:
        own, none = partial(block, index_of(view)), partial(block, None)
        return PerLayer(own if rule(view, layer) else none for layer in range(view.n_layers())) if rule else own

    return Reader(INDEX_KEYS, read, holds_it=False)


INDEX_DEFAULTS = {
    "index_n_heads": 64,
    "index_head_dim": 128,
    "index_topk": 2048,
    "index_topk_freq": 1,
    "index_skip_topk_offset": 2,
}

DEEPSEEK_V32 = DEEPSEEK_V3.like(
    "deepseek_v32",
    "arXiv:2512.02556; transformers DeepseekV32ForCausalLM: DeepSeek-V3 with an indexer in each layer",
    {
        "attention.kind": with_index(indexed),
        "attention.window": key("index_topk"),
        "ffn.kind": layer_types(
            "mlp_layer_types", DENSE_OR_SPARSE, first_layers("first_k_dense_replace", "gated", "moe")
        ),
    },
    INDEX_DEFAULTS,
    ignores=("layer_types", "mlp_bias", "moe_layer_freq", "indexer_rope_interleave"),
)

GLM_MOE_DSA = DEEPSEEK_V32.like(
    "glm_moe_dsa",
    "arXiv:2602.15763 (GLM-5); transformers GlmMoeDsaForCausalLM: some layers take over the index of an earlier one",
    {"attention.kind": with_index(indexed, has_indexer)},
    {
        "vocab_size": 154880,
        "hidden_size": 6144,
        "intermediate_size": 12288,
        "num_hidden_layers": 78,
        "num_attention_heads": 64,
        "q_lora_rank": 2048,
        "qk_nope_head_dim": 192,
        "v_head_dim": 256,
        "index_n_heads": 32,
    },
    ignores=("index_share_for_mtp_iteration",),
)


# ------------------------------------------------------------------ A.X-K2
def _gated_norms(view: View) -> Any:
    """The norms of A.X-K2 have a gate of low rank: the one before attention, and that before experts."""
    d, rank = view.get("d_model"), need(view, "gated_norm_rank", "gated_norm_rank")

    def gate(name: str) -> tuple[Op, ...]:
        return linear("ffn", f"{name}.fc1", d, rank), linear("ffn", f"{name}.fc2", rank, d)

    first, both = gate("input_layernorm"), (*gate("input_layernorm"), *gate("post_attention_layernorm"))
    kinds = view.get("ffn.kind")
    if not isinstance(kinds, PerLayer):
        return both if kinds == "moe" else first
    return PerLayer(both if kind == "moe" else first for kind in kinds)


AXK2 = DEEPSEEK_V32.like(
    "axk2",
    "transformers AXK2ForCausalLM: gated queries, gated norms",
    {
        "attention.kind": with_index(gated_queries),
        "ffn.kind": ROUTED_OR_LISTED,
        "extra": derived(_gated_norms, "gated_norm_rank"),
    },
    {
        "vocab_size": 163840,
        "hidden_size": 2048,
        "intermediate_size": 5120,
        "moe_intermediate_size": 512,
        "num_hidden_layers": 48,
        "num_attention_heads": 32,
        "n_routed_experts": 128,
        "first_k_dense_replace": 1,
        "q_lora_rank": 384,
        "kv_lora_rank": 128,
        "qk_nope_head_dim": 64,
        "qk_rope_head_dim": 32,
        "v_head_dim": 64,
        "index_n_heads": 16,
        "gated_norm_rank": 16,
    },
)


# ------------------------------------------------------------------ HY-V4
def streams(view: View) -> Expr:
    """How many streams the residual has."""
    return need(view, "hc_mult", "n_streams")


def _hy_connections(view: View) -> tuple[Op, ...]:
    m, d = streams(view), view.get("d_model")
    return (
        *hyper_connection("attention", "attn_hc", m, 2 * m, 2, d),
        *hyper_connection("ffn", "ffn_hc", m, 2 * m, 2, d),
    )


def hyper_head(view: View) -> tuple[Op, ...]:
    """Where the streams become one again, before the last norm."""
    m = streams(view)
    return tuple(hyper_connection("other", "hc_head", m, m, 1, view.get("d_model")))


def _hy_index(view: View, layer: int) -> bool:
    if view.resolver.raw("indexer_types")[0] is not None:
        return has_indexer(view, layer)
    return layer == 0 or (layer - 1) % 4 == 0


HY_V4 = DEEPSEEK_V32.like(
    "hy_v4",
    "transformers HYV4ForCausalLM: sinks and gated values, hyper-connections, one indexer for four layers",
    {
        "attention.kind": with_index(gated_by_channel, _hy_index),
        "ffn.kind": FIRST_DENSE,
        "extra": derived(_hy_connections, "hc_mult"),
        "stack_extra": derived(hyper_head),
    },
    {
        "vocab_size": 120832,
        "hidden_size": 2816,
        "intermediate_size": 6912,
        "moe_intermediate_size": 768,
        "num_hidden_layers": 34,
        "num_attention_heads": 32,
        "qk_nope_head_dim": 192,
        "v_head_dim": 256,
        "index_n_heads": 16,
        "hc_mult": 4,
    },
    ignores=("first_k_dense_replace", "hc_magnitude", "hc_eps", "learnable_sink_init"),
)

HY_V4_VL = HY_V4.like(
    "hy_v4_vl_text",
    "transformers HYV4VLTextModel",
    {},
    {
        "hidden_size": 6144,
        "intermediate_size": 18432,
        "moe_intermediate_size": 2048,
        "num_hidden_layers": 78,
        "num_attention_heads": 64,
        "q_lora_rank": 2048,
        "index_n_heads": 32,
    },
)


# ------------------------------------------------------------------ Mistral Large 4
def _rotary(view: View, layer: int) -> bool:
    stated = listed(view, "no_rope_layers")
    return bool(stated[layer] if stated else (layer + 1) % step(view, "no_rope_layer_interval"))


def _reuses(view: View, layer: int) -> bool:
    sources = listed(view, "kv_source_layers")
    return bool(sources) and sources[layer] != layer


def _mistral_attention(view: View) -> Any:
    index = index_of(view)
    each = [(has_indexer(view, layer), _reuses(view, layer)) for layer in range(view.n_layers())]
    kinds = {(own, reuses): partial(shared_keys, index if own else None, reuses) for own, reuses in set(each)}
    return PerLayer(kinds[kind] for kind in each)


def _unrotated(view: View, layer: int) -> Expr:
    """A layer without rotary positions has the rotary part's width among the rest."""
    nope = view.number("qk_nope_head_dim") + (0 if _rotary(view, layer) else view.number("qk_rope_head_dim"))
    return size("d_nope", nope, "qk_nope_head_dim" if _rotary(view, layer) else "qk_nope_head_dim + qk_rope_head_dim")


MISTRAL_LARGE4 = DEEPSEEK_V32.like(
    "mistral_large4_text",
    "transformers MistralLarge4TextModel: queries not compressed, no correction bias, every fourth layer not rotary",
    {
        "attention.kind": derived(_mistral_attention, *INDEX_KEYS, "kv_source_layers"),
        "attention.q_lora_rank": ZERO,
        "attention.d_nope": each_layer(("qk_nope_head_dim", "no_rope_layers", "no_rope_layer_interval"), _unrotated),
        "attention.d_rope": each_layer(
            ("qk_rope_head_dim",),
            lambda view, layer: view.size("qk_rope_head_dim", "d_rope") if _rotary(view, layer) else ZERO,
        ),
        "ffn.correction": False,
        "stack_extra": derived(
            lambda view: (scale("embedding", "rotary_emb.alpha", view.number("qk_rope_head_dim") // 2),)
        ),
    },
    {
        "vocab_size": 204800,
        "hidden_size": 6144,
        "intermediate_size": 24576,
        "moe_intermediate_size": 6144,
        "num_hidden_layers": 72,
        "num_attention_heads": 64,
        "n_routed_experts": 128,
        "num_experts_per_tok": 4,
        "first_k_dense_replace": 1,
        "qk_nope_head_dim": 64,
        "index_n_heads": 32,
        "no_rope_layer_interval": 4,
    },
)


# ------------------------------------------------------------------ dots.note
def _dots_layer(view: View, layer: int) -> str:
    """Two layers and then every fourth meet the keys of an index, the others those within a window.

    Old files call an indexed layer full_attention, unless use_dsa is false (then it is one).
    """
    stated = view.words("layer_types", ("full_attention", "indexed_attention", "sliding_attention"))
    use_dsa, use_window = (view.resolver.raw(name)[0] for name in ("use_dsa", "use_sliding_window"))
    slides = use_window is not False and layer >= 2 and layer % 4 != 1
    if (stated[layer] if stated else "sliding_attention" if slides else "") == "sliding_attention":
        return "sliding_attention"
    if use_dsa is None and stated and view.resolver.raw("per_layer_config")[0] is not None:
        return stated[layer]
    return "full_attention" if use_dsa is False else "indexed_attention"


def _dots_own(view: View, layer: int) -> dict[str, Any]:
    """The sizes that a layer has of its own: per_layer_config's, else the swa_ keys' in a layer with a window."""
    stated, _ = view.resolver.raw("per_layer_config")
    if stated is not None:
        own: dict[str, Any] = {int(i): values for i, values in stated.items()}.get(layer, {})
        return own
    if _dots_layer(view, layer) != "sliding_attention":
        return {}
    own = {name.removeprefix("swa_"): view.number(name) for name in _DOTS_WINDOWED}
    return {**own, "qk_rope_head_dim": view.number("swa_qk_rope_head_dim") or own["head_dim"] - own["qk_nope_head_dim"]}


_DOTS_WINDOWED = {
    "swa_num_attention_heads": 64,
    "swa_q_lora_rank": 1024,
    "swa_kv_lora_rank": 1024,
    "swa_qk_nope_head_dim": 192,
    "swa_v_head_dim": 128,
    "swa_head_dim": 256,
}


def _dots_size(name: str) -> Reader:
    """A size that layers may have of their own."""

    def read(view: View, switch: str) -> PerLayer:
        shared, leaf = view.size(name, switch) or view.missing(name), switch.rpartition(".")[2]
        own = [_dots_own(view, layer).get(name) for layer in range(view.n_layers())]
        return PerLayer(size(leaf, value, f"{name} of the layer") if value else shared for value in own)

    return Reader((name, f"swa_{name}", "per_layer_config"), read)


def _dots_shared(view: View) -> Expr:
    width = view.number("n_shared_experts") * view.number("shared_experts_intermediate_size")
    return size("d_shared", width, "n_shared_experts x shared_experts_intermediate_size")


def _dots_window(view: View, layer: int) -> Any:
    names = {"sliding_attention": ("sliding_window", "sliding_window_size"), "indexed_attention": ("index_topk",)}
    sizes = (view.size(name, "attention.window") for name in names.get(_dots_layer(view, layer), ()))
    return next((found for found in sizes if found), ZERO)


DOTS3_NOTE = DEEPSEEK_V32.like(
    "dots3_note_text",
    "transformers Dots3NoteForCausalLM: indexed layers and windowed ones of other sizes, a gate a head",
    {
        "attention.kind": with_index(
            gated_by_head, lambda view, layer: _dots_layer(view, layer) == "indexed_attention"
        ),
        "attention.n_heads": _dots_size("num_attention_heads"),
        "attention.q_lora_rank": _dots_size("q_lora_rank"),
        "attention.kv_lora_rank": _dots_size("kv_lora_rank"),
        "attention.d_nope": _dots_size("qk_nope_head_dim"),
        "attention.d_rope": _dots_size("qk_rope_head_dim"),
        "attention.d_v": _dots_size("v_head_dim"),
        "attention.window": each_layer(
            ("layer_types", "use_dsa", "use_sliding_window", "sliding_window", "sliding_window_size", "index_topk"),
            _dots_window,
        ),
        "ffn.kind": ROUTED_OR_LISTED,
        "ffn.d_shared": derived(_dots_shared)._replace(
            keys=("n_shared_experts", "shared_experts_intermediate_size"), holds_it=False
        ),
    },
    {
        "vocab_size": 152064,
        "hidden_size": 5120,
        "intermediate_size": 13824,
        "moe_intermediate_size": 1536,
        "num_hidden_layers": 46,
        "n_shared_experts": 1,
        "first_k_dense_replace": 1,
        "q_lora_rank": 1024,
        "sliding_window_size": 512,
        "shared_experts_intermediate_size": 1536,
        **_DOTS_WINDOWED,
    },
    model_types=("dots3_note_text", "dots3_note"),
    spellings={"moe_shared_expert_intermediate_size": "shared_experts_intermediate_size"},
    ignores=("swa_num_key_value_heads", "swa_rope_theta"),
)

ROWS = by_name(DEEPSEEK_V32, GLM_MOE_DSA, AXK2, HY_V4, HY_V4_VL, MISTRAL_LARGE4, DOTS3_NOTE)
