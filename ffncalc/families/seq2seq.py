"""Encoder-decoders: the original Transformer, Marian, T5."""

from __future__ import annotations

from ffncalc.blocks.ends import lm_head
from ffncalc.families import by_name
from ffncalc.families.row import Reader, Row, derived, divided, flag, in_first_layer, key, text
from ffncalc.resolve import View

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

MARIAN = TRANSFORMER.like(
    "marian",
    "transformers MarianMTModel, after Marian NMT: the sinusoidal tables are frozen parameters, one a stack",
    {
        "encoder.n_layers": key("encoder_layers"),
        "decoder.n_layers": key("decoder_layers"),
        "n_vocab": key("vocab_size"),
        "encoder.attention.n_heads": key("encoder_attention_heads"),
        "decoder.attention.n_heads": key("decoder_attention_heads"),
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "attention.bias": "qkvo",
        "encoder.ffn.d_ff": key("encoder_ffn_dim"),
        "decoder.ffn.d_ff": key("decoder_ffn_dim"),
        "ffn.activation": text("activation_function", "gelu"),
        "positions.kind": "learned",
        "positions.n_positions": key("max_position_embeddings"),
        "tied": flag("tie_word_embeddings"),
    },
    {
        "vocab_size": 58101,
        "max_position_embeddings": 1024,
        "encoder_layers": 12,
        "encoder_ffn_dim": 4096,
        "encoder_attention_heads": 16,
        "decoder_layers": 12,
        "decoder_ffn_dim": 4096,
        "decoder_attention_heads": 16,
        "d_model": 1024,
        "tie_word_embeddings": True,
    },
)


def _gate(view: View, switch: str) -> str:
    """T5 writes its FFN's kind and activation into one word: `relu`, or `gated-gelu` from v1.1 on."""
    return "gated" if view.flag("is_gated_act") or (view.text("feed_forward_proj") or "relu").startswith("gated-") else "plain"



T5 = Row(
    name="t5",
    source="arXiv:1910.10683; transformers T5ForConditionalGeneration. v1.1's head is untied in the published checkpoints",
    heads={"seq2seq": lm_head},
    stacks=("encoder", "decoder"),
    says={
        "d_model": key("d_model"),
        "encoder.n_layers": key("num_layers"),
        "decoder.n_layers": key("num_decoder_layers", lambda view: view.size("num_layers", "n_layers")),
        "n_vocab": key("vocab_size"),
        "decoder.cross": True,
        # The class ties always; the checkpoints whose file says false hold a head of their own, and the checkpoint wins.
        "tied": flag("tie_word_embeddings"),
        "attention.n_heads": key("num_heads"),
        "attention.d_head": key("d_kv"),
        "attention.bias": "",
        "attention.relative": in_first_layer("relative_attention_num_buckets"),
        "ffn.kind": Reader(("feed_forward_proj", "is_gated_act"), _gate),
        "ffn.activation": text("feed_forward_proj", "relu"),
        "ffn.d_ff": key("d_ff"),
        "ffn.bias": False,
        "norm.kind": "rms",
        "positions.kind": "relative",
    },
    defaults={
        "vocab_size": 32128,
        "d_model": 512,
        "d_kv": 64,
        "d_ff": 2048,
        "num_layers": 6,
        "num_heads": 8,
        "relative_attention_num_buckets": 32,
        "tie_word_embeddings": True,
    },
    ignores=("relative_attention_max_distance", "n_positions", "dense_act_fn", "scale_decoder_outputs", "is_decoder"),
)

ROWS = by_name(TRANSFORMER, MARIAN, T5)
