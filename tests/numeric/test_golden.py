"""The numeric mode against arrays recorded from mpmath, PyTorch and transformers (tests/golden/numeric)."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from ffncalc.numeric import (
    ACTIVATIONS,
    VARIANTS,
    Attention,
    attention,
    decoder,
    derivative,
    ffn,
    ffn_backward,
    glu_backward,
    glu_ffn,
)
from ffncalc.numeric.activations import value_of

GOLDEN = Path(__file__).parents[1] / "golden" / "numeric"


def load(name):
    """One file of recorded arrays."""
    with np.load(GOLDEN / f"{name}.npz", allow_pickle=False) as file:
        return dict(file)


def load_models():
    """The descriptions that the recording script uses too."""
    spec = importlib.util.spec_from_file_location("golden_numeric_models", GOLDEN / "models.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ARRAYS = {name: load(name) for name in ("activations", "ffn", "attention", "decoders")}
MODELS = load_models()
HEADS = {"multi_head": (4, 4, True), "grouped": (4, 2, True), "multi_query": (4, 1, True), "full": (4, 2, False)}


def part(name, prefix):
    """The recorded arrays below a prefix."""
    return {key.removeprefix(prefix): a for key, a in ARRAYS[name].items() if key.startswith(prefix)}


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activations_keep_every_digit(name):
    """Against 40 digits: 1e-12 relative down to the smallest normal number; a slope's zero is absolute."""
    x, recorded = ARRAYS["activations"]["tails"], ARRAYS["activations"]
    for what, got in (("value", value_of(ACTIVATIONS[name], x)), ("slope", derivative(name, x))):
        expected = recorded[f"mpmath.{name}.{what}"]
        normal = np.abs(expected) > np.finfo(float).tiny
        np.testing.assert_allclose(got[normal], expected[normal], rtol=1e-12, atol=0)
        assert np.abs(got[~normal]).max(initial=0) <= 1.1 * np.finfo(float).tiny


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activations_are_torchs(name):
    """Value and derivative agree with PyTorch."""
    x, recorded = ARRAYS["activations"]["near"], ARRAYS["activations"]
    np.testing.assert_allclose(value_of(ACTIVATIONS[name], x), recorded[f"torch.{name}.value"], atol=1e-14)
    np.testing.assert_allclose(derivative(name, x), recorded[f"torch.{name}.slope"], atol=1e-13)


@pytest.mark.parametrize("variant", VARIANTS)
def test_ffn_variants_are_torchs(variant):
    """Output and every gradient agree with PyTorch autograd."""
    given = {"W_gate": None} | part("ffn", f"{variant}.in.")
    dY = given.pop("dY")
    np.testing.assert_allclose(glu_ffn(**given, variant=variant), ARRAYS["ffn"][f"{variant}.Y"], rtol=1e-11, atol=1e-12)
    dX, w = glu_backward(dY, **given, variant=variant)
    got = {"X": dX, "W_up": w.up, "W_down": w.down, "W_gate": w.gate}
    got |= {"b_up": w.b_up, "b_down": w.b_down, "b_gate": w.b_gate}
    recorded = part("ffn", f"{variant}.d.")
    assert recorded.keys() == {name for name, array in got.items() if array is not None}
    for name, expected in recorded.items():
        np.testing.assert_allclose(got[name], expected, rtol=1e-11, atol=1e-12)


def test_ffn_is_torchs():
    """So do those of GPT-2's FFN."""
    given = part("ffn", "gelu_tanh.in.")
    ordered = [given[name] for name in ("X", "W_up", "b_up", "W_down", "b_down")]
    np.testing.assert_allclose(ffn(*ordered), ARRAYS["ffn"]["gelu_tanh.Y"], rtol=1e-11)
    grads = ffn_backward(given["dY"], *ordered)
    for name, got in zip(("X", "W_up", "b_up", "W_down", "b_down"), grads, strict=True):
        np.testing.assert_allclose(got, ARRAYS["ffn"][f"gelu_tanh.d.{name}"], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", HEADS)
def test_attention_is_torchs(name):
    """Output and every gradient agree with scaled_dot_product_attention's."""
    n_heads, n_kv_heads, causal = HEADS[name]
    layer, w = Attention(n_heads, n_kv_heads, 3, causal=causal), part("attention", f"{name}.in.")
    y, cache = attention.forward(w["x"], layer, w)
    np.testing.assert_allclose(y, ARRAYS["attention"][f"{name}.y"], rtol=1e-11, atol=1e-12)
    dx, grads = attention.backward(w["dy"], cache, layer, w)
    recorded = part("attention", f"{name}.d.")
    assert recorded.keys() == {"x", *grads}
    for key, got in ({"x": dx} | grads).items():
        np.testing.assert_allclose(got, recorded[key], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("model", MODELS.MODELS)
def test_decoders_are_transformers(model):
    """The logits of a whole tiny model equal transformers' to 1e-10, and so does each array's gradient."""
    spec, recorded = MODELS.MODELS[model], part("decoders", f"{model}.")
    w = decoder.seeded(decoder.shapes(spec), MODELS.SEED)
    logits, cache = decoder.forward(recorded["tokens"], spec, w)
    np.testing.assert_allclose(logits, recorded["logits"], rtol=0, atol=1e-10)
    grads = decoder.backward(recorded["direction"], cache, spec, w)
    random = np.random.RandomState(3)
    random.randint(0, MODELS.V, recorded["tokens"].shape)
    random.standard_normal(recorded["direction"].shape)
    slopes = [(grads[name] * random.standard_normal(grads[name].shape)).sum() for name in w]
    np.testing.assert_allclose(slopes, recorded["slopes"], rtol=1e-9, atol=1e-9)
