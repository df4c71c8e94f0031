"""Encoders for embeddings whose layers differ among each other: EmbeddingGemma 2, NeoMME."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ffncalc.blocks.attention import pairs_of, scores
from ffncalc.blocks.encoder_heads import bare_extra, nothing
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.encoders import BOTH_SIDES
from ffncalc.families.llama import LLAMA
from ffncalc.families.readers import also, key
from ffncalc.families.row import PerLayer, Reader
from ffncalc.ops import Op, Weight, linear, lookup, scale
from ffncalc.spec import Attention, Norm
from ffncalc.view import View

FULL, SLIDING = "full_attention", "sliding_attention"


def _own(view: View, layer: int) -> dict[str, Any] | None:
    """What `per_layer_config` says of one layer; None where the file has no such key."""
    listed, _ = view.resolver.raw("per_layer_config")
    if listed is None:
        return None
    if not isinstance(listed, dict):
        view.fail("per_layer_config has to be a mapping from layers to what they have of their own", "per_layer_config")
    return next(
        (said for at, said in listed.items() if str(at).isdigit() and int(at) == layer and isinstance(said, dict)), {}
    )


# ------------------------------------------------------------------ EmbeddingGemma 2
def _gemma_kinds(view: View) -> list[str]:
    """Every sixth layer sees all; the last one always does."""
    period = view.number("sliding_window_pattern") or 6
    listed = view.words("layer_types", (FULL, SLIDING))
    kinds = listed or [FULL if (i + 1) % period == 0 else SLIDING for i in range(view.n_layers())]
    return [*kinds[:-1], FULL]


def _wider_where_full(name: str, global_name: str, default: int) -> Reader:
    """A size of the attention, which layers that see all have of their own."""

    def read(view: View, switch: str) -> PerLayer:
        leaf, wide = switch.rsplit(".", maxsplit=1)[-1], view.number(global_name) or default
        usual = view.single(name, leaf)
        own = [_own(view, i) for i in range(view.n_layers())]
        stated = [None if said is None else said.get(name, usual.value) for said in own]
        by_rule = [wide if kind == FULL else usual.value for kind in _gemma_kinds(view)]
        return PerLayer(
            size(leaf, rule if said is None else said, name) for said, rule in zip(stated, by_rule, strict=True)
        )

    return Reader((name, global_name, "per_layer_config", "layer_types", "sliding_window_pattern"), read)


def _gemma_windows(view: View, switch: str) -> PerLayer:
    window = BOTH_SIDES.read(view, switch)
    return PerLayer(ZERO if kind == FULL else window for kind in _gemma_kinds(view))


def _per_layer_input(view: View) -> Iterator[Op]:
    d, narrow = view.get("d_model"), view.single("hidden_size_per_layer_input", "d_layer_input")
    yield linear("other", "per_layer_input_gate", d, narrow)
    yield linear("other", "per_layer_projection", narrow, d)
    yield scale("norm", "post_per_layer_input_norm", d)


def _inputs_and_output(view: View) -> Iterator[Op]:
    """What each layer gets from the token beside the stream, and the projection to the embedding."""
    d, narrow = view.get("d_model"), view.single("hidden_size_per_layer_input", "d_layer_input")
    yield linear("other", "per_layer_model_projection", d, view.get("n_layers") * narrow)
    yield scale("norm", "per_layer_projection_norm", narrow)
    yield linear("embedding", "embedding_projection", d, view.single("embedding_dim", "d_embedding"))


EMBEDDING_GEMMA2 = LLAMA.like(
    "embedding_gemma2_text",
    "transformers EmbeddingGemma2TextModel: Gemma 4's blocks without a mask, wider heads where a layer sees all, an "
    "input for each layer",
    {
        "attention.n_kv_heads": _wider_where_full("num_key_value_heads", "num_global_key_value_heads", 1),
        "attention.d_head": _wider_where_full("head_dim", "global_head_dim", 512),
        "attention.qk_norm": "head",
        "attention.window": Reader(
            ("sliding_window", "layer_types", "sliding_window_pattern"), _gemma_windows, holds_it=False
        ),
        "attention.sides": 2,
        "ffn.bias": False,
        "norm.place": "both",
        "extra": also(_per_layer_input, "hidden_size_per_layer_input"),
        "stack_extra": also(_inputs_and_output, "hidden_size_per_layer_input", "embedding_dim"),
    },
    {
        "vocab_size": 262144,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_hidden_layers": 24,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 256,
        "sliding_window": 512,
        "hidden_size_per_layer_input": 512,
        "embedding_dim": 768,
    },
    ignores=("tie_word_embeddings", "mlp_bias"),
    heads={"none": nothing},
    stacks=("encoder",),
)


# ------------------------------------------------------------------ NeoMME
def gated_output(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Grouped attention, a strength for each head of what it leaves out of its own value, a gate on its output."""
    kv = a.n_kv_heads * a.d_head
    yield linear("attention", f"{prefix}.q_proj", d, a.width, "q" in a.bias)
    yield linear("attention", f"{prefix}.k_proj", d, kv, "k" in a.bias)
    yield linear("attention", f"{prefix}.v_proj", d, kv, "v" in a.bias)
    yield from scores(a, a.d_head, a.d_head, pairs_of(a), prefix)
    yield scale("attention", f"{prefix}.exclusive", a.n_heads)
    yield linear("attention", f"{prefix}.gate_proj", d, a.width)
    yield linear("attention", f"{prefix}.o_proj", a.width, d, "o" in a.bias)


