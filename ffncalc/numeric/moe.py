"""A mixture of experts, forward and backward; the choice of experts is held fixed in the backward pass.

Arrays: "router.weight" (d_model, n_experts), "router.bias", "choice_bias" (n_experts, added to the scores where experts
are chosen, and only there), "experts.gate.weight" and "experts.up.weight" (n_experts, d_model, d_ff),
"experts.down.weight" (n_experts, d_ff, d_model), "experts.up.bias" and so on (n_experts, width); of the shared experts
"shared.gate.weight" and so on, as of one FFN, and "shared_gate.weight" (d_model, 1).

Each expert is run on its own tokens only, gathered, so that what is executed is top_k experts a token.
"""

from typing import Literal, NamedTuple

import numpy as np

from ffncalc.errors import InputError
from ffncalc.numeric import ffn_rows
from ffncalc.numeric.activations import activation
from ffncalc.numeric.attention import Trace, silent, softmax, softmax_backward
from ffncalc.numeric.checks import Array
from ffncalc.numeric.matmul import linear, linear_backward

Weights = dict[str, Array]
MATRICES = ("up", "down", "gate")


class Ffn(NamedTuple):
    """One FFN, plain or gated; `bias` gives every matrix one."""

    d_ff: int
    activation: str = "silu"
    gated: bool = True
    bias: bool = False


class Moe(NamedTuple):
    """A router, `n_experts` FFNs of which each token runs `top_k`, and an FFN that all tokens run (`shared`).

    The weights of the chosen experts are their scores (softmax over all experts, or sigmoids), divided by their sum
    if `renormalise`, times `scale`. `shared_gate` weights the shared FFN by a sigmoid of its own (Qwen2-MoE).
    """

    expert: Ffn
    n_experts: int
    top_k: int
    score: Literal["softmax", "sigmoid"] = "softmax"
    renormalise: bool = True
    scale: float = 1.0
    router_bias: bool = False
    choice_bias: bool = False
    shared: Ffn | None = None
    shared_gate: bool = False


class Route(NamedTuple):
    """Which experts each token runs, (rows, top_k), with what weights, and the scores of all of them."""

    scores: Array
    chosen: Array
    weights: Array


class Call(NamedTuple):
    """One expert's run: its tokens, which of each token's choices it was, what it gave, and its cache."""

    rows: Array
    slots: Array
    output: Array
    cache: ffn_rows.Cache


class MoeCache(NamedTuple):
    """What the backward pass needs."""

    x: Array
    route: Route
    calls: dict[int, Call]
    shared: ffn_rows.Cache | None
    shared_output: Array | None
    shared_weight: Array | None


# ---- one FFN by named arrays


def ffn_shapes(ffn: Ffn, d_model: int, prefix: str = "") -> dict[str, tuple[int, ...]]:
    """Names and shapes of the arrays of one FFN."""
    sizes = {"up": (d_model, ffn.d_ff), "down": (ffn.d_ff, d_model)}
    if ffn.gated:
        sizes["gate"] = (d_model, ffn.d_ff)
    found: dict[str, tuple[int, ...]] = {f"{prefix}{name}.weight": shape for name, shape in sizes.items()}
    if ffn.bias:
        found |= {f"{prefix}{name}.bias": shape[1:] for name, shape in sizes.items()}
    return found


def ffn_weights(ffn: Ffn, w: Weights, prefix: str = "", expert: int | None = None) -> ffn_rows.Weights:
    """The arrays of one FFN (of one expert, where they are stacked)."""
    found = [w.get(f"{prefix}{name}.{part}") for part in ("weight", "bias") for name in MATRICES]
    up, down, gate, b_up, b_down, b_gate = (
        array if array is None or expert is None else array[expert] for array in found
    )
    assert up is not None
    assert down is not None
    return ffn_rows.Weights(up, down, gate if ffn.gated else None, b_up, b_down, b_gate if ffn.gated else None)


def ffn_gradients(grads: ffn_rows.Weights, prefix: str = "") -> Weights:
    """The gradients of one FFN under their names."""
    names = [f"{prefix}{name}.{part}" for part in ("weight", "bias") for name in MATRICES]
    return {name: array for name, array in zip(names, grads, strict=True) if array is not None}


# ---- the router


