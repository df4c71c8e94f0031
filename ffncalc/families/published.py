"""Decoders that the reference library has no class for: read as the code published beside their checkpoints does.

Where such a code's defaults are not known here, a size that the file leaves out is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ffncalc.blocks.ends import lm_head
from ffncalc.expr import ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.decoders import dims
from ffncalc.families.gpt import GPT2
from ffncalc.families.layernorm import PHI
from ffncalc.families.llama import BIASLESS, LLAMA, QWEN2
from ffncalc.families.readers import count, derived, divided, flag, key, text, times, when, word
from ffncalc.families.row import PerLayer, Reader, keys_in, said
from ffncalc.ops import Op, linear
from ffncalc.spec import Attention, Ffn, Norm
from ffncalc.view import View

NO_DEFAULTS: dict[str, Any] = dict.fromkeys(
    ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
)
MOST = 1000  # no width is a larger multiple of d_model
HEADS = derived(lambda view: view.get("attention.n_heads"))
PLAIN_LLAMA = {**BIASLESS, "attention.window": ZERO}

# ------------------------------------------------------------------ LLaMA under another name
AQUILA = LLAMA.like(
    "aquila", "modeling_aquila.py of the published Aquila checkpoints: LLaMA", PLAIN_LLAMA, {"vocab_size": 100008}
)
YI = LLAMA.like(
    "Yi",
    "modeling_yi.py of the first Yi checkpoints: LLaMA",
    PLAIN_LLAMA,
    {"vocab_size": 64000, "num_key_value_heads": 4},
)
XVERSE = LLAMA.like("xverse", "modeling_xverse.py of the published XVERSE checkpoints: LLaMA", PLAIN_LLAMA, NO_DEFAULTS)
SKYWORK = LLAMA.like("skywork", "arXiv:2310.19341; modeling_skywork.py: LLaMA", PLAIN_LLAMA, NO_DEFAULTS)

BAICHUAN = LLAMA.like(
    "baichuan",
    "arXiv:2309.10305; modeling_baichuan.py: LLaMA with q, k and v in one matrix; the 13B has ALiBi, which has no "
    "weights",
    {**PLAIN_LLAMA, "attention.n_kv_heads": HEADS},
    NO_DEFAULTS,
    ignores=("z_loss_weight",),
)

INTERNLM = LLAMA.like(
    "internlm",
    "modeling_internlm.py of the published InternLM checkpoints: LLaMA with biases in the attention by flag",
    {**PLAIN_LLAMA, "attention.bias": flag("bias", "qkvo", "")},
    {"vocab_size": 103168, "bias": True},
    ignores=("rotary",),
)
INTERNLM2 = INTERNLM.like(
    "internlm2",
    "arXiv:2403.17297; modeling_internlm2.py: the same with grouped heads",
    ignores=("attn_implementation",),
)

ORION = LLAMA.like(
    "orion",
    "arXiv:2401.12246; modeling_orion.py: LLaMA on LayerNorm with biases",
    {**PLAIN_LLAMA, "attention.bias": flag("attention_bias", "qkvo", ""), "norm.kind": "layer"},
    dims(84608, 4096, 15360, 40, 40, 40),
)

STABLELM_EPOCH = LLAMA.like(
    "stablelm_epoch",
    "modeling_stablelm_epoch.py of the first StableLM-3B and 1.6B: LLaMA on LayerNorm with biases, biases on q, k and "
    "v by flag",
    {**PLAIN_LLAMA, "attention.bias": flag("use_qkv_bias", "qkv", ""), "norm.kind": "layer"},
    dims(50304, 2560, 6912, 32, 32, 32),
    ignores=("rope_pct", "rotary_scaling_factor", "num_heads"),
)

MINICPM = LLAMA.like(
    "minicpm",
    "arXiv:2404.06395; modeling_minicpm.py: LLaMA with scaled residuals, tied; with num_experts a mixture in every "
    "layer",
    {
        **PLAIN_LLAMA,
        "attention.bias": flag("attention_bias", "qkvo", ""),
        "ffn.kind": Reader(("num_experts",), lambda view, switch: "moe" if view.number("num_experts") else "gated"),
        "ffn.n_experts": count("num_experts"),
        "ffn.top_k": count("num_experts_per_tok"),
    },
    {"tie_word_embeddings": True},
    ignores=("scale_emb", "scale_depth", "dim_model_base", "scale_width", "rope_theta", "mup_denominator"),
)

DECI = LLAMA.like(
    "deci",
    "modeling_decilm.py of the published DeciLM-7B: LLaMA with key/value heads stated for each layer",
    {
        **PLAIN_LLAMA,
        "attention.n_kv_heads": key("num_key_value_heads_per_layer", "attention.n_heads"),
        "attention.bias": flag("attention_bias", "qkvo", ""),
    },
    NO_DEFAULTS,
    ignores=("num_key_value_heads",),
)

MIMO = QWEN2.like(
    "mimo",
    "arXiv:2505.07608; modeling_mimo.py: Qwen2 with biases by flag; layers that predict more tokens are not counted",
    {"attention.bias": flag("attention_bias", "qkv", "")},
    {**NO_DEFAULTS, "attention_bias": True},
    ignores=("num_nextn_predict_layers",),
)

# ------------------------------------------------------------------ Nemotron-NAS
Blocks = list[dict[str, Any]]


def _blocks(view: View, half: str) -> Blocks:
    """block_configs' entries for attention or ffn, one a layer."""
    listed, _ = view.resolver.raw("block_configs")
    if not isinstance(listed, list) or len(listed) != view.n_layers():
        view.fail(f"block_configs must list one block for each of {view.n_layers()} layers", "block_configs")
    blocks = [block.get(half) if isinstance(block, dict) else None for block in listed]
    if not all(isinstance(block, dict) and not block.get("moe") for block in blocks):
        view.fail(
            f"block_configs: every entry needs {half}, with no_op, replace_with_linear and a size", "block_configs"
        )
    return blocks  # type: ignore[return-value]


