"""A file of one's own -> a model: words and spellings, every switch of the generic families, and what is refused."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import yaml

from ffncalc.errors import InputError
from ffncalc.loading import load
from ffncalc.model import Model
from ffncalc.report.flops import flops
from ffncalc.report.params import params
from ffncalc.workload import Workload

BASE: dict[str, Any] = {
    "family": "decoder",
    "d_model": 24,
    "n_layers": 5,
    "n_vocab": 101,
    "n_heads": 6,
    "n_kv_heads": 3,
    "d_head": 10,
    "d_ff": 40,
}
# One layer of it: q and o are 24 x 60, k and v 24 x 30; three matrices of 24 x 40; two norms of 24.
ATTENTION, FFN, NORM = 2 * 24 * 60 + 2 * 24 * 30, 3 * 24 * 40, 2 * 24
Own = Callable[[str], Model]


def config(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The base with changes; None takes a key out."""
    return {key: value for key, value in {**BASE, **changes}.items() if value is not None}


def parts(model: Model) -> dict[str, int]:
    """The components that are there."""
    return {name: number.value for name, number in params(model).parts.items() if number}


def base_parts(**changes: int) -> dict[str, int]:
    """The base model's components, with changes."""
    found = {"embedding": 101 * 24, "attention": 5 * ATTENTION, "ffn": 5 * FFN, "norm": 5 * NORM + 24, "head": 101 * 24}
    return {name: n for name, n in {**found, **changes}.items() if n}


# ------------------------------------------------------------------ words and spellings
SPELLINGS = [
    ("d_model", ("hidden_size", "n_embd", "dim", "d")),
    ("d_ff", ("intermediate_size", "ffn_dim", "n_inner", "hidden_dim")),
    ("n_layers", ("num_hidden_layers", "n_layer")),
    ("n_heads", ("num_attention_heads",)),
    ("n_kv_heads", ("num_key_value_heads",)),
    ("d_head", ("head_dim",)),
    ("n_vocab", ("vocab_size",)),
]


@pytest.mark.parametrize(("word", "spelling"), [(word, s) for word, others in SPELLINGS for s in others])
def test_spellings(word: str, spelling: str) -> None:
    """Every other spelling means the same size, in a generic family and in a family's own row."""
    for family in ("decoder", "llama"):
        plain = {**BASE, "family": family}
        respelled = {spelling if key == word else key: value for key, value in plain.items()}
        assert parts(load(respelled)) == parts(load(plain)) == base_parts()
        assert load(respelled).spec.warnings == ()


@pytest.mark.parametrize("spelling", ["num_local_experts", "n_routed_experts"])
def test_spellings_of_experts(spelling: str) -> None:
    """The same for experts."""
    moe = {"ffn": {"kind": "moe"}, spelling: 8, "num_experts_per_tok": 2}
    assert parts(load(config(moe)))["ffn"] == 5 * (8 * FFN + 24 * 8)


@pytest.mark.parametrize("family", ["decoder", "llama"])
@pytest.mark.parametrize("value", [24, 32])
def test_two_spellings_of_one_size(own: Own, family: str, value: int) -> None:
    """Two spellings of one size are an error with its place, also where they agree."""
    with pytest.raises(InputError, match="line 9, column 1: d_model and hidden_size are two spellings of one size"):
        own(yaml.dump({**BASE, "family": family, "hidden_size": value}, sort_keys=False))


def test_a_size_at_the_top_and_in_a_group() -> None:
    """A size that stands at the top and in its group too is an error: neither goes over the other."""
    with pytest.raises(InputError, match=re.escape("ffn.d_ff is stated a second time here; leave one of them")):
        load(config({"ffn": {"d_ff": 41}}))
    assert parts(load(config({"d_ff": None, "ffn": {"d_ff": 40}}))) == base_parts()


