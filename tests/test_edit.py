"""Edited configs: the size is stated once, where the family reads it, in all kinds of files."""

from typing import Any

import pytest

from ffncalc.edit import base, edited, key_of
from ffncalc.errors import InputError

OWN = {"family": "decoder", "n_layers": 2, "n_vocab": 101, "d_model": 24, "n_heads": 6, "d_ff": 40}
GPT2 = {"model_type": "gpt2", "n_embd": 24, "n_layer": 2, "n_head": 6, "vocab_size": 101}
GROUPED = {"family": "decoder", "n_layers": 2, "d_model": 24, "n_heads": 6, "ffn": {"d_ff": 40, "bias": True}}
ALONE = {**GROUPED, "ffn": {"d_ff": 40}}
SPELLED = {"family": "llama", "hidden_size": 24}
META = {"dim": 24, "n_layers": 2, "n_heads": 6, "vocab_size": 101}


@pytest.mark.parametrize(
    ("config", "sizes", "changed", "gone"),
    [
        pytest.param(OWN, {"d_model": 30}, {"d_model": 30}, (), id="word"),
        pytest.param(OWN, {"hidden_size": 30}, {"d_model": 30}, (), id="another-spelling"),
        pytest.param({**OWN, "d_ff": {"rule": "llama"}}, {"d_ff": 50}, {"d_ff": 50}, (), id="over-a-rule"),
        pytest.param(GROUPED, {"d_ff": 50}, {"d_ff": 50, "ffn": {"bias": True}}, (), id="in-a-group"),
        pytest.param(ALONE, {"d_ff": 50}, {"d_ff": 50}, ("ffn",), id="alone-in-a-group"),
        pytest.param(OWN, {"attention.window": 8}, {"attention": {"window": 8}}, (), id="switch"),
        pytest.param(SPELLED, {"d_model": 30}, {"d_model": 30}, ("hidden_size",), id="over-another-spelling"),
        pytest.param(GPT2, {"d_model": 30, "n_layers": 3}, {"n_embd": 30, "n_layer": 3}, (), id="hugging-face"),
        pytest.param(GPT2, {"n_inner": 50}, {"n_inner": 50}, (), id="key-of-the-family"),
        pytest.param(META, {"d_model": 30}, {"dim": 30}, (), id="meta"),
    ],
)
def test_edited(config: dict[str, Any], sizes: dict[str, int], changed: dict[str, Any], gone: tuple[str, ...]) -> None:
    """Only what was named changes, and what else stated it is gone."""
    wanted = {key: value for key, value in {**config, **changed}.items() if key not in gone}
    assert edited(base(config), sizes).values == wanted


def test_the_start_is_left_as_it_is() -> None:
    """Editing makes a new config."""
    start = base({**OWN, "attention": {"window": 4}})
    edited(start, {"d_model": 30, "attention.window": 8})
    assert start.config.values == {**OWN, "attention": {"window": 4}}


@pytest.mark.parametrize(
    ("config", "name", "message"),
    [
        pytest.param(OWN, "d_modl", "did you mean d_model", id="misspelt"),
        pytest.param(OWN, "tied", "no size", id="no-size"),
        pytest.param(OWN, "attention.kind", "no size", id="switch-of-words"),
        pytest.param({"model_type": "bart"}, "n_layers", "encoder_layers, decoder_layers", id="two-keys"),
    ],
)
def test_unknown(config: dict[str, Any], name: str, message: str) -> None:
    """A size that can't be placed is refused, with what there is."""
    with pytest.raises(InputError, match=message):
        key_of(base(config), name)
