"""Blocks and whole decoders: every placement, mixture of experts, traces, MACs and gradients."""

import numpy as np
import pytest

from ffncalc.errors import InputError
from ffncalc.numeric import Attention, Block, Decoder, Ffn, Moe, Norm, Rotary, block, count_macs, decoder, logits, moe
from ffncalc.numeric.differences import check_gradients

D, T, BATCH, V = 12, 5, 2, 17
GPT2_HEADS = Attention(3, 3, 4, bias=("q", "k", "v", "o"))
HEADS = Attention(4, 2, 6, rotary=Rotary(6))
LAYER = Norm("layer", eps=1e-5, bias=True)
EXPERT = Ffn(7)

BLOCKS = {
    "pre": Block(D, HEADS, Ffn(20)),
    "post": Block(D, HEADS, Ffn(20), LAYER, place="post"),
    "both": Block(D, HEADS, Ffn(20, "gelu_tanh"), Norm(offset=1.0), place="both"),
    "output": Block(D, HEADS, Ffn(20), place="output"),
    "gpt-2": Block(D, GPT2_HEADS, Ffn(20, "gelu_tanh", gated=False, bias=True), LAYER),
    "parallel, one norm": Block(D, HEADS, Ffn(20, "gelu", gated=False), LAYER, parallel="one norm"),
    "parallel, two norms": Block(D, HEADS, Ffn(20), parallel="two norms"),
    "gated with biases": Block(D, HEADS, Ffn(20, bias=True)),
    "squared relu": Block(D, HEADS, Ffn(20, "relu_squared", gated=False)),
    "attention alone": Block(D, HEADS, None),
    "ffn alone": Block(D, None, Ffn(20)),
    "moe": Block(D, HEADS, Moe(EXPERT, 5, 2)),
    "moe not renormalised": Block(D, HEADS, Moe(EXPERT, 5, 3, renormalise=False)),
    "moe with sigmoids": Block(D, HEADS, Moe(EXPERT, 5, 2, score="sigmoid", scale=2.5, choice_bias=True)),
    "moe, shared": Block(D, HEADS, Moe(EXPERT, 5, 2, shared=Ffn(11))),
    "moe, gated shared": Block(D, HEADS, Moe(EXPERT, 5, 2, shared=Ffn(11), shared_gate=True)),
    "moe with biases": Block(D, HEADS, Moe(Ffn(7, "gelu", gated=False, bias=True), 5, 2, router_bias=True)),
    "moe, one expert": Block(D, HEADS, Moe(EXPERT, 1, 1)),
}  # fmt: skip


def ffn_macs(ffn):
    """Multiply-accumulates of one token in one FFN."""
    if ffn is None:
        return 0
    if isinstance(ffn, Ffn):
        return (3 if ffn.gated else 2) * D * ffn.d_ff
    shared = 0 if ffn.shared is None else ffn_macs(ffn.shared) + (D if ffn.shared_gate else 0)
    return D * ffn.n_experts + ffn.top_k * ffn_macs(ffn.expert) + shared


def attention_macs(layer):
    """Multiply-accumulates of one token in one attention layer, the full T pairs of it."""
    if layer is None:
        return 0
    n_heads, n_kv_heads, d_head = layer[:3]
    return 2 * D * n_heads * d_head + 2 * D * n_kv_heads * d_head + 2 * T * n_heads * d_head


@pytest.mark.parametrize("spec", BLOCKS.values(), ids=BLOCKS)
def test_block_gradients_and_macs(spec):
    """Every gradient passes its finite-difference check; MACs are those of the formulas, backward twice as many."""
    block.check(spec)
    w = decoder.seeded(block.shapes(spec)) | {"x": np.random.default_rng(2).standard_normal((BATCH, T, D))}
    dy = np.random.default_rng(1).standard_normal((BATCH, T, D))
    with count_macs() as forward:
        _, cache = block.forward(w["x"], spec, w)
    with count_macs() as backward:
        dx, grads = block.backward(dy, cache, spec, w)
    per_token = attention_macs(spec.attention) + ffn_macs(spec.ffn)
    assert (forward.total, backward.total) == (BATCH * T * per_token, 2 * BATCH * T * per_token)
    assert {"x", *grads} == w.keys()
    slopes = check_gradients(lambda v: float((block.forward(v["x"], spec, v)[0] * dy).sum()), w, {"x": dx} | grads)
    assert {name: slope.error for name, slope in slopes.items() if slope.error > 1e-6} == {}


