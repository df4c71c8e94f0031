"""Values of a size as a person writes them: 4096, 16,24,32, 1024:8192:256, 100..160, with the units of any number."""

from __future__ import annotations

from collections import Counter

from ffncalc import number
from ffncalc.errors import InputError

MAX_VALUES = 10_000_000


def setting(text: str) -> tuple[str, list[int]]:
    """`d_model=1024:8192:256` -> the size's name and its values."""
    name, sign, listed = text.partition("=")
    if not sign or not name.strip():
        raise InputError(
            f"--set takes NAME=VALUES, such as d_model=1024:8192:256 or n_layers=16,24,32, not {number.shortened(text)}"
        )
    return name.strip(), values(f"--set {name.strip()}", listed)


def values(option: str, text: str, step: int = 1) -> list[int]:
    """The whole numbers that a text lists: numbers and first:last:step (last included), with commas between."""
    found: list[int] = []
    for part in text.split(","):
        found += _some(option, part.strip(), step)
        if len(found) > MAX_VALUES:
            raise InputError(f"{option} has more than {MAX_VALUES:,} values")
    if len(set(found)) < len(found):
        twice = next(value for value, count in Counter(found).items() if count > 1)
        raise InputError(f"{option} has {twice:,} twice")
    return found


def _some(option: str, text: str, step: int) -> range | list[int]:
    ends = text.split(":")
    if len(ends) == 1:
        return [whole(option, text)]
    if len(ends) > 3:
        raise InputError(f"{option}: {number.shortened(text)} has too many colons; write first:last:step")
    first, last = whole(option, ends[0]), whole(option, ends[1])
    by = whole(option, ends[2]) if len(ends) == 3 else step
    if by == 0:
        raise InputError(f"{option}: a step of 0 never ends; give a positive step")
    if last < first:
        raise InputError(f"{option}: {text} is empty: {last:,} comes before {first:,}")
    if (last - first) // by >= MAX_VALUES:
        raise InputError(f"{option}: {text} has more than {MAX_VALUES:,} values")
    return range(first, last + 1, by)


def between(option: str, text: str) -> tuple[float, float]:
    """`100..160` -> the two ends, which may have fractions."""
    low, dots, high = text.partition("..")
    ends = [number.read(end) for end in (low, high if dots else low)]
    if None in ends or ends[0] <= 0 or ends[1] < ends[0]:  # type: ignore[operator]
        raise InputError(f"{option} takes a range such as 100..160, not {number.shortened(text)}")
    return float(ends[0] or 0), float(ends[1] or 0)


def whole(option: str, text: str) -> int:
    """A whole number, zero or more."""
    found = number.read(text)
    if found is None or found.denominator != 1 or found < 0:
        raise InputError(f"{option} takes whole numbers such as 4096 or 4k, not {number.shortened(text)}")
    return found.numerator
