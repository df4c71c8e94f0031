"""Numbers as people write them -> exact fractions: 4096, 4_096, 4,096, 4k, 4Ki, 7B, 1.5 billion, 6.74e9."""

from __future__ import annotations

import re
from fractions import Fraction

from ffncalc.errors import InputError

UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9, "t": 10**12}
UNITS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
UNITS |= {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

WHOLE = r"(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+(?:_[0-9]+)*)"
NUMBER = re.compile(WHOLE + r"(?:\.(?P<part>[0-9]+))?(?:e(?P<power>[-+]?[0-9]+))?\s*(?P<unit>[a-z]*)", re.IGNORECASE)
MAX_DIGITS = 1000


def read(text: str) -> Fraction | None:
    """The number that a text is, exactly; None where it isn't one. Raises InputError for a unit that isn't known."""
    found = NUMBER.fullmatch(text.strip())
    return of_match(found) if found else None


def of_match(found: re.Match[str]) -> Fraction:
    """The number that `NUMBER` found."""
    whole, part, power, unit = (found[group] or "" for group in ("whole", "part", "power", "unit"))
    text = found[0]
    if unit.lower() not in UNITS:
        raise InputError(f"{shortened(text)}: no unit {shortened(unit)}; {unit_hint(unit.lower())}")
    if len(text) > MAX_DIGITS or abs(int(power or 0)) > MAX_DIGITS:
        raise InputError(f"{shortened(text)} has more than {MAX_DIGITS} digits")
    digits = int(re.sub("[_,]", "", whole) + part)
    return digits * Fraction(10) ** (int(power or 0) - len(part)) * UNITS[unit.lower()]


def unit_hint(unit: str) -> str:
    """What units there are, the likely one first."""
    likely = f"did you mean {unit[0] if unit[0] == 'k' else unit[0].upper()}? " if unit[0] in UNITS else ""
    return f"{likely}There are k, M, B, T (powers of 1000) and Ki, Mi, Gi, Ti (powers of 1024)"


def shortened(text: str) -> str:
    """A text that may be of any length, quoted for a message."""
    return repr(text if len(text) <= 40 else f"{text[:30]}...")


def exactly(value: int | float) -> Fraction:
    """A number of a report as the fraction that its printed digits say."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def ratio(part: int | Fraction, whole: int) -> float | int:
    """part / whole as a float; as a whole number where no float is that large."""
    exact = Fraction(part) / whole
    return float(exact) if abs(exact) < 10**300 else round(exact)


def shown(value: Fraction, digits: int = 6) -> str:
    """A number for a message: whole ones in full, others to a few digits; a very long one as a power of ten."""
    if value.denominator != 1 and abs(value) < 10 ** (digits - 1):
        return f"{float(value):.{digits}g}"
    if value.denominator != 1:
        return f"{float(value):,.2f}".rstrip("0").rstrip(".") if abs(value) < 10**12 else shown(Fraction(round(value)))
    text = str(abs(value.numerator))
    if len(text) > MAX_SHOWN:
        return f"{'-' * (value < 0)}{text[0]}.{text[1:digits]}e{len(text) - 1}"
    return f"{value.numerator:,}"


MAX_SHOWN = 60
