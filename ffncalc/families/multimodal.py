"""Language models that stand inside multimodal ones, where they are no model of their own elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ffncalc.blocks.attention import grouped
from ffncalc.blocks.encoder_heads import nothing
from ffncalc.blocks.ends import lm_head
from ffncalc.expr import ONE, ZERO, Expr
from ffncalc.families import by_name
from ffncalc.families.decoders import GLM4, HUNYUAN
from ffncalc.families.llama import BIASLESS, LLAMA, QWEN2, QWEN3
from ffncalc.families.readers import derived, divided, each_layer, flag, word
from ffncalc.families.row import Reader
from ffncalc.ops import Op, lookup, scale
from ffncalc.spec import Attention, Norm
from ffncalc.view import View

# Alone they are bare, for no class of their own has a head; as part of a multimodal model they have one.
BARE = {"none": nothing, "causal": lm_head}
NO_HEAD_DIM = {"attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head"))}
QWEN_VL_SIZES = {
    "vocab_size": 152064,
    "hidden_size": 8192,
    "intermediate_size": 29568,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "max_window_layers": 80,
}


def more_rows(keys: tuple[str, ...], rows: Any) -> Reader:
    """Rows of the token table that the head has none of."""

    def table(view: View, switch: str) -> tuple[Op, ...]:
        more = rows(view)
        return (lookup("embedding", "embed_tokens.more", more, view.get("d_model")),) if more else ()

    return Reader(keys, table, holds_it=False)


QWEN2_VL = QWEN2.like(
    "qwen2_vl_text",
    "arXiv:2409.12191, arXiv:2502.13923; transformers Qwen2VLTextModel, Qwen2_5_VLTextModel",
    NO_HEAD_DIM,
    QWEN_VL_SIZES,
    model_types=("qwen2_vl_text", "qwen2_5_vl_text"),
)

QWEN3_VL = QWEN3.like(
    "qwen3_vl_text",
    "arXiv:2511.21631; transformers Qwen3VLTextModel: full attention in all layers",
    {"attention.window": ZERO},
    {"num_key_value_heads": 32},
    ignores=("use_sliding_window", "sliding_window", "max_window_layers", "layer_types"),
)

GLM4V = GLM4.like(
    "glm4v_text",
    "arXiv:2507.01006; transformers Glm4vTextModel: biases on q, k and v, always",
    {"attention.bias": "qkv", **NO_HEAD_DIM},
    ignores=("attention_bias", "head_dim"),
)

GLM_IMAGE = GLM4.like(
    "glm_image_text",
    "transformers GlmImageTextModel",
    defaults={"vocab_size": 168064, "head_dim": None},
    ignores=("vision_vocab_size",),
)

GLM_OCR = GLM4.like(
    "glm_ocr_text",
    "transformers GlmOcrTextModel: no biases",
    {"attention.bias": ""},
    {
        "vocab_size": 59392,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 16,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": None,
    },
    ignores=("attention_bias",),
)

HUNYUAN_VL = HUNYUAN.like("hunyuan_vl_text", "transformers HunYuanVLTextModel", defaults={"tie_word_embeddings": True})

COSMOS3_EDGE = LLAMA.like(
    "cosmos3_edge_text",
    "transformers Cosmos3EdgeTextModel: FFNs of two matrices",
    {"ffn.kind": "plain", "attention.window": ZERO},
    {
        "vocab_size": 131072,
        "hidden_size": 2048,
        "intermediate_size": 9216,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
    },
)


# ------------------------------------------------------------------ Molmo 2
MOLMO2 = LLAMA.like(
    "molmo2_text",
    "transformers Molmo2TextModel: norms on queries and keys; rows beside the vocabulary that the head hasn't",
    {
        "tied": False,
        "attention.bias": flag("attention_bias", "qkv", ""),
        "attention.qk_norm": word("qk_norm_type", {"qwen3": "head", "olmo": "full"}),
        "attention.window": ZERO,
        "ffn.bias": False,
        "norm.place": flag("norm_after", "post", "pre"),
        "model_extra": more_rows(
            ("additional_vocab_size",), lambda view: view.size("additional_vocab_size", "n_more", zero=True)
        ),
    },
    {
        "vocab_size": 151936,
        "additional_vocab_size": 128,
        "intermediate_size": 12288,
        "num_hidden_layers": 36,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "qk_norm_type": "qwen3",
    },
    spellings={"qkv_bias": "attention_bias"},
    ignores=("rope_scaling_layers", "tie_word_embeddings"),
)


# ------------------------------------------------------------------ Llama 3.2 Vision
def to_the_picture(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Attention to the rows of a picture in place of the text, queries and keys normed."""
    return grouped(a._replace(qk_norm="head"), d, norm, "cross_attn")


def _meets_picture(view: View, layer: int) -> bool:
    return layer in view.numbers("cross_attention_layers")


def _gates(view: View, switch: str) -> Any:
    gates = (scale("other", "cross_attn_attn_gate", ONE), scale("other", "cross_attn_mlp_gate", ONE))
    return each_layer((), lambda view, layer: gates if _meets_picture(view, layer) else ()).read(view, switch)


MLLAMA = LLAMA.like(
    "mllama_text_model",
    "arXiv:2407.21783, Llama 3.2 Vision; transformers MllamaForCausalLM: layers that attend to the picture, their "
    "sublayers behind gates; eight rows of the token table that the untied head has none of",
    {
        **BIASLESS,
        **NO_HEAD_DIM,
        "tied": False,
        "attention.kind": each_layer(
            ("cross_attention_layers",),
            lambda view, layer: to_the_picture if _meets_picture(view, layer) else "grouped",
        ),
        "attention.window": ZERO,
        "extra": Reader(("cross_attention_layers",), _gates, holds_it=False),
        "model_extra": more_rows((), lambda view: 8),
    },
    {
        "vocab_size": 128256,
        "intermediate_size": 14336,
        "num_hidden_layers": 40,
        "num_key_value_heads": 8,
        "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38],
    },
    ignores=("tie_word_embeddings",),
)

BARE_ROWS = (QWEN2_VL, QWEN3_VL, GLM4V, GLM_IMAGE, GLM_OCR, HUNYUAN_VL, COSMOS3_EDGE, MOLMO2)

ROWS = by_name(*(row._replace(heads=BARE) for row in BARE_ROWS), MLLAMA)
