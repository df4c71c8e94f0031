"""Numbers that know their formula: the text always gives the value, and like terms are collected."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffncalc.expr import ONE, ZERO, Expr, as_expr, product, size, total
from ffncalc.plain import in_terms_of, is_whole, plain_form, plain_text

D, D_FF, V, T = size("d_model", 24), size("d_ff", 40), size("n_vocab", 101), size("T", 7)
SIZES = {"d_model": 24, "d_ff": 40, "n_vocab": 101, "T": 7, "n_heads": 6, "d_head": 10}


def evaluated(text: str) -> int:
    """What a substituted text comes to."""
    return int(eval(text.replace(",", "").replace("×", "*"), {"__builtins__": {}}))


@st.composite
def expressions(draw: st.DrawFn, depth: int = 4) -> tuple[Expr, int]:
    """An expression, and the same worked out in plain integers beside it."""
    kind = draw(st.sampled_from(("leaf", "number", "sum", "product") if depth else ("leaf", "number")))
    if kind == "leaf":
        name, value = draw(st.sampled_from(sorted(SIZES.items())))
        return size(name, value), value
    if kind == "number":
        n = draw(st.integers(0, 10**20))
        return as_expr(n), n
    (a, x), (b, y) = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    return (a + b, x + y) if kind == "sum" else (a * b, x * y)


@given(expressions())
def test_substituted_text_gives_the_value(pair: tuple[Expr, int]) -> None:
    """Evaluating the substituted text gives the value, which is what the integers give."""
    expression, value = pair
    assert expression.value == value
    assert evaluated(expression.substituted()) == value


@given(expressions(), expressions(), expressions())
def test_ring(a: tuple[Expr, int], b: tuple[Expr, int], c: tuple[Expr, int]) -> None:
    """Sums and products commute, associate and distribute, like terms collected; the terms stay in order."""
    x, y, z = a[0], b[0], c[0]
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) + z == x + (y + z)
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    assert hash(x * y) == hash(y * x)


@pytest.mark.parametrize(
    ("expression", "formula", "substituted", "value"),
    [
        pytest.param(ZERO, "0", "0", 0, id="nothing"),
        pytest.param(ONE, "1", "1", 1, id="one"),
        pytest.param(D, "d_model", "24", 24, id="leaf"),
        pytest.param(D_FF * D * 3, "3·d_model·d_ff", "3 × 24 × 40", 2880, id="order"),
        pytest.param(T * V * D, "n_vocab·d_model·T", "101 × 24 × 7", 16968, id="lengths-last"),
        pytest.param(D * D_FF + D_FF * D, "2·d_model·d_ff", "2 × 24 × 40", 1920, id="like-terms"),
        pytest.param(D * D * 4 + 4 * D, "4·d_model² + 4·d_model", "4 × 24 × 24 + 4 × 24", 2400, id="powers"),
        pytest.param(D + 5 + D * D, "d_model² + d_model + 5", "24 × 24 + 24 + 5", 605, id="highest-first"),
        pytest.param(D * (D_FF + 1), "d_model·d_ff + d_model", "24 × 40 + 24", 984, id="distributed"),
        pytest.param(1234567 * D, "1,234,567·d_model", "1,234,567 × 24", 29629608, id="thousands"),
        pytest.param(D * 0, "0", "0", 0, id="times-zero"),
        pytest.param(D + (-1) * D, "0", "0", 0, id="cancelled"),
        pytest.param(size("d_ff", 0), "0", "0", 0, id="no-size"),
    ],
)
def test_text(expression: Expr, formula: str, substituted: str, value: int) -> None:
    """Terms stand highest power first, factors in the order people write them, coefficients in front."""
    assert (expression.formula(), expression.substituted(), expression.value) == (formula, substituted, value)


def test_two_sizes_of_one_name_are_told_apart() -> None:
    """Two widths that are both called d_ff get an index each, the smaller first; the same one twice gets none."""
    expression = D * size("d_ff", 40, "dense") + D * size("d_ff", 16, "expert")
    assert expression.formula() == "d_model·d_ff₂ + d_model·d_ff₁"
    assert evaluated(expression.substituted()) == 24 * 40 + 24 * 16
    assert (D * D_FF + D_FF).formula() == "d_model·d_ff + d_ff"


def test_leaves_keep_their_origin() -> None:
    """Each size once, in writing order, with where it came from."""
    expression = size("d_ff", 40, "key d_ff") * size("d_model", 24, "default") * 3 + size("d_model", 24, "default")
    assert [(leaf.name, leaf.value, leaf.origin) for leaf in expression.leaves()] == [
        ("d_model", 24, "default"),
        ("d_ff", 40, "key d_ff"),
    ]


def test_exact_at_any_size() -> None:
    """A width of 10^30 is counted to the last digit."""
    width = size("d_model", 10**30 + 7)
    assert (width * width * 12 + width).value == 12 * (10**30 + 7) ** 2 + 10**30 + 7


def test_sums_and_products_of_many() -> None:
    """`total` and `product` take numbers and sizes alike; of nothing they are 0 and 1."""
    assert total([D, 2, D]).formula() == "2·d_model + 2"
    assert product([D, 3, V]).formula() == "3·n_vocab·d_model"
    assert (total([]), product([])) == (ZERO, ONE)


@pytest.mark.parametrize(
    ("expression", "width", "text"),
    [
        pytest.param(2 * D * size("d_ff", 96) + size("d_ff", 96) + D, D, "8d² + 5d", id="ffn-4d"),
        pytest.param(4 * D * D + 4 * D, D, "4d² + 4d", id="attention"),
        pytest.param(3 * D * size("d_ff", 64), D, "8d²", id="gated-8/3"),
        pytest.param(D * size("d_ff", 60), D, "2.5d²", id="decimal"),
        pytest.param(D * size("d_ff", 40), D, "≈ 1.6667d²", id="no-decimal"),
        pytest.param(4 * T * size("n_heads", 6) * size("d_head", 4), D, "4Td", id="scores"),
        pytest.param(2 * V * D, D, "2Vd", id="head"),
        pytest.param(D * 8 * size("n_experts", 3), D, "24d", id="counts-are-numbers"),
        pytest.param(ZERO, D, "0", id="nothing"),
        pytest.param(as_expr(5), D, "5", id="bare-number"),
        pytest.param(D, D, "d", id="one"),
    ],
)
def test_plain_form(expression: Expr, width: Expr, text: str) -> None:
    """Over d, widths become multiples, heads and experts numbers, lengths and the vocabulary stay."""
    assert in_terms_of(expression, width) == text


def test_whole_forms() -> None:
    """A form is a textbook's where every multiple of d is a whole number."""
    assert is_whole(plain_form(3 * D * size("d_ff", 64), D))
    assert not is_whole(plain_form(D * D_FF, D))
    assert plain_text({(1, ()): Fraction(1, 10**6), (0, ()): Fraction(1, 2)}) == "0.000001d + 0.5"
