"""GPT's descendants with names of keys of their own: GPT-J, GPT-Neo, GPT-NeoX, OPT and their kin."""

from __future__ import annotations

from itertools import islice

from ffncalc.expr import ONE, ZERO, size
from ffncalc.families import by_name
from ffncalc.families.gpt import GPT2, GPT_NAMES
from ffncalc.families.readers import derived, divided, each_layer, flag, key, text, times, when
from ffncalc.families.row import PerLayer, Reader
from ffncalc.ops import Op, linear, lookup, scale
from ffncalc.spec import Spec
from ffncalc.view import View

# GPT-2 for those that have names of keys of their own
GPT = GPT2._replace(spellings={})
D_OVER_HEADS = {"attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head"))}
HIDDEN = {
    "d_model": key("hidden_size"),
    "n_layers": key("num_hidden_layers"),
    "attention.n_heads": key("num_attention_heads"),
}
ROTARY = {"positions.kind": "rotary", "positions.n_positions": ZERO}
ONE_NORM = {"norm.place": "one", "parallel": True}

# ------------------------------------------------------------------ GPT-2's own keys
GPT_SW3 = GPT2.like("gpt-sw3", "arXiv:2305.12987; transformers GPTSw3Tokenizer on GPT2LMHeadModel")

GPT_BIGCODE = GPT2.like(
    "gpt_bigcode",
    "arXiv:2301.03988; transformers GPTBigCodeForCausalLM: one key/value head for all queries",
    {
        "attention.n_kv_heads": when(
            "multi_query", size("n_kv_heads", 1, "multi_query"), derived(lambda view: view.get("attention.n_heads"))
        )
    },
    {"multi_query": True},
    ignores=(
        "num_key_value_heads",
        "attention_softmax_in_fp32",
        "scale_attention_softmax_in_fp32",
        "inference_runner",
        "validate_runner_input",
        "pre_allocate_kv_cache",
        "max_batch_size",
        "pad_key_length",
    ),
)

GPTJ = GPT2.like(
    "gptj",
    "github.com/kingoflolz/mesh-transformer-jax; transformers GPTJForCausalLM: parallel blocks on one norm, biases in "
    "the FFN and the head only",
    {**ROTARY, **ONE_NORM, "cross": False, "attention.bias": "", "head_bias": True},
    {
        "vocab_size": 50400,
        "n_positions": 2048,
        "n_embd": 4096,
        "n_layer": 28,
        "n_head": 16,
        "tie_word_embeddings": False,
    },
    ignores=("n_positions", "rotary", "scale_attn_weights"),
)

CODEGEN = GPTJ.like("codegen", "arXiv:2203.13474; transformers CodeGenForCausalLM: GPT-J with q, k and v in one matrix")

OPENAI_GPT = GPT2.like(
    "openai-gpt",
    "Radford et al. 2018; transformers OpenAIGPTLMHeadModel: norms after the sublayers and no final one",
    {
        "cross": False,
        "ffn.d_ff": derived(times(4, "d_model", "d_ff")),
        "ffn.activation": text("afn", "gelu"),
        "norm.place": "post",
        "norm.final": False,
    },
    {"vocab_size": 40478, "n_positions": 512},
)

CTRL = GPT2.like(
    "ctrl",
    "arXiv:1909.05858; transformers CTRLLMHeadModel: sinusoidal positions, a bias on the head",
    {
        "cross": False,
        "ffn.d_ff": key("dff"),
        "ffn.activation": "relu",
        "positions.kind": "sinusoidal",
        "head_bias": True,
    },
    {"vocab_size": 246534, "n_positions": 256, "n_embd": 1280, "dff": 8192, "n_layer": 48, "n_head": 16},
)


def _pixel_head(spec: Spec) -> tuple[Op, ...]:
    """ImageGPT's head: every colour but the start token, which is never predicted."""
    vocabulary = spec.n_vocab.value if spec.n_vocab else 0
    return (
        linear("head", "lm_head", spec.d_model, size("n_colours", vocabulary - 1, "vocab_size - 1"), tied=spec.tied),
    )


IMAGEGPT = GPT2.like(
    "imagegpt",
    "Chen et al. 2020; transformers ImageGPTModel, ImageGPTForCausalImageModeling: norms without biases, pixels for "
    "tokens",
    {"norm.bias": False},
    {"vocab_size": 513, "n_embd": 512, "n_layer": 24, "n_head": 8, "tie_word_embeddings": False},
    heads={"causal": _pixel_head},
)


