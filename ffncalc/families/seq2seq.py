"""The original Transformer, from which the encoder-decoders descend."""

from __future__ import annotations

from ffncalc.blocks.ends import lm_head
from ffncalc.families import by_name
from ffncalc.families.readers import divided, key
from ffncalc.families.row import Row

TRANSFORMER = Row(
    name="transformer",
    source="arXiv:1706.03762: post-norm, ReLU, sinusoidal positions, one matrix for both embeddings and the output",
    heads={"seq2seq": lm_head},
    stacks=("encoder", "decoder"),
    says={
        "d_model": key("d_model"),
        "n_layers": key("n_layers"),
        "n_vocab": key("n_vocab"),
        "decoder.cross": True,
        "tied": True,
        "attention.n_heads": key("n_heads"),
        "attention.d_head": key("d_head", divided("d_model", "attention.n_heads", "d_head")),
        "attention.bias": "",
        "ffn.kind": "plain",
        "ffn.activation": "relu",
        "ffn.d_ff": key("d_ff"),
        "ffn.bias": True,
        "norm.place": "post",
        "norm.final": False,
        "positions.kind": "sinusoidal",
    },
)

ROWS = by_name(TRANSFORMER)
