"""Gemma 3n and Gemma 4: embeddings for each layer, layers that reuse the keys and values of earlier ones.

Transformers 5.24 drops the projections of layers that reuse; Gemma 3n's checkpoint stores them, and the checkpoint
wins. Gemma 4's class and its published files agree that they aren't there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ffncalc.blocks.attention import grouped, pairs_of, scores
from ffncalc.blocks.ffn import mlp
from ffncalc.expr import ZERO, Expr, as_expr, size
from ffncalc.families import by_name
from ffncalc.families.decoders import GEMMA2
from ffncalc.families.readers import each_layer
from ffncalc.families.row import Reader
from ffncalc.ops import Op, linear, lookup, scale
from ffncalc.spec import Attention, Ffn, Norm
from ffncalc.view import View

KINDS = ("sliding_attention", "full_attention")


# ------------------------------------------------------------------ sublayers
def reusing(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Attention to the keys and values of an earlier layer: only queries and the output are projected."""
    yield linear("attention", f"{prefix}.q_proj", d, a.width, "q" in a.bias)
    yield scale("norm", f"{prefix}.q_norm", a.d_head)
    yield from scores(a, a.d_head, a.d_head, pairs_of(a), prefix)
    yield linear("attention", f"{prefix}.o_proj", a.width, d, "o" in a.bias)


