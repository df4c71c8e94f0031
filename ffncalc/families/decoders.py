"""Dense decoders that are LLaMA's relatives: RMS norms, rotary positions, windows in some of the layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ffncalc.blocks.attention import grouped
from ffncalc.expr import ZERO, Expr
from ffncalc.families import by_name
from ffncalc.families.llama import BIASLESS, GEMMA, LLAMA, MISTRAL, OLMO2, SIDE_BY_SIDE, SLIDING
from ffncalc.families.readers import flag, layer_types, nullable, text, when
from ffncalc.families.row import Reader
from ffncalc.ops import Op, linear
from ffncalc.spec import Attention, Norm
from ffncalc.view import View

PLAIN_RELU2 = {"ffn.kind": "plain", "ffn.activation": text("hidden_act", "relu2")}
KEYED_BIAS = {"attention.bias": flag("attention_bias", "qkv", ""), "ffn.bias": False}
ALL_SLIDE = nullable("sliding_window")


def dims(
    vocab: int, d: int, d_ff: int, layers: int, heads: int, kv_heads: int | None = None, **more: Any
) -> dict[str, Any]:
    """The six sizes that every class gives a default, under their usual keys; `more` by their own."""
    sizes = (("vocab_size", vocab), ("hidden_size", d), ("intermediate_size", d_ff), ("num_hidden_layers", layers))
    return {**dict(sizes), "num_attention_heads": heads, "num_key_value_heads": kv_heads, **more}


def windows(full: Callable[[View, int], bool], keys: tuple[str, ...] = ()) -> Reader:
    """`sliding_window` where layer_types says so; without that list, in all but those that are `full(view, i)`."""
    return layer_types(
        "layer_types", SLIDING, lambda view, i: "full_attention" if full(view, i) else "sliding_attention", keys
    )


def every(step: int) -> Callable[[View, int], bool]:
    """Full attention in every step-th layer, the step-th being the first."""
    return lambda view, layer: (layer + 1) % step == 0


def every_from_first(step: int) -> Callable[[View, int], bool]:
    """Full attention in every step-th layer, the first one included."""
    return lambda view, layer: layer % step == 0


def _every_patterned(view: View, layer: int) -> bool:
    step = view.number("sliding_window_pattern")
    return step > 0 and (layer + 1) % step == 0


# ------------------------------------------------------------------ Gemma
GEMMA2 = GEMMA.like(
    "gemma2",
    "arXiv:2408.00118; transformers Gemma2ForCausalLM: norms on both sides of the sublayers, a window in every other "
    "layer",
    {"norm.place": "both", "attention.window": windows(every(2))},
    dims(256000, 2304, 9216, 26, 8, 4, head_dim=256, sliding_window=4096),
    ignores=("use_bidirectional_attention", "sliding_window_size"),
)

GEMMA3 = GEMMA2.like(
    "gemma3_text",
    "arXiv:2503.19786; transformers Gemma3ForCausalLM: norms on queries and keys, full attention in every sixth layer; "
    "the "
    "embedding models see half their window to each side",
    {
        "attention.qk_norm": "head",
        "attention.window": windows(_every_patterned, ("sliding_window_pattern",)),
        "attention.sides": flag("use_bidirectional_attention", 2, 1),
    },
    {"vocab_size": 262208, "sliding_window_pattern": 6},
)

VAULTGEMMA = GEMMA2.like(
    "vaultgemma",
    "arXiv:2510.15001; transformers VaultGemmaForCausalLM: Gemma 2 without the norms after the sublayers",
    {"norm.place": "pre"},
)

# ------------------------------------------------------------------ Cohere, OLMo
COHERE = LLAMA.like(
    "cohere",
    "transformers CohereForCausalLM (Command R, Aya): parallel blocks on one LayerNorm without bias; norms on each "
    "head by flag",
    {
        "ffn.bias": False,
        **SIDE_BY_SIDE,
        "attention.window": ZERO,
        "attention.qk_norm": flag("use_qk_norm", "table", "none"),
    },
    dims(256000, 8192, 22528, 40, 64, tie_word_embeddings=True),
)

COHERE2_UNCOUNTED = (
    "order_of_interleaved_layers", "layer_switch", "use_gated_activation", "use_parallel_block",
    "use_parallel_embedding", "use_embedding_sharing", "use_qk_norm",
)  # fmt: skip

COHERE2 = COHERE.like(
    "cohere2",
    "arXiv:2504.00698; transformers Cohere2ForCausalLM: full attention in every fourth layer",
    {
        "attention.qk_norm": "none",
        "attention.window": windows(_every_patterned, ("sliding_window_pattern",)),
    },
    {"sliding_window": 4096, "sliding_window_pattern": 4},
    ignores=COHERE2_UNCOUNTED,
)

OLMO = LLAMA.like(
    "olmo",
    "arXiv:2402.00838; transformers OlmoForCausalLM: LayerNorm without weights",
    {"ffn.bias": False, "norm.kind": "none"},
    {"vocab_size": 50304},
)

OLMO3 = OLMO2.like(
    "olmo3",
    "arXiv:2512.13961; transformers Olmo3ForCausalLM: OLMo 2 with full attention in every fourth layer",
    {"attention.window": windows(every(4))},
    {"sliding_window": 4096},
)

# ------------------------------------------------------------------ Granite, GLM, EXAONE, SmolLM, HunYuan, ...
GRANITE = LLAMA.like("granite", "arXiv:2405.04324; transformers GraniteForCausalLM")

GRANITE_DOCLING = GRANITE.like(
    "granite_docling_text",
    "transformers GraniteDoclingTextModel: the decoder of Granite Docling",
    {},
    dims(133800, 1024, 2048, 28, 16, 4, tie_word_embeddings=True),
)

GRANITE_SWA = GRANITE.like(
    "granite_swa",
    "transformers GraniteSWAForCausalLM: sinks, and full attention only in every fourth layer from the first",
    {"attention.sinks": True, "attention.window": windows(every_from_first(4))},
    dims(100352, 2560, 8192, 24, 20, 4, tie_word_embeddings=True, sliding_window=128),
    ignores=("layer_rope_theta",),
)

GLM = LLAMA.like(
    "glm",
    "arXiv:2406.12793; transformers GlmForCausalLM: biases on q, k and v by flag, gate and up in one matrix",
    KEYED_BIAS,
    dims(151552, 4096, 13696, 40, 32, 2, head_dim=128, attention_bias=True),
)

GLM4 = GLM.like(
    "glm4", "transformers Glm4ForCausalLM: GLM with norms on both sides of the sublayers", {"norm.place": "both"}
)


def _without_rope(view: View, layer: int) -> bool:
    """Whether SmolLM3's layer has no rotary positions: its list says 0, or it is every no_rope_layer_interval-th."""
    listed = view.numbers("no_rope_layers")
    if listed and len(listed) != view.n_layers():
        view.fail(f"no_rope_layers has {len(listed)} entries for {view.n_layers()} layers", "no_rope_layers")
    return not listed[layer] if listed else every(view.number("no_rope_layer_interval") or 1)(view, layer)


