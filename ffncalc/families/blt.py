"""The Byte Latent Transformer: a patcher, a local encoder, a global transformer and a local decoder.

The row's stack is the local decoder; what belongs to the three others stands outside it, once for all of their layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ffncalc.blocks.ends import lm_head
from ffncalc.expr import ONE, ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.llama import BIASLESS, LLAMA
from ffncalc.families.readers import count, derived, divided, key
from ffncalc.ops import Op, linear, lookup, scale
from ffncalc.view import View

_INNER = {
    "patcher": {
        "hidden_size": 768,
        "num_hidden_layers": 14,
        "num_attention_heads": 12,
        "intermediate_size": 2048,
        "vocab_size": 260,
    },
    "encoder": {
        "hidden_size": 1024,
        "num_hidden_layers": 1,
        "num_attention_heads": 16,
        "vocab_size": 260,
        "cross_attn_k": 2,
    },
    "global": {"hidden_size": 2048, "num_hidden_layers": 25, "num_attention_heads": 16, "intermediate_size": 5632},
    "decoder": {
        "hidden_size": 1024,
        "num_hidden_layers": 9,
        "num_attention_heads": 16,
        "intermediate_size": 2816,
        "hidden_size_global": 2048,
        "cross_attn_k": 2,
        "cross_attn_all_layers": True,
    },
}
# What the four inner configs hold beside sizes; heads divide the width, and the outer config says what is tied.
_NEVER_COUNTS = (
    "max_position_embeddings",
    "tie_word_embeddings",
    "sliding_window",
    "head_dim",
    "hidden_size_global",
    "vocab_size",
)


class Part(NamedTuple):
    """One of the four transformers: its widths, and how many layers it has."""

    name: str
    d: Expr
    layers: Expr
    width: Expr
    kv: Expr
    d_ff: Expr


def _whole(view: View, name: str, leaf: str, or_: int = 0) -> Expr:
    return size(leaf, view.number(name) or or_ or view.missing(name).value, name)


def _part(view: View, name: str) -> Part:
    at = f"{name}_config"
    d = _whole(view, f"{at}.hidden_size", f"d_{name}")
    heads = _whole(view, f"{at}.num_attention_heads", "n_heads").value
    kv, d_head = view.number(f"{at}.num_key_value_heads") or heads, d.value // heads
    return Part(
        name=name,
        d=d,
        layers=_whole(view, f"{at}.num_hidden_layers", "n_layers"),
        width=size(f"d_{name}_heads", heads * d_head, "n_heads x d_head"),
        kv=size(f"d_{name}_kv", kv * d_head, "n_kv_heads x d_head"),
        d_ff=_whole(view, f"{at}.intermediate_size", "d_ff", int(8 * d.value / 3)),
    )


def _projections(part: Part, name: str, copies: Expr) -> Iterator[Op]:
    yield linear("attention", f"{name}.q_proj", part.d, part.width, copies=copies)
    yield linear("attention", f"{name}.k_proj", part.d, part.kv, copies=copies)
    yield linear("attention", f"{name}.v_proj", part.d, part.kv, copies=copies)
    yield linear("attention", f"{name}.o_proj", part.width, part.d, copies=copies)


def _blocks(part: Part) -> Iterator[Op]:
    """All layers of a transformer that is none of the row's stacks."""
    yield scale("norm", f"{part.name}.input_layernorm", part.d, copies=part.layers)
    yield from _projections(part, f"{part.name}.self_attn", part.layers)
    yield scale("norm", f"{part.name}.post_attention_layernorm", part.d, copies=part.layers)
    for name, d_in, d_out in (
        ("gate_proj", part.d, part.d_ff),
        ("up_proj", part.d, part.d_ff),
        ("down_proj", part.d_ff, part.d),
    ):
        yield linear("ffn", f"{part.name}.mlp.{name}", d_in, d_out, copies=part.layers)


def _cross(view: View, part: Part) -> Iterator[Op]:
    """Cross-attention between bytes and patches, in all layers of a local model or once."""
    copies = part.layers if view.flag(f"{part.name}_config.cross_attn_all_layers") else ONE
    yield from _projections(part, f"{part.name}.cross_attn", copies)
    for name in ("q_norm", "k_norm"):
        yield scale("norm", f"{part.name}.cross_attn.{name}", part.d, copies=copies)


