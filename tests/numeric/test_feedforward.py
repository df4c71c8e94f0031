"""The FFN variants, forward and backward."""

import tracemalloc

import numpy as np
import pytest

from ffncalc.errors import InputError
from ffncalc.numeric import (
    VARIANTS,
    count_macs,
    ffn,
    ffn_backward,
    gelu,
    gelu_tanh,
    glu_backward,
    glu_ffn,
    relu,
    relu_squared,
    sigmoid,
    silu,
    split_gate_up,
    swiglu_backward,
    swiglu_ffn,
)
from ffncalc.numeric import ffn_rows as rows
from ffncalc.numeric.activations import activation
from ffncalc.numeric.differences import check_gradients

D, F = 6, 10

# Each variant as one plain expression.
PLAIN = {
    "relu": lambda g, u: relu(u),
    "gelu": lambda g, u: gelu(u),
    "swish": lambda g, u: silu(u),
    "glu": lambda g, u: sigmoid(g) * u,
    "bilinear": lambda g, u: g * u,
    "reglu": lambda g, u: relu(g) * u,
    "geglu": lambda g, u: gelu(g) * u,
    "swiglu": lambda g, u: silu(g) * u,
    "relu2": lambda g, u: relu_squared(u),
}


def arrays(variant, shape=(3, 4), bias=True, d=D, f=F, seed=0):
    """X and the weights of one variant by keyword, with biases."""
    draw = np.random.default_rng(seed).standard_normal
    found = {"X": draw((*shape, d)), "W_up": draw((d, f)), "W_down": draw((f, d)), "W_gate": None}
    found |= {"b_up": draw(f), "b_down": draw(d)} if bias else {}
    if VARIANTS[variant].gated:
        found["W_gate"] = draw((d, f))
        found |= {"b_gate": draw(f)} if bias else {}
    return found


def expression(variant, X, W_gate, W_up, W_down, b_gate=0.0, b_up=0.0, b_down=0.0):
    """The variant written out."""
    gate = None if W_gate is None else X @ W_gate + b_gate
    return PLAIN[variant](gate, X @ W_up + b_up) @ W_down + b_down


@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_are_their_formulas(variant, bias):
    """Each variant is its formula, for X of shape (..., d_model)."""
    given = arrays(variant, bias=bias)
    np.testing.assert_allclose(glu_ffn(**given, variant=variant), expression(variant, **given), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_backward(variant, bias):
    """Every gradient of every variant passes its finite-difference check."""
    given = arrays(variant, bias=bias)
    dY = np.random.default_rng(1).standard_normal(given["X"].shape)
    dX, grads = glu_backward(dY, **given, variant=variant)
    found = {"X": dX} | dict(zip(("W_up", "W_down", "W_gate", "b_up", "b_down", "b_gate"), grads, strict=True))
    found = {name: array for name, array in found.items() if array is not None}
    assert found.keys() == {name for name, array in given.items() if array is not None}

    def loss(changed):
        return float((glu_ffn(**changed, variant=variant) * dY).sum())

    for name, slope in check_gradients(loss, given, found).items():
        assert found[name].shape == given[name].shape
        assert slope.error < 1e-7, name


def test_ffn_is_gpt2s():
    """`ffn` is the tanh GELU with biases, for one token and for many."""
    given = arrays("gelu")
    X, W1, b1, W2, b2 = (given[name] for name in ("X", "W_up", "b_up", "W_down", "b_down"))
    expected = gelu_tanh(X @ W1 + b1) @ W2 + b2
    np.testing.assert_allclose(ffn(X, W1, b1, W2, b2), expected, rtol=1e-12)
    np.testing.assert_allclose(ffn(X[1, 2], W1, b1, W2, b2), expected[1, 2], rtol=1e-12)


def test_ffn_backward():
    """(dX, dW1, db1, dW2, db2) pass the finite-difference check."""
    given = arrays("gelu")
    given = {"X": given["X"], "W1": given["W_up"], "b1": given["b_up"], "W2": given["W_down"], "b2": given["b_down"]}
    dY = np.random.default_rng(1).standard_normal(given["X"].shape)
    grads = dict(zip(given, ffn_backward(dY, **given), strict=True))
    slopes = check_gradients(lambda changed: float((ffn(**changed) * dY).sum()), given, grads)
    assert max(slope.error for slope in slopes.values()) < 1e-8


# unsloth 3314: PyTorch autograd in float64 and an independent formula agree on these.
REPORTED = {
    "X": [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]],
    "W_gate": [[0.2, -0.4, 0.6, -0.8], [0.1, 0.3, -0.5, 0.7], [-0.9, 0.8, 0.4, -0.2]],
    "W_up": [[-0.3, 0.5, 0.7, 0.9], [0.6, -0.2, 0.1, -0.4], [0.8, 0.3, -0.6, 0.2]],
    "W_down": [[0.4, -0.1, 0.2], [-0.3, 0.6, 0.5], [0.7, -0.8, 0.1], [0.9, 0.2, -0.5]],
}
REPORTED_DY = [[1.0, -2.0, 0.5], [0.25, 1.0, -1.0]]
REPORTED_Y = [
    [-1.5398886115135286, 1.4849582510026598, 0.4344259191497337],
    [-0.16611686357636615, -0.426721781770346, -0.010820704575005058],
]
REPORTED_GRADS = {
    "X": [
        [0.7553113210503366, 1.2274438542601849, -4.246101253223893],
        [-0.8644101206677095, 0.4875661993401052, -0.5344339529612718],
    ],
    "W_gate": [
        [0.22748566828946232, -0.6269578435674237, -2.3871312640671234, 0.16527993523999296],
        [0.08771591286589511, 1.2553413159449478, 2.1552552080515577, 0.041526447693354514],
        [-0.21717699876600716, -2.5107922956445186, -4.109048314558293, -0.11167491986158137],
    ],
    "W_up": [
        [-0.30868374447630875, -0.5261433465881654, 1.2456994290599839, -0.3914001503553204],
        [0.14217941284311433, 1.0298843911947, -3.181471650602188, 0.008877010653778869],
        [-0.24780589675472844, -2.058045528390813, 6.416025823703008, 0.041778539466047024],
    ],
    "W_down": [
        [-0.3815203094894974, -0.22388846217151182, 0.5494366561181312],
        [0.8338085959892083, -1.8640681478173333, 0.5642425148737917],
        [-1.1530116049754076, 2.975961252519761, -1.078959334414413],
        [-0.41284333481363733, 0.4009138035669596, 0.11215798213841763],
    ],
}


