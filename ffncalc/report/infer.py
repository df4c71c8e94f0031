"""Where a hidden width may have come from: every rule, multiplier and multiple that gives it, the likeliest first.

All multiples that the width has are tried, with all multipliers of `MULTIPLIERS` and without one; a width is also
tried as the sum of gate and up, which some tables and configs print (Gemma's 49,152, OLMo's 22,016, Qwen-1's
doubled). Who has the width is looked up in the bundled configs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from ffncalc import bundled
from ffncalc.errors import InputError
from ffncalc.hidden import hidden_width, positive

# In steps of 0.05 up to 4, with the eighths that a multiple of 4d may be. Published so far: 1.2, 1.3, 1.4 and 1.5.
MULTIPLIERS = tuple(sorted({i / 20 for i in range(1, 81)} | {i / 8 for i in range(1, 33)}))
MAX_WIDTH = 10**12
PUBLISHED = (1.2, 1.3, 1.4, 1.5)
# rule -> the roundings it is used with: LLaMA's code rounds up, Megatron-LM's rounds 8/3 down
_ROUNDINGS = {"llama": ("up",), "8/3": ("down",), "matched": ("nearest",), "4d": ("up",)}


class Origin(NamedTuple):
    """One way to a width: the rule, its multiplier (None: without), the multiple it rounds to (None: it doesn't)."""

    rule: str
    multiplier: float | None
    multiple_of: int | None
    round: str
    d_ff: int
    used_by: tuple[str, ...]


class Inferred(NamedTuple):
    """The ways to a width, and to half of it where that is one that somebody uses or a rule gives without a multiplier.

    `used_by`: bundled configs with this d_model and this width (`half_used_by`: with half of it).
    """

    d_model: int
    d_ff: int
    origins: tuple[Origin, ...]
    used_by: tuple[str, ...]
    halves: tuple[Origin, ...]
    half_used_by: tuple[str, ...]


def infer(d_model: int, d_ff: int) -> Inferred:
    """Every way to the width `d_ff` at width `d_model`. Raises InputError where one isn't a positive whole number."""
    positive(d_model, "d_model"), positive(d_ff, "d_ff")
    if d_ff > MAX_WIDTH:
        raise InputError(f"a width of {d_ff:,} is no hidden width: its multiples are tried up to {MAX_WIDTH:,}")
    stated = _stated(d_model)
    half = d_ff // 2 if d_ff % 2 == 0 else 0
    half_used = _users(stated, half)
    halves = origins(d_model, half, stated) if half else ()
    is_sum = bool(half_used) or any(origin.multiplier is None and origin.multiple_of != half for origin in halves[:1])
    return Inferred(
        d_model, d_ff, origins(d_model, d_ff, stated), _users(stated, d_ff), halves if is_sum else (), half_used
    )


class _Stated(NamedTuple):
    """A bundled config of the width asked for: its name, its hidden widths, and the rule if it states one."""

    name: str
    widths: tuple[int, ...]
    rule: tuple[str, float | None, int | None] | None


def _stated(d_model: int) -> list[_Stated]:
    from ffncalc.loading import load
    from ffncalc.report.dims import dims

    found = []
    for name in bundled.names():
        values = bundled.read(bundled.file_of(name))
        if values.get("d_model") != d_model:
            continue
        rule = values.get("d_ff")
        width = dims(load(name))["d_ff"]
        key = (rule["rule"], rule.get("multiplier"), rule.get("multiple_of")) if isinstance(rule, dict) else None
        found.append(_Stated(name, tuple(width) if isinstance(width, list) else (width,), key))
    return found


def _users(stated: list[_Stated], d_ff: int) -> tuple[str, ...]:
    return tuple(entry.name for entry in stated if d_ff in entry.widths)


def origins(d_model: int, d_ff: int, stated: list[_Stated]) -> tuple[Origin, ...]:
    """The ways to one width, the likeliest first."""
    found = [
        origin._replace(used_by=tuple(e.name for e in stated if e.rule == origin[:3] and d_ff in e.widths))
        for origin in _ways(d_model, d_ff)
    ]
    return tuple(sorted(found, key=_unlikeliness))


def _ways(d: int, d_ff: int) -> Iterator[Origin]:
    multiples = divisors(d_ff)
    for rule, roundings in _ROUNDINGS.items():
        for multiplier in (None, *MULTIPLIERS):
            if multiplier == 1:
                continue
            for rounding in roundings:
                yield from _ways_by(d, d_ff, rule, multiplier, rounding, multiples)


def _ways_by(
    d: int, d_ff: int, rule: str, multiplier: float | None, rounding: str, multiples: list[int]
) -> Iterator[Origin]:
    before = _unrounded(d, rule, multiplier)
    if before == d_ff and rule == "4d":
        yield Origin(rule, multiplier, None, rounding, d_ff, ())
        return
    for multiple in multiples[bisect_right(multiples, abs(before - d_ff)) :]:
        if _width(d, rule, multiple, multiplier, rounding) == d_ff:
            yield Origin(rule, multiplier, multiple, rounding, d_ff, ())


def _unrounded(d: int, rule: str, multiplier: float | None) -> Fraction:
    """The width before it is rounded, as the rule's own steps have it."""
    try:
        return Fraction(hidden_width(d, rule, 1, multiplier, "up").steps[-2].value)
    except InputError:  # beyond double precision, where a rule multiplies in it
        return Fraction(0)


def _width(d: int, rule: str, multiple: int, multiplier: float | None, rounding: str) -> int:
    """What the rule gives; 0 where it gives no width at all."""
    try:
        return hidden_width(d, rule, multiple, multiplier, rounding).d_ff
    except InputError:
        return 0


def divisors(n: int) -> list[int]:
    """All numbers that divide n, smallest first."""
    small, i = [], 1
    while i * i <= n:
        if n % i == 0:
            small.append(i)
        i += 1
    return small + [n // i for i in reversed(small) if i * i != n]


def _unlikeliness(origin: Origin) -> tuple[float, ...]:
    """What is used comes first; then few free choices, and round ones: powers of two before others, 256 before all."""
    multiple = origin.multiple_of or 1
    is_power = multiple & (multiple - 1) == 0
    cost = {"llama": 0.0, "8/3": 1.0, "matched": 1.5, "4d": 0.5}[origin.rule]
    if origin.multiplier is not None:
        cost += 2.0 if origin.multiplier in PUBLISHED else 3.0
    if origin.multiple_of is None:  # so many d and nothing else
        cost = 0.5 if origin.multiplier is None else 1.5
    else:
        cost += 0.0 if is_power and 64 <= multiple <= 4096 else 2.5 if multiple % 64 == 0 or is_power else 3.5
        cost += 3.0 * (origin.d_ff < 4 * multiple) + 3.0 * (origin.rule == "4d" and origin.multiplier is not None)
    from_256 = abs(multiple.bit_length() - 9)
    return (0 if origin.used_by else 1, cost, from_256, multiple, origin.multiplier or 0)
