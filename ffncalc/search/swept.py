"""Whole numbers that remember which swept sizes they came from, and whether anything looked at their value.

A config is read with such numbers in the place of the swept sizes. What only multiplies and adds keeps the trace; what
compares, divides, rounds or converts is noted: the sizes it looked at decide something, and are not plain. A comparison
with 0 or 1 looks at nothing, because a size is only swept so where all its values are 2 or more.
"""

from __future__ import annotations

from typing import Any


class Trace:
    """The names of the sizes whose values were looked at."""

    def __init__(self) -> None:
        self.looked: set[str] = set()


class Swept(int):
    """The value of one point of a sweep, made from the sizes called `names`."""

    trace: Trace
    names: frozenset[str]

    def of(self, value: int, other: Any) -> Swept:
        """A number that came from this one and `other`."""
        return swept(value, self.names | getattr(other, "names", frozenset()), self.trace)

    def look(self, other: Any = None) -> None:
        """Note that something depends on the value."""
        self.trace.looked |= self.names | getattr(other, "names", frozenset())

    @property
    def numerator(self) -> int:
        """What a Fraction is made from."""
        self.look()
        return int.__add__(self, 0)

    __hash__ = int.__hash__  # hashing alone decides nothing: what is found by it is compared


def swept(value: int, names: frozenset[str], trace: Trace) -> Swept:
    """`value`, traced."""
    number = Swept(value)
    number.trace, number.names = trace, names
    return number


def _traced(name: str) -> Any:
    plain = getattr(int, name)

    def method(self: Swept, other: Any) -> Any:
        value = plain(self, other)
        return value if value is NotImplemented else self.of(value, other)

    return method


def _looking(name: str) -> Any:
    plain = getattr(int, name)

    def method(self: Swept, *others: Any) -> Any:
        self.look(*others[:1])
        return plain(self, *others)

    return method


def _comparing(name: str) -> Any:
    plain = getattr(int, name)

    def method(self: Swept, other: Any) -> Any:
        if isinstance(other, Swept) or not isinstance(other, int) or other > 1:
            self.look(other)
        return plain(self, other)

    return method


for _name in ("__add__", "__radd__", "__mul__", "__rmul__"):
    setattr(Swept, _name, _traced(_name))
for _name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
    setattr(Swept, _name, _comparing(_name))
for _name in (
    *("__sub__", "__rsub__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__divmod__", "__rdivmod__"),
    *("__truediv__", "__rtruediv__", "__pow__", "__rpow__", "__neg__", "__abs__", "__invert__", "__and__", "__rand__"),
    *("__or__", "__ror__", "__xor__", "__rxor__", "__lshift__", "__rlshift__", "__rshift__", "__rrshift__", "__int__"),
    *("__float__", "__index__", "__round__", "__trunc__", "__floor__", "__ceil__", "bit_length"),
):
    setattr(Swept, _name, _looking(_name))