@pytest.mark.parametrize("spec", BLOCKS.values(), ids=BLOCKS)
def test_trace_and_shapes(spec):
    """The trace has the norms and residuals by name, no name twice, and does not change the result."""
    steps = []
    w = decoder.seeded(block.shapes(spec))
    x = np.random.default_rng(2).standard_normal((BATCH, T, D))
    y, _ = block.forward(x, spec, w, lambda name, array: steps.append((name, array.copy())))
    names = [name for name, _ in steps]
    assert len(set(names)) == len(names)
    assert set(block.norm_names(spec)) <= set(names)
    np.testing.assert_array_equal(steps[-1][1], y)
    np.testing.assert_array_equal(block.forward(x, spec, w)[0], y)


def test_moe_is_a_loop_over_tokens():
    """Each token's output is the weighted sum of its own top-k experts and the shared one."""
    spec = Moe(EXPERT, 5, 2, shared=Ffn(11))
    w = decoder.seeded(moe.shapes(spec, D))
    x = np.random.default_rng(2).standard_normal((9, D))

    def swiglu(row, gate, up, down):
        g = row @ gate
        return (g / (1 + np.exp(-g)) * (row @ up)) @ down

    y, _ = moe.forward(x, spec, w)
    for row, got in zip(x, y, strict=True):
        p = np.exp(row @ w["router.weight"])
        best = sorted(range(5), key=lambda e: -p[e])[:2]
        expected = swiglu(row, *(w[f"shared.{n}.weight"] for n in ("gate", "up", "down")))
        for e in best:
            share = p[e] / p[best].sum()
            expected = expected + share * swiglu(row, *(w[f"experts.{n}.weight"][e] for n in ("gate", "up", "down")))
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-13)


def test_choice_bias_only_chooses():
    """A large bias makes an expert chosen, with the weight that its score alone gives it."""
    spec = Moe(EXPERT, 4, 1, score="sigmoid", renormalise=False, choice_bias=True)
    route = moe.choose(np.zeros((1, 4)), spec, np.array([0.0, 0.0, 9.0, 0.0]))
    assert (route.chosen.tolist(), route.weights.tolist()) == ([[2]], [[0.5]])


DECODERS = {
    "gpt-2": Decoder(D, V, (BLOCKS["gpt-2"], BLOCKS["gpt-2"]), LAYER, n_positions=8, tied=True),
    "untied": Decoder(D, V, (BLOCKS["pre"], BLOCKS["moe"])),
    "gemma": Decoder(D, V, (BLOCKS["both"],), Norm(offset=1.0), tied=True, embedding_scale=D**0.5),
    "head bias, no final norm": Decoder(D, V, (BLOCKS["post"],), None, head_bias=True),
}


@pytest.mark.parametrize("spec", DECODERS.values(), ids=DECODERS)
def test_decoder_gradients_and_macs(spec):
    """Every gradient of the logits passes its check (a tied table's both parts); the head's MACs are there."""
    w = decoder.seeded(decoder.shapes(spec), seed=3)
    tokens = np.random.default_rng(0).integers(0, V, (BATCH, T))
    direction = np.random.default_rng(1).standard_normal((BATCH, T, V))
    with count_macs() as macs:
        _, cache = decoder.forward(tokens, spec, w)
    per_token = sum(attention_macs(b.attention) + ffn_macs(b.ffn) for b in spec.blocks) + D * V
    assert macs.total == BATCH * T * per_token
    grads = decoder.backward(direction, cache, spec, w)
    assert grads.keys() == w.keys()
    slopes = check_gradients(lambda v: float((decoder.forward(tokens, spec, v)[0] * direction).sum()), w, grads)
    assert {name: slope.error for name, slope in slopes.items() if slope.error > 1e-6} == {}


