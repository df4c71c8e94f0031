"""Polynomials on arrays: the values of Python ints, in either nested form; slabs cover a grid once, in order."""

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffncalc.search.cells import value_at
from ffncalc.search.polynomial import bound, evaluate, fits, nested, slabs, spread

POLYNOMIALS = st.dictionaries(st.tuples(*[st.integers(0, 2)] * 3), st.integers(0, 1000), max_size=6)
VALUES = st.tuples(*[st.lists(st.integers(1, 50), min_size=1, max_size=4)] * 3)


@given(POLYNOMIALS, VALUES, st.booleans())
def test_grid(polynomial: dict[tuple[int, ...], int], values: tuple[list[int], ...], on_grid: bool) -> None:
    """On a grid every value is the one that Python ints give, in both orders of nesting."""
    sizes = spread([np.array(v) for v in values])
    found = np.broadcast_to(evaluate(nested(polynomial, on_grid), sizes), [len(v) for v in values])
    assert found.reshape(-1).tolist() == [value_at(polynomial, point) for point in product(*values)]


@given(POLYNOMIALS)
def test_tables_of_coefficients(polynomial: dict[tuple[int, ...], int]) -> None:
    """A coefficient may be a table, of which each row takes its own entry; the sizes are left as they are."""
    tables = {powers: np.array([c, c + 1]) for powers, c in polynomial.items()}
    columns = [np.array([2, 3, 5]), np.array([7, 11, 13]), np.array([17, 19, 23])]
    codes = np.array([0, 1, 1])
    out = np.full(3, -1)
    evaluate(nested(tables, on_grid=False), columns, codes, out=out)
    for i, code in enumerate(codes):
        own = {powers: c + int(code) for powers, c in polynomial.items()}
        assert out[i] == value_at(own, [int(column[i]) for column in columns])
    assert [column.tolist() for column in columns] == [[2, 3, 5], [7, 11, 13], [17, 19, 23]]


def test_fits() -> None:
    """The bound is exact: one below 2**63 fits, 2**63 doesn't."""
    assert fits({(1,): 2**31, (0,): 2**63 - 2**62 - 1}, [2**31])
    assert not fits({(1,): 2**31, (0,): 2**63 - 2**62}, [2**31])
    assert bound({(2, 1): -3}, [4, 5]) == 3 * 16 * 5


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (5, 2, 3), (4, 1, 9), ()], ids=str)
@pytest.mark.parametrize("limit", [1, 2, 5, 6, 1000])
def test_slabs(shape: tuple[int, ...], limit: int) -> None:
    """Slabs hold every point once, in row order, and no more than the limit."""
    grid = np.arange(prod(shape)).reshape(shape)
    pieces = [grid[slab].reshape(-1).tolist() for slab in slabs(shape, limit)]
    assert [point for piece in pieces for point in piece] == list(range(prod(shape)))
    assert max(map(len, pieces)) <= limit
