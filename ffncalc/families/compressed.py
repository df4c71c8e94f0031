"""Decoders whose attention compresses its keys, works in a compressed space, or chooses blocks of keys."""

from __future__ import annotations

from functools import partial
from typing import Any

from ffncalc.blocks.compressed import Compressor, GroupedOutput, block_index, convolved, deep_router, shared_key_value
from ffncalc.blocks.sparse import hyper_connection
from ffncalc.expr import ONE, ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.experts import DEEPSEEK, DENSE_OR_SPARSE
from ffncalc.families.llama import BIASLESS, LLAMA
from ffncalc.families.moe import listed, mixture
from ffncalc.families.readers import count, derived, flag, key, layer_types, nullable
from ffncalc.families.row import PerLayer
from ffncalc.families.sparse import hyper_head, index_of, need, streams
from ffncalc.ops import Op, scale
from ffncalc.view import View

# ------------------------------------------------------------------ DeepSeek-V4
_RATIOS = {0: "sliding_attention", 4: "compressed_sparse_attention", 128: "heavily_compressed_attention"}


def _v4_layer(view: View, layer: int) -> str:
    """layer_types, else the published compress_ratios, else two heavily compressed layers and then every other one."""
    stated = view.words("layer_types", tuple(_RATIOS.values()))
    ratios = listed(view, "compress_ratios")
    if stated:
        return stated[layer]
    if ratios and ratios[layer] not in _RATIOS:
        view.fail(f"compress_ratios has {ratios[layer]}; want 0, 4 or 128", "compress_ratios")
    return _RATIOS[ratios[layer] if ratios else 4 if layer >= 2 and layer % 2 else 128]


def _rate(view: View, short: str, name: str) -> Expr:
    old = view.size(f"compress_rate_{short}", "rate")
    return old if isinstance(old, Expr) else need(view, f"compress_rates.{name}", "rate")


def _v4_attention(view: View) -> PerLayer:
    groups, rank = need(view, "o_groups", "o_groups"), need(view, "o_lora_rank", "o_lora_rank")
    d_group = view.get("attention.n_heads").value * view.get("attention.d_head").value // groups.value
    out = GroupedOutput(groups, size("d_group", d_group, "n_heads x d_head / o_groups"), rank)
    sparse = Compressor(_rate(view, "csa", "compressed_sparse_attention"), 2, index_of(view))
    heavy = Compressor(_rate(view, "hca", "heavily_compressed_attention"), 1, None)
    by_kind = {
        name: partial(shared_key_value, c, out) for name, c in zip(_RATIOS.values(), (None, sparse, heavy), strict=True)
    }
    return PerLayer(by_kind[_v4_layer(view, layer)] for layer in range(view.n_layers()))


def _hash_layer(view: View, layer: int) -> str:
    return "hash_moe" if layer < view.number("num_hash_layers") else "moe"


def _v4_connections(view: View) -> tuple[Op, ...]:
    m, d = streams(view), view.get("d_model")
    return tuple(
        op
        for part, name in (("attention", "attn_hc"), ("ffn", "ffn_hc"))
        for op in hyper_connection(part, name, m, m * (m + 2), 3, d)
    )


DEEPSEEK_V4 = DEEPSEEK.like(
    "deepseek_v4",
    "transformers DeepseekV4ForCausalLM: compressed keys, hyper-connections; the first layers route by token",
    {
        **BIASLESS,
        "attention.kind": derived(_v4_attention)._replace(
            keys=(
                "layer_types",
                "compress_ratios",
                "compress_rates",
                "o_groups",
                "o_lora_rank",
                "index_n_heads",
                "index_head_dim",
            ),
            holds_it=False,
        ),
        "attention.n_kv_heads": ONE,
        "attention.d_head": key("head_dim"),
        "attention.q_lora_rank": key("q_lora_rank"),
        "attention.window": key("sliding_window"),
        "ffn.kind": "moe",
        "ffn.d_ff": key("moe_intermediate_size"),
        "ffn.n_shared": derived(lambda view: size("n_shared", 1, "one, always")),
        "ffn.shared_bias": flag("mlp_bias"),
        "ffn.correction": layer_types(
            "mlp_layer_types", {"hash_moe": False, "moe": True}, _hash_layer, ("num_hash_layers",)
        ),
        "extra": derived(_v4_connections, "hc_mult"),
        "stack_extra": derived(hyper_head),
    },
    {
        "vocab_size": 129280,
        "num_hidden_layers": 43,
        "num_attention_heads": 64,
        "head_dim": 512,
        "q_lora_rank": 1024,
        "moe_intermediate_size": 2048,
        "n_routed_experts": 256,
        "num_experts_per_tok": 6,
        "num_hash_layers": 3,
        "compress_rates.compressed_sparse_attention": 4,
        "compress_rates.heavily_compressed_attention": 128,
        "hc_mult": 4,
        "sliding_window": 128,
        "o_groups": 8,
        "o_lora_rank": 1024,
        "index_n_heads": 64,
        "index_head_dim": 128,
    },
    spellings={"num_local_experts": "n_routed_experts", "intermediate_size": "moe_intermediate_size"},
    ignores=(
        "num_key_value_heads",
        "compress_rope_theta",
        "hc_sinkhorn_iters",
        "hc_eps",
        "index_topk",
        "num_nextn_predict_layers",
        "qk_rope_head_dim",
        "attention_bias",
        "n_shared_experts",
        "expert_dtype",
    ),
    flops="a query meets compressed keys beside those of its window, and as many as the index chooses",
)


# ------------------------------------------------------------------ ZAYA
def _zaya_attention(view: View) -> Any:
    return partial(convolved, (need(view, "cca_time0", "taps"), need(view, "cca_time1", "taps")))


