"""Decoders with a sublayer, or an order of layers, that hardly another one has; their blocks stand beside the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ffncalc.blocks.attention import gated_output, grouped, pairs_of, scores
from ffncalc.blocks.ends import lm_head
from ffncalc.blocks.ffn import mlp
from ffncalc.expr import ONE, ZERO, Expr, size
from ffncalc.families import by_name
from ffncalc.families.decoders import dims
from ffncalc.families.latent import LATENT
from ffncalc.families.llama import LLAMA, SLIDING
from ffncalc.families.readers import derived, divided, flag, key, nullable
from ffncalc.families.row import PerLayer, Reader
from ffncalc.ops import Op, Weight, linear, lookup, scale
from ffncalc.spec import Attention, Ffn, Norm, Spec
from ffncalc.view import View

# ------------------------------------------------------------------ one or two weights more


def _xielu(f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """Two matrices, and an activation with two learned numbers (arXiv:2411.13010)."""
    yield from mlp(False, d, f.d_ff, f.bias, prefix)
    yield scale("ffn", f"{prefix}.act_fn", 1, copies=2 * ONE)


APERTUS = LLAMA.like(
    "apertus",
    "arXiv:2509.14233; transformers ApertusForCausalLM: no gate, xIELU with two learned numbers a layer, norms on each "
    "head",
    {
        "ffn.kind": Reader(
            ("hidden_act",), lambda view, switch: _xielu if view.text("hidden_act") == "xielu" else "plain"
        ),
        "ffn.bias": False,
        "attention.qk_norm": "head",
        "attention.window": ZERO,
    },
    dims(131072, 4096, 14336, 32, 32, hidden_act="xielu"),
    ignores=("mlp_bias", "post_norm", "qk_norm"),
)


def _pruned_head(view: View, switch: str) -> tuple[Op, ...]:
    """A head for the first output_vocab_size tokens only: the text's, where the rest are pictures and sounds."""
    kept = None if view.get("tied") else view.size("output_vocab_size", "n_kept")
    return (linear("head", "lm_head", view.get("d_model"), kept),) if isinstance(kept, Expr) else ()


APERTUS1P5 = APERTUS.like(
    "apertus1p5_text",
    "transformers Apertus1p5TextForCausalLM: Apertus, with a head that may be for fewer tokens than the table has",
    {"head_extra": Reader(("output_vocab_size",), _pruned_head, holds_it=False)},
    {"vocab_size": 266752},
    heads={"causal": lambda spec: spec.head_extra or lm_head(spec)},
)


