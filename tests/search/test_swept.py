"""Traced numbers: what decides something is noticed, what only adds and multiplies is not."""

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from ffncalc.expr import size
from ffncalc.search.cells import polynomial
from ffncalc.search.swept import Swept, Trace, swept


def looked(use: Callable[[Swept, Swept], Any]) -> set[str]:
    """Which of two sizes a use looks at."""
    trace = Trace()
    use(swept(12, "a", trace), swept(5, "b", trace))
    return trace.looked


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda a, b: a * 3 + b - 2, id="linear"),
        pytest.param(lambda a, b: 3 * a * b, id="product"),
        pytest.param(lambda a, b: (a >= 1, b < 1, a > 0, a == 0), id="is-positive"),
        pytest.param(lambda a, b: a or b, id="is-there"),
        pytest.param(lambda a, b: a == a, id="itself"),  # noqa: PLR0124
        pytest.param(lambda a, b: {a: b}, id="key"),
        pytest.param(lambda a, b: f"{a:,} {b}", id="text"),
    ],
)
def test_not_looked_at(use: Callable[[Swept, Swept], Any]) -> None:
    """Sums, products, and questions with one answer for every size leave a size plain."""
    assert looked(use) == set()


@pytest.mark.parametrize(
    ("use", "names"),
    [
        pytest.param(lambda a, b: a % b, "ab", id="divides"),
        pytest.param(lambda a, b: a // 5, "a", id="rounded-down"),
        pytest.param(lambda a, b: 100 // a, "a", id="divided-by"),
        pytest.param(lambda a, b: a == b, "ab", id="equal"),
        pytest.param(lambda a, b: operator.lt(8, a), "a", id="compared"),
        pytest.param(lambda a, b: b < 8, "b", id="less"),
        pytest.param(lambda a, b: a >= 8, "a", id="at-least"),
        pytest.param(lambda a, b: a > 1, "a", id="more-than-one"),
        pytest.param(lambda a, b: min(a, 7), "a", id="minimum"),
        pytest.param(lambda a, b: Fraction(8 * a, 3), "a", id="fraction"),
        pytest.param(lambda a, b: int(a * b), "ab", id="converted"),
        pytest.param(lambda a, b: bool(a - 12), "a", id="difference-is-nothing"),
        pytest.param(lambda a, b: a * b >= 1, "ab", id="product-compared"),
        pytest.param(lambda a, b: operator.truediv(a, 2), "a", id="true-division"),
    ],
)
def test_looked_at(use: Callable[[Swept, Swept], Any], names: str) -> None:
    """Whatever depends on the value names the sizes that it depends on."""
    assert looked(use) == set(names)


def test_a_size_made_from_another_is_no_plain_one() -> None:
    """A leaf that is a multiple of a swept size stays a number in the polynomial, and that counts as looking."""
    trace = Trace()
    d = swept(12, "d_model", trace)
    assert polynomial(size("d_model", d) * size("d_model", d) * 3, ["d_model"]) == {(2,): 3}
    assert not trace.looked
    assert polynomial(size("d_model", d) * size("d_ff", 4 * d), ["d_model"]) == {(1,): 48}
    assert trace.looked == {"d_model"}


def test_values_are_those_of_ints() -> None:
    """A traced number computes as the int that it is."""
    a = swept(12, "a", Trace())
    assert (a + 1, 1 + a, a - 5, 20 - a, a * 3, a // 5, a % 5, -a, int(a)) == (13, 13, 7, 8, 36, 2, 2, -12, 12)
