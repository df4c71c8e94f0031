"""Decoders with DeepSeek's latent attention, and experts beside shared ones after the first dense layers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ffncalc.blocks.attention import latent
from ffncalc.blocks.ffn import mlp
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.experts import DENSE_OR_SPARSE, FIRST_DENSE, routed_layer
from ffncalc.families.llama import LLAMA
from ffncalc.families.moe import in_moe_layers, mixture
from ffncalc.families.readers import by, count, derived, divided, each_layer, flag, key, layer_types, nullable, when
from ffncalc.ops import Op, linear, scale, stored
from ffncalc.spec import Attention, Ffn, Norm
from ffncalc.view import View

LATENT = {
    "attention.kind": "latent",
    "attention.bias": flag("attention_bias", "qko", ""),
    "attention.q_lora_rank": nullable("q_lora_rank"),
    "attention.kv_lora_rank": key("kv_lora_rank"),
    "attention.d_nope": key("qk_nope_head_dim"),
    "attention.d_rope": key("qk_rope_head_dim"),
    "attention.d_v": key("v_head_dim"),
    # what follows from these, whatever num_key_value_heads says
    "attention.n_kv_heads": ZERO,
    "attention.d_head": ZERO,
}


def _top_k(view: View) -> Any:
    """The class takes no number of experts for granted: without one, all of them are said to run, with a warning."""
    n_experts = view.get("ffn.n_experts")
    view.warn(f"num_experts_per_tok is not stated; active and FLOPs take all {n_experts.value} experts to run")
    return size("top_k", n_experts.value, "all of them")


# DeepSeek-VL2-Tiny and DeepSeek-OCR have plain heads in place of the latent ones.
LATENT_OR_PLAIN = {
    "attention.kind": when("use_mla", LATENT["attention.kind"], "grouped"),
    "attention.bias": when("use_mla", LATENT["attention.bias"], flag("attention_bias", "qkvo", "")),
    "attention.n_kv_heads": when("use_mla", ZERO, key("num_key_value_heads", "attention.n_heads")),
    "attention.d_head": when("use_mla", ZERO, derived(divided("d_model", "attention.n_heads", "d_head"))),
    **{
        f"attention.{size}": when("use_mla", LATENT[f"attention.{size}"], ZERO)
        for size in ("q_lora_rank", "kv_lora_rank", "d_nope", "d_rope", "d_v")
    },
}

DEEPSEEK_V2 = LLAMA.like(
    "deepseek_v2",
    "arXiv:2405.04434; transformers DeepseekV2ForCausalLM; moe_layer_freq as in the published code",
    {
        **LATENT_OR_PLAIN,
        **mixture(each_layer(("first_k_dense_replace", "moe_layer_freq"), routed_layer), "n_routed_experts"),
        "ffn.bias": by("ffn.kind", {"gated": flag("mlp_bias"), "moe": False}),
        "ffn.n_shared": count("n_shared_experts"),
        "ffn.shared_bias": flag("mlp_bias"),
        "ffn.top_k": count("num_experts_per_tok", _top_k),
    },
    {
        "vocab_size": 102400,
        "moe_intermediate_size": 1407,
        "n_routed_experts": 64,
        "n_shared_experts": 2,
        "first_k_dense_replace": 0,
        "moe_layer_freq": 1,
        "use_mla": True,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
    },
    spellings={"num_experts": "n_routed_experts"},
    ignores=(
        "num_key_value_heads",
        "head_dim",
        "qk_head_dim",
        "lm_head",
        "rm_head",
        "num_nextn_predict_layers",
        "num_mtp_layers",
    ),
)

DEEPSEEK_V3 = DEEPSEEK_V2.like(
    "deepseek_v3",
    "arXiv:2412.19437; transformers DeepseekV3ForCausalLM; the checkpoint stores the router's correction bias",
    {"ffn.bias": False, "ffn.shared_bias": False, "ffn.correction": True, "ffn.top_k": key("num_experts_per_tok")},
    {
        "vocab_size": 129280,
        "hidden_size": 7168,
        "intermediate_size": 18432,
        "moe_intermediate_size": 2048,
        "num_hidden_layers": 61,
        "num_attention_heads": 128,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "num_experts_per_tok": 8,
        "first_k_dense_replace": 3,
    },
    spellings={"num_local_experts": "n_routed_experts"},
)

KIMI_K2 = DEEPSEEK_V3.like(
    "kimi_k2",
    "arXiv:2507.20534; DeepSeek-V3's architecture, as its published code says",
    model_types=("kimi_k2", "kimi_k25"),
)

SARVAM_MLA = DEEPSEEK_V3.like(
    "sarvam_mla",
    "transformers SarvamMLAConfig, read by DeepseekV3ForCausalLM",
    {},
    {
        "vocab_size": 262144,
        "hidden_size": 4096,
        "intermediate_size": 16384,
        "num_hidden_layers": 32,
        "num_attention_heads": 64,
        "n_routed_experts": 128,
        "first_k_dense_replace": 1,
        "q_lora_rank": None,
    },
    spellings={"num_shared_experts": "n_shared_experts"},
    ignores=("q_head_dim",),
)

MISTRAL4 = DEEPSEEK_V3.like(
    "mistral4",
    "transformers Mistral4ForCausalLM: no correction bias",
    {"ffn.correction": False},
    {
        "vocab_size": 131072,
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "n_routed_experts": 128,
        "num_experts_per_tok": 4,
        "first_k_dense_replace": 0,
        "q_lora_rank": 1024,
        "kv_lora_rank": 256,
        "qk_nope_head_dim": 64,
    },
)

GLM4_MOE_LITE = DEEPSEEK_V3.like(
    "glm4_moe_lite",
    "transformers Glm4MoeLiteForCausalLM: mlp_layer_types says which layers are dense (the first, unless stated)",
    {"ffn.kind": FIRST_DENSE},
    {
        "vocab_size": 154880,
        "hidden_size": 2048,
        "intermediate_size": 10240,
        "moe_intermediate_size": 1536,
        "num_hidden_layers": 47,
        "num_attention_heads": 20,
        "n_routed_experts": 64,
        "num_experts_per_tok": 4,
        "q_lora_rank": 768,
        "qk_nope_head_dim": 192,
        "v_head_dim": 256,
    },
    spellings={"head_dim": "qk_rope_head_dim"},
    ignores=("first_k_dense_replace", "moe_layer_freq"),
)

ROUTED_OR_LISTED = layer_types(
    "mlp_layer_types", DENSE_OR_SPARSE, each_layer(("first_k_dense_replace", "moe_layer_freq"), routed_layer)
)

AXK1 = DEEPSEEK_V3.like(
    "axk1",
    "transformers AXK1ForCausalLM: a norm after the experts",
    {
        "ffn.kind": ROUTED_OR_LISTED,
        "extra": in_moe_layers(lambda view: (scale("norm", "mlp.post_mlp_layernorm", view.get("d_model")),)),
    },
    {"vocab_size": 163840, "num_attention_heads": 64, "n_routed_experts": 192, "first_k_dense_replace": 1},
)


# ------------------------------------------------------------------ LongCat-Flash
def twice_latent(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Two attention sublayers in one block, the second with the norm before it."""
    yield from latent(a, d, norm, f"{prefix}.0")
    yield scale("norm", "input_layernorm.1", d)
    yield from latent(a, d, norm, f"{prefix}.1")