def _smollm3_kind(view: View, layer: int) -> str:
    return "sliding_attention" if _without_rope(view, layer) else "full_attention"


SMOLLM3_SLIDING = {"full_attention": ZERO, "sliding_attention": when("use_sliding_window", ALL_SLIDE)}
SMOLLM3_KEYS = ("use_sliding_window", "sliding_window", "no_rope_layers", "no_rope_layer_interval")

SMOLLM3 = LLAMA.like(
    "smollm3",
    "transformers SmolLM3ForCausalLM: no rotary positions in every fourth layer, which are those that may have a "
    "window",
    {"attention.window": layer_types("layer_types", SMOLLM3_SLIDING, _smollm3_kind, SMOLLM3_KEYS)},
    dims(128256, 2048, 11008, 36, 16, 4, tie_word_embeddings=True, no_rope_layer_interval=4),
    ignores=("max_window_layers",),
)

EXAONE = LLAMA.like(
    "exaone",
    "arXiv:2408.03541; transformers ExaoneConfig on LlamaForCausalLM",
    {},
    dims(102400, 4096, 14336, 32, 32, 8),
    spellings={"num_layers": "num_hidden_layers"},
)


def _exaone4_full(view: View, layer: int) -> bool:
    """The pattern is a step, or (in the release) a word with one letter a layer of the cycle, such as LLLG."""
    pattern, _ = view.resolver.raw("sliding_window_pattern")
    step = len(pattern) if isinstance(pattern, str) else view.number("sliding_window_pattern")
    return step > 0 and (layer + 1) % step == 0


EXAONE4 = LLAMA.like(
    "exaone4",
    "arXiv:2507.11407; transformers Exaone4ForCausalLM: norms after the sublayers and on each head, full attention in "
    "every fourth layer",
    {
        **BIASLESS,
        "norm.place": "post",
        "attention.qk_norm": "head",
        "attention.window": windows(_exaone4_full, ("sliding_window_pattern",)),
    },
    dims(102400, 4096, 16384, 32, 32, 32, sliding_window=4096, sliding_window_pattern=4),
)

SEED_OSS = LLAMA.like(
    "seed_oss",
    "transformers SeedOssForCausalLM: biases on q, k and v by one flag, on o by another",
    {
        "attention.bias": Reader(
            ("attention_bias", "attention_out_bias"),
            lambda view, s: "qkv" * view.flag("attention_bias") + "o" * view.flag("attention_out_bias"),
        )
    },
    dims(155136, 4096, 27648, 64, 80, 8, head_dim=128, attention_bias=True),
)

