"""Hidden widths of an FFN by the rules that models were made with, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ffncalc.errors import InputError

if TYPE_CHECKING:  # fractions and the decimals it brings cost a fortieth of a whole run, and most widths need none
    from fractions import Fraction

RULES = ("llama", "8/3", "4d", "matched")
ROUNDINGS = ("up", "nearest", "down")
LLAMA_MULTIPLE = 256  # what LLaMA's rule rounds to unless told
MAX_FLOAT = 10**15  # beyond it a float has no digits left for a fraction


class Step(NamedTuple):
    """One step of a rule: what was done, and what it gave (a Fraction only where no whole number was asked for yet)."""

    text: str
    value: int | Fraction

    def number(self) -> int | float:
        """The value as a plain number; a fraction is left off where a float could not hold it."""
        if isinstance(self.value, int) or self.value > MAX_FLOAT:
            return int(self.value)
        return float(self.value)


class Width(NamedTuple):
    """A hidden width and how it came about."""

    d_model: int
    d_ff: int
    rule: str
    steps: tuple[Step, ...]

    @property
    def origin(self) -> str:
        """Where it is from, in a line: the rule and its steps."""
        return f"rule {self.rule}: " + ", ".join(step.text for step in self.steps)


def llama_hidden_dim(d: int, multiple_of: int = LLAMA_MULTIPLE, ffn_dim_multiplier: float | None = None) -> int:
    """The hidden width of a LLaMA FFN of model width `d`: int(2·4d/3), times the multiplier and int again, rounded up.

    Source: `FeedForward` in Meta's published code for LLaMA, Llama 2 and Llama 3. The 8·d // 3 is exact at any size;
    the multiplier step is the double-precision product that the published code takes. Raises InputError for a size that
    isn't a positive whole number, and where a multiplier leaves nothing.
    """
    return hidden_width(d, "llama", multiple_of, ffn_dim_multiplier).d_ff


def hidden_width(
    d: int,
    rule: str = "llama",
    multiple_of: int | None = None,
    multiplier: float | None = None,
    rounding: str | None = None,
) -> Width:
    """The width that `rule` gives for model width `d`, with its steps.

    `llama` rounds 8d/3 down first (multiples of 256 unless told), `8/3` rounds only at the end, `4d` is the ungated
    width, `matched` is the gated width whose three matrices hold what two of 4d do: 8d/3, to the nearest unless told.
    """
    d = positive(d, "d_model")
    rounding = rounding or ("nearest" if rule == "matched" else "up")
    if rounding not in ROUNDINGS:
        raise InputError(f"rounding {rounding!r} is not known; want one of {', '.join(ROUNDINGS)}")
    if rule == "llama" and multiple_of is None:
        multiple_of = LLAMA_MULTIPLE
    steps = [_start(d, rule)]
    if multiplier is not None:
        steps.append(_multiplied(steps[-1].value, multiplier, whole=rule == "llama"))
    if multiple_of is not None or not isinstance(steps[-1].value, int):
        multiple = positive(1 if multiple_of is None else multiple_of, "multiple_of")
        steps.append(_rounded(steps[-1].value, multiple, rounding))
    width = int(steps[-1].value)
    if width < 1:
        raise InputError(f"d_model {d} with this rule gives a width of {width}; an FFN needs at least 1")
    return Width(d, width, rule, tuple(steps))


def _start(d: int, rule: str) -> Step:
    if rule == "4d":
        return Step("4 × d", 4 * d)
    if rule == "llama":
        return Step("int(2 × 4d / 3)", 8 * d // 3)
    if rule in ("8/3", "matched"):
        from fractions import Fraction

        exact = Fraction(8 * d, 3)
        return Step("8/3 × d", int(exact) if exact.denominator == 1 else exact)
    raise InputError(f"rule {rule!r} is not known; want one of {', '.join(RULES)}")


def _multiplied(value: int | Fraction, multiplier: float, whole: bool) -> Step:
    if isinstance(multiplier, bool) or not isinstance(multiplier, (int, float)) or not 0 < multiplier < float("inf"):
        raise InputError(f"the multiplier is {multiplier!r}; want a positive number, such as 1.3")
    if whole:
        try:
            return Step(f"int({multiplier:g} × that)", int(multiplier * int(value)))
        except OverflowError:
            raise InputError("the multiplier step is done in double precision, and this width is beyond it") from None
    from fractions import Fraction

    exact = Fraction(str(multiplier)) * value
    return Step(f"{multiplier:g} × that", int(exact) if exact.denominator == 1 else exact)


def _rounded(value: int | Fraction, multiple: int, rounding: str) -> Step:
    up, down, nearest = -(-value // multiple), value // multiple, (2 * value + multiple) // (2 * multiple)
    count = {"up": up, "down": down, "nearest": nearest}[rounding]
    if multiple == 1:
        how = f"{rounding} to a whole number"
    else:
        how = "to the nearest multiple of" if rounding == "nearest" else f"{rounding} to a multiple of"
        how += f" {multiple:,}"
    return Step(f"round {how}", int(count) * multiple)


def positive(value: Any, name: str) -> int:
    """`value`, if it is a positive whole number; else an InputError that names it."""
    number = index(value) if hasattr(value, "__index__") and not isinstance(value, int) else value  # NumPy's integers
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InputError(f"{name} is {value!r}; want a positive whole number")
    return number


def rule_width(d: int, rule: Mapping[str, Any], fail: Callable[[str], NoReturn]) -> tuple[int, str]:
    """The width that a config's `d_ff: {rule: llama, multiple_of: 256}` stands for, and a sentence on where it is
    from."""
    unknown = set(rule) - {"rule", "multiple_of", "multiplier", "round"}
    if unknown:
        fail(f"key {sorted(unknown)[0]!r} is not known; a rule has rule, multiple_of, multiplier and round")
    try:
        width = hidden_width(d, rule["rule"], rule.get("multiple_of"), rule.get("multiplier"), rule.get("round"))
    except InputError as error:
        fail(str(error))
    return width.d_ff, width.origin