def test_origin_of_each_size(own: Own) -> None:
    """Every size says where it came from, in the spelling of the file."""
    model = own(
        "family: llama\nhidden_size: 24\nn_layers: 2\nn_heads: 6\nd_ff: {rule: llama, multiple_of: 8}\nn_vocab: 101\n"
    )
    total = params(model).total
    assert total is not None
    origins = {leaf.name: leaf.origin for leaf in total.leaves()}
    assert origins["d_model"] == "key hidden_size"
    assert origins["n_layers"] == "key n_layers"
    assert origins["d_ff"] == "rule llama: int(2 × 4d / 3), round up to a multiple of 8"


# ------------------------------------------------------------------ every switch
SWITCHES = [
    pytest.param({}, {}, id="base"),
    pytest.param({"n_kv_heads": None}, {"attention": 5 * 4 * 24 * 60}, id="kv-heads-follow"),
    pytest.param({"d_head": None}, {"attention": 5 * (2 * 24 * 24 + 2 * 24 * 12)}, id="d-head-follows"),
    pytest.param({"attention": {"bias": True}}, {"attention": 5 * (ATTENTION + 60 + 30 + 30 + 24)}, id="all-biases"),
    pytest.param({"attention": {"bias": ["q", "v"]}}, {"attention": 5 * (ATTENTION + 60 + 30)}, id="some-biases"),
    pytest.param({"attention": {"bias": False}}, {}, id="no-biases"),
    pytest.param({"attention": {"qk_norm": "head"}}, {"norm": 5 * (NORM + 20) + 24}, id="qk-norm-head"),
    pytest.param({"attention": {"qk_norm": "full"}}, {"norm": 5 * (NORM + 90) + 24}, id="qk-norm-full"),
    pytest.param({"attention": {"qk_norm": "table"}}, {"norm": 5 * (NORM + 90) + 24}, id="qk-norm-table"),
    pytest.param(
        {"attention": {"qk_norm": "head", "qk_norm_bias": True}}, {"norm": 5 * (NORM + 40) + 24}, id="qk-norm-bias"
    ),
    pytest.param({"attention": {"qk_norm": "none", "window": None}}, {}, id="said-to-be-none"),
    pytest.param({"attention": {"sinks": True}}, {"attention": 5 * (ATTENTION + 6)}, id="sinks"),
    pytest.param({"attention": {"window": 7}}, {}, id="a-window-has-no-weights"),
    pytest.param({"attention": {"relative": 32}}, {"attention": 5 * (ATTENTION + 32 * 6)}, id="relative"),
    pytest.param({"attention": {"conv": 3}}, {"attention": 5 * (ATTENTION + 3 * (60 + 30 + 30))}, id="conv"),
    pytest.param({"attention": {"d_v": 8}}, {"attention": 5 * (24 * (60 + 30) + 24 * 3 * 8 + 24 * 6 * 8)}, id="d-v"),
    pytest.param(
        {
            "n_kv_heads": None,
            "d_head": None,
            "attention": {"kind": "latent", "kv_lora_rank": 7, "d_nope": 8, "d_rope": 4, "d_v": 9},
        },
        {"attention": 5 * (24 * 6 * 12 + 24 * (7 + 4) + 7 * 6 * 17 + 6 * 9 * 24), "norm": 5 * (NORM + 7) + 24},
        id="latent",
    ),
    pytest.param(
        {"attention": {"kind": "latent", "q_lora_rank": 11, "kv_lora_rank": 7, "d_nope": 8, "d_rope": 4, "d_v": 9}},
        {
            "attention": 5 * (24 * 11 + 11 * 72 + 24 * 11 + 7 * 6 * 17 + 54 * 24),
            "norm": 5 * (NORM + 7 + 11) + 24,
        },
        id="latent-queries",
    ),
    pytest.param(
        {"n_heads": None, "attention": {"kind": "none"}}, {"attention": 0, "norm": 5 * 24 + 24}, id="no-attention"
    ),
    pytest.param({"ffn": {"kind": "plain"}}, {"ffn": 5 * 2 * 24 * 40}, id="plain"),
    pytest.param({"ffn": {"kind": "plain", "bias": True}}, {"ffn": 5 * (2 * 24 * 40 + 40 + 24)}, id="plain-bias"),
    pytest.param({"ffn": {"kind": "gated", "bias": True}}, {"ffn": 5 * (FFN + 40 + 40 + 24)}, id="gated-bias"),
    pytest.param({"ffn": {"activation": "relu2"}}, {}, id="activation"),
    pytest.param({"ffn": {"kind": "none"}}, {"ffn": 0, "norm": 5 * 24 + 24}, id="no-ffn"),
    pytest.param({"ffn": {"kind": "moe", "n_experts": 8, "top_k": 2}}, {"ffn": 5 * (8 * FFN + 24 * 8)}, id="moe"),
    pytest.param(
        {"ffn": {"kind": "moe", "n_experts": 8, "top_k": 2, "expert": "plain", "bias": True}},
        {"ffn": 5 * (8 * (2 * 24 * 40 + 64) + 24 * 8)},
        id="plain-experts",
    ),
    pytest.param(
        {"ffn": {"kind": "moe", "n_experts": 8, "top_k": 2, "n_shared": 2, "router_bias": True, "shared_gate": True}},
        {"ffn": 5 * (8 * FFN + 24 * 8 + 8 + 3 * 24 * 80 + 24)},
        id="shared-experts",
    ),
    pytest.param(
        {"ffn": {"kind": "moe", "n_experts": 8, "top_k": 2, "d_shared": 33, "correction": True}},
        {"ffn": 5 * (8 * FFN + 24 * 8 + 3 * 24 * 33)},
        id="correction-is-a-buffer",
    ),
    pytest.param({"norm": {"kind": "layer"}}, {}, id="layer-norm-without-bias"),
    pytest.param({"norm": {"kind": "layer", "bias": True}}, {"norm": 2 * (5 * NORM + 24)}, id="layer-norm"),
    pytest.param({"norm": {"kind": "none"}}, {"norm": 0}, id="no-norm-weights"),
    pytest.param({"norm": {"place": "post"}}, {}, id="post"),
    pytest.param({"norm": {"place": "both"}}, {"norm": 5 * 2 * NORM + 24}, id="both"),
    pytest.param({"norm": {"place": "one"}, "parallel": True}, {"norm": 5 * 24 + 24}, id="one"),
    pytest.param({"norm": {"place": "none", "final": False}}, {"norm": 0}, id="nowhere"),
    pytest.param({"norm": {"final": False}}, {"norm": 5 * NORM}, id="no-final"),
    pytest.param({"positions": {"kind": "learned", "n_positions": 33}}, {"embedding": (101 + 33) * 24}, id="learned"),
    pytest.param(
        {"positions": {"kind": "learned", "n_positions": 33, "offset": 2}}, {"embedding": (101 + 35) * 24}, id="offset"
    ),
    pytest.param({"positions": {"kind": "alibi"}}, {}, id="alibi"),
    pytest.param({"positions": {"kind": "sinusoidal"}}, {}, id="sinusoidal"),
    pytest.param({"embedding": {"width": 13}}, {"embedding": 101 * 13 + 13 * 24 + 24}, id="narrow-embedding"),
    pytest.param({"embedding": {"width": 13, "bias": False}}, {"embedding": 101 * 13 + 13 * 24}, id="its-bias"),
    pytest.param({"embedding": {"token_types": 2}}, {"embedding": 103 * 24}, id="token-types"),
    pytest.param({"embedding": {"norm": True}}, {"norm": 5 * NORM + 48}, id="embedding-norm"),
    pytest.param({"tied": True}, {"head": 0}, id="tied"),
    pytest.param({"head": "none"}, {"head": 0}, id="no-head"),
    pytest.param({"parallel": True}, {}, id="parallel"),
    pytest.param({"d_ff": {"rule": "llama", "multiple_of": 16}}, {"ffn": 5 * 3 * 24 * 64}, id="rule"),
    pytest.param({"d_ff": {"rule": "4d"}}, {"ffn": 5 * 3 * 24 * 96}, id="rule-4d"),
    pytest.param(
        {"d_ff": {"rule": "llama", "multiple_of": 10, "multiplier": 1.3}}, {"ffn": 5 * 3 * 24 * 90}, id="multiplier"
    ),
    pytest.param(
        {"d_ff": {"rule": "matched", "multiple_of": 10, "round": "down"}}, {"ffn": 5 * 3 * 24 * 60}, id="rule-round"
    ),
    pytest.param({"d_ff": [40, 40, 50, 60, 70]}, {"ffn": 3 * 24 * 260}, id="list"),
    pytest.param(
        {"n_kv_heads": [1, 2, 3, 6, 6]}, {"attention": 5 * 2 * 24 * 60 + 2 * 24 * 10 * 18}, id="list-of-heads"
    ),
    pytest.param({"d_model": 24.0}, {}, id="a-whole-float"),
]


