"""Decoders on LayerNorm that came beside LLaMA: BLOOM, Falcon, MPT, Phi, Persimmon, StableLM, StarCoder2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ffncalc.blocks.attention import grouped
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.classic import D_OVER_HEADS, GPT, HIDDEN, ONE_NORM
from ffncalc.families.llama import LLAMA
from ffncalc.families.readers import derived, flag, key, nullable, text, times
from ffncalc.families.row import Reader
from ffncalc.ops import Op, scale
from ffncalc.spec import Attention, Norm
from ffncalc.view import View

# ------------------------------------------------------------------ BLOOM, Falcon, MPT
ALIBI = {"positions.kind": "alibi", "positions.n_positions": ZERO}

BLOOM = GPT.like(
    "bloom",
    "arXiv:2211.05100; transformers BloomForCausalLM: ALiBi, a norm after the embedding",
    {
        **ALIBI,
        "d_model": key("hidden_size"),
        "cross": False,
        "ffn.d_ff": derived(times(4, "d_model", "d_ff")),
        "embedding.norm": True,
    },
    {"vocab_size": 250880, "hidden_size": 64, "n_layer": 2, "n_head": 8},
    spellings={"n_embed": "hidden_size", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head"},
    ignores=(
        "slow_but_exact",
        "attention_softmax_in_fp32",
        "masked_softmax_fusion",
        "bias_dropout_fusion",
        "offset_alibi",
        "skip_bias_add",
        "skip_bias_add_qkv",
        "unk_token_id",
    ),
)


def _falcon_kv_heads(view: View, switch: str) -> Any:
    """num_kv_heads counts only in the new architecture; before, multi_query is one head, else as many as queries."""
    if view.flag("new_decoder_architecture"):
        return view.size("num_kv_heads", switch) or view.get("attention.n_heads")
    return size("n_kv_heads", 1, "multi_query") if view.flag("multi_query") else view.get("attention.n_heads")


def _falcon_norms(view: View, switch: str) -> str:
    """Two norms where the halves follow each other, and in the new architecture unless the file says one; else one."""
    two = view.number("num_ln_in_parallel_attn") or (2 if view.flag("new_decoder_architecture") else 1)
    return "pre" if two == 2 or not view.flag("parallel_attn") else "one"


FALCON = GPT.like(
    "falcon",
    "arXiv:2311.16867; transformers FalconForCausalLM; the checkpoints store the tied head a second time",
    {
        **HIDDEN,
        "cross": False,
        "parallel": flag("parallel_attn"),
        "attention.n_kv_heads": Reader(("num_kv_heads", "multi_query", "new_decoder_architecture"), _falcon_kv_heads),
        "attention.bias": flag("bias", "qkvo", ""),
        "ffn.d_ff": key("ffn_hidden_size", times(4, "d_model", "d_ff")),
        "ffn.bias": flag("bias"),
        "ffn.activation": text("activation", "gelu"),
        "norm.place": Reader(("num_ln_in_parallel_attn", "parallel_attn"), _falcon_norms),
        "positions.kind": flag("alibi", "alibi", "rotary"),
        "positions.n_positions": ZERO,
    },
    {
        "vocab_size": 65024,
        "hidden_size": 4544,
        "num_hidden_layers": 32,
        "num_attention_heads": 71,
        "multi_query": True,
        "parallel_attn": True,
    },
    spellings={"n_embed": "hidden_size"},
    ignores=("max_position_embeddings", "ff_factor"),
)

REFINED_WEB_KEYS = {"n_layer": "num_hidden_layers", "n_head": "num_attention_heads", "n_head_kv": "num_kv_heads"}
REFINED_WEB_MODEL = FALCON.like(
    "RefinedWebModel",
    "modeling_RW.py of the first Falcon-7B and Falcon-RW checkpoints, with names of keys of its own",
    spellings=REFINED_WEB_KEYS,
)
REFINED_WEB = FALCON.like(
    "RefinedWeb",
    "modeling_RW.py of the first Falcon-40B checkpoint",
    {},
    {"new_decoder_architecture": True},
    spellings=REFINED_WEB_KEYS,
)


def _mpt_kv_heads(view: View, switch: str) -> Any:
    """As many as query heads in the class; the published grouped models (replit-code-v1_5) state theirs."""
    kind = view.text("attn_config.attn_type") or "multihead_attention"
    if kind == "multiquery_attention":
        return size("n_kv_heads", 1, "attn_config.attn_type")
    grouped = kind == "grouped_query_attention"
    return (view.size("attn_config.kv_n_heads", switch) if grouped else None) or view.get("attention.n_heads")


MPT_UNCOUNTED = [
    "attn_impl",
    "attn_pdrop",
    "attn_uses_sequence_id",
    "alibi_bias_max",
    "clip_qkv",
    "prefix_lm",
    "softmax_scale",
    "kv_n_heads",
    "rope",
    "rope_theta",
]
MPT_FIXED = {"expansion_ratio": 4, "no_bias": True, "attn_config.qk_ln": False, "attn_config.alibi": True}


def _mpt_width(view: View, switch: str) -> Expr:
    """4 x d_model, as the class has it whatever the file says; what it doesn't heed is worth a warning."""
    for name, fixed in MPT_FIXED.items():
        value, _ = view.resolver.raw(name)
        if value not in (None, fixed):
            view.resolver.warnings.append(
                f"{view.resolver.config.at(name)}: {name} is {value!r}; counted as {fixed!r}, which is all that "
                f"MptForCausalLM builds"
            )
    return times(4, "d_model", "d_ff")(view)


