"""Whole numbers that remember which swept sizes they came from, and whether anything looked at their value.

A config is read with such numbers in the place of the swept sizes. Sums, differences and products keep the trace; what
compares, divides, rounds or converts is noted: the sizes it looked at decide something, and so are not plain. To find
that a size is positive is to find nothing, as every one is.
"""

from __future__ import annotations

from typing import Any


class Trace:
    """The names of the sizes whose values were looked at."""

    def __init__(self) -> None:
        self.looked: set[str] = set()


class Swept(int):
    """A value made from the sizes called `names`; `is_size` where it is one of them itself, and therefore 1 or more."""

    trace: Trace
    names: frozenset[str]
    is_size: bool

    def look(self, other: Any = None) -> None:
        """Note that something depends on the value."""
        self.trace.looked |= self.names | getattr(other, "names", frozenset())

    def __bool__(self) -> bool:
        if not self.is_size:
            self.look()
        return int.__bool__(self)

    @property
    def numerator(self) -> int:
        """What a Fraction is made from."""
        self.look()
        return int.__add__(self, 0)

    __hash__ = int.__hash__  # a hash decides nothing: what is found by it is compared


def swept(value: int, name: str, trace: Trace) -> Swept:
    """A value of the size `name`, traced."""
    return _made(value, frozenset((name,)), trace, is_size=True)


def _made(value: int, names: frozenset[str], trace: Trace, is_size: bool) -> Swept:
    number = Swept(value)
    number.trace, number.names, number.is_size = trace, names, is_size
    return number


def _keeping(name: str) -> Any:
    plain = getattr(int, name)

    def method(self: Swept, other: Any) -> Any:
        value = plain(self, other)
        if value is NotImplemented:
            return value
        return _made(value, self.names | getattr(other, "names", frozenset()), self.trace, is_size=False)

    return method


def _looking(name: str) -> Any:
    plain = getattr(int, name)

    def method(self: Swept, *others: Any) -> Any:
        self.look(*others[:1])
        return plain(self, *others)

    return method


def _comparing(name: str, decided: int) -> Any:
    """A comparison. With itself, or of a size with a number up to `decided`, it has the same outcome at every value."""
    plain = getattr(int, name)

    def method(self: Swept, other: Any) -> Any:
        known = self is other or (self.is_size and type(other) in (int, bool) and other <= decided)
        if not known:
            self.look(other)
        return plain(self, other)

    return method


_KEEPING = ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__")
_COMPARING = {"__lt__": 1, "__ge__": 1, "__le__": 0, "__gt__": 0, "__eq__": 0, "__ne__": 0}
_LOOKING = (
    *(
        "__floordiv__",
        "__rfloordiv__",
        "__mod__",
        "__rmod__",
        "__divmod__",
        "__rdivmod__",
        "__truediv__",
        "__rtruediv__",
    ),
    *(
        "__pow__",
        "__rpow__",
        "__neg__",
        "__pos__",
        "__abs__",
        "__invert__",
        "__and__",
        "__rand__",
        "__or__",
        "__ror__",
        "__xor__",
        "__rxor__",
    ),
    *("__lshift__", "__rlshift__", "__rshift__", "__rrshift__", "__int__", "__float__", "__index__", "__round__"),
    *("__trunc__", "__floor__", "__ceil__", "bit_length", "bit_count"),
)
for _name in _KEEPING:
    setattr(Swept, _name, _keeping(_name))
for _name, _decided in _COMPARING.items():
    setattr(Swept, _name, _comparing(_name, _decided))
for _name in _LOOKING:
    setattr(Swept, _name, _looking(_name))