@pytest.mark.parametrize(("changes", "expected"), SWITCHES)
def test_switches(changes: dict[str, Any], expected: dict[str, int]) -> None:
    """Each switch changes what it says it does, and nothing else; and none is reported as unread."""
    model = load(config(changes))
    assert parts(model) == base_parts(**expected)
    assert model.spec.warnings == ()


def test_encoder() -> None:
    """An encoder is plain with layer norms, and has BERT's masked-LM head or a pooler."""
    model = load(config({"family": "encoder"}))
    transform, decoder = 24 * 24 + 24 + 48, 101 * 24 + 101 * 2
    assert parts(model) == base_parts(ffn=5 * 2 * 24 * 40, head=transform + decoder)
    assert parts(load(config({"family": "encoder", "tied": True})))["head"] == transform + 101
    assert parts(load(config({"family": "encoder", "head": "pooler"})))["other"] == 24 * 24 + 24


def test_encoder_decoder() -> None:
    """An encoder-decoder has both stacks with cross-attention in the decoder, and each can differ."""
    model = load(config({"family": "encoder-decoder"}))
    plain = 2 * 24 * 40
    assert parts(model) == base_parts(attention=15 * ATTENTION, ffn=10 * plain, norm=25 * 24 + 48)
    wider = load(config({"family": "encoder-decoder", "encoder": {"n_layers": 3, "ffn": {"d_ff": 50}}}))
    assert parts(wider)["ffn"] == 5 * plain + 3 * 2 * 24 * 50
    assert parts(wider)["attention"] == 13 * ATTENTION


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        pytest.param([{"repeat": 5}], {}, id="all-alike"),
        pytest.param([{"repeat": 2, "ffn": {"d_ff": 16}}, {"repeat": 3}], {"ffn": 3 * 24 * (32 + 120)}, id="group"),
        pytest.param([{}, {}, {}, {}, {"d_ff": 60}], {"ffn": 3 * 24 * (160 + 60)}, id="words-and-no-repeat"),
        pytest.param(
            [{"repeat": 2, "ffn": {"kind": "moe", "n_experts": 8, "top_k": 2, "d_ff": 16}}, {"repeat": 3}],
            {"ffn": 2 * (8 * 3 * 24 * 16 + 24 * 8) + 3 * FFN},
            id="experts-first",
        ),
        pytest.param(
            [{"repeat": 4}, {"attention": {"n_kv_heads": 1}}], {"attention": 4 * ATTENTION + 48 * 70}, id="heads"
        ),
        pytest.param(
            [{"repeat": 4}, {"attention": {"kind": "none"}}], {"attention": 4 * ATTENTION, "norm": 10 * 24}, id="none"
        ),
        pytest.param([{"repeat": 4}, {"norm": {"place": "both"}}], {"norm": 12 * 24 + 24}, id="norms"),
    ],
)
def test_unlike_layers(layers: list[dict[str, Any]], expected: dict[str, int]) -> None:
    """`layers` says what differs, in order; everything else is as at the top."""
    model = load(config({"layers": layers}))
    assert parts(model) == base_parts(**expected)
    assert model.spec.warnings == ()