MPT = GPT.like(
    "mpt",
    "MosaicML 2023; transformers MptForCausalLM: ALiBi, no biases, norms without biases; the FFN is always 4 x d_model "
    "wide",
    {
        **ALIBI,
        "d_model": key("d_model"),
        "n_layers": key("n_layers"),
        "cross": False,
        "attention.n_heads": key("n_heads"),
        "attention.n_kv_heads": Reader(("attn_config.kv_n_heads", "attn_config.attn_type"), _mpt_kv_heads),
        "attention.bias": "",
        "ffn.d_ff": Reader(tuple(MPT_FIXED), _mpt_width, holds_it=False),
        "ffn.bias": False,
        "norm.bias": False,
    },
    {"vocab_size": 50368, "d_model": 2048, "n_heads": 16, "n_layers": 24},
    spellings={"num_attention_heads": "n_heads", "hidden_size": "d_model", "num_hidden_layers": "n_layers"},
    ignores=(
        "learned_pos_emb",
        "emb_pdrop",
        "init_config",
        "init_device",
        "embedding_fraction",
        "norm_type",
        "verbose",
        "tokenizer_name",
        *(f"attn_config.{k}" for k in MPT_UNCOUNTED),
    ),
)

# ------------------------------------------------------------------ LLaMA's keys on LayerNorm
PHI = LLAMA.like(
    "phi",
    "arXiv:2309.05463; transformers PhiForCausalLM: parallel blocks on one norm, biases everywhere, also on the head",
    {
        **ONE_NORM,
        "attention.bias": "qkvo",
        "attention.window": ZERO,
        "attention.qk_norm": flag("qk_layernorm", "head", "none"),
        "attention.qk_norm_bias": True,
        "ffn.kind": "plain",
        "ffn.activation": text("hidden_act", "gelu_tanh"),
        "ffn.bias": True,
        "norm.kind": "layer",
        "head_bias": True,
    },
    {
        "vocab_size": 51200,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 24,
        "num_attention_heads": 32,
    },
)

PERSIMMON = LLAMA.like(
    "persimmon",
    "Adept 2023; transformers PersimmonForCausalLM: squared ReLU, biases everywhere, norms on each head of queries and "
    "keys",
    {
        **D_OVER_HEADS,
        "attention.n_kv_heads": derived(lambda view: view.get("attention.n_heads")),
        "attention.bias": "qkvo",
        "attention.window": ZERO,
        "attention.qk_norm": flag("qk_layernorm", "head", "none"),
        "attention.qk_norm_bias": True,
        "ffn.kind": "plain",
        "ffn.activation": text("hidden_act", "relu2"),
        "ffn.bias": True,
        "norm.kind": "layer",
    },
    {
        "vocab_size": 262144,
        "intermediate_size": 16384,
        "num_hidden_layers": 36,
        "num_attention_heads": 64,
        "qk_layernorm": True,
    },
    ignores=("num_key_value_heads",),
)


def _norm_of_each_head(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """StableLM's norms on queries and keys: one LayerNorm without bias for each of the heads."""
    yield from grouped(a, d, norm, prefix)
    yield scale("norm", f"{prefix}.q_layernorm", a.d_head, copies=a.n_heads)
    yield scale("norm", f"{prefix}.k_layernorm", a.d_head, copies=a.n_kv_heads)


STABLELM = LLAMA.like(
    "stablelm",
    "arXiv:2402.17834; transformers StableLmForCausalLM: LayerNorm with biases, biases on q, k and v by flag; one norm "
    "where parallel",
    {
        **D_OVER_HEADS,
        "parallel": flag("use_parallel_residual"),
        "attention.bias": flag("use_qkv_bias", "qkv", ""),
        "attention.window": ZERO,
        "ffn.bias": False,
        "norm.kind": "layer",
        "norm.place": flag("use_parallel_residual", "one", "pre"),
        "attention.kind": flag("qk_layernorm", _norm_of_each_head, "grouped"),
    },
    {"vocab_size": 50304, "hidden_size": 2560, "intermediate_size": 6912, "num_key_value_heads": 32},
)

STARCODER2 = LLAMA.like(
    "starcoder2",
    "arXiv:2402.19173; transformers Starcoder2ForCausalLM: biases everywhere, LayerNorm, no gate, one window for all "
    "layers",
    {
        "attention.bias": flag("use_bias", "qkvo", ""),
        "attention.window": nullable("sliding_window"),
        "ffn.kind": "plain",
        "ffn.activation": text("hidden_act", "gelu_tanh"),
        "ffn.bias": flag("use_bias"),
        "norm.kind": "layer",
    },
    {
        "vocab_size": 49152,
        "hidden_size": 3072,
        "intermediate_size": 12288,
        "num_hidden_layers": 30,
        "num_attention_heads": 24,
        "num_key_value_heads": 2,
        "use_bias": True,
        "tie_word_embeddings": True,
    },
    ignores=("attention_softmax_in_fp32", "scale_attention_softmax_in_fp32", "mlp_type", "norm_type"),
)

ROWS = by_name(BLOOM, FALCON, REFINED_WEB_MODEL, REFINED_WEB, MPT, PHI, PERSIMMON, STABLELM, STARCODER2)
