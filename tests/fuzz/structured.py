"""Configs that are configs, with values that nobody expects in the places of sizes and switches."""

from typing import Any

from hypothesis import strategies as st
from seeds import HUGGING_FACE

from ffncalc.spec import CHOICES, GROUPS, MEANING

SIZES = st.one_of(
    st.integers(1, 64),
    st.sampled_from([0, -1, 10**6, 10**30, 10**320, 10**999, 2**63, 2**64]),
    st.sampled_from(
        [None, True, False, 1.0, 64.0, 1.5, -0.0, 1e300, float("inf"), float("nan"), "64", "", "\x1b[2J", [], {}]
    ),
    st.lists(st.integers(0, 9), max_size=4),
)
NAMES = st.text(max_size=8)


def word(switch: str) -> st.SearchStrategy[Any]:
    """A value for a switch, mostly of the right kind."""
    if switch in CHOICES:
        return st.one_of(st.sampled_from(CHOICES[switch]), SIZES)
    return st.one_of(SIZES, st.booleans(), NAMES)


def group(name: str) -> st.SearchStrategy[Any]:
    """A group of switches (attention, ffn, ...)."""
    fields = {field: word(f"{name}.{field}") for field in GROUPS[name]._fields if f"{name}.{field}" in MEANING}
    return st.fixed_dictionaries({}, optional=fields)


GROUP_VALUES = {name: st.one_of(group(name), group(name), SIZES) for name in GROUPS}
LAYERS = st.lists(st.fixed_dictionaries({}, optional={"repeat": st.integers(1, 4), **GROUP_VALUES}), max_size=3)
OWN = st.fixed_dictionaries(
    {"family": st.sampled_from(["decoder", "decoder", "encoder", "encoder-decoder", "llama", "t5", "bert"])},
    optional={
        **{
            name: st.one_of(st.integers(1, 64), SIZES)
            for name in ("d_model", "n_layers", "n_vocab", "d_ff", "n_heads", "n_kv_heads")
        },
        **GROUP_VALUES,
        "layers": st.one_of(LAYERS, SIZES),
        "tied": st.one_of(st.booleans(), SIZES),
        "parallel": st.one_of(st.booleans(), SIZES),
        "head": st.one_of(st.sampled_from(["causal", "mlm", "none"]), SIZES),
        "name": NAMES,
        "source": NAMES,
    },
)


@st.composite
def hugging_face(draw: st.DrawFn) -> dict[str, Any]:
    """A known config with a few of its values exchanged, keys added and taken away."""
    values = dict(draw(st.sampled_from(HUGGING_FACE)))
    for key in draw(st.lists(st.sampled_from(sorted(values)), max_size=4)):
        values[key] = draw(SIZES)
    for key in draw(st.lists(st.sampled_from(sorted(values)), max_size=1)):
        values.pop(key, None)
    return values | draw(st.dictionaries(NAMES, SIZES, max_size=2))


CONFIGS = st.one_of(OWN, hugging_face())