def test_reported_swiglu():
    """SwiGLU forward and backward give the numbers of the bug report, lists going in."""
    np.testing.assert_allclose(swiglu_ffn(**REPORTED), REPORTED_Y, rtol=1e-10)
    for name, got in zip(REPORTED, swiglu_backward(REPORTED_DY, **REPORTED), strict=True):
        np.testing.assert_allclose(got, REPORTED_GRADS[name], rtol=1e-10)


def test_reported_order_of_a_packed_gate():
    """llama.cpp 14077: the first half activated and the second half activated differ, and both can be had."""
    packed = [[1.0, -0.5, 2.0, 0.3], [0.2, 1.5, -1.0, 0.7]]
    expected = {
        "gate_up": [[1.6826894921370859, -0.04628063080889803], [-0.11585194188782061, 0.979852438667699]],
        "up_gate": [[1.9544997361036416, -0.09268671332834288], [-0.03173105078629142, 0.7959381651657733]],
    }
    for order, values in expected.items():
        gate, up = split_gate_up(packed, order)
        np.testing.assert_allclose(gelu(gate) * up, values, rtol=1e-12)


@pytest.mark.parametrize("layout", ["in_out", "out_in"])
@pytest.mark.parametrize("order", ["gate_up", "up_gate", "interleaved"])
def test_packed_weights(order, layout):
    """A packed matrix taken apart gives the two it was made of, in either layout."""
    given = arrays("geglu")
    gate, up = given["W_gate"], given["W_up"]
    pairs = {
        "gate_up": np.concatenate([gate, up], axis=1),
        "up_gate": np.concatenate([up, gate], axis=1),
        "interleaved": np.stack([gate, up], axis=-1).reshape(D, 2 * F),
    }
    packed = pairs[order] if layout == "in_out" else pairs[order].T
    parts = split_gate_up(packed, order, layout=layout)
    turned = [gate, up] if layout == "in_out" else [gate.T, up.T]
    for part, whole in zip(parts, turned, strict=True):
        np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("variant", VARIANTS)
def test_both_layouts(variant):
    """Turned matrices with layout="out_in" give the same output, and turned gradients."""
    given = arrays(variant)
    turned = {name: a.T if a is not None and name.startswith("W") else a for name, a in given.items()}
    dY = np.random.default_rng(1).standard_normal(given["X"].shape)
    expected = glu_backward(dY, **given, variant=variant)
    got = glu_backward(dY, **turned, variant=variant, layout="out_in")
    np.testing.assert_array_equal(
        glu_ffn(**turned, variant=variant, layout="out_in"), glu_ffn(**given, variant=variant)
    )
    np.testing.assert_allclose(got.X, expected.X)
    for name in ("up", "down", "gate", "b_up", "b_gate", "b_down"):
        a, b = getattr(got.weights, name), getattr(expected.weights, name)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a.T if a.ndim == 2 else a, b)