def shapes(moe: Moe, d_model: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the arrays of one mixture of experts."""
    found: dict[str, tuple[int, ...]] = {"router.weight": (d_model, moe.n_experts)}
    found |= {name: (moe.n_experts,) for name, there in _biases(moe) if there}
    experts = ffn_shapes(moe.expert, d_model, "experts.")
    found |= {name: (moe.n_experts, *shape) for name, shape in experts.items()}
    if moe.shared is not None:
        found |= ffn_shapes(moe.shared, d_model, "shared.")
        found |= {"shared_gate.weight": (d_model, 1)} if moe.shared_gate else {}
    return found


def _biases(moe: Moe) -> tuple[tuple[str, bool], ...]:
    return ("router.bias", moe.router_bias), ("choice_bias", moe.choice_bias)


def check(moe: Moe) -> None:
    """InputError for a description that can't be."""
    if not 1 <= moe.top_k <= moe.n_experts:
        raise InputError(f"top_k is {moe.top_k}; 1 to n_experts = {moe.n_experts} is wanted")


def _sigmoid(z: Array) -> Array:
    out = np.empty_like(z)
    activation("sigmoid").value(z.reshape(-1), out.reshape(-1), [np.empty(z.size, z.dtype)])
    return out


def choose(logits: Array, moe: Moe, choice_bias: Array | None = None) -> Route:
    """The route of each row of logits (rows, n_experts); of equal scores, the first expert's."""
    scores = softmax(logits)[0] if moe.score == "softmax" else _sigmoid(logits)
    ranked = scores if choice_bias is None else scores + choice_bias
    chosen = np.argsort(-ranked, axis=-1, kind="stable")[:, : moe.top_k]
    weights = np.take_along_axis(scores, chosen, axis=-1)
    if moe.renormalise:
        weights = weights / weights.sum(axis=-1, keepdims=True)
    return Route(scores, chosen, weights * moe.scale)


def choose_backward(d_weights: Array, route: Route, moe: Moe) -> Array:
    """d_logits, for the gradient of the weights of the chosen experts."""
    d_chosen = d_weights * moe.scale
    if moe.renormalise:
        total = np.take_along_axis(route.scores, route.chosen, axis=-1).sum(axis=-1, keepdims=True)
        share = route.weights / moe.scale
        d_chosen = (d_chosen - (d_chosen * share).sum(axis=-1, keepdims=True)) / total
    d_scores = np.zeros_like(route.scores)
    np.put_along_axis(d_scores, route.chosen, d_chosen, axis=-1)
    if moe.score == "softmax":
        return softmax_backward(d_scores, route.scores)[0]
    d_logits: Array = d_scores * route.scores * (1 - route.scores)
    return d_logits


# ---- forward and backward


def _run_expert(x: Array, moe: Moe, w: Weights, route: Route, expert: int) -> Call | None:
    rows, slots = np.nonzero(route.chosen == expert)
    if not len(rows):
        return None
    weights = ffn_weights(moe.expert, w, "experts.", expert)
    output, cache = ffn_rows.forward(x[rows], weights, activation(moe.expert.activation))
    return Call(rows, slots, output, cache)


def forward(x: Array, moe: Moe, w: Weights, trace: Trace = silent) -> tuple[Array, MoeCache]:
    """y of shape (rows, d_model) for x of the same shape; unchecked."""
    logits = linear(x, w, "router")
    route = choose(logits, moe, w.get("choice_bias"))
    for name, array in (("router", logits), ("chosen", route.chosen), ("chosen_weights", route.weights)):
        trace(name, array)
    y = np.zeros_like(x)
    calls = {}
    for expert in range(moe.n_experts):
        call = _run_expert(x, moe, w, route, expert)
        if call is not None:
            calls[expert] = call
            y[call.rows] += route.weights[call.rows, call.slots, None] * call.output
    shared, output, weight = _shared_forward(x, moe, w)
    if output is not None:
        trace("shared", output)
        y += output if weight is None else weight * output
    return y, MoeCache(x, route, calls, shared, output, weight)


def _shared_forward(x: Array, moe: Moe, w: Weights) -> tuple[ffn_rows.Cache | None, Array | None, Array | None]:
    if moe.shared is None:
        return None, None, None
    weights = ffn_weights(moe.shared, w, "shared.")
    output, cache = ffn_rows.forward(x, weights, activation(moe.shared.activation))
    return cache, output, _sigmoid(linear(x, w, "shared_gate")) if moe.shared_gate else None


def backward(dy: Array, cache: MoeCache, moe: Moe, w: Weights) -> tuple[Array, Weights]:
    """(dx, gradients by name); "choice_bias" only chooses, so its gradient is 0. The cache is used up."""
    grads = {name: np.zeros_like(array) for name, array in w.items() if name.startswith(("experts.", "choice_bias"))}
    d_weights = np.zeros_like(cache.route.weights)
    dx = np.zeros_like(dy)
    for expert, call in cache.calls.items():
        d_rows, weight = dy[call.rows], cache.route.weights[call.rows, call.slots, None]
        d_weights[call.rows, call.slots] = (d_rows * call.output).sum(axis=-1)
        d_tokens, d_expert = ffn_rows.backward(d_rows * weight, call.cache)
        dx[call.rows] += d_tokens
        for name, array in ffn_gradients(d_expert, "experts.").items():
            grads[name][expert] = array
    d_router, found = linear_backward(choose_backward(d_weights, cache.route, moe), cache.x, w, "router")
    d_shared, shared = _shared_backward(dy, cache, w)
    return dx + d_router + d_shared, grads | found | shared


def _shared_backward(dy: Array, cache: MoeCache, w: Weights) -> tuple[Array | float, Weights]:
    if cache.shared is None or cache.shared_output is None:
        return 0.0, {}
    if cache.shared_weight is None:
        dx, grads = ffn_rows.backward(dy, cache.shared)
        return dx, ffn_gradients(grads, "shared.")
    weight = cache.shared_weight
    dx, grads = ffn_rows.backward(dy * weight, cache.shared)
    d_gate = (dy * cache.shared_output).sum(axis=-1, keepdims=True) * weight * (1 - weight)
    d_through, found = linear_backward(d_gate, cache.x, w, "shared_gate")
    return dx + d_through, ffn_gradients(grads, "shared.") | found
