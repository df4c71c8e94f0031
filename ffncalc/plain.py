"""The plain form of a formula over the model's width: every other width as its multiple of d, `8d² + 5d`."""

from __future__ import annotations

from fractions import Fraction

from ffncalc.expr import SUPERSCRIPT, Expr

_SHORT = {"n_vocab": "V", "n_layers": "L"}
_KEPT_IN_PLAIN_FORM = ("T", "S", "n_vocab", "n_layers", "L", "min(", "batch")
# {(power of d, names kept as they are): coefficient}; `8d² + 5d` is {(2, ()): 8, (1, ()): 5}
PlainForm = dict[tuple[int, tuple[str, ...]], Fraction]


def in_terms_of(expression: Expr, width: Expr) -> str:
    """The text of the plain form, `8d² + 5d`."""
    return plain_text(plain_form(expression, width))


def plain_form(expression: Expr, width: Expr) -> PlainForm:
    """Each width as a multiple of `width`, counts (heads, experts) as numbers, lengths and the vocabulary kept."""
    form: PlainForm = {}
    for monomial, coefficient in expression.terms.items():
        number, power, kept = Fraction(coefficient), 0, []
        for leaf in monomial:
            if leaf.name.startswith(_KEPT_IN_PLAIN_FORM):
                kept.append(_SHORT.get(leaf.name, leaf.name))
            elif leaf.name.startswith("d_"):
                number, power = number * Fraction(leaf.value, width.value), power + 1
            else:
                number *= leaf.value
        key = (power, tuple(kept))
        form[key] = form.get(key, Fraction(0)) + number
    return form


def plain_text(form: PlainForm) -> str:
    """`8d² + 5d`; a multiple that is no short decimal is rounded to four digits and marked with ≈ in front."""
    rounded = any(_decimal(number) is None for number in form.values())
    terms = []
    for (power, kept), number in sorted(form.items(), key=lambda item: (-item[0][0], item[0][1])):
        letters = "".join(kept) + ("d" + (str(power).translate(SUPERSCRIPT) if power > 1 else "") if power else "")
        text = _decimal(number) or str(_decimal(round(number, 4)))
        terms.append(letters if text == "1" and letters else text + letters)
    return ("≈ " if rounded else "") + (" + ".join(terms) or "0")


def is_whole(form: PlainForm) -> bool:
    """Whether every multiple of d is a whole number: the model is one of the textbook's shapes."""
    return all(number.denominator == 1 for number in form.values())


def _decimal(number: Fraction) -> str | None:
    """The exact decimal text of a fraction, or None where it has no more than six digits of its own."""
    scaled = number * 10**6
    if scaled.denominator != 1:
        return None
    whole, part = divmod(scaled.numerator, 10**6)
    return f"{whole:,}" + (f".{part:06d}".rstrip("0") if part else "")