@pytest.mark.parametrize("variant", ["swiglu", "relu2"])
def test_groups_of_hidden_units(variant, monkeypatch):
    """A network taken a few hidden units at a time is the same network, forward and backward."""
    monkeypatch.setattr(rows, "GROUP_BYTES", 50 * 64 * 8)
    monkeypatch.setattr(rows, "CHUNK_BYTES", 3 * 64 * 8)
    given = arrays(variant, shape=(50,), f=201)
    dY = np.random.default_rng(1).standard_normal(given["X"].shape)
    weights = rows.Weights(*(given.get(name) for name in ("W_up", "W_down", "W_gate", "b_up", "b_down", "b_gate")))
    act = activation(VARIANTS[variant].activation)
    Y, cache = rows.forward(given["X"], weights, act)
    whole = rows.backward(dY, cache)
    grouped = rows.recomputed_backward(dY, given["X"], weights, act)
    np.testing.assert_allclose(rows.forward_only(given["X"], weights, act), Y, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(grouped.X, whole.X, rtol=1e-12, atol=1e-11)
    for got, expected in zip(grouped.weights, whole.weights, strict=True):
        if expected is not None:
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("variant", VARIANTS)
def test_macs(variant):
    """Forward executes N·d·d_ff a matrix; backward twice that, and the recomputed projections."""
    given = arrays(variant, shape=(7,))
    n = 3 if VARIANTS[variant].gated else 2
    with count_macs() as macs:
        glu_ffn(**given, variant=variant)
    assert macs.total == n * 7 * D * F
    with count_macs() as macs:
        glu_backward(np.ones((7, D)), **given, variant=variant)
    assert macs.total == (2 * n + n - 1) * 7 * D * F


DTYPES = {
    "float16": (np.float16, np.float16, 3e-3),
    "float32": (np.float32, np.float32, 1e-5),
    "int64": (np.int64, np.float64, 1e-12),
}


@pytest.mark.parametrize(("given", "expected", "tolerance"), DTYPES.values(), ids=DTYPES)
def test_dtypes(given, expected, tolerance):
    """The result has the weights' dtype (integers: float64); float16 is computed in float32."""
    full = {name: np.round(a * 3) / 4 if given != np.int64 else np.round(a * 3) for name, a in swiglu_case().items()}
    cast = {name: a.astype(given) for name, a in full.items()}
    got, grads = swiglu_ffn(**cast), swiglu_backward(cast["X"], **cast)
    wanted = swiglu_ffn(**full)
    assert {got.dtype, *(g.dtype for g in grads)} == {np.dtype(expected)}
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())


def test_the_wider_dtype_wins():
    """float32 X with float64 weights is computed, and given, in float64."""
    case = swiglu_case()
    case["X"] = case["X"].astype(np.float32)
    assert swiglu_ffn(**case).dtype == np.float64


def swiglu_case():
    """X and the three matrices of a SwiGLU FFN by keyword."""
    return {name: a for name, a in arrays("swiglu", bias=False).items() if name in REPORTED}


def test_no_rows():
    """No tokens give no output and gradients of 0."""
    case = swiglu_case() | {"X": np.zeros((0, D))}
    assert swiglu_ffn(**case).shape == (0, D)
    dX, *grads = swiglu_backward(np.zeros((0, D)), **case)
    assert dX.shape == (0, D)
    assert all((grad == 0).all() for grad in grads)


def test_inputs_are_left_alone():
    """Nothing is written into the arrays given."""
    case = swiglu_case()
    kept = {name: a.copy() for name, a in case.items()}
    swiglu_ffn(**case)
    swiglu_backward(case["X"], **case)
    for name, a in case.items():
        np.testing.assert_array_equal(a, kept[name])


ONE_NAN = np.where(np.arange(F * D).reshape(F, D) == 8, np.nan, 1)