def _zaya_ffn(view: View) -> PerLayer:
    width = need(view, "router_hidden_size", "d_router")
    first, rest = partial(deep_router, width, False), partial(deep_router, width, True)
    return PerLayer(rest if layer else first for layer in range(view.n_layers()))


def _zaya_residuals(view: View) -> tuple[Op, ...]:
    """A scale and a bias for each of the two things that each residual connection adds up."""
    names = (
        f"post_{place}_residual_scale.{what}"
        for place in ("attention", "mlp")
        for what in ("hidden_states", "residual")
    )
    return tuple(scale("other", name, view.get("d_model"), bias=True) for name in names)


ZAYA = LLAMA.like(
    "zaya",
    "arXiv:2511.17127; transformers ZayaForCausalLM: convolutions on q and k, a router that is a network",
    {
        **mixture("moe", "num_experts"),
        "attention.kind": derived(_zaya_attention, "cca_time0", "cca_time1"),
        "attention.window": layer_types(
            "layer_types", {"hybrid": ZERO, "hybrid_sliding": nullable("sliding_window")}, ZERO
        ),
        "ffn.kind": derived(_zaya_ffn, "router_hidden_size"),
        "ffn.d_ff": key("moe_intermediate_size"),
        "ffn.bias": False,
        "extra": derived(_zaya_residuals),
        "stack_extra": derived(lambda view: (scale("other", "input_hidden_states", view.get("d_model"), bias=True),)),
        "head_bias": flag("lm_head_bias"),
    },
    {
        "vocab_size": 262272,
        "hidden_size": 2048,
        "num_hidden_layers": 40,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "head_dim": 128,
        "moe_intermediate_size": 2048,
        "num_experts": 16,
        "num_experts_per_tok": 1,
        "router_hidden_size": 256,
        "cca_time0": 2,
        "cca_time1": 2,
        "tie_word_embeddings": True,
    },
    flops="a token may be sent to no expert at all, which depends on the data",
)


# ------------------------------------------------------------------ MiniMax-M3
_M3_SPARSE = ("sparse_num_index_heads", "sparse_index_dim")


def _m3_layer(view: View, layer: int) -> str:
    """layer_types, else the published sparse_attention_config.sparse_attention_freq (1: an index of blocks)."""
    stated = view.words("layer_types", ("full_attention", "minimax_m3_sparse"))
    freq = listed(view, "sparse_attention_config.sparse_attention_freq")
    return stated[layer] if stated else "minimax_m3_sparse" if freq and freq[layer] else "full_attention"


def _m3_mlp(view: View, layer: int) -> str:
    stated = listed(view, "moe_layer_freq")
    return "dense" if stated and not stated[layer] else "sparse"


def _m3_attention(view: View) -> PerLayer:
    stated = [
        view.size(f"sparse_attention_config.{name}", leaf)
        for name, leaf in zip(_M3_SPARSE, ("n_index_heads", "d_index"), strict=True)
    ]
    index = index_of(view)
    indexed = partial(block_index, index._replace(**{f: v for f, v in zip(index._fields, stated, strict=True) if v}))
    return PerLayer(indexed if _m3_layer(view, i) == "minimax_m3_sparse" else "grouped" for i in range(view.n_layers()))


def _m3_flops(view: View) -> str:
    indexed = any(_m3_layer(view, layer) == "minimax_m3_sparse" for layer in range(view.n_layers()))
    return "its index chooses whole blocks of keys" if indexed else ""


MINIMAX_M3 = LLAMA.like(
    "minimax_m3_vl_text",
    "transformers MiniMaxM3VLForCausalLM: a shared expert of its own width; the checkpoint stores the router's bias",
    {
        **BIASLESS,
        **mixture(
            layer_types("mlp_layer_types", DENSE_OR_SPARSE, _m3_mlp, ("moe_layer_freq",)),
            "num_local_experts",
            dense="dense_intermediate_size",
            expert="intermediate_size",
        ),
        "attention.kind": derived(_m3_attention)._replace(
            keys=("layer_types", "sparse_attention_config", "index_n_heads", "index_head_dim"), holds_it=False
        ),
        "attention.qk_norm": "head",
        "attention.window": ZERO,
        "ffn.d_shared": count("shared_intermediate_size"),
        "ffn.correction": True,
        "flops": derived(_m3_flops),
    },
    {
        "vocab_size": 200064,
        "hidden_size": 6144,
        "intermediate_size": 3072,
        "num_hidden_layers": 60,
        "num_attention_heads": 64,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "num_local_experts": 128,
        "num_experts_per_tok": 4,
        "dense_intermediate_size": 12288,
        "shared_intermediate_size": 3072,
        "index_n_heads": 4,
        "index_head_dim": 128,
    },
    spellings={"num_experts": "num_local_experts"},
    ignores=(
        "index_block_size",
        "index_topk_blocks",
        "index_local_blocks",
        "sparse_attention_config.sparse_block_size",
        "sparse_attention_config.sparse_topk_blocks",
        "sparse_attention_config.sparse_local_block",
        "sparse_attention_config.use_sparse_attention",
        "sparse_attention_config.sparse_disable_index_value",
        "sparse_attention_config.sparse_score_type",
        "sparse_attention_config.sparse_init_block",
        "num_nextn_predict_layers",
        "num_mtp_modules",
        "mtp_transformer_layers",
        "use_gemma_norm",
        "use_qk_norm",
        "qk_norm_type",
        "use_routing_bias",
        "n_shared_experts",
        "moe_intermediate_size",
        "first_k_dense_replace",
        "attention_output_gate",
    ),
    model_types=("minimax_m3_vl_text", "minimax_m3"),
)

ROWS = by_name(DEEPSEEK_V4, ZAYA, MINIMAX_M3)
