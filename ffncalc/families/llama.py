"""LLaMA, and the dense decoders that differ from it in a few lines."""

from __future__ import annotations

from ffncalc.blocks.ends import lm_head
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.readers import derived, divided, each_layer, flag, key, layer_types, nullable, text
from ffncalc.families.row import Reader, Row
from ffncalc.view import View

SLIDING = {"full_attention": ZERO, "sliding_attention": nullable("sliding_window")}

LLAMA = Row(
    name="llama",
    source="arXiv:2302.13971; transformers LlamaForCausalLM",
    heads={"causal": lm_head},
    says={
        "d_model": key("hidden_size"),
        "n_layers": key("num_hidden_layers"),
        "n_vocab": key("vocab_size"),
        "tied": flag("tie_word_embeddings"),
        "attention.n_heads": key("num_attention_heads"),
        "attention.n_kv_heads": key("num_key_value_heads", "attention.n_heads"),
        "attention.d_head": key("head_dim", divided("d_model", "attention.n_heads", "d_head")),
        "attention.bias": flag("attention_bias", "qkvo", ""),
        "attention.window": layer_types("layer_types", SLIDING, ZERO),
        "ffn.kind": "gated",
        "ffn.activation": text("hidden_act", "silu"),
        "ffn.d_ff": key("intermediate_size"),
        "ffn.bias": flag("mlp_bias"),
        "norm.kind": "rms",
        "positions.kind": "rotary",
    },
    defaults={
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "vocab_size": 32000,
        "tie_word_embeddings": False,
        "attention_bias": False,
        "mlp_bias": False,
    },
    ignores=("max_position_embeddings",),
)
# What PaLM and Cohere do: attention and FFN side by side under one layer norm without a bias.
SIDE_BY_SIDE = {"norm.kind": "layer", "norm.bias": False, "norm.place": "one", "parallel": True}
BIASLESS = {"attention.bias": "", "ffn.bias": False}

MISTRAL = LLAMA.like(
    "mistral",
    "arXiv:2310.06825; transformers MistralForCausalLM",
    {**BIASLESS, "attention.window": layer_types("layer_types", SLIDING, nullable("sliding_window"))},
    {"intermediate_size": 14336, "num_key_value_heads": 8, "sliding_window": 4096},
)


def _after_max_window_layers(view: View, layer: int) -> Expr:
    """Qwen's windows: where use_sliding_window is set, the layers from max_window_layers on."""
    if not view.flag("use_sliding_window") or layer < view.number("max_window_layers"):
        return ZERO
    window: Expr = nullable("sliding_window").read(view, "attention.window")
    return window


QWEN_WINDOWS = layer_types(
    "layer_types",
    SLIDING,
    each_layer(("use_sliding_window", "max_window_layers", "sliding_window"), _after_max_window_layers),
)

QWEN2 = LLAMA.like(
    "qwen2",
    "arXiv:2407.10671; transformers Qwen2ForCausalLM: biases on q, k and v, always",
    {**BIASLESS, "attention.bias": "qkv", "attention.window": QWEN_WINDOWS},
    {
        "vocab_size": 151936,
        "intermediate_size": 22016,
        "num_key_value_heads": 32,
        "use_sliding_window": False,
        "sliding_window": 4096,
        "max_window_layers": 28,
    },
    ignores=("dual_chunk_attention_config",),
)

QWEN3 = QWEN2.like(
    "qwen3",
    "arXiv:2505.09388; transformers Qwen3ForCausalLM: a norm of d_head on queries and keys",
    {"attention.bias": flag("attention_bias", "qkvo", ""), "attention.qk_norm": "head"},
    {"head_dim": 128},
    ignores=("qkv_bias", "use_qk_norm"),
)


def _half_of(name: str) -> Reader:
    """Qwen-1 writes gate and up together into intermediate_size: each has half of it."""

    def read(view: View) -> Expr:
        both = view.size(name, "ffn.d_ff") or view.missing(name)
        if not isinstance(both, Expr) or both.value % 2:
            view.fail(f"{name} has to be an even number: Qwen's counts gate and up together", name)
        return size("d_ff", both.value // 2, f"{name} / 2")

    return derived(read, name)


QWEN = LLAMA.like(
    "qwen",
    "arXiv:2309.16609; modeling_qwen.py of the published Qwen checkpoints",
    {
        **BIASLESS,
        "attention.bias": "qkv",
        "attention.n_kv_heads": derived(lambda view: view.get("attention.n_heads")),
        "attention.d_head": key("kv_channels"),
        "ffn.d_ff": _half_of("intermediate_size"),
    },
    {"vocab_size": 151936, "intermediate_size": 22016, "kv_channels": 128},
    ignores=(
        "no_bias",
        "onnx_safe",
        "bf16",
        "fp16",
        "fp32",
        "softmax_in_fp32",
        "use_cache_quantization",
        "use_cache_kernel",
    ),
)

GEMMA = LLAMA.like(
    "gemma",
    "arXiv:2403.08295; transformers GemmaForCausalLM",
    {"ffn.bias": False, "ffn.activation": text("hidden_act", "gelu_tanh")},
    {
        "vocab_size": 256000,
        "hidden_size": 3072,
        "intermediate_size": 24576,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "head_dim": 256,
        "tie_word_embeddings": True,
    },
)

PHI3 = LLAMA.like(
    "phi3",
    "arXiv:2404.14219; transformers Phi3ForCausalLM: one matrix for q, k, v and one for gate and up, no biases",
    {**BIASLESS, "attention.window": layer_types("layer_types", SLIDING, nullable("sliding_window"))},
    {"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192},
    ignores=("attention_bias",),
)

OLMO2 = LLAMA.like(
    "olmo2",
    "arXiv:2501.00656; transformers Olmo2ForCausalLM: norms after the sublayers, and on all heads of queries and keys",
    {"ffn.bias": False, "norm.place": "post", "attention.qk_norm": "full"},
    {"vocab_size": 50304},
)

NEMOTRON = LLAMA.like(
    "nemotron",
    "arXiv:2402.16819; transformers NemotronForCausalLM: squared ReLU, two matrices, LayerNorm1P",
    {"ffn.kind": "plain", "ffn.activation": text("hidden_act", "relu2"), "norm.kind": "layer"},
    {
        "vocab_size": 256000,
        "hidden_size": 6144,
        "intermediate_size": 24576,
        "num_attention_heads": 48,
        "attention_bias": False,
        "mlp_bias": False,
    },
)

PALM = LLAMA.like(
    "palm",
    "arXiv:2204.02311: parallel blocks, one key/value head, SwiGLU, no biases, LayerNorm without a bias, tied",
    {
        **BIASLESS,
        "d_model": key("d_model"),
        "n_layers": key("n_layers"),
        "n_vocab": key("n_vocab"),
        "tied": True,
        "attention.n_heads": key("n_heads"),
        "attention.n_kv_heads": key("n_kv_heads"),
        "attention.d_head": key("d_head", divided("d_model", "attention.n_heads", "d_head")),
        "attention.window": ZERO,
        "ffn.d_ff": key("d_ff"),
        **SIDE_BY_SIDE,
    },
    {"n_kv_heads": 1},
)

ROWS = by_name(LLAMA, MISTRAL, QWEN, QWEN2, QWEN3, GEMMA, PHI3, OLMO2, NEMOTRON, PALM)
