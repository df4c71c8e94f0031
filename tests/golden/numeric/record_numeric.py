"""Record the golden arrays of the numeric mode from mpmath, PyTorch and transformers, all in float64.

Run by a person, with torch, transformers and mpmath installed beside ffncalc; writes *.npz next to itself:

    python tests/golden/numeric/record_numeric.py

activations.npz  value and derivative of every activation: mpmath with 40 digits on a grid with tails, torch near 0
ffn.npz          every FFN variant, forward and backward (torch autograd)
attention.npz    scaled_dot_product_attention: causal or not, grouped, forward and backward
decoders.npz     logits of tiny models of transformers with weights by seed, and gradients along one direction each
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import models
import mpmath
import numpy as np
import torch
import transformers
from mpmath import mpf

from ffncalc.numeric import decoder as decoders

HERE = Path(__file__).parent
Tensor = torch.Tensor


# ---- activations


def _sigma(z: Any) -> Any:
    return 1 / (1 + mpmath.exp(-z))


def _phi(z: Any) -> Any:
    return mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)


def _swish(beta: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    def slope(z: Any) -> Any:
        s = _sigma(beta * z)
        return s + beta * z * s * (1 - s)

    return (lambda z: z * _sigma(beta * z)), slope


def _tanh_gelu() -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    k, c = 2 * mpmath.sqrt(2 / mpmath.pi), mpf("0.044715")

    def slope(z: Any) -> Any:
        s = _sigma(k * (z + c * z**3))
        return s + z * s * (1 - s) * k * (1 + 3 * c * z * z)

    return (lambda z: z * _sigma(k * (z + c * z**3))), slope


def _normal_cdf(z: Any) -> Any:
    return mpmath.erfc(-z / mpmath.sqrt(2)) / 2


def exact_activations() -> dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]:
    """Value and derivative of each activation, for one mpmath number."""
    return {
        "relu": (lambda z: max(z, mpf(0)), lambda z: mpf(z > 0)),
        "relu_squared": (lambda z: max(z, mpf(0)) ** 2, lambda z: 2 * max(z, mpf(0))),
        "gelu": (lambda z: z * _normal_cdf(z), lambda z: _normal_cdf(z) + z * _phi(z)),
        "gelu_tanh": _tanh_gelu(),
        "gelu_sigmoid": _swish(mpf("1.702")),
        "silu": _swish(mpf(1)),
        "sigmoid": (_sigma, lambda z: _sigma(z) * _sigma(-z)),
        "tanh": (mpmath.tanh, lambda z: 1 / mpmath.cosh(z) ** 2),
        "identity": (lambda z: z, lambda z: mpf(1)),
    }


TORCH_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.nn.functional.relu,
    "relu_squared": lambda x: torch.nn.functional.relu(x) ** 2,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "gelu_sigmoid": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": torch.nn.functional.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "identity": lambda x: x * 1,
}


def record_activations() -> dict[str, np.ndarray]:
    """Grids, values and derivatives."""
    mpmath.mp.dps = 40
    tails = np.concatenate([-np.geomspace(1e-300, 740, 120), np.geomspace(1e-300, 740, 60), np.linspace(-39, 9, 161)])
    near = np.linspace(-7, 7, 141)
    found = {"tails": tails, "near": near}
    for name, functions in exact_activations().items():
        for what, function in zip(("value", "slope"), functions, strict=True):
            found[f"mpmath.{name}.{what}"] = np.array([float(function(mpf(float(x)))) for x in tails])
    for name, function in TORCH_ACTIVATIONS.items():
        x = torch.tensor(near, requires_grad=True)
        y = function(x)
        (slope,) = torch.autograd.grad(y.sum(), x)
        found |= {f"torch.{name}.value": y.detach().numpy(), f"torch.{name}.slope": slope.numpy()}
    return found


# ---- feed-forward networks and attention


def _gradients(y: Tensor, dy: Tensor, inputs: dict[str, Tensor]) -> dict[str, np.ndarray]:
    grads = torch.autograd.grad(y, list(inputs.values()), dy)
    return {name: grad.numpy() for name, grad in zip(inputs, grads, strict=True)}


def _draw(random: np.random.RandomState, shapes: dict[str, tuple[int, ...]]) -> dict[str, Tensor]:
    return {name: torch.tensor(random.standard_normal(shape), requires_grad=True) for name, shape in shapes.items()}


VARIANTS = {
    "relu": ("relu", False),
    "gelu": ("gelu", False),
    "swish": ("silu", False),
    "glu": ("sigmoid", True),
    "bilinear": ("identity", True),
    "reglu": ("relu", True),
    "geglu": ("gelu", True),
    "swiglu": ("silu", True),
    "relu2": ("relu_squared", False),
    "gelu_tanh": ("gelu_tanh", False),
}


def record_ffn() -> dict[str, np.ndarray]:
    """Inputs, output and gradients of every variant, with biases."""
    found, random = {}, np.random.RandomState(1)
    for variant, (name, gated) in VARIANTS.items():
        shapes = {"X": (2, 4, 6), "W_up": (6, 10), "W_down": (10, 6), "b_up": (10,), "b_down": (6,)}
        shapes |= {"W_gate": (6, 10), "b_gate": (10,)} if gated else {}
        w = _draw(random, shapes)
        dy = torch.tensor(random.standard_normal((2, 4, 6)))
        act, up = TORCH_ACTIVATIONS[name], w["X"] @ w["W_up"] + w["b_up"]
        hidden = act(w["X"] @ w["W_gate"] + w["b_gate"]) * up if gated else act(up)
        y = hidden @ w["W_down"] + w["b_down"]
        found |= {f"{variant}.in.{key}": array.detach().numpy() for key, array in w.items()}
        found |= {f"{variant}.in.dY": dy.numpy(), f"{variant}.Y": y.detach().numpy()}
        found |= {f"{variant}.d.{key}": grad for key, grad in _gradients(y, dy, w).items()}
    return found


ATTENTIONS = {"multi_head": (4, 4, True), "grouped": (4, 2, True), "multi_query": (4, 1, True), "full": (4, 2, False)}


def record_attention() -> dict[str, np.ndarray]:
    """Inputs, output and gradients of scaled dot-product attention between its projections."""
    found, random = {}, np.random.RandomState(2)
    for name, (heads, kv_heads, causal) in ATTENTIONS.items():
        shapes = {"x": (2, 5, 7), "q.weight": (7, heads * 3), "k.weight": (7, kv_heads * 3)}
        w = _draw(random, shapes | {"v.weight": (7, kv_heads * 3), "o.weight": (heads * 3, 7)})
        dy = torch.tensor(random.standard_normal((2, 5, 7)))
        q, k, v = ((w["x"] @ w[f"{n}.weight"]).unflatten(-1, (-1, 3)).transpose(1, 2) for n in "qkv")
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)
        y = mixed.transpose(1, 2).flatten(-2) @ w["o.weight"]
        found |= {f"{name}.in.{key}": array.detach().numpy() for key, array in w.items()}
        found |= {f"{name}.in.dy": dy.numpy(), f"{name}.y": y.detach().numpy()}
        found |= {f"{name}.d.{key}": grad for key, grad in _gradients(y, dy, w).items()}
    return found


# ---- decoders


@contextmanager
def everything_in_double() -> Iterator[None]:
    """Transformers computes norms, softmax and rotary angles in float32 whatever the model is in; not here."""
    kept = torch.float32, torch.float, Tensor.float
    torch.set_default_dtype(torch.float64)
    torch.float32 = torch.float = torch.float64
    Tensor.float = Tensor.double
    try:
        yield
    finally:
        torch.float32, torch.float, Tensor.float = kept


def configs() -> dict[str, Any]:
    """The models of `models.py`, as transformers describes them."""
    t, d, f = transformers, models.D, models.F
    # no padding token: an embedding gives its row no gradient
    old = {"vocab_size": models.V, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": None}
    new = old | {"hidden_size": d, "intermediate_size": f, "num_hidden_layers": 2, "attn_implementation": "eager"}
    grouped = new | {"num_attention_heads": models.HEADS, "num_key_value_heads": models.KV_HEADS}
    sized = grouped | {"head_dim": models.D_HEAD}
    return {
        "gpt2": t.GPT2Config(**old, n_positions=16, n_embd=d, n_layer=2, n_head=3, n_inner=f),
        "llama": t.LlamaConfig(**sized),
        "mixtral": t.MixtralConfig(**sized, num_local_experts=5, num_experts_per_tok=2),
        "gemma": t.GemmaConfig(**sized),
        "nemotron": t.NemotronConfig(**(grouped | {"head_dim": 8})),
        "olmo2": t.Olmo2Config(**(new | {"num_attention_heads": 3, "num_key_value_heads": 3})),
        "gpt_neox": t.GPTNeoXConfig(
            **(new | {"hidden_size": 24, "num_attention_heads": 3, "rotary_pct": 0.5, "use_parallel_residual": True})
        ),
        "gptj": t.GPTJConfig(**old, n_positions=16, n_embd=24, n_layer=2, n_head=3, n_inner=f, rotary_dim=4),
        "gemma3": t.Gemma3TextConfig(
            **sized,
            sliding_window=3,
            layer_types=["sliding_attention", "full_attention"],
            query_pre_attn_scalar=16,
        ),
        "qwen2_moe": t.Qwen2MoeConfig(
            **(new | {"num_attention_heads": 3, "num_key_value_heads": 1}),
            moe_intermediate_size=7,
            shared_expert_intermediate_size=11,
            num_experts=5,
            num_experts_per_tok=2,
        ),
    }


# Our names within a layer, by the last parts of transformers' names.
MODERN = {
    **{f"self_attn.{n}_proj.{p}": f"{n}.{p}" for n in "qkvo" for p in ("weight", "bias")},
    **{f"self_attn.{n}_norm.weight": f"{n}_norm.weight" for n in "qk"},
    **{f"mlp.{n}_proj.weight": f"{n}.weight" for n in ("gate", "up", "down")},
    **{f"mlp.shared_expert.{n}_proj.weight": f"shared.{n}.weight" for n in ("gate", "up", "down")},
    "mlp.gate.weight": "router.weight",
    "mlp.shared_expert_gate.weight": "shared_gate.weight",
    "mlp.experts.gate_up_proj": ("experts.gate.weight", "experts.up.weight"),
    "mlp.experts.down_proj": "experts.down.weight",
    **{f"input_layernorm.{p}": f"attention_norm.{p}" for p in ("weight", "bias")},
    **{f"post_attention_layernorm.{p}": f"ffn_norm.{p}" for p in ("weight", "bias")},
}
SANDWICH = {
    "post_attention_layernorm.weight": "attention_post_norm.weight",
    "pre_feedforward_layernorm.weight": "ffn_norm.weight",
    "post_feedforward_layernorm.weight": "ffn_post_norm.weight",
}
NEOX = {
    **{f"attention.query_key_value.{p}": tuple(f"{n}.{p}" for n in "qkv") for p in ("weight", "bias")},
    **{f"attention.dense.{p}": f"o.{p}" for p in ("weight", "bias")},
    **{f"mlp.dense_h_to_4h.{p}": f"up.{p}" for p in ("weight", "bias")},
    **{f"mlp.dense_4h_to_h.{p}": f"down.{p}" for p in ("weight", "bias")},
}
GPT = {
    **{f"attn.c_attn.{p}": tuple(f"{n}.{p}" for n in "qkv") for p in ("weight", "bias")},
    **{f"attn.{n}_proj.weight": f"{n}.weight" for n in "qkv"},
    **{f"attn.{n}.{p}": f"o.{p}" for n in ("c_proj", "out_proj") for p in ("weight", "bias")},
    **{f"mlp.{n}.{p}": f"up.{p}" for n in ("c_fc", "fc_in") for p in ("weight", "bias")},
    **{f"mlp.{n}.{p}": f"down.{p}" for n in ("c_proj", "fc_out") for p in ("weight", "bias")},
    **{f"ln_{i}.{p}": f"{n}_norm.{p}" for i, n in ((1, "attention"), (2, "ffn")) for p in ("weight", "bias")},
}
LAYER_NAMES = {"gpt_neox": MODERN | NEOX, "gpt2": GPT, "gptj": GPT, "gemma3": MODERN | SANDWICH}
LAYER_NAMES["olmo2"] = MODERN | SANDWICH
OUTER = {
    "embed_tokens.weight": "token.weight",
    "embed_in.weight": "token.weight",
    "wte.weight": "token.weight",
    "wpe.weight": "position.weight",
    **{f"{n}.{p}": f"final_norm.{p}" for n in ("norm", "ln_f", "final_layer_norm") for p in ("weight", "bias")},
    "lm_head.weight": "head.weight",
    "lm_head.bias": "head.bias",
}


def our_names(model: str, name: str) -> tuple[str, ...]:
    """What we call a parameter of transformers': one name, or the parts that it packs."""
    parts = name.removeprefix("model.").removeprefix("transformer.").removeprefix("gpt_neox.").split(".")
    if parts[0] not in {"layers", "h"}:
        return (OUTER[".".join(parts)],)
    found = LAYER_NAMES.get(model, MODERN)[".".join(parts[2:])]
    return tuple(f"layers.{parts[1]}.{n}" for n in ((found,) if isinstance(found, str) else found))