@pytest.mark.parametrize("spec", DECODERS.values(), ids=DECODERS)
def test_logits_in_both_layouts(spec):
    """`logits` gives the same from turned matrices, for (T,) and (batch, T), and traces from embedding to logits."""
    w = decoder.seeded(decoder.shapes(spec))
    tokens = np.arange(T * BATCH).reshape(BATCH, T) % V
    steps = {}
    expected = logits(tokens, spec, w, trace=steps.__setitem__)
    assert expected.shape == (BATCH, T, V)
    assert next(iter(steps)) == "embedding"
    assert list(steps)[-1] == "logits"
    assert "layers.0.attention.scores" in steps
    np.testing.assert_allclose(logits(tokens, spec, decoder.turn(w), layout="out_in"), expected, rtol=1e-12)
    np.testing.assert_allclose(logits(tokens[1], spec, w), expected[1], rtol=1e-12)


def test_causality():
    """A later token changes no earlier logits."""
    spec = DECODERS["untied"]
    w = decoder.seeded(decoder.shapes(spec))
    before, after = logits([1, 2, 3, 4], spec, w), logits([1, 2, 3, 9], spec, w)
    np.testing.assert_allclose(before[:3], after[:3], rtol=1e-12)
    assert not np.allclose(before[3], after[3])


def test_seeded_arrays_never_change():
    """The same seed gives the same numbers, in every version of NumPy."""
    w = decoder.seeded({"up.weight": (2, 3), "n_norm.weight": (2,)}, seed=7)
    np.testing.assert_allclose(
        w["up.weight"][0], [1.1953821889273926, -0.32946747431765194, 0.023207360296779455], rtol=1e-12
    )
    assert (decoder.seeded({"a": (2,)}, 1)["a"] != decoder.seeded({"a": (2,)}, 2)["a"]).all()


GOOD = decoder.seeded(decoder.shapes(DECODERS["gpt-2"]))
BAD = {
    "vocabulary": ([0, V], {}, "tokens run from 0 to 17; 0 to 16 is wanted"),
    "negative": ([0, -1], {}, "tokens run from -1"),
    "floats": ([0.5], {}, "tokens have shape .1,. and dtype float64"),
    "too long": ([0] * 9, {}, "tokens have length 9; there are 8 learned positions"),
    "missing": ([0], {"layers.1.up.bias": None}, "missing: layers.1.up.bias"),
    "left over": ([0], {"head.weight": np.ones((D, V))}, "not in the model: head.weight"),
    "shape": ([0], {"layers.0.q.weight": np.ones((D, 13))}, r"layers.0.q.weight has shape \(12, 13\).*\(12, 12\)"),
    "NaN": ([0], {"layers.0.q.weight": np.full((D, D), np.nan)}, "layers.0.q.weight holds NaN: 144 of 144"),
}


@pytest.mark.parametrize(("tokens", "changed", "message"), BAD.values(), ids=BAD)
def test_bad_input(tokens, changed, message):
    """Tokens and arrays that don't fit the model are named."""
    w = {name: array for name, array in (GOOD | changed).items() if array is not None}
    with pytest.raises(InputError, match=message):
        logits(tokens, DECODERS["gpt-2"], w)


BAD_BLOCKS = {
    "place": (BLOCKS["pre"]._replace(place="before"), "place is 'before'; one of pre, post, both, output"),
    "parallel": (BLOCKS["post"]._replace(parallel="one norm"), "a parallel block"),
    "top_k": (BLOCKS["moe"]._replace(ffn=Moe(EXPERT, 5, 6)), "top_k is 6; 1 to n_experts = 5"),
    "activation": (BLOCKS["pre"]._replace(ffn=Ffn(20, "mish")), "activation is 'mish'"),
    "width": (BLOCKS["pre"]._replace(d_model=13), "block 0 has d_model 13; the decoder's is 12"),
}


@pytest.mark.parametrize(("spec", "message"), BAD_BLOCKS.values(), ids=BAD_BLOCKS)
def test_descriptions_that_can_not_be(spec, message):
    """A description that can't be run is refused before anything is."""
    with pytest.raises(InputError, match=message):
        decoder.check(Decoder(D, V, (spec,)))
