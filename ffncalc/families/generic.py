"""Rows that take every switch from the file: for a model that nobody has published yet."""

from __future__ import annotations

from ffncalc.blocks.ends import lm_head, mlm_head, pooler
from ffncalc.expr import ZERO
from ffncalc.families import by_name
from ffncalc.families.readers import key
from ffncalc.families.row import Row

DECODER = Row(
    name="decoder",
    source="the file's own switches",
    heads={"causal": lm_head},
    says={
        "d_model": key("d_model"),
        "n_layers": key("n_layers"),
        "n_vocab": key("n_vocab"),
        "attention.n_heads": key("n_heads", lambda view: ZERO),
        "attention.n_kv_heads": key("n_kv_heads", lambda view: ZERO),
        "attention.d_head": key("d_head", lambda view: ZERO),
        "ffn.kind": "gated",
        "ffn.activation": "silu",
        "ffn.d_ff": key("d_ff"),
        "norm.kind": "rms",
        "norm.bias": False,
    },
)

ENCODER = DECODER.like(
    "encoder",
    "the file's own switches",
    {"ffn.kind": "plain", "ffn.activation": "gelu", "norm.kind": "layer"},
    heads={"mlm": mlm_head, "pooler": pooler},
    stacks=("encoder",),
)

ENCODER_DECODER = DECODER.like(
    "encoder-decoder",
    "the file's own switches",
    {"ffn.kind": "plain", "ffn.activation": "relu", "decoder.cross": True},
    heads={"seq2seq": lm_head},
    stacks=("encoder", "decoder"),
)

ROWS = by_name(DECODER, ENCODER, ENCODER_DECODER)