BAD = {
    "W_up turned": ({"W_up": np.ones((F, D))}, r"^W_up has shape \(10, 6\); \(d_model, d_ff\) = \(6, any\) is wanted"),
    "W_gate too wide": ({"W_gate": np.ones((D, F + 1))}, r"^W_gate has shape \(6, 11\); .* = \(6, 10\) is wanted"),
    "W_down turned": ({"W_down": np.ones((D, F))}, r"^W_down has shape \(6, 10\); \(d_ff, d_model\) = \(10, 6\)"),
    "W_up flat": ({"W_up": np.ones(D)}, r"^W_up has shape \(6,\)"),
    "X a number": ({"X": 3.0}, r"^X has shape \(\)"),
    "X empty": ({"X": np.ones((3, 0))}, r"^X has shape \(3, 0\)"),
    "complex": ({"W_up": np.ones((D, F), complex)}, r"^W_up has dtype complex128"),
    "None": ({"W_down": None}, r"^W_down is missing"),
    "NaN": ({"W_down": ONE_NAN}, r"^W_down holds NaN: 1 of 60 values, the first at \[1, 2\]"),
    "NaN in X": ({"X": np.full((2, D), np.nan)}, r"^X holds NaN: 12 of 12 values, the first at \[0, 0\]"),
}  # fmt: skip


@pytest.mark.parametrize(("changed", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(changed, message):
    """An array that can't be right is named, with its shape and the one wanted, forward and backward."""
    case = swiglu_case() | changed
    with pytest.raises(InputError, match=message):
        swiglu_ffn(**case)
    with pytest.raises(InputError, match=message):
        swiglu_backward(np.ones(np.shape(case["X"])), **case)


def test_bad_output_gradient():
    """dY of another shape than X is named; so is one with NaN."""
    case = swiglu_case()
    with pytest.raises(InputError, match=r"^dY has shape \(6,\); the shape of X = \(3, 4, 6\) is wanted"):
        swiglu_backward(np.ones(D), **case)
    with pytest.raises(InputError, match=r"^dY holds NaN"):
        swiglu_backward(np.full((3, 4, D), np.nan), **case)


def test_bad_names():
    """A variant, layout or order that isn't one is named; so is a gate too many or too few."""
    given = arrays("swiglu")
    with pytest.raises(InputError, match="variant is 'swigl'"):
        glu_ffn(**given, variant="swigl")
    with pytest.raises(InputError, match="layout is 'auto'; one of in_out, out_in"):
        glu_ffn(**given, variant="swiglu", layout="auto")
    with pytest.raises(InputError, match="'relu' is not gated"):
        glu_ffn(**given, variant="relu")
    with pytest.raises(InputError, match="'glu' is gated: it needs W_gate"):
        glu_ffn(**(given | {"W_gate": None}), variant="glu")
    with pytest.raises(InputError, match="order is 'first'"):
        split_gate_up(np.ones((2, 4)), "first")
    with pytest.raises(InputError, match="even size"):
        split_gate_up(np.ones((2, 5)), "gate_up")


def test_infinities_are_arithmetic():
    """An infinite input is no error and no warning; what isn't a number then stays in the result."""
    case = swiglu_case()
    case["X"][0, 0, 0] = np.inf
    Y = swiglu_ffn(**case)
    assert not np.isfinite(Y[0, 0]).all()
    assert np.isfinite(Y[1:]).all()


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_memory(backward):
    """Beyond inputs and outputs, one hidden array and a few MB is the most that is held."""
    n, d, f = 1024, 160, 8000
    draw = np.random.default_rng(0).standard_normal
    X, W_gate, W_up, W_down = (draw(shape) for shape in ((n, d), (d, f), (d, f), (f, d)))
    tracemalloc.start()
    if backward:
        swiglu_backward(X, X, W_gate, W_up, W_down)
    else:
        swiglu_ffn(X, W_gate, W_up, W_down)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    outputs = (X.nbytes + 3 * W_up.nbytes) if backward else X.nbytes
    assert peak - outputs - n * f * 8 < 8e6


@pytest.mark.parametrize(
    "missing", [("dY", 0), ("X", 1), ("W_gate", 2), ("W_up", 3), ("W_down", 4)], ids=lambda missing: missing[0]
)
def test_swiglu_without_an_array_is_refused(missing):
    """None in the place of any array is an error, never another network (without a gate, a plain one)."""
    name, place = missing
    arrays = [np.ones((3, D)), np.ones((3, D)), np.ones((D, F)), np.ones((D, F)), np.ones((F, D))]
    arrays[place] = None
    with pytest.raises(InputError, match=name):
        swiglu_backward(*arrays)
    if name != "dY":
        with pytest.raises(InputError, match=name):
            swiglu_ffn(*arrays[1:])


def test_no_hidden_units_are_refused():
    """An FFN has a hidden unit, forward and backward."""
    X, into, out_of = np.ones((3, D)), np.ones((D, 0)), np.ones((0, D))
    with pytest.raises(InputError, match=r"W_up has shape \(6, 0\); d_ff at least 1 is wanted"):
        swiglu_ffn(X, into, into, out_of)
    with pytest.raises(InputError, match="d_ff at least 1 is wanted"):
        swiglu_backward(X, X, into, into, out_of)
