"""Inferred origins of a width: exactly those that trying everything finds, the published ones first."""

import pytest

from ffncalc.errors import InputError
from ffncalc.hidden import hidden_width
from ffncalc.report.infer import MULTIPLIERS, divisors, infer

ROUNDINGS = {"llama": "up", "8/3": "down", "matched": "nearest", "4d": "up"}


def exhaustive(d: int, d_ff: int) -> set[tuple[str, float | None, int | None]]:
    """Every (rule, multiplier, multiple up to the width itself) that gives the width."""
    found: set[tuple[str, float | None, int | None]] = set()
    for rule, rounding in ROUNDINGS.items():
        for multiplier in (None, *(m for m in MULTIPLIERS if m != 1)):
            for multiple in range(1, d_ff + 1):
                try:
                    width = hidden_width(d, rule, multiple, multiplier, rounding).d_ff
                except InputError:
                    continue
                if width == d_ff:
                    found.add((rule, multiplier, multiple))
    return found


@pytest.mark.parametrize(("d", "d_ff"), [(24, 64), (24, 96), (25, 67), (10, 27), (7, 1), (48, 97), (12, 128)])
def test_exhaustive(d: int, d_ff: int) -> None:
    """All ways and no others; where a width is so many d, the way without rounding stands for all multiples."""
    found = {(o.rule, o.multiplier, o.multiple_of) for o in infer(d, d_ff).origins}
    unrounded = {(rule, multiplier) for rule, multiplier, multiple in found if multiple is None}
    wanted = {way for way in exhaustive(d, d_ff) if way[:2] not in unrounded}
    assert found - {(*way, None) for way in unrounded} == wanted


@pytest.mark.parametrize(
    ("d", "d_ff", "first", "used_by"),
    [
        pytest.param(4096, 11008, ("llama", None, 256), "llama-7b", id="llama"),
        pytest.param(4096, 14336, ("llama", 1.3, 1024), "llama-3-8b", id="llama-3"),
        pytest.param(8192, 28672, ("llama", 1.3, 4096), "llama-2-70b", id="llama-2-70b"),
        pytest.param(768, 3072, ("4d", None, None), "gpt2", id="4d"),
    ],
)
def test_published(d: int, d_ff: int, first: tuple[str, float | None, int | None], used_by: str) -> None:
    """Published widths: the published rule first, and who has it."""
    report = infer(d, d_ff)
    assert report.origins[0][:3] == first
    assert used_by in report.used_by
    assert not report.halves


def test_floor_to_64() -> None:
    """Megatron's 8/3 rounded down to multiples of 64 is found where LLaMA's rule gives another width."""
    assert ("8/3", None, 64) in {o[:3] for o in infer(4096, 10880).origins}
    assert ("llama", None, 256) not in {o[:3] for o in infer(4096, 10880).origins}


def test_no_multiple_of_256() -> None:
    """8,640 for 3,200 is LLaMA's rule with 216, 240 and others, and not with 256."""
    multiples = {o.multiple_of for o in infer(3200, 8640).origins if o[:2] == ("llama", None)}
    assert {216, 240} < multiples
    assert 256 not in multiples


@pytest.mark.parametrize(
    ("d", "d_ff", "user"),
    [
        pytest.param(3072, 49152, "gemma-7b", id="gemma"),
        pytest.param(4096, 22016, "olmo-2-7b", id="olmo-and-qwen"),
        pytest.param(5120, 27392, "", id="qwen-14b"),
    ],
)
def test_gate_and_up_together(d: int, d_ff: int, user: str) -> None:
    """A width that was summed over gate and up is recognised by its half."""
    report = infer(d, d_ff)
    assert report.halves
    assert {o.d_ff for o in report.halves} == {d_ff // 2}
    assert user in ("", *report.half_used_by)


def test_divisors() -> None:
    """All of them, in order."""
    assert [divisors(n) for n in (1, 12, 49)] == [[1], [1, 2, 3, 4, 6, 12], [1, 7, 49]]


def test_widths_with_many_divisors_and_none() -> None:
    """A width with thousands of divisors is tried with all of them; one beyond any FFN is refused, not factored."""
    assert infer(4096, 963_761_198_400).d_ff == 963_761_198_400
    with pytest.raises(InputError, match="is no hidden width"):
        infer(4096, 10**30)