def _with_sub_norm(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Grouped attention with a norm before the output matrix."""
    yield from grouped(a, d, norm, prefix)
    yield scale("norm", f"{prefix}.attn_sub_norm", d)


def _mlp_with_sub_norm(f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """A gated FFN with a norm before the last matrix."""
    yield from mlp(True, d, f.d_ff, f.bias, prefix)
    yield scale("norm", f"{prefix}.ffn_sub_norm", f.d_ff)


BITNET = LLAMA.like(
    "bitnet",
    "arXiv:2504.12285; transformers BitNetForCausalLM: norms inside the sublayers, before their last matrices; weights "
    "counted unpacked",
    {"attention.kind": _with_sub_norm, "ffn.kind": _mlp_with_sub_norm, "ffn.bias": False},
    dims(128256, 2560, 6912, 30, 20, 5),
)


def _differential(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """The difference of two attentions that share queries and keys (arXiv:2410.05258), made by attending twice."""
    yield from grouped(a, d, norm, prefix)
    yield from scores(a, a.d_head, a.d_head, pairs_of(a), f"{prefix}.second")
    yield scale("attention", f"{prefix}.lambda", a.d_head, copies=4 * ONE)


DIFFLLAMA = LLAMA.like(
    "diffllama",
    "arXiv:2410.05258; transformers DiffLlamaForCausalLM: attends twice with the same queries and keys; the class does "
    "both in full",
    {"attention.kind": _differential, "ffn.bias": False, "attention.window": ZERO},
    dims(32000, 2048, 8192, 16, 32),
    ignores=("lambda_std_dev",),
)


def _dynamic_mask(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Doge's attention: values decide, head by head, which keys are masked."""
    yield from grouped(a, d, norm, prefix)
    yield scale("attention", f"{prefix}.A", a.n_kv_heads)
    yield linear("attention", f"{prefix}.dt_proj", a.n_kv_heads * a.d_head, a.n_kv_heads, "q" in a.bias)


def _retrieved(f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """Experts of one key and one value vector each, found by product keys, beside a gated FFN for every token."""
    n_keys = size("n_keys", math.isqrt(f.n_experts.value), "floor of the root of num_experts")
    yield from mlp(True, d, f.d_ff, f.bias, prefix)
    yield linear("ffn", f"{prefix}.router_gate", d, 2 * n_keys)
    for name in ("down_embed", "up_embed"):
        yield Op(
            f"{prefix}.{name}", "ffn", (Weight(f"{prefix}.{name}.weight", (d,), f.n_experts, f.top_k),), (f.top_k, d)
        )


def _residual_scales(view: View, switch: str) -> tuple[Op, ...]:
    d = view.get("d_model")
    return (scale("other", "input_residual", d), scale("other", "post_attention_residual", d))


DOGE = LLAMA.like(
    "doge",
    "transformers DogeForCausalLM: a mask that the values make, scaled residuals; is_moe: retrieved experts of two "
    "vectors each",
    {
        "attention.kind": _dynamic_mask,
        "attention.qk_norm": "head",
        "attention.window": nullable("sliding_window"),
        "ffn.kind": flag("is_moe", _retrieved, "gated"),
        "ffn.n_experts": key("num_experts"),
        "ffn.top_k": key("num_experts_per_tok"),
        "extra": derived(lambda view: _residual_scales(view, "extra")),
    },
    dims(32768, 1024, 2048, 32, 8, num_experts=16384, num_experts_per_tok=64),
    ignores=("keep_window_size",),
)

# ------------------------------------------------------------------ latent attention beside a dense FFN
LATENT_DEFAULTS = {
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
}
DERIVED_IN_CLASS = ("num_key_value_heads", "head_dim", "qk_head_dim")

YOUTU = LLAMA.like(
    "youtu",
    "arXiv:2512.24618; transformers YoutuForCausalLM: DeepSeek-V2's attention with a dense FFN",
    {**LATENT, "ffn.bias": False},
    {**dims(128256, 2048, 6144, 32, 16, 16, tie_word_embeddings=True), **LATENT_DEFAULTS},
    ignores=DERIVED_IN_CLASS,
)

MINICPM3 = LLAMA.like(
    "minicpm3",
    "transformers MiniCPM3ForCausalLM: DeepSeek-V2's attention with a dense FFN",
    {**LATENT, "attention.d_v": key("v_head_dim", divided("d_model", "attention.n_heads", "d_v"))},
    {
        **dims(73448, 2560, 6400, 62, 40, tie_word_embeddings=True),
        "kv_lora_rank": 256,
        "q_lora_rank": 768,
        "qk_nope_head_dim": 64,
        "qk_rope_head_dim": 32,
    },
    ignores=(*DERIVED_IN_CLASS, "scale_emb", "scale_depth", "dim_model_base"),
)

# ------------------------------------------------------------------ layers that run more than once


def _layers_of_stack(view: View) -> int:
    return view.number("num_layers_per_stack") or view.number("num_hidden_layers")


def _hrm_runs(view: View, switch: str) -> PerLayer:
    """The low stack runs L_cycles times in each of the H_cycles, the high stack once in each."""
    layers, high, low = view.n_layers() // 2, view.number("H_cycles"), view.number("L_cycles")
    each = (size("runs", high * low, "H_cycles x L_cycles"), size("runs", high, "H_cycles"))
    return PerLayer(runs for runs in each for _ in range(layers))


def _gated_with_bias(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Gated attention, the gate with a bias where the other projections have one."""
    yield from gated_output(False, a, d, norm, prefix)
    if a.bias:
        yield scale("attention", f"{prefix}.gate_proj.bias", a.n_heads * a.d_head)


HRM_TEXT = LLAMA.like(
    "hrm_text",
    "arXiv:2506.21734; transformers HrmTextForCausalLM: two stacks in loops, gated attention, norms without weights; a "
    "file "
    "with num_layers_per_stack states in num_hidden_layers how many layers run",
    {
        "n_layers": Reader(
            ("num_layers_per_stack", "num_hidden_layers"),
            lambda view, s: size("n_layers", 2 * _layers_of_stack(view), "2 x num_layers_per_stack"),
        ),
        "runs": Reader(("H_cycles", "L_cycles"), _hrm_runs, holds_it=False),
        "attention.kind": _gated_with_bias,
        "attention.n_kv_heads": derived(lambda view: view.get("attention.n_heads")),
        "attention.window": ZERO,
        "norm.kind": "none",
        "stack_extra": derived(lambda view: (scale("other", "z_L_init", view.get("d_model")),)),
    },
    dims(151808, 1536, 4096, 16, 12, head_dim=128, H_cycles=2, L_cycles=3),
    ignores=("L_bp_cycles", "embedding_scale", "prefix_lm"),
)


def _unit_attention(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """nGPT's attention with a gated output: a learned scale for queries and keys, and one for the gate."""
    yield from gated_output(False, a, d, norm, prefix)
    yield scale("attention", f"{prefix}.sqk", a.n_heads * a.d_head)
    yield scale("attention", f"{prefix}.s_gate", a.n_heads * a.d_head)


def _unit_mlp(f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """nGPT's FFN: a learned scale for gate and up."""
    yield from mlp(True, d, f.d_ff, f.bias, prefix)
    yield scale("ffn", f"{prefix}.suv", f.d_ff, copies=2 * ONE)


def _rates(view: View, switch: str) -> tuple[Op, ...]:
    return (scale("other", "lambda", view.get("d_model"), copies=2 * ONE),)


def _scaled_logits(spec: Spec) -> tuple[Op, ...]:
    return (*lm_head(spec), scale("head", "lm_head.logit_scale", spec.n_vocab or 0))


def _dory_entries(view: View) -> int:
    """Entries that a layer has in layer_types and in the counts: a released file lists its FFN apart, so two."""
    listed, _ = view.resolver.raw("layer_types")
    return 2 if isinstance(listed, list) and "mlp" in listed else 1


def _dory_layers(view: View, switch: str) -> Expr:
    entries, stated = _dory_entries(view), view.number("num_hidden_layers")
    return size("n_layers", stated // entries, "num_hidden_layers" + " / 2" * (entries == 2))


def _dory_windows(view: View, switch: str) -> PerLayer:
    listed, _ = view.resolver.raw("layer_types")
    if listed is None:
        listed = ["full_attention" if (i + 1) % 4 == 0 else "sliding_attention" for i in range(view.n_layers())]
    kinds = listed[:: _dory_entries(view)] if isinstance(listed, list) else []
    if len(kinds) != view.n_layers() or not all(kind in tuple(SLIDING) for kind in kinds):
        view.fail(f"layer_types has to list {' or '.join(SLIDING)} for each of {view.n_layers()} layers", "layer_types")
    window = nullable("sliding_window").read(view, switch)
    return PerLayer(window if kind == "sliding_attention" else ZERO for kind in kinds)


def _dory_runs(view: View, switch: str) -> PerLayer:
    """The middle section runs n_recurrent_loops times; sections longer than the stack overlap, as the class's do."""
    entries, layers = _dory_entries(view), view.n_layers()
    first, last = view.number("n_input_layers") // entries, view.number("n_output_layers") // entries
    middle = view.number("n_recurrent_layers") // entries or layers - first - last
    if first + middle + last != layers:
        view.fail(
            f"n_input_layers + n_recurrent_layers + n_output_layers is not num_hidden_layers, {layers * entries}",
            "n_recurrent_layers",
        )
    order, loops = range(layers), view.number("n_recurrent_loops")
    once, looped = (*order[:first], *order[layers - last :]), order[first : first + middle]
    return PerLayer(size("runs", once.count(i) + loops * (i in looped), "n_recurrent_loops") for i in order)


DORY = LLAMA.like(
    "dory",
    "transformers DoryForCausalLM: nGPT (arXiv:2410.01131) with gated attention, and a middle section that runs in a "
    "loop",
    {
        "n_layers": Reader(("num_hidden_layers",), _dory_layers),
        "runs": Reader(
            ("n_input_layers", "n_recurrent_layers", "n_output_layers", "n_recurrent_loops"), _dory_runs, holds_it=False
        ),
        "attention.kind": _unit_attention,
        "attention.window": Reader(("layer_types", "sliding_window"), _dory_windows),
        "ffn.kind": _unit_mlp,
        "norm.kind": "none",
        "extra": derived(lambda view: _rates(view, "extra")),
    },
    dims(
        131072,
        2560,
        7168,
        36,
        16,
        4,
        head_dim=256,
        sliding_window=1024,
        n_input_layers=8,
        n_output_layers=8,
        n_recurrent_loops=2,
    ),
    heads={"causal": _scaled_logits},
    ignores=("ngpt_alpha_init", "recurrent_kv_cache_mode"),
)

# ------------------------------------------------------------------ CPM-Ant


def _prompts_and_segments(view: View, switch: str) -> tuple[Op, ...]:
    """The token table's rows for prompts, a table of segments, biases for pairs of segments and for distances."""
    d, heads = view.get("d_model"), size("n_heads", view.number("num_attention_heads"), "num_attention_heads")
    types, length, segments, buckets = (_count(view, name) for name in CPM_KEYS)
    return (
        lookup("embedding", "prompts", types * length, d),
        lookup("embedding", "segment_embedding", segments, d),
        lookup("attention", "relative_attention_bias", segments * segments + buckets, heads),
    )


CPM_KEYS = ("prompt_types", "prompt_length", "segment_types", "position_bias_num_buckets")


def _count(view: View, name: str) -> Expr:
    return size(name, view.number(name), name)


CPMANT = LLAMA.like(
    "cpmant",
    "transformers CpmAntForCausalLM (CPM-Ant): relative biases shared by all layers; the head is never tied. The "
    "table's rows for "
    "prompts are shown apart from those for tokens",
    {
        "tied": False,
        "attention.n_kv_heads": derived(lambda view: view.get("attention.n_heads")),
        "attention.d_head": key("dim_head"),
        "attention.bias": "",
        "attention.window": ZERO,
        "ffn.d_ff": key("dim_ff"),
        "ffn.bias": False,
        "positions.kind": "relative",
        "stack_extra": Reader(CPM_KEYS, _prompts_and_segments, holds_it=False),
    },
    {
        **dims(30720, 4096, 0, 48, 32, dim_head=128, dim_ff=10240),
        **dict(zip(CPM_KEYS, (32, 32, 32, 512), strict=True)),
    },
    ignores=("position_bias_max_distance", "dropout_p", "eps", "tie_word_embeddings"),
    flops="a learned prompt stands before every sequence, and takes part in the attention",
)

ROWS = by_name(APERTUS, APERTUS1P5, BITNET, DIFFLLAMA, DOGE, YOUTU, MINICPM3, HRM_TEXT, DORY, CPMANT)
