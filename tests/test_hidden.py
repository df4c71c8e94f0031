"""Hidden widths: the published ones come out, each step is shown, and nothing is rounded that wasn't to be."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffncalc import ffn_param_count
from ffncalc.errors import InputError
from ffncalc.hidden import RULES, hidden_width, llama_hidden_dim


@pytest.mark.parametrize(
    ("d", "multiple_of", "multiplier", "width"),
    [
        pytest.param(4096, 256, None, 11008, id="llama-7b"),
        pytest.param(5120, 256, None, 13824, id="llama-13b"),
        pytest.param(6656, 256, None, 17920, id="llama-33b"),
        pytest.param(8192, 256, None, 22016, id="llama-65b"),
        pytest.param(8192, 4096, 1.3, 28672, id="llama-2-70b"),
        pytest.param(4096, 1024, 1.3, 14336, id="llama-3-8b"),
        pytest.param(16384, 4096, 1.2, 53248, id="llama-3-405b"),
        pytest.param(2048, 256, 1.5, 8192, id="llama-3.2-1b"),
        pytest.param(3072, 256, 1.0, 8192, id="llama-3.2-3b"),
        pytest.param(288, 32, None, 768, id="llama2.c"),
    ],
)
def test_published_widths(d: int, multiple_of: int, multiplier: float | None, width: int) -> None:
    """The widths of released models, by the rule of Meta's published code."""
    assert llama_hidden_dim(d, multiple_of, multiplier) == width


def test_defaults() -> None:
    """Multiples of 256 and no multiplier, unless told."""
    assert llama_hidden_dim(4096) == 11008


@pytest.mark.parametrize(
    ("d", "options", "steps"),
    [
        pytest.param(
            8192,
            {"multiple_of": 4096, "multiplier": 1.3},
            [("int(2 × 4d / 3)", 21845), ("int(1.3 × that)", 28398), ("round up to a multiple of 4,096", 28672)],
            id="llama",
        ),
        pytest.param(4096, {"rule": "4d"}, [("4 × d", 16384)], id="4d"),
        pytest.param(
            4096, {"rule": "8/3"}, [("8/3 × d", Fraction(32768, 3)), ("round up to a whole number", 10923)], id="8/3"
        ),
        pytest.param(
            4096, {"rule": "8/3", "multiple_of": 128, "rounding": "down"},
            [("8/3 × d", Fraction(32768, 3)), ("round down to a multiple of 128", 10880)], id="down",
        ),
        pytest.param(
            4096, {"rule": "matched", "multiple_of": 256},
            [("8/3 × d", Fraction(32768, 3)), ("round to the nearest multiple of 256", 11008)], id="matched",
        ),
        pytest.param(768, {"rule": "8/3"}, [("8/3 × d", 2048)], id="whole-already"),
        pytest.param(
            768, {"rule": "8/3", "multiplier": 1.1},
            [("8/3 × d", 2048), ("1.1 × that", Fraction(11264, 5)), ("round up to a whole number", 2253)],
            id="exact-multiplier",
        ),
        pytest.param(
            1000, {"multiple_of": 100, "rounding": "nearest"},
            [("int(2 × 4d / 3)", 2666), ("round to the nearest multiple of 100", 2700)], id="nearest",
        ),
    ],
)  # fmt: skip
def test_steps(d: int, options: dict[str, Any], steps: list[tuple[str, int | Fraction]]) -> None:
    """Every step is listed with what it gave; the last one is the width."""
    width = hidden_width(d, **options)
    assert list(width.steps) == steps
    assert (width.d_model, width.d_ff) == (d, steps[-1][1])


@given(st.integers(1, 10**40), st.integers(1, 10**6), st.sampled_from(RULES))
def test_roundings_at_any_size(d: int, multiple: int, rule: str) -> None:
    """Up is the first multiple at or above, down the last at or below, nearest the closer one; at any width exactly."""
    exact = {"llama": Fraction(8 * d // 3), "4d": Fraction(4 * d)}.get(rule, Fraction(8 * d, 3))
    if exact < multiple:
        return
    up, nearest, down = (hidden_width(d, rule, multiple, rounding=r).d_ff for r in ("up", "nearest", "down"))
    assert up % multiple == nearest % multiple == down % multiple == 0
    assert up - multiple < exact <= up
    assert down <= exact < down + multiple
    assert abs(nearest - exact) == min(up - exact, exact - down)


def test_multiplier_is_the_double_precision_product() -> None:
    """The multiplier step is the published code's: a double times an int, cut down; not the exact product."""
    assert hidden_width(3, "llama", 1, 0.29 * 100).steps[1].value == int(0.29 * 100 * 8)
    assert llama_hidden_dim(75, 1, 1.15) == int(1.15 * 200) == 229  # 1.15 × 200 is 229.99999999999997


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param((0,), "d_model is 0; want a positive whole number", id="zero"),
        pytest.param((-4096,), "d_model is -4096; want", id="negative"),
        pytest.param((2.5,), "d_model is 2.5; want", id="fraction"),
        pytest.param((True,), "d_model is True; want", id="bool"),
        pytest.param((4096, "lama"), "rule 'lama' is not known; want one of llama, 8/3, 4d, matched", id="rule"),
        pytest.param((4096, "llama", 0), "multiple_of is 0; want", id="multiple"),
        pytest.param((4096, "llama", 2.5), "multiple_of is 2.5; want", id="multiple-fraction"),
        pytest.param((4096, "llama", 256, 0.0), "the multiplier is 0.0; want a positive number", id="multiplier"),
        pytest.param((4096, "llama", 256, True), "the multiplier is True; want", id="multiplier-bool"),
        pytest.param((4096, "llama", 256, float("nan")), "the multiplier is nan; want", id="multiplier-nan"),
        pytest.param((4096, "llama", 256, float("inf")), "the multiplier is inf; want", id="multiplier-inf"),
        pytest.param((4096, "llama", 256, "1.3"), "the multiplier is '1.3'; want", id="multiplier-text"),
        pytest.param(
            (10**400, "llama", 256, 1.3), "the multiplier step is done in double precision", id="beyond-a-double"
        ),
        pytest.param(
            (4096, "4d", None, None, "sideways"), "rounding 'sideways' is not known; want one of up", id="rounding"
        ),
        pytest.param((1, "llama", 256, None, "down"), "d_model 1 with this rule gives a width of 0", id="nothing-left"),
    ],
)
def test_refused(arguments: tuple[Any, ...], message: str) -> None:
    """What can't be a width is an error that says what was found and what was wanted."""
    with pytest.raises(InputError, match=message):
        hidden_width(*arguments)


@pytest.mark.parametrize("kind", ["int32", "int64", "uint64"])
def test_numpys_whole_numbers(kind: str) -> None:
    """A width out of a NumPy array is the whole number that it is, and counts on in Python ints."""
    numpy = pytest.importorskip("numpy")
    number = getattr(numpy, kind)
    assert llama_hidden_dim(number(4096), number(256)) == 11008
    assert ffn_param_count(number(2**31 - 1), number(2**31 - 1), bias=False) == 2 * (2**31 - 1) ** 2