def shortcut_experts(d_dense: Expr, n_zero: Expr, f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """Experts on a shortcut past two dense FFNs; the router also chooses among `n_zero` experts that do nothing."""
    choices = f.n_experts + n_zero
    yield linear("ffn", f"{prefix}.router", d, choices, f.router_bias)
    yield stored("ffn", f"{prefix}.router.e_score_correction_bias", choices)
    yield from mlp(True, d, f.d_ff, False, f"{prefix}.experts", f.n_experts, f.top_k)
    for i in (0, 1):
        yield from mlp(True, d, d_dense, False, f"mlps.{i}")
    yield scale("norm", "post_attention_layernorm.1", d)


def _shortcut(view: View) -> Any:
    return partial(
        shortcut_experts,
        view.size("ffn_hidden_size", "ffn.d_dense"),
        view.size("zero_expert_num", "ffn.n_zero", zero=True),
    )


LONGCAT_FLASH = DEEPSEEK_V3.like(
    "longcat_flash",
    "arXiv:2509.01322 and its checkpoint: two attentions and two dense FFNs a layer; zero experts have no weights "
    "(the class in transformers 5.24 allocates some)",
    {
        "n_layers": key("num_layers"),
        "attention.kind": twice_latent,
        "ffn.kind": derived(_shortcut, "ffn_hidden_size", "zero_expert_num"),
        "ffn.d_ff": key("expert_ffn_hidden_size"),
        "ffn.top_k": key("moe_topk"),
        "ffn.n_shared": ZERO,
        "ffn.router_bias": flag("router_bias"),
    },
    {
        "vocab_size": 131072,
        "hidden_size": 6144,
        "num_layers": 28,
        "num_attention_heads": 64,
        "ffn_hidden_size": 12288,
        "expert_ffn_hidden_size": 2048,
        "moe_topk": 12,
        "n_routed_experts": 512,
        "zero_expert_num": 256,
    },
    spellings={
        "num_experts_per_tok": "moe_topk",
        "intermediate_size": "ffn_hidden_size",
        "moe_intermediate_size": "expert_ffn_hidden_size",
    },
    ignores=("zero_expert_type", "mla_scale_q_lora", "mla_scale_kv_lora", "attention_method"),
    flops="how many of a token's experts are zero experts depends on the data",
    note="active takes all top-k experts to be real ones; a token's zero experts make it less",
)

ROWS = by_name(DEEPSEEK_V2, DEEPSEEK_V3, KIMI_K2, SARVAM_MLA, MISTRAL4, GLM4_MOE_LITE, AXK1, LONGCAT_FLASH)
