"""A model's structure at a small width: what is kept, what is capped, what is refused by name."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from ffncalc import load
from ffncalc.errors import InputError
from ffncalc.expr import size
from ffncalc.model import Model
from ffncalc.numeric import block, described
from ffncalc.numeric.scaled import heads, scaled
from ffncalc.report.forward import Settings, plan_model

Own = Callable[[str], Model]

YAML = """
family: decoder
d_model: 96
n_layers: 5
n_vocab: 101
attention: {{n_heads: 12, n_kv_heads: 4, d_head: 16{attention}}}
ffn: {{d_ff: 250{ffn}}}
{rest}
"""


def yaml(attention: str = "", ffn: str = "", rest: str = "") -> str:
    """A decoder of one's own with some switches more."""
    return YAML.format(attention=attention and f", {attention}", ffn=ffn and f", {ffn}", rest=rest)


@pytest.mark.parametrize(
    ("model", "wanted", "expected"),
    [
        pytest.param((32, 32), 64, (8, 8, 8), id="plain-heads"),
        pytest.param((32, 8), 64, (8, 2, 8), id="grouped"),
        pytest.param((28, 4), 64, (7, 1, 10), id="odd-group"),
        pytest.param((128, 8), 64, (16, 1, 8), id="group-wider-than-the-stream"),
        pytest.param((48, 1), 64, (48, 1, 8), id="multi-query"),
        pytest.param((4, 4), 64, (4, 4, 16), id="no-more-heads-than-the-model"),
        pytest.param((16, 16), Fraction(256, 3), (7, 7, 12), id="stated-head-width"),
        pytest.param((12, 12), 5, (1, 1, 8), id="too-narrow"),
    ],
)
def test_heads(model: tuple[int, int], wanted: Fraction, expected: tuple[int, int, int]) -> None:
    """The ratio of the heads is kept, d_head is even and at least 8, their width near the one wanted."""
    assert heads(*model, Fraction(wanted)) == expected


def test_ratios_are_the_models(own: Own) -> None:
    """d_ff, the heads' width and the shared experts keep their ratio; experts and top_k are capped, the rest kept."""
    ffn = "kind: moe, n_experts: 20, top_k: 5, n_shared: 3, bias: true"
    model = own(yaml("bias: [q, k]", ffn, "norm: {kind: layer}"))
    layer = model.spec.stacks[0].kinds[0].layer
    small = scaled(layer, model.spec.d_model, size("d_model", 48))
    a, f = small.attention, small.ffn
    assert (a.n_heads.value, a.n_kv_heads.value, a.d_head.value) == (12, 4, 8)
    assert (f.d_ff.value, f.d_shared.value, f.n_experts.value, f.top_k.value) == (125, 375, 8, 2)
    assert (a.bias, f.kind, f.bias, small.norm) == (layer.attention.bias, "moe", True, layer.norm)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param(Settings(), (125, "250 × 48 / 96"), id="own-ratio"),
        pytest.param(Settings(d_ff=31), (31, "--d-ff"), id="stated"),
        pytest.param(Settings(rule="4d"), (192, "rule 4d: 4 × d"), id="rule"),
        pytest.param(
            Settings(multiple_of=10),
            (130, "rule llama: int(2 × 4d / 3), round up to a multiple of 10"),
            id="llama-unless-told",
        ),
    ],
)
def test_hidden_width(own: Own, settings: Settings, expected: tuple[int, str]) -> None:
    """The hidden width is the model's own ratio, a stated one, or a rule's, and says where it is from."""
    plan = plan_model(own(yaml()), 48, settings)
    (leaf,) = {leaf for op in plan.layers[0] for axis in op.axes for leaf in axis.leaves() if leaf.name == "d_ff"}
    assert (leaf.value, leaf.origin) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("norm: {place: pre}", ("pre", None), id="pre"),
        pytest.param("norm: {place: both}", ("both", None), id="both"),
        pytest.param("norm: {place: post, final: false}", ("post", None), id="post"),
        pytest.param("norm: {place: post}", ("output", None), id="post-under-a-final-norm"),
        pytest.param("norm: {place: one}\nparallel: true", ("pre", "one norm"), id="parallel-one-norm"),
        pytest.param("parallel: true", ("pre", "two norms"), id="parallel-two-norms"),
    ],
)
def test_places(own: Own, text: str, expected: tuple[str, str | None]) -> None:
    """Each placement of norms is that of the block that runs."""
    (part,) = plan_model(own(yaml(rest=text)), 24, Settings()).network.parts
    assert isinstance(part, block.Block)
    assert (part.place, part.parallel) == expected


@pytest.mark.parametrize(
    ("model", "missing"),
    [
        pytest.param("deepseek-v3", "latent attention", id="latent"),
        pytest.param("t5-base", "encoder beside a decoder, and no relative positions", id="encoder-decoder"),
        pytest.param("transformer-base", "encoder beside a decoder", id="cross-attention"),
        pytest.param("all-attention-small", "relative positions", id="relative"),
        pytest.param("primer", "relative positions", id="primer"),
    ],
)
def test_bundled_refusals(model: str, missing: str) -> None:
    """A model that can't be run is refused, and the message says what is missing."""
    with pytest.raises(InputError, match=f"^{model} can't be run on arrays: the numeric mode has no {missing}"):
        plan_model(load(model), 24, Settings())


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        pytest.param(yaml(rest="positions: {kind: alibi}"), "alibi positions", id="alibi"),
        pytest.param(yaml("conv: 3"), "convolutions on queries, keys and values", id="convolution"),
        pytest.param(yaml("qk_norm: table"), "norm with weights for each head", id="norm-per-head"),
        pytest.param(yaml("window: 8, chunked: true"), "attention in chunks", id="chunks"),
        pytest.param(yaml(ffn="activation: mish"), "activation 'mish'", id="activation"),
        pytest.param(yaml(rest="norm: {place: second}"), "norms placed as 'second'", id="norm-place"),
    ],
)
def test_refusals(own: Own, text: str, missing: str) -> None:
    """A switch that has no counterpart is refused by name, never left out."""
    with pytest.raises(InputError, match=f"the numeric mode has no {missing}$"):
        plan_model(own(text), 24, Settings())


def test_encoders_see_both_sides_and_have_no_rotary_positions() -> None:
    """BERT's attention is not causal, its learned positions are below the blocks."""
    (part,) = plan_model(load("bert-base"), 24, Settings()).network.parts
    assert isinstance(part, block.Block)
    assert part.attention is not None
    assert (part.attention.causal, part.attention.rotary) == (False, None)


def test_every_activation_name_is_of_one_there_is() -> None:
    """What configs call an activation is mapped to one that runs."""
    from ffncalc.numeric import ACTIVATIONS

    assert set(described.ACTIVATION_NAMES.values()) <= ACTIVATIONS.keys()