def _neomme_kinds(view: View) -> list[str]:
    last = view.n_layers() - 1
    listed = view.words("layer_types", (FULL, SLIDING))
    return listed or [FULL if (i + 1) % 6 == 0 or i == last else SLIDING for i in range(last + 1)]


def _neomme_windows(view: View, switch: str) -> PerLayer:
    """Of the layers that don't see all, every second reaches 1024 tokens to each side."""
    kinds, usual = _neomme_kinds(view), view.number("sliding_window")
    reach = []
    for i, kind in enumerate(kinds):
        own = _own(view, i)
        by_rule = 1024 if kinds[:i].count(SLIDING) % 2 else usual
        reach.append(0 if kind == FULL else by_rule if own is None else own.get("sliding_window", usual) or 0)
    return PerLayer(size("window", 2 * n, "2 x sliding_window") for n in reach)


def _mixing_of_input(view: View) -> Iterator[Op]:
    yield Op("lambdas", "other", (Weight("lambdas", (size("two", 2),)),))


def _values_and_patches(view: View) -> Iterator[Op]:
    """A table of values for the first and the last layer that see all; the patches of images, which text never has."""
    d, patch = view.get("d_model"), view.single("patch_size", "patch")
    pixels = 3 * patch * patch
    yield lookup(
        "embedding",
        "value_embeddings",
        view.get("n_vocab"),
        view.get("attention.n_kv_heads") * view.get("attention.d_head"),
    )
    yield scale("norm", "patch_norm", pixels, bias=True)
    yield linear("embedding", "patch_up_proj", pixels, 2 * d)._replace(axes=())
    yield linear("embedding", "patch_down_proj", 2 * d, d, bias=True)._replace(axes=())


def _factored_head(view: View) -> Iterator[Op]:
    """The way back through the tables' rank, both matrices tied to those at the bottom."""
    d, rank, tied = view.get("d_model"), view.get("embedding.width"), view.get("tied")
    yield linear("head", "unembedding_projection", d, rank, tied=tied)
    yield linear("head", "lm_head", rank, view.get("n_vocab"), tied=tied)


NEOMME = LLAMA.like(
    "neomme",
    "transformers NeoMMEForMaskedLM: tables of low rank, norms without weights, gates on the attention's output, "
    "squared ReLU; "
    "FLOPs are those of text",
    {
        "attention.kind": gated_output,
        "attention.window": Reader(
            ("sliding_window", "layer_types", "per_layer_config"), _neomme_windows, holds_it=False
        ),
        "attention.sides": 2,
        "ffn.kind": "plain",
        "norm.kind": "none",
        "embedding.width": key("embedding_rank"),
        "embedding.bias": False,
        "extra": also(_mixing_of_input),
        "stack_extra": also(_values_and_patches, "patch_size"),
        "head_extra": also(_factored_head),
    },
    {
        "vocab_size": 131072,
        "hidden_size": 1024,
        "intermediate_size": 3584,
        "num_hidden_layers": 17,
        "num_attention_heads": 16,
        "num_key_value_heads": 4,
        "head_dim": 64,
        "embedding_rank": 256,
        "sliding_window": 256,
        "patch_size": 32,
        "tie_word_embeddings": True,
    },
    ignores=("embedding_dim", "document_token_id", "residual_multiplier"),
    heads={"mlm": bare_extra},
    stacks=("encoder",),
)

ROWS = by_name(EMBEDDING_GEMMA2, NEOMME)