def _kinds(view: View, half: str, linear_kind: Any, full: str) -> PerLayer:
    return PerLayer(
        "none" if block.get("no_op") else linear_kind if block.get("replace_with_linear") else full
        for block in _blocks(view, half)
    )


def _linear_attention(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """One matrix in place of an attention."""
    yield linear("attention", f"{prefix}.linear_attn", d, d, "o" in a.bias)


def _linear_ffn(f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """One matrix in place of an FFN."""
    yield linear("ffn", f"{prefix}.linear_mlp", d, d, f.bias)


def _grouped_heads(view: View, switch: str) -> PerLayer:
    """n_heads / n_heads_in_group key/value heads."""
    heads = view.get("attention.n_heads")
    return PerLayer(_kv_heads(view, heads, block.get("n_heads_in_group")) for block in _blocks(view, "attention"))


def _kv_heads(view: View, heads: Expr, group: Any) -> Expr:
    if group is None:
        return heads
    if not isinstance(group, int) or group < 1 or heads.value % group:
        view.fail(
            f"n_heads_in_group is {group!r}; want a whole number that divides num_attention_heads, {heads.value}",
            "block_configs",
        )
    return size("n_kv_heads", heads.value // group, "num_attention_heads / n_heads_in_group")


def _multiplied_widths(view: View, switch: str) -> PerLayer:
    """int(2·ffn_mult·d / 3), rounded up to a multiple of 256; none where there is no FFN."""
    d = view.get("d_model").value
    return PerLayer(_width(view, block, d) for block in _blocks(view, "ffn"))


def _width(view: View, block: dict[str, Any], d: int) -> Expr:
    stated, mult = block.get("intermediate_size"), block.get("ffn_mult")
    if block.get("no_op") or block.get("replace_with_linear"):
        return ZERO
    if isinstance(stated, int) and stated > 0:
        return size("d_ff", stated, "block_configs: intermediate_size")
    if isinstance(mult, bool) or not isinstance(mult, int | float) or not 0 < mult < MOST:
        view.fail(f"ffn_mult is {mult!r}; want a positive number", "block_configs")
    return size(
        "d_ff",
        -(-int(2 * mult * d / 3) // 256) * 256,
        f"ffn_mult {mult}: int(2 x ffn_mult x d_model / 3), up to a multiple of 256",
    )


def _block_windows(view: View, switch: str) -> PerLayer:
    return PerLayer(
        size("window", block.get("window_length") or 0, "window_length") for block in _blocks(view, "attention")
    )


NEMOTRON_NAS = LLAMA.like(
    "nemotron-nas",
    "arXiv:2411.19146; modeling_decilm.py of the published Llama-Nemotron checkpoints: a width, a grouping or a single "
    "matrix for each layer",
    {
        "attention.kind": Reader(
            ("block_configs",), lambda view, s: _kinds(view, "attention", _linear_attention, "grouped")
        ),
        "attention.n_kv_heads": Reader(("block_configs",), _grouped_heads, holds_it=False),
        "attention.window": Reader(("block_configs",), _block_windows, holds_it=False),
        "ffn.kind": Reader(("block_configs",), lambda view, s: _kinds(view, "ffn", _linear_ffn, "gated")),
        "ffn.d_ff": Reader(("block_configs",), _multiplied_widths, holds_it=False),
    },
    NO_DEFAULTS,
    ignores=("max_position_embeddings", "intermediate_size", "num_key_value_heads", "parallel_blocks"),
)

# ------------------------------------------------------------------ OpenELM


def make_divisible(value: float, divisor: int) -> int:
    """The multiple of `divisor` nearest to `value`, at least one, never under nine tenths of it (as in MobileNet)."""
    nearest = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * value else nearest


def _multipliers(view: View, name: str) -> Sequence[float]:
    """One multiplier a layer: stated for each, the same for all, or two ends with the others between, to two digits."""
    stated, _ = view.resolver.raw(name)
    layers = view.n_layers()
    values = stated if isinstance(stated, list) else [stated] * layers
    if not values or not all(isinstance(v, int | float) and not isinstance(v, bool) and 0 < v < MOST for v in values):
        view.fail(f"{name} is {stated!r}; want a positive number, two ends, or one for each layer", name)
    if len(values) == 2 and layers > 1:
        step = (values[1] - values[0]) / (layers - 1)
        return [round(i * step + values[0], 2) for i in range(layers - 1)] + [round(values[1], 2)]
    if len(values) != layers:
        view.fail(f"{name} has {len(values)} entries for {layers} layers", name)
    return values


def _elm_heads(view: View, switch: str) -> PerLayer:
    """Query heads of each layer: qkv_multiplier x model_dim, to a multiple of a group's width."""
    group, d_head, d = view.number("num_gqa_groups") or 2, view.get("attention.d_head").value, view.get("d_model").value
    widths = [make_divisible(d * m, d_head * group) for m in _multipliers(view, "qkv_multipliers")]
    return PerLayer(size("n_heads", width // d_head, "qkv_multipliers") for width in widths)


def _elm_kv_heads(view: View, switch: str) -> PerLayer:
    group = view.number("num_gqa_groups") or 1
    return PerLayer(
        size("n_kv_heads", heads.value // group, "query heads / num_gqa_groups")
        for heads in view.get("attention.n_heads")
    )


def _elm_widths(view: View, switch: str) -> PerLayer:
    divisor, d = view.number("ffn_dim_divisor") or 1, view.get("d_model").value
    return PerLayer(
        size("d_ff", make_divisible(m * d, divisor), "ffn_multipliers") for m in _multipliers(view, "ffn_multipliers")
    )


OPENELM = LLAMA.like(
    "openelm",
    "arXiv:2404.14619; modeling_openelm.py: heads and widths that grow from layer to layer, norms on each head of "
    "queries and keys",
    {
        **PLAIN_LLAMA,
        "d_model": key("model_dim"),
        "n_layers": key("num_transformer_layers"),
        "tied": flag("share_input_output_layers"),
        "attention.d_head": key("head_dim"),
        "attention.n_heads": Reader(("qkv_multipliers", "num_gqa_groups"), _elm_heads, holds_it=False),
        "attention.n_kv_heads": Reader(("num_gqa_groups",), _elm_kv_heads, holds_it=False),
        "attention.qk_norm": flag("normalize_qk_projections", "head", "none"),
        "ffn.kind": flag("ffn_with_glu", "gated", "plain"),
        "ffn.activation": text("activation_fn_name", "swish"),
        "ffn.d_ff": Reader(("ffn_multipliers", "ffn_dim_divisor"), _elm_widths, holds_it=False),
    },
    {
        "num_transformer_layers": 12,
        "model_dim": 2048,
        "head_dim": 128,
        "qkv_multipliers": 1.0,
        "ffn_multipliers": 4.0,
        "ffn_with_glu": True,
        "ffn_dim_divisor": 256,
        "normalize_qk_projections": False,
        "share_input_output_layers": False,
    },
    ignores=(
        "max_context_length",
        "num_query_heads",
        "num_kv_heads",
        "normalization_layer_name",
        "rope_freq_constant",
        "rope_max_length",
    ),
)

# ------------------------------------------------------------------ ChatGLM


def _is_first_chatglm(view: View) -> bool:
    """ChatGLM-6B, before multi-query attention and RMSNorm: only its files have inner_hidden_size or 2d positions."""
    return any(view.resolver.raw(name)[0] is not None for name in ("inner_hidden_size", "position_encoding_2d"))


def _chatglm(first: Any, later: Any) -> Reader:
    """`first` in ChatGLM-6B's files, `later` in those of ChatGLM2, ChatGLM3 and GLM-4."""

    def read(view: View, switch: str) -> Any:
        return said(first if _is_first_chatglm(view) else later, view, switch)

    return Reader(keys_in((first, later)), read)


CHATGLM_BIAS = Reader(
    ("add_bias_linear", "add_qkv_bias"),
    lambda view, switch: "qkvo" if view.flag("add_bias_linear") else "qkv" if view.flag("add_qkv_bias") else "",
)

CHATGLM = LLAMA.like(
    "chatglm",
    "arXiv:2406.12793; modeling_chatglm.py of ChatGLM-6B (LayerNorm, biases, no gate, tied), ChatGLM2, ChatGLM3 and "
    "GLM-4; the class "
    "ChatGLMModel holds the output matrix itself",
    {
        "n_layers": key("num_layers"),
        "n_vocab": _chatglm(key("vocab_size"), key("padded_vocab_size")),
        "tied": _chatglm(True, flag("tie_word_embeddings")),
        "head_bias": _chatglm(False, flag("add_bias_linear")),
        "attention.n_kv_heads": when("multi_query_attention", key("multi_query_group_num"), HEADS),
        "attention.d_head": key("kv_channels", divided("d_model", "attention.n_heads", "d_head")),
        "attention.bias": _chatglm("qkvo", CHATGLM_BIAS),
        "attention.window": ZERO,
        "ffn.kind": _chatglm("plain", "gated"),
        "ffn.d_ff": _chatglm(key("inner_hidden_size", times(4, "d_model", "d_ff")), key("ffn_hidden_size")),
        "ffn.bias": _chatglm(True, flag("add_bias_linear")),
        "norm.kind": _chatglm("layer", flag("rmsnorm", "rms", "layer")),
        "norm.final": _chatglm(True, flag("post_layer_norm")),
    },
    {
        **NO_DEFAULTS,
        "num_layers": 28,
        "padded_vocab_size": 65024,
        "hidden_size": 4096,
        "ffn_hidden_size": 13696,
        "num_attention_heads": 32,
        "multi_query_group_num": 1,
        "rmsnorm": True,
        "post_layer_norm": True,
    },
    heads={"causal": lm_head, "pooler": lm_head},  # as ChatGLMModel too, which most of the files name
    ignores=(
        "vocab_size", "seq_length", "bias_dropout_fusion", "apply_query_key_layer_scaling", "attention_softmax_in_fp32",
        "fp32_residual_connection", "quantization_bit", "quantization_embeddings", "interleaved_qkv", "original_rope",
        "prefix_projection", "position_encoding_2d", "gmask_token_id", "bos_token_id", "num_hidden_layers",
    ),
)  # fmt: skip

# ------------------------------------------------------------------ OLMo's own keys


def _olmo_width(view: View, switch: str) -> Expr:
    """mlp_hidden_size, which counts gate and up together where the activation is a gated one."""
    both = view.size("mlp_hidden_size", switch)
    width = both.value if isinstance(both, Expr) else view.number("mlp_ratio") * view.get("d_model").value
    if view.text("activation_type") != "swiglu":
        return size("d_ff", width, "mlp_hidden_size")
    return size("d_ff", width // 2, "mlp_hidden_size / 2")


HF_OLMO = LLAMA.like(
    "hf_olmo",
    "arXiv:2402.00838; github.com/allenai/OLMo (olmo/config.py, olmo/model.py): mlp_hidden_size holds gate and up "
    "together",
    {
        "d_model": key("d_model"),
        "n_layers": key("n_layers"),
        "n_vocab": key("embedding_size", lambda view: view.size("vocab_size", "n_vocab")),
        "tied": flag("weight_tying"),
        "attention.n_heads": key("n_heads"),
        "attention.n_kv_heads": when(
            "multi_query_attention",
            size("n_kv_heads", 1, "multi_query_attention"),
            key("n_kv_heads", "attention.n_heads"),
        ),
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "attention.bias": flag("include_bias", "qkvo", ""),
        "attention.window": ZERO,
        "attention.qk_norm": flag("attention_layer_norm", "full", "none"),
        "ffn.kind": word("activation_type", {"swiglu": "gated", "gelu": "plain", "relu": "plain"}),
        "ffn.activation": text("activation_type", "swiglu"),
        "ffn.d_ff": Reader(("mlp_hidden_size", "mlp_ratio"), _olmo_width),
        "ffn.bias": flag("include_bias"),
        "norm.kind": when(
            "layer_norm_with_affine",
            word("layer_norm_type", {"default": "layer", "low_precision": "layer", "rms": "rms"}),
            "none",
        ),
        "norm.bias": flag("bias_for_layer_norm"),
        "positions.kind": when("rope", "rotary", when("alibi", "alibi", "learned")),
        "positions.n_positions": key("max_sequence_length"),
    },
    {
        "activation_type": "swiglu",
        "mlp_ratio": 4,
        "vocab_size": 50257,
        "include_bias": True,
        "layer_norm_with_affine": True,
        "layer_norm_type": "default",
        "weight_tying": True,
        "max_sequence_length": 1024,
    },
    ignores=(
        "vocab_size",
        "block_type",
        "block_group_size",
        "init_fn",
        "init_cutoff_factor",
        "precision",
        "scale_logits",
        "alibi_bias_max",
        "flash_attention",
        "attention_layer_norm_with_affine",
    ),
)

# ------------------------------------------------------------------ on GPT-2's keys
JAIS = GPT2.like(
    "jais",
    "arXiv:2308.16149; modeling_jais.py: GPT-2 with ALiBi, and a gate where the activation is swiglu",
    {
        "ffn.kind": Reader(
            ("activation_function",),
            lambda view, s: "gated" if view.text("activation_function") == "swiglu" else "plain",
        ),
        "positions.kind": word("position_embedding_type", {"learned": "learned", "alibi": "alibi"}),
    },
    {"position_embedding_type": "learned"},
    ignores=(
        "mup_width_scale",
        "mup_embeddings_scale",
        "mup_output_alpha",
        "mup_scale_qk_dot_by_d",
        "width_scale",
        "embeddings_scale",
        "scale_qk_dot_by_d",
        "alibi_scaling",
    ),
)
BTLM = JAIS.like("btlm", "arXiv:2309.11568; modeling_btlm.py: the same")

PHI_MSFT = PHI.like(
    "phi-msft",
    "modeling_phi.py of the first Phi-1.5 and Phi-2 checkpoints: Phi with names of keys of its own",
    {
        "d_model": key("n_embd"),
        "n_layers": key("n_layer"),
        "attention.n_heads": key("n_head"),
        "attention.n_kv_heads": key("n_head_kv", "attention.n_heads"),
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "ffn.d_ff": key("n_inner", times(4, "d_model", "d_ff")),
    },
    {"n_embd": 1024, "n_layer": 20, "n_head": 16},
    model_types=("phi-msft", "mixformer-sequential"),
    ignores=(
        "n_positions",
        "flash_attn",
        "flash_rotary",
        "fused_dense",
        "embd_layer",
        "architecture",
        "phyagi_version",
    ),
)

ROWS = by_name(
    AQUILA, YI, XVERSE, SKYWORK, BAICHUAN, INTERNLM, INTERNLM2, ORION, STABLELM_EPOCH, MINICPM, DECI, MIMO,
    NEMOTRON_NAS, OPENELM, CHATGLM, HF_OLMO, JAIS, BTLM, PHI_MSFT,
)  # fmt: skip
