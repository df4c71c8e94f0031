"""Faults that calculators and converters have had in public, each as the input that shows it and what must come out."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ffncalc import flops, load, params
from ffncalc.errors import InputError
from ffncalc.export import params_data
from ffncalc.hidden import hidden_width

SMALL = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 100,
    "tie_word_embeddings": False,
}
META_7B = {"dim": 4096, "multiple_of": 256, "n_heads": 32, "n_layers": 32, "norm_eps": 1e-05, "vocab_size": -1}
META_70B = {"dim": 8192, "n_layers": 80, "n_heads": 64, "multiple_of": 4096, "vocab_size": -1, "n_kv_heads": 8}
META_1B = {
    "dim": 2048,
    "n_layers": 16,
    "n_heads": 32,
    "multiple_of": 256,
    "vocab_size": 128256,
    "ffn_dim_multiplier": 1.5,
    "n_kv_heads": 8,
}
STATED_70B = {
    "model_type": "llama",
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
QWEN_14B = {
    "model_type": "qwen",
    "hidden_size": 5120,
    "intermediate_size": 27392,
    "num_hidden_layers": 40,
    "num_attention_heads": 40,
    "kv_channels": 128,
    "vocab_size": 152064,
    "no_bias": True,
    "layer_norm_epsilon": 1e-06,
    "tie_word_embeddings": False,
}
GEMMA_12B = {
    "model_type": "gemma3",
    "text_config": {
        "model_type": "gemma3_text",
        "hidden_size": 3840,
        "intermediate_size": 15360,
        "num_hidden_layers": 48,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 256,
        "sliding_window": 1024,
        "vocab_size": 262208,
    },
    "vision_config": {
        "model_type": "siglip_vision_model",
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_hidden_layers": 27,
    },
}
GLOBAL_KV = {
    "model_type": "gemma4_text",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_global_key_value_heads": None,
    "head_dim": 16,
    "global_head_dim": 16,
    "vocab_size": 100,
    "layer_types": ["sliding_attention", "full_attention"],
    "tie_word_embeddings": True,
}
LISTED = {**SMALL, "num_hidden_layers": 3, "num_key_value_heads": 2, "head_dim": 16, "tie_word_embeddings": True}
NARROW = {
    "family": "decoder",
    "d_model": 1024,
    "n_layers": 1,
    "n_heads": 16,
    "n_vocab": 100,
    "d_ff": 768,
    "ffn": {"kind": "plain"},
}
PADDED = {**SMALL, "hidden_size": 14336, "num_attention_heads": 112, "vocab_size": 250880}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param(
            META_7B,
            {
                "dims.d_ff": 11008,
                "params.ffn": 4328521728,
                "params.attention": 2147483648,
                "params.embedding": None,
                "params.total": None,
            },
            id="vocabulary-of-minus-one",
        ),
        pytest.param(
            {**SMALL, "num_key_value_heads": None}, {"params.total": 95040, "dims.n_kv_heads": 4}, id="null-kv-heads"
        ),
        pytest.param(SMALL, {"params.total": 95040, "dims.n_kv_heads": 4}, id="absent-kv-heads"),
        pytest.param({**SMALL, "hidden_size": 64.0}, {"params.total": 95040}, id="whole-float"),
        pytest.param(
            GEMMA_12B,
            {
                "params.total": 11766034176,
                "params.ffn": 8493465600,
                "params.attention": 2264948736 - 48 * 512,
                "params.norm": 48 * (4 * 3840 + 512) + 3840,
            },
            id="nested-text-config",
        ),
        pytest.param(
            {**LISTED, "intermediate_size": [128, 256, 192]},
            {"params.ffn": 110592, "dims.d_ff": [128, 256, 192]},
            id="width-of-each-layer",
        ),
        pytest.param({**SMALL, "intermediate_size": 10**18}, {"params.ffn": 384 * 10**18}, id="huge-width"),
        pytest.param(
            {**SMALL, "model_max_length": 10**30}, {"params.total": 95040}, id="huge-length-that-counts-nothing"
        ),
        pytest.param(
            GLOBAL_KV,
            {"params.ffn": 49152, "dims.n_kv_heads": 2, "layers.0.attention": 12288},
            id="null-global-kv-heads",
        ),
        pytest.param(META_1B, {"dims.d_ff": 8192}, id="rounding-has-parentheses"),
        pytest.param(META_70B, {"dims.d_ff": 24576}, id="multiplier-absent"),
        pytest.param({**META_70B, "ffn_dim_multiplier": None}, {"dims.d_ff": 24576}, id="multiplier-null"),
        pytest.param({**META_70B, "ffn_dim_multiplier": 1.3}, {"dims.d_ff": 28672}, id="multiplier-1.3"),
        pytest.param(STATED_70B, {"dims.d_ff": 28672, "layers.0.ffn": 704643072}, id="no-rule-on-a-stated-width"),
        pytest.param(
            QWEN_14B,
            {"dims.d_ff": 13696, "layers.0.ffn": 210370560, "params.total": 14167290880},
            id="half-of-what-is-stated",
        ),
        pytest.param(NARROW, {"dims.d_ff": 768, "layers.0.ffn": 1572864}, id="narrower-than-the-model"),
        pytest.param(PADDED, {"params.embedding": 3596615680}, id="padded-vocabulary"),
    ],
)
def test_counted(config: dict[str, Any], expected: dict[str, Any]) -> None:
    """The numbers come out, by their path in the JSON."""
    data: Any = params_data(params(load(config)))

    def at(path: str) -> Any:
        value = data
        for step in path.split("."):
            value = value[int(step) if step.isdigit() else step]
        return value

    assert {path: at(path) for path in expected} == expected


@pytest.mark.parametrize(
    ("config", "message"),
    [
        pytest.param(
            {**SMALL, "num_attention_heads": 7, "num_key_value_heads": 2, "head_dim": 32},
            "num_attention_heads 7 is not a multiple of num_key_value_heads 2",
            id="heads-in-unequal-groups",
        ),
        pytest.param({**SMALL, "intermediate_size": 128.5}, "intermediate_size is 128.5", id="fraction"),
        pytest.param({**SMALL, "num_hidden_layers": True}, "num_hidden_layers is true", id="truth-is-no-number"),
        pytest.param({**SMALL, "hidden_size": "64"}, "hidden_size is the text '64'", id="text-is-no-number"),
        pytest.param(
            {**LISTED, "intermediate_size": [128, 256]}, "intermediate_size has 2 entries for 3 layers", id="short-list"
        ),
        pytest.param({**NARROW, "d_ff": 0}, "d_ff is 0", id="no-width"),
        pytest.param({**META_1B, "ffn_dim_multiplier": 0}, "ffn_dim_multiplier is 0", id="multiplier-zero"),
        pytest.param({**META_1B, "ffn_dim_multiplier": "1.5"}, "ffn_dim_multiplier is '1.5'", id="multiplier-text"),
        pytest.param({**SMALL, "vocab_size": -1}, "vocab_size is -1", id="minus-one-elsewhere"),
    ],
)
def test_refused(config: dict[str, Any], message: str) -> None:
    """What is no size is refused with the key and what was found."""
    with pytest.raises(InputError) as error:
        load(config)
    assert message in str(error.value)


@pytest.mark.parametrize("value", ["1e3", "1.0e3", "010", "0x40", "1:04", "no"])
def test_yaml_numbers_that_are_none(write: Callable[..., str], value: str) -> None:
    """A size that YAML 1.1 reads as text, in another base or as a truth value is refused by its name or place."""
    with pytest.raises(InputError, match=r"vocab_size|line 6"):
        load(write(f"family: llama\nd_model: 64\nn_layers: 2\nn_heads: 4\nd_ff: 128\nvocab_size: {value}\n"))


@pytest.mark.parametrize("name", ["own.json", "own.yaml"])
def test_byte_order_mark(write: Callable[..., str], name: str) -> None:
    """A mark that an editor puts in front changes nothing."""
    assert params(load(write(b"\xef\xbb\xbf" + json.dumps(SMALL).encode(), name))).total == 95040


def test_null_is_absent_for_every_key() -> None:
    """A null in the place of any size that has a default counts as that default."""
    for key in ("num_key_value_heads", "head_dim", "tie_word_embeddings", "attention_bias", "mlp_bias"):
        values = {k: v for k, v in SMALL.items() if k != key}
        assert params(load({**values, key: None})).total == params(load(values)).total


def test_what_is_beside_is_said() -> None:
    """A tower that is not counted is named in a warning."""
    assert "vision_config is not" in params(load(GEMMA_12B)).warnings[0]


def test_huge_context() -> None:
    """Scores at a context beyond any machine integer are exact."""
    report = flops(load(SMALL), seq_len=1000000000000000019884624838656)
    assert report.layers[0].kinds["attention_scores"].value == 256000000000000005090463958695936


@pytest.mark.parametrize(
    ("d", "arguments", "width"),
    [
        *((d, {}, width) for d, width in ((4096, 11008), (5120, 13824), (6656, 17920), (8192, 22016))),
        *(
            (d, {"rule": "8/3", "multiple_of": 64, "rounding": "down"}, width)
            for d, width in ((4096, 10880), (5120, 13632), (8192, 21824))
        ),
        (2048, {"multiplier": 1.5}, 8192),
        (8192, {"multiplier": 1.3, "multiple_of": 4096}, 28672),
        (8192, {"multiple_of": 4096}, 24576),
        (1024, {"rule": "4d", "multiplier": 0.1875}, 768),
    ],
)
def test_widths(d: int, arguments: dict[str, Any], width: int) -> None:
    """Published widths, by the rule that gives them."""
    assert hidden_width(d, **arguments).d_ff == width


def test_a_multiplier_that_leaves_nothing() -> None:
    """A width of zero is an error that says so, never a silent 0."""
    with pytest.raises(InputError, match="gives a width of 0"):
        hidden_width(2, "llama", 256, 1e-9)
