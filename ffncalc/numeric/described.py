"""A layer of the calculator as the numeric mode describes it, and what the numeric mode can't run, by name.

What no count depends on is not in a config's sizes and takes its usual value: epsilon, rotary positions on the whole of
each head, a softmax router with renormalised weights (sigmoids where the model corrects the choice by a bias).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ffncalc import spec as sp
from ffncalc.numeric.attention import Attention, Rotary
from ffncalc.numeric.block import Block
from ffncalc.numeric.moe import Ffn, Moe
from ffncalc.numeric.norms import Norm

# What configs call an activation -> what it is called here.
ACTIVATION_NAMES = {
    "relu": "relu",
    "relu2": "relu_squared",
    "relu_squared": "relu_squared",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_tanh": "gelu_tanh",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_python_tanh": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "gated-gelu": "gelu_tanh",
    "quick_gelu": "gelu_sigmoid",
    "gelu_sigmoid": "gelu_sigmoid",
    "silu": "silu",
    "swish": "silu",
    "swiglu": "silu",
    "gated-silu": "silu",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "linear": "identity",
    "identity": "identity",
}
RUN_POSITIONS = ("rotary", "learned", "sinusoidal", "none")  # the middle two are added to the stream below the blocks


# ---- what can't be run


def missing_in_model(spec: sp.Spec) -> Iterator[str]:
    """What the numeric mode lacks for this model whichever of its layers are run."""
    stack = spec.stacks[-1]
    if len(spec.stacks) > 1 or any(kind.layer.cross for kind in stack.kinds):
        yield "encoder beside a decoder"
    if stack.positions.kind not in RUN_POSITIONS:
        yield f"{stack.positions.kind} positions"
    if spec.flops:
        yield f"prediction to hold against: its FLOPs are not counted ({spec.flops})"


def missing_in_layer(layer: sp.Layer) -> Iterator[str]:
    """What the numeric mode lacks for this layer."""
    yield from _missing_in_attention(layer.attention)
    yield from _missing_in_ffn(layer.ffn)
    what = "halves side by side with norms" if layer.parallel else "norms"
    if (layer.norm.place, layer.parallel) not in PLACES:
        yield f"{what} placed as {layer.norm.place!r}"
    if layer.extra:
        yield f"such weights in a block as its own ({', '.join(op.name for op in layer.extra[:3])})"


def _missing_in_attention(a: sp.Attention) -> Iterator[str]:
    if a.kind not in ("grouped", "none"):
        yield "latent attention" if a.kind == "latent" else f"attention of its kind ({own_name(a.kind)})"
    found = {
        "values of another width than keys": a.d_v.value != a.d_head.value and a.kind == "grouped",
        "convolutions on queries, keys and values": a.conv,
        "table of relative-position biases": a.relative,
        "scores of relative positions": a.position_scores,
        "attention in chunks": a.chunked,
        "norm with weights for each head": a.qk_norm == "table",
    }
    yield from (what for what, there in found.items() if there)


def _missing_in_ffn(f: sp.Ffn) -> Iterator[str]:
    if not isinstance(f.kind, str):
        yield f"FFN of its kind ({own_name(f.kind)})"
    elif f.kind == "memory":
        yield "persistent key-value vectors in place of an FFN"
    elif f.kind != "none" and f.activation not in ACTIVATION_NAMES:
        yield f"activation {f.activation!r}"


def own_name(kind: Any) -> str:
    """What a kind of sublayer that only one family has is called: its generator's name, in words."""
    return str(getattr(kind, "func", kind).__name__).strip("_").replace("_", " ")


# ---- what can

# (norm.place, parallel) -> place and parallel of a `Block`
PLACES: dict[tuple[str, bool], dict[str, Any]] = {
    ("pre", False): {"place": "pre"},
    ("post", False): {"place": "post"},
    ("both", False): {"place": "both"},
    ("pre", True): {"parallel": "two norms"},
    ("one", True): {"parallel": "one norm"},
}


def block(layer: sp.Layer, d_model: int, stack: sp.Stack) -> Block:
    """The block to run for this layer of this stack; only where nothing is missing."""
    place = PLACES[layer.norm.place, layer.parallel]
    if place.get("place") == "post" and stack.norm.final:
        place = {
            "place": "output"
        }  # a stack with a norm of its own at the end norms what is added, not the stream (OLMo 2)
    heads = None if layer.attention.kind == "none" else attention(layer, stack)
    return Block(d_model, heads, ffn(layer.ffn), norm(layer.norm), **place)


def attention(layer: sp.Layer, stack: sp.Stack) -> Attention:
    """The attention to run; an encoder's sees to both sides."""
    a = layer.attention
    return Attention(
        a.n_heads.value,
        a.n_kv_heads.value,
        a.d_head.value,
        bias=tuple(a.bias),
        qk_norm=None if a.qk_norm == "none" else "head" if a.qk_norm == "head" else "full",
        norm=Norm("layer" if layer.norm.kind == "none" else norm(layer.norm).kind, bias=a.qk_norm_bias),
        causal=stack.name != "encoder",
        window=a.window.value or None,
        sinks=a.sinks,
        rotary=Rotary(a.d_head.value) if stack.positions.kind == "rotary" else None,
    )


def norm(kind: sp.Norm) -> Norm:
    """The norm to run; one without weights is a layer norm (OLMo)."""
    if kind.kind == "rms":
        return Norm("rms")
    return Norm("layer", eps=1e-5, bias=kind.kind == "layer" and kind.bias, weight=kind.kind == "layer")


def ffn(f: sp.Ffn) -> Ffn | Moe | None:
    """The FFN or the mixture of experts to run; None where there is none."""
    if f.kind == "none":
        return None
    expert = Ffn(f.d_ff.value, ACTIVATION_NAMES[f.activation], f.expert == "gated", f.bias)
    if f.kind != "moe":
        return expert._replace(gated=f.kind == "gated")
    return Moe(
        expert,
        f.n_experts.value,
        f.top_k.value,
        score="sigmoid" if f.correction else "softmax",
        router_bias=f.router_bias,
        choice_bias=f.correction,
        shared=expert._replace(d_ff=f.d_shared.value, bias=f.bias or f.shared_bias) if f.d_shared else None,
        shared_gate=f.shared_gate,
    )