def _as_stored(model: str, ours: list[Tensor]) -> Tensor:
    """Our matrices (in × out) in the layout of the checkpoint: turned, and packed."""
    turned = ours if model == "gpt2" else [w.mT if w.ndim >= 2 else w for w in ours]
    if len(turned) == 1:
        return turned[0]
    if model == "gpt2":
        return torch.cat(turned, dim=-1)
    if model == "gpt_neox":  # q, k and v of each head together
        return torch.stack([w.unflatten(0, (3, 8)) for w in turned], dim=1).flatten(0, 2)
    return torch.cat(turned, dim=1)  # experts: gate above up


def record_decoder(model: str, config: Any) -> dict[str, np.ndarray]:
    """Tokens, logits, and the derivative of ⟨logits, direction⟩ along one direction of each array of ours."""
    spec, random = models.MODELS[model], np.random.RandomState(3)
    shapes = decoders.shapes(spec)
    w = {n: torch.tensor(a, requires_grad=True) for n, a in decoders.seeded(shapes, models.SEED).items()}
    config._experts_implementation = "eager"  # the default has no float64
    network = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float64).eval()
    stored, used = {}, set()
    for name, parameter in network.named_parameters():
        names = our_names(model, name)
        used |= set(names)
        is_table = names[0] in decoders.TABLES
        stored[name] = w[names[0]] if is_table else _as_stored(model, [w[n] for n in names])
        assert stored[name].shape == parameter.shape, (model, name, stored[name].shape, parameter.shape)
    assert used == w.keys(), used ^ w.keys()
    tokens = random.randint(0, models.V, (models.BATCH, models.T))
    direction = random.standard_normal((models.BATCH, models.T, models.V))
    if spec.tied:
        stored["lm_head.weight"] = w["token.weight"]
    logits = torch.func.functional_call(network, stored, (torch.tensor(tokens),), {"use_cache": False}).logits
    assert logits.dtype == torch.float64
    grads = _gradients(logits, torch.tensor(direction), w)
    slopes = [(grad * random.standard_normal(grad.shape)).sum() for grad in grads.values()]
    return {"tokens": tokens, "direction": direction, "logits": logits.detach().numpy(), "slopes": np.array(slopes)}


def record_decoders() -> dict[str, np.ndarray]:
    """All models."""
    found = {}
    with everything_in_double():
        for model, config in configs().items():
            found |= {f"{model}.{key}": array for key, array in record_decoder(model, config).items()}
    return found


def main() -> None:
    """Write the four files."""
    torch.set_num_threads(1)
    recorded = {
        "activations": record_activations(),
        "ffn": record_ffn(),
        "attention": record_attention(),
        "decoders": record_decoders(),
    }
    for name, arrays in recorded.items():
        np.savez_compressed(HERE / f"{name}.npz", **arrays)
        print(name, (HERE / f"{name}.npz").stat().st_size)


if __name__ == "__main__":
    main()