HUNYUAN = LLAMA.like(
    "hunyuan_v1_dense",
    "transformers HunYuanDenseV1ForCausalLM: norms on each head of queries and keys",
    {"ffn.bias": False, "attention.qk_norm": "head"},
    {"vocab_size": 290943},
    ignores=(
        "add_classification_head",
        "class_num",
        "dense_list",
        "enable_lm_head_fp32",
        "pool_type",
        "norm_type",
        "use_qk_norm",
        "attention_head_dim",
        "org_vocab_size",
        "position_embedding_xdrope",
        "xdrope_section",
        "im_start_id",
        "im_end_id",
        "im_newline_id",
        "text_start_id",
        "text_end_id",
        "mask_init_id",
        "eod_token_id",
        "tie_embedding",
    ),
)

HYPERCLOVAX = LLAMA.like(
    "hyperclovax",
    "transformers HyperCLOVAXForCausalLM: norms after the sublayers too, by flag",
    {"norm.place": flag("use_post_norm", "both", "pre")},
    {"use_post_norm": True},
)


def _square_output(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Helium's output matrix is d_model square, whatever the width of the heads."""
    *others, _ = grouped(a, d, norm, prefix)
    yield from others
    yield linear("attention", f"{prefix}.o_proj", d, d)


HELIUM = LLAMA.like(
    "helium",
    "transformers HeliumForCausalLM: a square output matrix without bias",
    {"attention.kind": _square_output, "attention.bias": flag("attention_bias", "qkv", "")},
    dims(48000, 2560, 7040, 24, 20, 20, head_dim=128),
)

CWM = LLAMA.like(
    "cwm",
    "arXiv:2510.02387; transformers CwmForCausalLM: full attention in every fourth layer from the first",
    {"attention.bias": "", "attention.window": windows(every_from_first(4))},
    dims(128256, 6144, 21504, 64, 48, 8, head_dim=128, sliding_window=8192),
)

IQUESTCODER = LLAMA.like(
    "iquestcoder",
    "transformers IQuestCoderConfig on LlamaForCausalLM",
    {},
    dims(76800, 5120, 27648, 80, 40, 8, head_dim=128),
)

INTERNLM3 = LLAMA.like(
    "internlm3",
    "transformers InternLM3Config on LlamaForCausalLM",
    {},
    dims(128512, 4096, 10240, 48, 32, 2, head_dim=128),
    spellings={"qkv_bias": "attention_bias", "bias": "mlp_bias"},
)

EMU3_TEXT = LLAMA.like(
    "emu3_text_model",
    "arXiv:2409.18869; transformers Emu3ForCausalLM: the language model of Emu3",
    {},
    dims(184622, 4096, 14336, 32, 32, 8),
)
EMU3 = EMU3_TEXT.like(
    "emu3",
    "the same, where the file is that of the whole Emu3: its own tie flag ties nothing",
    {"tied": False},
    ignores=("vq_config", "vocabulary_map", "tie_word_embeddings"),
)

MINISTRAL = MISTRAL.like(
    "ministral", "transformers MinistralForCausalLM", {}, {"head_dim": None, "sliding_window": 4096}
)

MINISTRAL3 = MISTRAL.like(
    "ministral3",
    "arXiv:2601.08584; transformers Ministral3ForCausalLM",
    {"attention.window": ALL_SLIDE},
    dims(131072, 4096, 14336, 34, 32, 8, head_dim=128, sliding_window=None),
)

# ------------------------------------------------------------------ without a gate
ARCEE = LLAMA.like(
    "arcee", "transformers ArceeForCausalLM (AFM): squared ReLU, no gate", PLAIN_RELU2, dims(32000, 2560, 18432, 32, 32)
)

JAIS2 = LLAMA.like(
    "jais2",
    "transformers Jais2ForCausalLM: squared ReLU, no gate, LayerNorm with biases",
    {**PLAIN_RELU2, "norm.kind": "layer"},
    dims(150272, 3328, 26624, 32, 26, attention_bias=True, mlp_bias=True),
)

NANOCHAT = LLAMA.like(
    "nanochat",
    "github.com/karpathy/nanochat; transformers NanoChatForCausalLM: squared ReLU, no gate, norms without weights",
    {**PLAIN_RELU2, "ffn.bias": False, "norm.kind": "none", "attention.window": ZERO},
    dims(50304, 768, 8192, 12, 6),
)

ROWS = by_name(
    GEMMA2, GEMMA3, VAULTGEMMA, COHERE, COHERE2, OLMO, OLMO3, GRANITE, GRANITE_DOCLING, GRANITE_SWA, GLM, GLM4, SMOLLM3,
    EXAONE, EXAONE4, SEED_OSS, HUNYUAN, HYPERCLOVAX, HELIUM, CWM, IQUESTCODER, INTERNLM3, EMU3, EMU3_TEXT,
    MINISTRAL, MINISTRAL3, ARCEE, JAIS2, NANOCHAT,
)  # fmt: skip