TRAJECTORY_KEYS = ("state_dim", "act_dim", "max_ep_len")


def _trajectory(view: View, switch: str) -> tuple[Op, ...]:
    """What turns returns, states and actions into the stream, and predicts them from it again."""
    d = view.get("d_model")
    states, actions, steps = (size(name, view.number(name), name) for name in TRAJECTORY_KEYS)
    parts = (("return", ONE), ("state", states), ("action", actions))
    return (
        lookup("embedding", "embed_timestep", steps, d),
        *(linear("embedding", f"embed_{name}", width, d, bias=True) for name, width in parts),
        scale("norm", "embed_ln", d, bias=True),
        *(linear("head", f"predict_{name}", d, width, bias=True) for name, width in parts),
    )


DECISION_TRANSFORMER = GPT.like(
    "decision_transformer",
    "arXiv:2106.01345; transformers DecisionTransformerModel: GPT-2 on returns, states and actions",
    {
        "d_model": key("hidden_size"),
        "model_extra": Reader(TRAJECTORY_KEYS, _trajectory, holds_it=False),
    },
    {"vocab_size": 1, "hidden_size": 128, "n_layer": 3, "n_head": 1, "state_dim": 17, "act_dim": 4, "max_ep_len": 4096},
    heads={},
    spellings={name: other for name, other in GPT_NAMES.items() if name != "hidden_size"},
    ignores=("action_tanh", "tie_word_embeddings"),
    flops="its sequence is three vectors a time step, no tokens",
)

# ------------------------------------------------------------------ GPT-Neo, GPT-NeoX


def _expanded(view: View) -> list[str]:
    """attention_types [[["global", "local"], 12]] stands for twelve times these two kinds of layer."""
    listed, _ = view.resolver.raw("attention_types")
    try:
        each = (str(kind) for pattern, repeat in listed for _ in range(repeat) for kind in pattern)
        kinds = list(islice(each, view.n_layers() + 1))
    except (TypeError, ValueError):
        view.fail('attention_types is not a list such as [[["global", "local"], 12]]', "attention_types")
    if len(kinds) != view.n_layers() or not set(kinds) <= {"global", "local"}:
        view.fail(
            f"attention_types has to come to {view.n_layers()} layers, each of them global or local", "attention_types"
        )
    return kinds


def _local_windows(view: View, switch: str) -> PerLayer:
    window = view.size("window_size", switch)
    return PerLayer(window if kind == "local" else ZERO for kind in _expanded(view))


