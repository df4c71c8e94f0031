"""GPT-2, GPT-3, and decoders of their kind that were only published in papers."""

from __future__ import annotations

from ffncalc.blocks.ends import lm_head
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.readers import derived, divided, flag, in_first_layer, key, nullable, text, times
from ffncalc.families.row import Reader, Row
from ffncalc.ops import Op, lookup, scale
from ffncalc.view import View

GPT_NAMES = {
    "hidden_size": "n_embd",
    "max_position_embeddings": "n_positions",
    "num_attention_heads": "n_head",
    "num_hidden_layers": "n_layer",
}


def _shared_heads(view: View, switch: str) -> Expr:
    """SantaCoder's modeling_gpt2_mq.py: `multiquery` gives all query heads one key/value head."""
    shared = view.text("attention_head_type") == "multiquery"
    return size("n_kv_heads", 1, "attention_head_type multiquery") if shared else ZERO


GPT2 = Row(
    name="gpt2",
    source="Radford et al. 2019; transformers GPT2LMHeadModel",
    heads={"causal": lm_head},
    says={
        "d_model": key("n_embd"),
        "n_layers": key("n_layer"),
        "n_vocab": key("vocab_size"),
        "cross": flag("add_cross_attention"),
        "tied": flag("tie_word_embeddings"),
        "attention.n_heads": key("n_head"),
        "attention.n_kv_heads": Reader(("attention_head_type",), _shared_heads, holds_it=False),
        "attention.bias": "qkvo",
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "ffn.kind": "plain",
        "ffn.activation": text("activation_function", "gelu_tanh"),
        "ffn.d_ff": key("n_inner", times(4, "d_model", "d_ff")),
        "ffn.bias": True,
        "positions.kind": "learned",
        "positions.n_positions": key("n_positions"),
    },
    defaults={
        "vocab_size": 50257,
        "n_positions": 1024,
        "n_embd": 768,
        "n_layer": 12,
        "n_head": 12,
        "tie_word_embeddings": True,
    },
    spellings=GPT_NAMES,
    ignores=("n_ctx", "is_decoder", "n_special", "predict_special_tokens"),
)

GPT3 = GPT2.like(
    "gpt3",
    "arXiv:2005.14165: GPT-2's blocks; every other layer attends in a band, whose width the paper does not give",
    defaults={"n_positions": 2048},
    note="FLOPs are counted with full attention: the paper does not give the width of its banded layers",
)

OWN_KEYS = {
    "d_model": key("d_model"),
    "n_layers": key("n_layers"),
    "n_vocab": key("n_vocab"),
    "attention.n_heads": key("n_heads"),
}

PRIMER = GPT2.like(
    "primer",
    "arXiv:2109.08668, Primer-EZ: squared ReLU, and a depthwise convolution of width 3 on each head's queries, keys "
    "and values; on T5's decoder (one relative-position table a stack) with layer norms, and biases in the FFN",
    {
        **OWN_KEYS,
        "attention.bias": "",
        "attention.d_head": key("d_head", divided("d_model", "attention.n_heads", "d_head")),
        "attention.conv": derived(lambda view: size("d_conv", 3, "Primer's kernel width")),
        "attention.relative": in_first_layer("relative_attention_num_buckets"),
        "ffn.activation": "relu2",
        "ffn.d_ff": key("d_ff"),
        "positions.kind": "relative",
    },
    {"relative_attention_num_buckets": 32},
)


def _spans(view: View, switch: str) -> tuple[Op, ...]:
    """One learned attention span a head, in every layer."""
    return (scale("attention", "span", view.get("attention.n_heads")),)


def _relative_vectors(view: View, switch: str) -> tuple[Op, ...]:
    """One table of relative-position vectors, met by all heads of all layers."""
    return (lookup("embedding", "relative_positions", view.get("positions.n_positions"), view.get("attention.d_head")),)


ALL_ATTENTION = GPT2.like(
    "all-attention",
    "arXiv:1907.01470 and the authors' code: persistent key and value vectors in each head in the FFN's place, one "
    "norm a layer after both, relative positions met by the queries, a learned span for each head",
    {
        **OWN_KEYS,
        "tied": False,
        "head_bias": True,
        "attention.bias": "",
        "attention.window": nullable("window"),
        "attention.position_scores": True,
        "extra": Reader(("n_heads",), _spans),
        "stack_extra": Reader(("n_positions",), _relative_vectors),
        "ffn.kind": "memory",
        "ffn.d_ff": key("d_ff"),
        "ffn.bias": False,
        "ffn.activation": "softmax",
        "norm.place": "post",
        "norm.final": False,
        "positions.kind": "relative",
        "positions.n_positions": key("n_positions"),
    },
)

ROWS = by_name(GPT2, GPT3, PRIMER, ALL_ATTENTION)
