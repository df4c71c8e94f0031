"""Attention alone collapses to rank one; skips and FFNs hold it off."""

from itertools import pairwise

import numpy as np
import pytest

from ffncalc.errors import InputError
from ffncalc.numeric.experiments.collapse import Setting, collapse, collapsed_at, decimal, distance

SEEDS = [0, 1, 2, 7]


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_alone_collapses_doubly_exponentially(seed: int) -> None:
    """The number of right digits more than doubles from layer to layer until rounding is all that is left."""
    curve = collapse(Setting(8, seed=seed)).curves[0]
    at = collapsed_at(curve)
    assert at is not None
    assert at <= 6
    digits = [-decimal(found) for found in curve.distances[1:at]]
    assert all(later > 2 * earlier for earlier, later in pairwise(digits))


@pytest.mark.parametrize("seed", SEEDS)
def test_skips_hold_it_off(seed: int) -> None:
    """With skips the tokens still differ in the first digits where without them they are nearly or wholly one."""
    report = collapse(Setting(8, seed=seed))
    assert [curve.name for curve in report.curves if curve.skips] == ["attention + skips", "attention + FFN + skips"]
    for curve in report.curves:
        assert (curve.distances[-1] > 0.005) == curve.skips


@pytest.mark.parametrize("seed", SEEDS)
def test_an_ffn_that_stretches_holds_it_off_longer(seed: int) -> None:
    """With wider weights in the FFN the collapse comes later than with narrow ones."""
    narrow, wide = (collapsed_at(collapse(Setting(30, seed=seed, gain=gain)).curves[1]) for gain in (1.0, 3.0))
    assert narrow is not None
    assert wide is None or wide > narrow


def test_distance() -> None:
    """Equal tokens have none; it doesn't depend on the scale; two opposite tokens have all of it."""
    X = np.random.default_rng(0).standard_normal((5, 3))
    assert distance(np.ones((4, 3))) == 0
    assert distance(1e6 * X) == pytest.approx(distance(X))
    assert distance(np.array([[1.0, 2], [-1, -2]])) == 1


def test_all_stacks_start_alike_and_have_a_distance_a_layer() -> None:
    """One distance before the first layer and one after each."""
    curves = collapse(Setting(5)).curves
    assert len({curve.distances[0] for curve in curves}) == 1
    assert {len(curve.distances) for curve in curves} == {6}


@pytest.mark.parametrize("setting", [Setting(d_model=30), Setting(tokens=1), Setting(depth=1001)], ids=str)
def test_refusals(setting: Setting) -> None:
    """Heads that don't divide, a single token and more layers than there is time for are refused."""
    with pytest.raises(InputError):
        collapse(setting)


def test_overflow_is_said() -> None:
    """Where the numbers of a stack leave double precision, the layer is named and nothing is drawn."""
    with pytest.raises(InputError, match=r"attention \+ FFN overflow in layer 1; choose a smaller depth or gain"):
        collapse(Setting(4, gain=1e300))