GPT_NEO = GPT.like(
    "gpt_neo",
    "github.com/EleutherAI/gpt-neo; transformers GPTNeoForCausalLM: a window in every other layer, no biases on q, k "
    "and v",
    {
        "d_model": key("hidden_size"),
        "n_layers": key("num_layers"),
        "cross": False,
        "attention.n_heads": key("num_heads"),
        "attention.bias": "o",
        "attention.window": Reader(("window_size", "attention_types"), _local_windows),
        "ffn.d_ff": key("intermediate_size", times(4, "d_model", "d_ff")),
        "positions.n_positions": key("max_position_embeddings"),
    },
    {
        "hidden_size": 2048,
        "num_layers": 24,
        "num_heads": 16,
        "max_position_embeddings": 2048,
        "window_size": 256,
        "attention_types": [[["global", "local"], 12]],
    },
    spellings={"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
    ignores=("attention_layers", "embed_dropout"),
)

GPT_NEOX = GPT.like(
    "gpt_neox",
    "arXiv:2204.06745; transformers GPTNeoXForCausalLM: two norms a block, also where its halves are parallel",
    {
        **HIDDEN,
        **ROTARY,
        "cross": False,
        "parallel": flag("use_parallel_residual"),
        "attention.bias": flag("attention_bias", "qkvo", ""),
        "ffn.d_ff": key("intermediate_size"),
    },
    {
        "vocab_size": 50432,
        "hidden_size": 6144,
        "num_hidden_layers": 44,
        "num_attention_heads": 64,
        "intermediate_size": 24576,
        "use_parallel_residual": True,
        "attention_bias": True,
        "tie_word_embeddings": False,
    },
    ignores=("max_position_embeddings", "is_decoder"),
)

GPT_NEOX_JAPANESE = GPT_NEOX.like(
    "gpt_neox_japanese",
    "github.com/EleutherAI/gpt-neox (abeja); transformers GPTNeoXJapaneseForCausalLM: no biases but the last layer's "
    "output's",
    {
        "parallel": False,
        "attention.bias": each_layer((), lambda view, i: "o" if i == view.n_layers() - 1 else ""),
        "ffn.d_ff": Reader(
            ("intermediate_multiple_size",),
            lambda view, s: times(view.number("intermediate_multiple_size"), "d_model", "d_ff")(view),
        ),
        "ffn.bias": False,
    },
    {
        "vocab_size": 32000,
        "hidden_size": 2560,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "intermediate_multiple_size": 4,
        "tie_word_embeddings": True,
    },
)

# ------------------------------------------------------------------ OPT and its kin


def _narrow_head(spec: Spec) -> tuple[Op, ...]:
    """OPT's head is as wide as its token table."""
    width = spec.stacks[-1].embedding.width or spec.d_model
    return (linear("head", "lm_head", width, spec.n_vocab or 0, tied=spec.tied),)


def _project_out(view: View, switch: str) -> tuple[Op, ...]:
    """OPT-350m's way back from d_model to the width of its token table."""
    d, width = view.get("d_model"), view.get("embedding.width")
    return () if d.value == width.value else (linear("embedding", "project_out", d, width),)


def _opt_has_final_norm(view: View) -> bool:
    return view.flag("do_layer_norm_before") and not view.flag("_remove_final_layer_norm")


OPT = GPT.like(
    "opt",
    "arXiv:2205.01068; transformers OPTForCausalLM: two rows of positions more than it says; the 350m has a narrower "
    "token table, "
    "norms after the sublayers and no final one",
    {
        **HIDDEN,
        "cross": False,
        "attention.bias": flag("enable_bias", "qkvo", ""),
        "ffn.d_ff": key("ffn_dim"),
        "ffn.bias": flag("enable_bias"),
        "ffn.activation": text("activation_function", "relu"),
        "norm.kind": flag("layer_norm_elementwise_affine", "layer", "none"),
        "norm.place": flag("do_layer_norm_before", "pre", "post"),
        "norm.final": derived(_opt_has_final_norm),
        "positions.n_positions": key("max_position_embeddings"),
        "positions.offset": 2,
        "positions.width": derived(lambda view: view.get("d_model")),
        "embedding.width": key("word_embed_proj_dim", "d_model"),
        "embedding.bias": False,
        "model_extra": derived(lambda view: _project_out(view, "model_extra")),
    },
    {
        "vocab_size": 50272,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "ffn_dim": 3072,
        "num_attention_heads": 12,
        "max_position_embeddings": 2048,
        "do_layer_norm_before": True,
        "enable_bias": True,
        "layer_norm_elementwise_affine": True,
    },
    heads={"causal": _narrow_head},
    ignores=("learned_embeddings", "scale_embeddings"),
)

BIOGPT = GPT.like(
    "biogpt",
    "Luo et al. 2022; transformers BioGptForCausalLM: two rows of positions more than it says",
    {
        **HIDDEN,
        "cross": False,
        "ffn.d_ff": key("intermediate_size"),
        "positions.n_positions": key("max_position_embeddings"),
        "positions.offset": 2,
    },
    {
        "vocab_size": 42384,
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
        "max_position_embeddings": 1024,
    },
)

XGLM = GPT.like(
    "xglm",
    "arXiv:2112.10668; transformers XGLMForCausalLM: sinusoidal positions, which are computed",
    {
        "d_model": key("d_model"),
        "n_layers": key("num_layers"),
        "attention.n_heads": key("attention_heads"),
        "ffn.d_ff": key("ffn_dim"),
        "positions.kind": "sinusoidal",
        "positions.n_positions": ZERO,
    },
    {"vocab_size": 256008, "d_model": 1024, "ffn_dim": 4096, "num_layers": 24, "attention_heads": 16},
    spellings={"num_attention_heads": "attention_heads", "hidden_size": "d_model", "num_hidden_layers": "num_layers"},
    ignores=("max_position_embeddings",),
)

ROWS = by_name(
    GPT_SW3, GPT_BIGCODE, GPTJ, CODEGEN, OPENAI_GPT, CTRL, IMAGEGPT, DECISION_TRANSFORMER, GPT_NEO, GPT_NEOX,
    GPT_NEOX_JAPANESE, OPT, BIOGPT, XGLM,
)  # fmt: skip