def test_like_layers_are_one_kind() -> None:
    """Layers that come out the same are one kind, wherever they stand."""
    model = load(config({"layers": [{"d_ff": 16}, {"repeat": 2}, {"d_ff": 16, "repeat": 2}]}))
    assert [(kind.n_stored.value, kind.ranges) for kind in model.layers] == [(3, ((0, 0), (3, 4))), (2, ((1, 2),))]


# ------------------------------------------------------------------ what is refused
REFUSED = [
    *(
        pytest.param({key: value}, f"{key} is {shown}; want a positive whole number, such as 4096", id=f"{key}-{shown}")
        for key in ("d_model", "n_layers", "n_vocab", "n_heads", "n_kv_heads", "d_head", "d_ff")
        for value, shown in ((-4, "-4"), (2.5, "2.5"), (True, "true"), (0, "0"))
    ),
    *(
        pytest.param({key: None}, f"{key} is missing; decoder needs it, a positive whole number", id=f"no-{key}")
        for key in ("d_model", "n_layers", "n_vocab", "n_heads", "d_ff")
    ),
    pytest.param({"d_model": "24"}, "d_model is the text '24'; want a positive whole number", id="text"),
    pytest.param({"d_model": float("nan")}, "d_model is nan; want a positive whole number", id="nan"),
    pytest.param({"d_model": float("inf")}, "d_model is inf; want a positive whole number", id="infinity"),
    pytest.param({"d_model": 1e300}, "d_model is 1e+300; want a positive whole number", id="a-float-that-is-not-exact"),
    pytest.param({"d_model": {}}, "d_model is {}; want a positive whole number", id="mapping"),
    pytest.param(
        {"d_model": [24] * 5}, "d_model is [24, 24, 24, 24, 24]; want a positive whole number", id="list-for-one"
    ),
    pytest.param({"n_layers": [5]}, "n_layers is [5]; want a positive whole number", id="list-of-layers"),
    pytest.param({"d_ff": [40, 40]}, "d_ff has 2 entries for 5 layers", id="short-list"),
    pytest.param({"d_ff": [40, 40, -1, 60, 70]}, "d_ff is -1; want a positive whole number", id="list-entry"),
    pytest.param({"n_kv_heads": 4}, "n_heads 6 is not a multiple of n_kv_heads 4", id="kv-heads"),
    pytest.param(
        {"d_head": None, "n_heads": 7, "n_kv_heads": None}, "d_model 24 is not a multiple of n_heads 7", id="heads"
    ),
    pytest.param({"d_ff": {"multiple_of": 8}}, "d_ff is {'multiple_of': 8}; want", id="no-rule"),
    pytest.param(
        {"d_ff": {"rule": "lama"}}, "d_ff: rule 'lama' is not known; want one of llama, 8/3, 4d, matched", id="rule"
    ),
    pytest.param(
        {"d_ff": {"rule": "4d", "multipel_of": 8}}, "d_ff: key 'multipel_of' is not known; a rule has", id="rule-key"
    ),
    pytest.param({"d_ff": {"rule": "llama", "multiple_of": 0}}, "d_ff: multiple_of is 0; want", id="rule-multiple"),
    pytest.param(
        {"d_ff": {"rule": "llama", "multiplier": -1}}, "d_ff: the multiplier is -1; want", id="rule-multiplier"
    ),
    pytest.param(
        {"d_ff": {"rule": "4d", "round": "off"}}, "d_ff: rounding 'off' is not known; want one of up", id="rule-round"
    ),
    pytest.param({"ffn": {"kind": "gatted"}}, "ffn.kind is 'gatted'; did you mean gated?", id="kind"),
    pytest.param({"ffn": {"kind": "swiglu"}}, "ffn.kind is 'swiglu'; want one of plain, gated, moe", id="kinds"),
    pytest.param({"ffn": {"kind": "moe", "n_experts": 8}}, "top_k is missing; decoder needs it", id="no-top-k"),
    pytest.param({"ffn": {"kind": "moe", "top_k": 2}}, "n_experts is missing; decoder needs it", id="no-experts"),
    pytest.param({"ffn": {"kind": "moe", "n_experts": 2, "top_k": 8}}, "top_k 8 is more than n_experts 2", id="top-k"),
    pytest.param({"ffn": {"activation": 3}}, "ffn.activation is 3; want a word", id="activation"),
    pytest.param({"ffn": {"bias": "no"}}, "ffn.bias is 'no'; want true or false", id="bias"),
    pytest.param(
        {"attention": {"bias": ["q", "x"]}}, "attention.bias is ['q', 'x']; want true, false or a list of", id="biases"
    ),
    pytest.param(
        {"attention": {"bias": [{"q": 1}]}},
        "attention.bias is [{'q': 1}]; want true, false or a list of",
        id="bias-type",
    ),
    pytest.param(
        {"attention": {"window": -1}}, "attention.window is -1; want a whole number, zero or more", id="window"
    ),
    pytest.param(
        {"attention": {"n_kv_heads": 0}, "n_kv_heads": None}, "n_kv_heads is 0; want a positive", id="kv-in-group"
    ),
    pytest.param({"attention": {"kind": "latent"}}, "kv_lora_rank is missing; decoder needs it", id="latent"),
    pytest.param({"positions": {"kind": "learned"}}, "n_positions is missing; decoder needs it", id="no-table"),
    pytest.param({"norm": {"place": "before"}}, "norm.place is 'before'; want one of pre, post, both", id="place"),
    pytest.param({"tied": 1}, "tied is 1; want true or false", id="tied"),
    pytest.param({"head": "mlm"}, "decoder has no 'mlm' head; want one of causal, none", id="head"),
    pytest.param(
        {"family": "decodr"},
        "family 'decodr' is not an architecture that ffncalc knows; did you mean decoder",
        id="family",
    ),
    pytest.param({"family": 3}, "family must be the name of an architecture", id="family-number"),
    pytest.param({"layers": 3}, "layers must be a list of groups, such as", id="layers"),
    pytest.param({"layers": []}, "layers must be a list of groups", id="no-layers"),
    pytest.param({"layers": [3]}, "layers[0] is 3; want a mapping with what differs", id="layer"),
    pytest.param({"layers": [{"repeat": 0}]}, "layers[0].repeat is 0; want a positive whole number", id="repeat"),
    pytest.param({"layers": [{"repeat": 2}]}, "layers lists 2 layers and n_layers is 5", id="too-few"),
    pytest.param({"layers": [{"repeat": 5, "fn": {}}]}, "layers[0]: key 'fn' is not known", id="layer-key"),
    pytest.param(
        {"layers": [{"repeat": 5, "ffn": {"d_fff": 3}}]},
        "layers[0]: key 'ffn.d_fff' is not known; did you mean ffn.d_ff?",
        id="layer-typo",
    ),
    pytest.param(
        {"layers": [{"repeat": 5, "d_model": 3}]}, "layers[0]: d_model is one for the whole model", id="layer-d-model"
    ),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_refused(changes: dict[str, Any], message: str) -> None:
    """A size that isn't one, or a switch with a word it doesn't know, is one short message: key, found, wanted."""
    with pytest.raises(InputError, match=re.escape(message)) as error:
        load(config(changes))
    assert str(error.value).startswith("config: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["d_model", "n_layers", "n_vocab", "n_heads", "d_ff"])
def test_null_is_absent(own: Own, key: str) -> None:
    """A size that is null is missing; one that follows from others follows."""
    with pytest.raises(InputError, match=f"{key} is missing; decoder needs it"):
        own(yaml.dump({**BASE, key: None}))
    assert parts(own(yaml.dump({**BASE, "n_kv_heads": None}))) == parts(load(config({"n_kv_heads": None})))


def test_place_of_a_wrong_size(own: Own) -> None:
    """A YAML file's message has line and column, also of a key inside a group."""
    with pytest.raises(InputError, match=r"own\.yaml: line 2, column 1: d_model is -4"):
        own("family: decoder\nd_model: -4\nn_layers: 2\nn_heads: 6\nd_ff: 40\nn_vocab: 101\n")
    with pytest.raises(InputError, match=r"own\.yaml: line 3, column 3: ffn.kind is 'gatted'"):
        own("n_layers: 2\nffn:\n  kind: gatted\nfamily: decoder\nd_model: 24\nn_heads: 6\nd_ff: 40\n")


def test_number_that_yaml_reads_as_text(own: Own) -> None:
    """A size written 1e4 says why it is no number."""
    with pytest.raises(
        InputError, match=r"d_model is the text '1e4' \(YAML reads this spelling as text\); want a positive"
    ):
        own("family: decoder\nd_model: 1e4\nn_layers: 2\nn_heads: 6\nd_ff: 40\nn_vocab: 101\n")


# ------------------------------------------------------------------ keys that nobody reads
@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        pytest.param({"d_modle": 24}, "key 'd_modle' was not read; did you mean d_model?", id="typo"),
        pytest.param({"xyzzy": 3}, "key 'xyzzy' was not read", id="unknown"),
        pytest.param({"ffn": {"d_fff": 3}}, "key 'ffn.d_fff' was not read; did you mean ffn.d_ff?", id="in-a-group"),
        pytest.param(
            {"attention": {"window_size": 3}}, "key 'attention.window_size' was not read; did you mean", id="switch"
        ),
        pytest.param({"cross": True}, "key 'cross' was not read", id="not-from-a-file"),
    ],
)
def test_unread_keys(changes: dict[str, Any], warning: str) -> None:
    """A key that nobody read is a warning with its place and the nearest that there is, and changes no number."""
    model = load(config(changes))
    assert [w for w in model.spec.warnings if warning in w] == list(model.spec.warnings)
    assert len(model.spec.warnings) == 1
    assert parts(model) == base_parts()


