"""Decoders of 2026 with experts, gated attention or both: Flint, Beam, Kolibri and Muse."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ffncalc.blocks.attention import gated_output
from ffncalc.blocks.ffn import mlp
from ffncalc.expr import Expr, size
from ffncalc.families import by_name
from ffncalc.families.decoders import dims, every, windows
from ffncalc.families.experts import DENSE_OR_SPARSE
from ffncalc.families.llama import LLAMA
from ffncalc.families.moe import SPARSE_STEP, mixture
from ffncalc.families.readers import derived, key, layer_types
from ffncalc.families.row import PerLayer, Reader
from ffncalc.ops import Op, linear, scale, stored
from ffncalc.spec import Attention, Ffn, Norm
from ffncalc.view import View

FLINT = LLAMA.like(
    "flint",
    "transformers FlintForCausalLM: sinks, norms on each head, experts beside a shared one of its own width",
    {
        **SPARSE_STEP,
        "attention.qk_norm": "head",
        "attention.sinks": True,
        "attention.window": windows(lambda view, i: i < 2 or i % 4 == 1 or i == view.n_layers() - 1),
        "ffn.bias": False,
        "ffn.d_shared": key("shared_expert_intermediate_size"),
    },
    dims(
        150144, 2048, 6144, 49, 32, 4, head_dim=128, sliding_window=513, decoder_sparse_step=1,
        moe_intermediate_size=512, shared_expert_intermediate_size=1024,
        num_experts_per_tok=6, num_experts=256, mlp_only_layers=[0, 1],
    ),
)  # fmt: skip


def _head_gate_bias(a: Attention, d: Expr, norm: Norm, prefix: str) -> Iterator[Op]:
    """Gated attention, the gate with one bias a head."""
    yield from gated_output(False, a, d, norm, prefix)
    yield scale("attention", f"{prefix}.gate_bias", a.n_heads)


BEAM = LLAMA.like(
    "beam",
    "transformers BeamForCausalLM: gated attention, four norms a layer, experts after the first three layers",
    {
        **mixture(
            layer_types("mlp_layer_types", DENSE_OR_SPARSE, lambda view, i: "dense" if i < 3 else "sparse"),
            "num_experts",
        ),
        "attention.kind": _head_gate_bias,
        "attention.qk_norm": "head",
        "attention.window": windows(lambda view, i: (i + 1) % 6 == 0 or i == view.n_layers() - 1),
        "ffn.bias": False,
        "ffn.correction": True,
        "norm.place": "both",
    },
    dims(
        151936,
        5120,
        20480,
        52,
        48,
        8,
        head_dim=128,
        sliding_window=512,
        moe_intermediate_size=2560,
        num_experts_per_tok=8,
        num_experts=256,
    ),
)

KOLIBRI1 = LLAMA.like(
    "kolibri1",
    "transformers Kolibri1ForCausalLM: four norms a layer, norms on each head, experts beside a shared one in every "
    "layer",
    {
        "attention.bias": "",
        "attention.qk_norm": "head",
        "attention.window": windows(every(5)),
        "ffn.kind": "moe",
        "ffn.d_ff": key("moe_intermediate_size"),
        "ffn.bias": False,
        "ffn.n_experts": key("num_local_experts"),
        "ffn.top_k": key("num_experts_per_tok"),
        "ffn.correction": True,
        "ffn.d_shared": key("shared_expert_intermediate_size"),
        "norm.place": "both",
    },
    dims(
        128000,
        2560,
        0,
        50,
        48,
        4,
        head_dim=128,
        sliding_window=513,
        moe_intermediate_size=512,
        num_experts_per_tok=6,
        num_local_experts=384,
        shared_expert_intermediate_size=512,
    ),
    spellings={"num_experts": "num_local_experts"},
)


def _every_fourth_from_last(view: View, layer: int) -> bool:
    return (view.n_layers() - 1 - layer) % 4 == 0


MUSE_GLIMMER = LLAMA.like(
    "muse_glimmer_text",
    "transformers MuseGlimmerTextModel: gated attention, four norms a layer, full attention in every fourth layer from "
    "the last",
    {
        "attention.kind": partial(gated_output, False),
        "attention.window": windows(_every_fourth_from_last),
        "ffn.bias": False,
        "norm.place": "both",
    },
    dims(202048, 6656, 19968, 52, 32, 2, head_dim=128, sliding_window=2048),
    ignores=("layer_rope_theta", "qk_scale_factor", "output_multiplier", "post_norm_eps"),
)


def _narrow_experts(d_moe: Expr, f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """Experts on a stream of their own width, between two matrices; the router sees the full one."""
    yield linear("ffn", f"{prefix}.router", d, f.n_experts)
    yield stored("ffn", f"{prefix}.router.e_score_correction_bias", f.n_experts)
    yield linear("ffn", f"{prefix}.pre_expert_proj", d, d_moe)
    yield scale("norm", f"{prefix}.pre_expert_norm", d_moe)
    yield from mlp(True, d_moe, f.d_ff, False, f"{prefix}.experts", f.n_experts, f.top_k)
    yield scale("norm", f"{prefix}.post_expert_norm", d_moe)
    yield linear("ffn", f"{prefix}.post_expert_proj", d_moe, d)


def _spark_ffn(view: View, switch: str) -> Any:
    sparse = partial(_narrow_experts, size("d_moe", view.number("moe_hidden_size"), "moe_hidden_size"))
    return layer_types("mlp_layer_types", {"dense": "gated", "sparse": sparse}, lambda view, layer: "sparse").read(
        view, switch
    )


def _spark_width(view: View, switch: str) -> Any:
    dense, expert = view.size("intermediate_size", "ffn.d_ff"), view.size("moe_intermediate_size", "ffn.d_ff")
    kinds = view.get("ffn.kind")
    return PerLayer(dense if kind == "gated" else expert for kind in kinds) if isinstance(kinds, PerLayer) else expert


def _spark_extra(view: View, switch: str) -> tuple[Op, ...]:
    """A gate on each residual; and of the two norms after the sublayers only the second has weights."""
    d = view.get("d_model")
    gates = (scale("other", f"post_{x}_residual_gate", d) for x in ("attention", "feedforward"))
    return (scale("norm", "post_feedforward_layernorm", d), *gates)


MUSE_SPARK = MUSE_GLIMMER.like(
    "muse_spark_text",
    "transformers MuseSparkTextModel: gated residuals, experts on a narrower stream; the first norm after attention "
    "has no weights",
    {
        "ffn.kind": Reader(("mlp_layer_types", "moe_hidden_size"), _spark_ffn, holds_it=False),
        "ffn.d_ff": Reader(("intermediate_size", "moe_intermediate_size"), _spark_width),
        "ffn.n_experts": key("num_local_experts"),
        "ffn.top_k": key("num_experts_per_tok"),
        "norm.place": "pre",
        "extra": derived(lambda view: _spark_extra(view, "extra")),
    },
    dims(
        202048,
        8192,
        16384,
        62,
        128,
        16,
        head_dim=64,
        moe_intermediate_size=4096,
        num_local_experts=256,
        num_experts_per_tok=8,
        moe_hidden_size=4096,
    ),
    ignores=("residual_gate_temperature",),
)

ROWS = by_name(FLINT, BEAM, KOLIBRI1, MUSE_GLIMMER, MUSE_SPARK)