def _outside(view: View) -> tuple[Op, ...]:
    return tuple(_outside_the_decoder(view))


def _outside_the_decoder(view: View) -> Iterator[Op]:
    encoder, decoder, middle = (_part(view, name) for name in ("encoder", "decoder", "global"))
    if view.flag("patch_in_forward"):
        yield from _patcher(view)
    groups = view.numbers("encoder_hash_byte_group_size") or [3, 4, 5, 6, 7, 8]
    tables = len(groups) * view.number("encoder_hash_byte_group_nb_functions")
    rows = size(
        "n_hashes",
        tables * view.number("encoder_hash_byte_group_vocab"),
        "group sizes x functions x encoder_hash_byte_group_vocab",
    )
    yield lookup("embedding", "encoder_hash_tok_embedding", rows, encoder.d)
    yield from _blocks(encoder)
    yield from _cross(view, encoder)
    k = view.number("encoder_config.cross_attn_k")
    yield linear("embedding", "encoder.patch_embedding_projection", encoder.d, k * encoder.d)
    patch = encoder.d * view.number("cross_attn_k")
    if patch.value != middle.d.value:
        yield linear("embedding", "global.token_embedding_projection", patch, middle.d)
    yield from _blocks(middle)
    d_global = _whole(view, "decoder_config.hidden_size_global", "d_global")
    yield linear(
        "embedding",
        "decoder.patch_embedding_projection",
        d_global,
        view.number("decoder_config.cross_attn_k") * decoder.d,
    )
    yield from _cross(view, decoder)
    _same(view, encoder, decoder)


def _patcher(view: View) -> Iterator[Op]:
    """The small model whose entropy says where patches end, with tables of its own."""
    part, n_bytes = _part(view, "patcher"), _whole(view, "patcher_config.vocab_size", "n_vocab")
    yield lookup("embedding", "patcher.embed_tokens", n_bytes, part.d)
    yield from _blocks(part)
    yield scale("norm", "patcher.norm", part.d)
    yield linear("head", "patcher.lm_head", part.d, n_bytes)


def _same(view: View, encoder: Part, decoder: Part) -> None:
    """One table of bytes is listed for both ends, so their sizes have to agree."""
    pairs = (
        ("hidden_size", encoder.d.value, decoder.d.value),
        ("vocab_size", view.number("encoder_config.vocab_size"), view.number("vocab_size")),
    )
    for name, first, second in pairs:
        if first != second:
            view.fail(
                f"{name} of encoder_config is {first:,}, the decoder's {second:,}; ffncalc counts BLT if they agree"
            )


BLT = LLAMA.like(
    "blt",
    "arXiv:2412.09871; transformers BltForCausalLM: the stack shown is the local decoder, the rest stands beside it",
    {
        **BIASLESS,
        "d_model": key("decoder_config.hidden_size"),
        "n_layers": key("decoder_config.num_hidden_layers"),
        "attention.n_heads": key("decoder_config.num_attention_heads"),
        "attention.n_kv_heads": key("decoder_config.num_key_value_heads", "attention.n_heads"),
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "attention.window": ZERO,
        "ffn.d_ff": count("decoder_config.intermediate_size"),
        "model_extra": derived(_outside),
    },
    {
        "vocab_size": 260,
        "patch_in_forward": True,
        "cross_attn_k": 2,
        "encoder_hash_byte_group_vocab": 500002,
        "encoder_hash_byte_group_nb_functions": 1,
        **{f"{part}_config.{name}": value for part, sizes in _INNER.items() for name, value in sizes.items()},
    },
    heads={"causal": lm_head},
    ignores=(
        *("patch_size", "patching_mode", "patching_threshold", "patching_batch_size", "max_patch_length"),
        *("local_attention_window_len", "global_config.encoder_cross_output_size"),
        *(f"{part}_config.{name}" for part in _INNER for name in _NEVER_COUNTS),
    ),
    flops="how many bytes make a patch depends on the data",
)

ROWS = by_name(BLT)
