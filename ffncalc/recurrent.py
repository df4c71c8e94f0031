"""Models with recurrent layers (Mamba, RWKV, linear attention, gated delta nets, short convolutions) are refused, in a
sentence that names the layers.

What a file holds decides: its list of layer kinds, else the keys that lay the kinds out, and only where it says nothing
of the kind what the class of that model type takes by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ffncalc.config import Config
from ffncalc.errors import InputError
from ffncalc.families import names

LISTS = ("layer_types", "layers_block_type", "block_types")
WORDS = {
    "mamba": "Mamba",
    "mamba2": "Mamba",
    "m": "Mamba",
    "linear_attention": "linear-attention",
    "linear": "linear-attention",
    "lightning_attention": "linear-attention",
    "recurrent": "recurrent",
    "conv": "short-convolution",
    "ssm": "state-space",
    "gated_deltanet": "gated delta-net",
    "gated_delta_net": "gated delta-net",
    "kda": "delta-attention",
    "rwkv": "RWKV",
}
# What the classes build where the file says nothing about kinds of layers.
BY_DEFAULT = {
    "Mamba": "mamba mamba2 falcon_mamba jamba bamba zamba zamba2 falcon_h1 granitemoehybrid nemotron_h",
    "RWKV": "rwkv",
    "xLSTM": "xlstm",
    "RG-LRU": "recurrent_gemma",
    "linear-attention": "minimax bailing_hybrid kimi_linear glm5_next_text lara_mini",
    "gated delta-net": "qwen3_next qwen3_5_text qwen3_5_moe_text qwen4_exp_text olmo_hybrid",
    "short-convolution": "lfm3",
}


def refuse(config: Config) -> None:
    """Raises InputError, naming the layers and the key that says so, where the config has recurrent layers."""
    if config.kind != "hf":
        return
    found = _listed(config.values) or _laid_out(config.values)
    if found is None:
        found = _taken_by_default(config.values)
    if found and found != NONE:
        what, where = found
        raise InputError(
            f"{config.at(where)}: {where} gives it {what} layers, which are recurrent; "
            "ffncalc counts models of attention and FFN layers"
        )


Found = tuple[str, str]  # which layers, the key that says so; a pair of empty texts: the file says that there are none
NONE: Found = ("", "")


def _listed(values: Mapping[str, Any]) -> Found | None:
    """What a list of layer kinds says, or None without one."""
    for name in LISTS:
        kinds = values.get(name)
        if isinstance(kinds, list) and kinds:
            found = sorted({WORDS[kind] for kind in kinds if isinstance(kind, str) and kind in WORDS})
            return (" and ".join(found), name) if found else NONE
    pattern = values.get("hybrid_override_pattern")
    if isinstance(pattern, str) and pattern:
        return ("Mamba", "hybrid_override_pattern") if "M" in pattern else NONE
    kinds = values.get("attn_type_list")
    if isinstance(kinds, list) and kinds:
        return ("linear-attention", "attn_type_list") if 0 in kinds else NONE
    return None


def _laid_out(values: Mapping[str, Any]) -> Found | None:
    """What the keys say that lay the kinds out by a rule, or None without any."""
    linear = values.get("linear_attn_config")
    if isinstance(linear, dict) and linear.get("kda_layers"):
        return "delta-attention", "linear_attn_config"
    full, layers = values.get("full_attn_idxs"), values.get("num_hidden_layers")
    if isinstance(full, list) and isinstance(layers, int):
        return ("short-convolution", "full_attn_idxs") if len(set(full)) < layers else NONE
    for name, what in (("attn_layer_period", "Mamba"), ("full_attention_interval", "gated delta-net")):
        every = values.get(name)
        if isinstance(every, int):
            return (what, name) if every > 1 else NONE
    return None


def _taken_by_default(values: Mapping[str, Any]) -> Found | None:
    model_type = values.get("model_type")
    for what, types in BY_DEFAULT.items():
        if model_type in types.split():
            return what, "model_type"
    held = next((name for name in values if name.startswith(("mamba_", "ssm_"))), None)
    return ("Mamba", held) if held and model_type not in names() else None