@pytest.mark.parametrize(
    "changes", [{"dropout": 0.1}, {"rope_theta": 1e4}, {"rope_anything": {"a": 1}}, {"notes": "x"}, {"xyzzy": None}]
)
def test_keys_that_never_count(changes: dict[str, Any]) -> None:
    """Keys that can never change a count are no warning, nor is a null."""
    assert load(config(changes)).spec.warnings == ()


def test_strict(ffncalc: Any, write: Any) -> None:
    """A warning goes to standard error beside the numbers; with --strict it is the error, and nothing is printed."""
    path = write(yaml.dump({**BASE, "d_modle": 24}, sort_keys=False))
    warned, refused = ffncalc("params", path, "--json"), ffncalc("params", path, "--json", "--strict")
    expected = f"{path}: line 9, column 1: key 'd_modle' was not read; did you mean d_model?"
    assert (warned.code, warned.err) == (0, f"ffncalc: warning: {expected}\n")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == f"ffncalc: error: {expected} (--strict takes warnings for errors)\n"


# ------------------------------------------------------------------ what the command line says over the file
def test_options_go_over_the_file() -> None:
    """--vocab-size, --tied and --head go over what the file says."""
    model = load(config({"tied": False}), n_vocab=7, tied=True)
    assert parts(model) == base_parts(embedding=7 * 24, head=0)
    assert parts(load(config({"tied": True}), head="none")) == base_parts(head=0)
    assert parts(load(config({"tied": True}), tied=False)) == base_parts()


# ------------------------------------------------------------------ size
def test_any_width() -> None:
    """A width of 10^30 is counted to the last digit."""
    d = 10**30 + 8
    model = load(config({"d_model": d, "d_ff": 4 * d}))
    assert parts(model)["ffn"] == 5 * 3 * d * 4 * d
    work = Workload(seq_len=10**9)
    assert flops(model, work).total["ffn"].value == 2 * parts(model)["ffn"] * 10**9