def keys_as_values(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Grouped attention whose values are the keys before their norm: no projection of their own."""
    return (op for op in grouped(a, d, norm, prefix) if not op.name.endswith(".v_proj"))


def dense_and_experts(d_expert: Expr, f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """A gated FFN and, beside it, routed experts: the router scales its input, and each expert's output."""
    yield from mlp(True, d, f.d_ff, False, prefix)
    yield linear("ffn", "router", d, f.n_experts)
    yield scale("ffn", "router.scale", d)
    yield scale("ffn", "router.per_expert_scale", f.n_experts)
    yield from mlp(True, d, d_expert, False, "experts", f.n_experts, f.top_k)
    yield from (
        scale("norm", f"{name}_feedforward_layernorm_{i}", d) for name, i in (("post", 1), ("pre", 2), ("post", 2))
    )


# ------------------------------------------------------------------ which layers do what
def _kinds(every: int, last: str = "") -> Any:
    """The kind of a layer: what the list says, else full attention in every n-th; Gemma 4's last one is always full."""

    def kind(view: View, layer: int) -> str:
        if last and layer == view.n_layers() - 1:
            return last
        listed = view.words("layer_types", KINDS)
        return listed[layer] if listed else KINDS[(layer + 1) % every == 0]

    return kind


def _window(kind: Any) -> Reader:
    def window(view: View, layer: int) -> Any:
        sliding = kind(view, layer) == "sliding_attention"
        return view.size("sliding_window", "attention.window") or ZERO if sliding else ZERO

    return each_layer(("layer_types", "sliding_window"), window)


def _reuses(view: View, layer: int) -> bool:
    return layer >= view.n_layers() - view.number("num_kv_shared_layers")


def _check_shared(view: View) -> None:
    shared, layers = view.number("num_kv_shared_layers"), view.n_layers()
    if shared > layers:
        view.fail(f"num_kv_shared_layers is {shared}, more than the {layers} layers", "num_kv_shared_layers")


# ------------------------------------------------------------------ embeddings for each layer
def _layer_inputs(view: View, switch: str) -> tuple[Op, ...]:
    """In each layer: a gate down to the width of its own embedding, a matrix back up, a norm after it."""
    d, narrow = view.get("d_model"), view.single("hidden_size_per_layer_input", "d_layer_input", zero=True)
    if not narrow:
        return ()
    return (
        linear("other", "per_layer_input_gate", d, narrow),
        linear("other", "per_layer_projection", narrow, d),
        scale("norm", "post_per_layer_input_norm", d),
    )


def _layer_tables(view: View, switch: str) -> tuple[Op, ...]:
    """One table with a vector for every token and layer, and a matrix from the token's embedding to as many."""
    narrow = view.single("hidden_size_per_layer_input", "d_layer_input", zero=True)
    if not narrow:
        return ()
    rows = view.single("vocab_size_per_layer_input", "n_vocab")
    width = view.get("n_layers") * narrow
    return (
        lookup("embedding", "embed_tokens_per_layer", rows, width),
        linear("other", "per_layer_model_projection", view.get("d_model"), width),
        scale("norm", "per_layer_projection_norm", narrow),
    )


PER_LAYER_INPUT = {
    "extra": Reader(("hidden_size_per_layer_input",), _layer_inputs, holds_it=False),
    "stack_extra": Reader(("hidden_size_per_layer_input", "vocab_size_per_layer_input"), _layer_tables, holds_it=False),
}
PER_LAYER_SIZES = {"vocab_size_per_layer_input": 262144, "hidden_size_per_layer_input": 256}


# ------------------------------------------------------------------ Gemma 3n
def _augmented(view: View, switch: str) -> tuple[Op, ...]:
    """Gemma 3n's layer beside attention and FFN: AltUp on parallel streams, LAuReL of low rank, layer inputs."""
    d, streams, rank = (
        view.get("d_model"),
        view.single("altup_num_inputs", "n_streams"),
        view.single("laurel_rank", "d_laurel"),
    )
    return (
        scale("other", "altup.correct_output_scale", d),
        linear("other", "altup.correction_coefs", streams, streams),
        linear("other", "altup.prediction_coefs", streams, streams * streams),
        linear("other", "altup.modality_router", d, streams)._replace(uses=as_expr(2)),
        scale("norm", "altup.router_norm", d),
        linear("other", "laurel.linear_left", d, rank),
        linear("other", "laurel.linear_right", rank, d),
        scale("norm", "laurel.post_laurel_norm", d),
        *_layer_inputs(view, switch),
    )


def _streams(view: View, switch: str) -> tuple[Op, ...]:
    """Matrices that make the parallel streams out of the embedding and bring them together at the end."""
    d, streams = view.get("d_model"), view.single("altup_num_inputs", "n_streams")
    more = size("n_streams - 1", streams.value - 1, "altup_num_inputs")
    made = (("other", "altup_projections"), ("embedding", "altup_unembed_projections"))
    return (*_layer_tables(view, switch), *(linear(part, name, d, d, copies=more) for part, name in made if more))


AUGMENTED = ("hidden_size_per_layer_input", "altup_num_inputs", "laurel_rank")

GEMMA3N = GEMMA2.like(
    "gemma3n_text",
    "transformers Gemma3nForCausalLM; arXiv:2301.13310 (AltUp), arXiv:2411.07501 (LAuReL). Keys and values that the "
    "last layers don't use are in the published checkpoints and are counted; the class of 5.24 leaves them out",
    {
        "attention.qk_norm": "head",
        "attention.window": _window(_kinds(5)),
        "extra": Reader(AUGMENTED, _augmented, holds_it=False),
        "stack_extra": Reader((*AUGMENTED, "vocab_size_per_layer_input"), _streams, holds_it=False),
    },
    {
        "vocab_size": 262400,
        "hidden_size": 2048,
        "intermediate_size": 16384,
        "num_hidden_layers": 35,
        "num_key_value_heads": 2,
        "sliding_window": 512,
        "altup_num_inputs": 4,
        "laurel_rank": 64,
        **PER_LAYER_SIZES,
    },
    ignores=("altup_*", "activation_sparsity_pattern", "num_kv_shared_layers"),
    flops="its AltUp streams mix by coefficients of the token",
)


# ------------------------------------------------------------------ Gemma 4
GEMMA4_KIND = _kinds(6, "full_attention")


def _override(view: View, layer: int, name: str) -> int | None:
    """What per_layer_config states for a layer; it goes over the keys for all full-attention layers."""
    listed, _ = view.resolver.raw("per_layer_config")
    found: Any = (
        next((v for k, v in listed.items() if str(k).isdigit() and int(k) == layer), {})
        if isinstance(listed, dict)
        else {}
    )
    value = found.get(name) if isinstance(found, dict) else None
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        view.fail(
            f"per_layer_config: {name} of layer {layer} is {value!r}; want a positive whole number", "per_layer_config"
        )
    return value


def _own_width(name: str, everywhere: str, when: str | None = None) -> Reader:
    """A head width or head count that full-attention layers have of their own, under `everywhere`."""

    def width(view: View, layer: int) -> Any:
        leaf = "d_head" if name == "head_dim" else "n_kv_heads"
        stated = _override(view, layer, name)
        if stated is not None:
            return size(leaf, stated, f"per_layer_config[{layer}]")
        ruled = view.resolver.raw("per_layer_config")[0] is None and GEMMA4_KIND(view, layer) == "full_attention"
        own = view.size(everywhere, leaf) if ruled and (when is None or view.flag(when)) else None
        return own or view.size(name, leaf) or view.missing(name)

    return each_layer((name, everywhere, "per_layer_config"), width)


def _attention_kind(view: View, layer: int) -> Any:
    _check_shared(view)
    if _reuses(view, layer):
        return reusing
    shared_values = view.flag("attention_k_eq_v") and GEMMA4_KIND(view, layer) == "full_attention"
    return keys_as_values if shared_values else "grouped"


def _ffn_width(view: View, layer: int) -> Any:
    width = view.single("intermediate_size", "d_ff")
    return 2 * width if view.flag("use_double_wide_mlp") and _reuses(view, layer) else width


def _ffn_kind(view: View, switch: str) -> Any:
    if not view.flag("enable_moe_block"):
        return "gated"
    width = view.single("moe_intermediate_size", "d_expert")
    return partial(dense_and_experts, width if isinstance(width, Expr) else view.missing("moe_intermediate_size"))


def _if_mixed(name: str) -> Reader:
    return Reader(
        (name,),
        lambda view, switch: view.single(name, switch.split(".")[-1]) if view.flag("enable_moe_block") else ZERO,
    )


GEMMA4 = GEMMA2.like(
    "gemma4_text",
    "transformers Gemma4ForCausalLM, Gemma4ForConditionalGeneration: full-attention layers have heads of "
    "their own width, the last layers reuse keys and values",
    {
        "attention.kind": each_layer(("num_kv_shared_layers", "attention_k_eq_v"), _attention_kind),
        "attention.d_head": _own_width("head_dim", "global_head_dim"),
        "attention.n_kv_heads": _own_width("num_key_value_heads", "num_global_key_value_heads", "attention_k_eq_v"),
        "attention.qk_norm": "head",
        "attention.window": _window(GEMMA4_KIND),
        "attention.sides": Reader(
            ("use_bidirectional_attention",),
            lambda view, switch: 2 if view.text("use_bidirectional_attention") == "all" else 1,
        ),
        "ffn.kind": Reader(("enable_moe_block", "moe_intermediate_size"), _ffn_kind, holds_it=False),
        "ffn.d_ff": each_layer(("intermediate_size", "use_double_wide_mlp"), _ffn_width),
        "ffn.n_experts": _if_mixed("num_experts"),
        "ffn.top_k": _if_mixed("top_k_experts"),
        **PER_LAYER_INPUT,
    },
    {
        "vocab_size": 262144,
        "num_hidden_layers": 30,
        "head_dim": 256,
        "global_head_dim": 512,
        "num_kv_shared_layers": 0,
        "sliding_window": 512,
        **PER_LAYER_SIZES,
    },
    ignores=("expert_intermediate_size",),
)

GEMMA4_UNIFIED = GEMMA4.like(
    "gemma4_unified_text",
    "transformers Gemma4UnifiedForCausalLM: Gemma 4 without experts and without embeddings for each layer",
    {"ffn.kind": "gated", "ffn.n_experts": ZERO, "ffn.top_k": ZERO, "extra": (), "stack_extra": ()},
    {"sliding_window": 1024},
    ignores=(
        "hidden_size_per_layer_input",
        "vocab_size_per_layer_input",
        "enable_moe_block",
        "num_experts",
        "top_k_experts",
        "moe_intermediate_size",
    ),
)


# ------------------------------------------------------------------ Gemma 4's assistant
def _all_reuse(view: View, layer: int) -> Any:
    shared = view.number("num_kv_shared_layers")
    return _attention_kind(view, layer) if shared else reusing


def _assistant_width(view: View, layer: int) -> Any:
    width = view.single("intermediate_size", "d_ff")
    reuses = _reuses(view, layer) or not view.number("num_kv_shared_layers")
    return 2 * width if view.flag("use_double_wide_mlp") and reuses else width


def _bridge(view: View, switch: str) -> tuple[Op, ...]:
    """From the target model's two vectors to the assistant's width, and back; centroids of an ordered vocabulary."""
    d, wide = view.get("d_model"), view.single("backbone_hidden_size", "d_backbone")
    bridge = (linear("head", "pre_projection", 2 * wide, d), linear("head", "post_projection", d, wide))
    if not view.flag("use_ordered_embeddings"):
        return bridge
    return (*bridge, linear("head", "masked_embedding.centroids", d, view.single("num_centroids", "n_centroids")))


ASSISTANT = GEMMA4_UNIFIED.like(
    "gemma4_unified_assistant",
    "transformers Gemma4UnifiedAssistantForCausalLM: a draft model; its layers reuse the target's keys and values",
    {
        "attention.kind": each_layer(("num_kv_shared_layers", "attention_k_eq_v"), _all_reuse),
        "ffn.d_ff": each_layer(("intermediate_size", "use_double_wide_mlp"), _assistant_width),
        "model_extra": Reader(
            ("backbone_hidden_size", "use_ordered_embeddings", "num_centroids"), _bridge, holds_it=False
        ),
    },
    {"backbone_hidden_size": 3840, "use_ordered_embeddings": False, "num_centroids": 2048},
    ignores=("centroid_intermediate_top_k",),
    flops="it drafts from another model's states",
)

ROWS = by_name(GEMMA3N, GEMMA4, GEMMA4_UNIFIED, ASSISTANT)
