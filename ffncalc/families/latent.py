"""DeepSeek's decoders: latent attention, and experts beside shared ones after the first dense layers."""

from __future__ import annotations

from ffncalc.families import by_name
from ffncalc.families.llama import LLAMA
from ffncalc.families.row import by, count, first_layers, flag, key, nullable

DEEPSEEK_V2 = LLAMA.like(
    "deepseek_v2",
    "arXiv:2405.04434; transformers DeepseekV2ForCausalLM",
    {
        "attention.kind": "latent",
        "attention.bias": flag("attention_bias", "qko", ""),
        "attention.q_lora_rank": nullable("q_lora_rank"),
        "attention.kv_lora_rank": key("kv_lora_rank"),
        "attention.d_nope": key("qk_nope_head_dim"),
        "attention.d_rope": key("qk_rope_head_dim"),
        "attention.d_v": key("v_head_dim"),
        "attention.n_kv_heads": "attention.n_heads",
        "ffn.kind": first_layers("first_k_dense_replace", "gated", "moe"),
        "ffn.d_ff": by("ffn.kind", {"gated": key("intermediate_size"), "moe": key("moe_intermediate_size")}),
        "ffn.n_experts": count("n_routed_experts"),
        "ffn.top_k": key("num_experts_per_tok"),
        "ffn.n_shared": count("n_shared_experts"),
    },
    {
        "moe_intermediate_size": 1407,
        "n_routed_experts": 64,
        "n_shared_experts": 2,
        "num_experts_per_tok": None,
        "first_k_dense_replace": 0,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
    },
    ignores=("num_key_value_heads", "head_dim", "moe_layer_freq", "qk_head_dim", "num_nextn_predict_layers"),
)

DEEPSEEK_V3 = DEEPSEEK_V2.like(
    "deepseek_v3",
    "arXiv:2412.19437; transformers DeepseekV3ForCausalLM; the checkpoint stores the router's correction bias",
    {"ffn.correction": True, "ffn.bias": False},
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
)

ROWS = by_name(DEEPSEEK_V2, DEEPSEEK_V3)
