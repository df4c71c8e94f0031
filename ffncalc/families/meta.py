"""params.json, as it lies beside the checkpoints of Meta's LLaMA and, in the same words, Mistral's."""

from __future__ import annotations

from ffncalc.expr import Expr, size
from ffncalc.families import by_name
from ffncalc.families.llama import BIASLESS, LLAMA
from ffncalc.families.readers import count, divided, key
from ffncalc.families.row import Reader
from ffncalc.hidden import rule_width
from ffncalc.view import View


def _vocabulary(view: View, switch: str) -> Expr | None:
    """Llama 2's files say -1: the vocabulary is the tokenizer's, which does not lie in the file."""
    value, _ = view.resolver.raw("vocab_size")
    if value in (None, -1):
        view.warn("vocab_size is not stated; give --vocab-size N for embedding, head and total")
        return None
    size_of: Expr = key("vocab_size").read(view, switch)
    return size_of


def _untied(view: View, switch: str) -> bool:
    view.warn("params.json does not say whether the head is tied; taken as untied, give --tied if it is")
    return False


def _kind(view: View, switch: str) -> str:
    if view.resolver.raw("moe_args")[0] is not None:
        view.fail("moe_args (Llama 4's experts) is not understood; use the model's config.json", "moe_args")
    return "moe" if view.size("moe.num_experts", "ffn.n_experts") else "gated"


def _width(view: View) -> Expr:
    """LLaMA's rule, with the file's multiplier and multiple."""
    rule = {
        "rule": "llama",
        "multiple_of": view.number("multiple_of") or None,
        "multiplier": view.fraction("ffn_dim_multiplier"),
    }
    return size("d_ff", *rule_width(view.get("d_model").value, rule, view.fail))


META_LLAMA = LLAMA.like(
    "meta-llama",
    "model.py of Meta's code for LLaMA, Llama 2 and Llama 3; Mistral's files add head_dim, hidden_dim and moe",
    {
        **BIASLESS,
        "d_model": key("dim"),
        "n_layers": key("n_layers"),
        "n_vocab": Reader(("vocab_size",), _vocabulary),
        "tied": Reader((), _untied),
        "attention.n_heads": key("n_heads"),
        "attention.n_kv_heads": key("n_kv_heads", "attention.n_heads"),
        "attention.d_head": key("head_dim", divided("d_model", "attention.n_heads", "d_head")),
        "attention.window": count("sliding_window"),
        "ffn.d_ff": key("hidden_dim", _width),
        "ffn.kind": Reader(("moe_args",), _kind),
        "ffn.n_experts": count("moe.num_experts"),
        "ffn.top_k": count("moe.num_experts_per_tok"),
        "ffn.activation": "silu",
    },
    dict.fromkeys(LLAMA.defaults),
    ignores=(
        "norm_eps",
        "rope_theta",
        "use_scaled_rope",
        "multiple_of",
        "ffn_dim_multiplier",
        "max_seq_len",
        "max_batch_size",
    ),
)
ROWS = by_name(META_LLAMA)
