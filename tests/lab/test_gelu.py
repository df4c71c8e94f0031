"""GELU as the mean of a mask: unbiased, with an honest error bar."""

import numpy as np
import pytest

from ffncalc.errors import InputError
from ffncalc.numeric import gelu
from ffncalc.numeric.experiments.gelu import masked_mean


@pytest.mark.parametrize("z", [-2.5, -0.75, 0.3, 1.0])
def test_the_mean_closes_in(z: float) -> None:
    """Errors shrink as 1/√n and the truth is within four of them at every number of samples."""
    report = masked_mean(z, 100_000, seed=1)
    assert [estimate.samples for estimate in report.estimates] == [100, 1000, 10_000, 100_000]
    assert report.gelu == float(gelu(z))
    for estimate in report.estimates:
        assert abs(estimate.mean - report.gelu) <= 4 * estimate.error
        assert estimate.off == pytest.approx((estimate.mean - report.gelu) / estimate.error)
    before, last = report.estimates[-2:]
    assert before.error / last.error == pytest.approx(10**0.5, rel=0.1)


def test_error_bars_are_honest() -> None:
    """Over many seeds the truth is within one error about 68 times in 100."""
    off = np.array([masked_mean(0.7, 1000, seed).estimates[-1].off for seed in range(200)])
    assert 0.6 < (np.abs(off) < 1).mean() < 0.77
    assert abs(off.mean()) < 0.25


def test_more_samples_go_on_with_the_same_stream() -> None:
    """The estimates of a short run are the first ones of a long run."""
    short, long = masked_mean(1.0, 1000, seed=5), masked_mean(1.0, 3_000_000, seed=5)
    assert short.estimates == long.estimates[:2]


def test_the_curve_is_gelu() -> None:
    """Every point of the curve is within five errors of z·Φ(z)."""
    for point in masked_mean(1.0, 200_000).curve:
        assert abs(point.mean - point.gelu) <= 5 * point.error


@pytest.mark.parametrize(("z", "samples"), [(float("inf"), 10), (1.0, 10**9)], ids=["infinite", "too-many"])
def test_refusals(z: float, samples: int) -> None:
    """An infinite input and more samples than can be drawn are refused."""
    with pytest.raises(InputError):
        masked_mean(z, samples)
