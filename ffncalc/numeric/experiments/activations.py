"""The activations measured: where they dip, how steep they are, how far GELU's approximations are from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ffncalc.errors import InputError
from ffncalc.numeric.activations import ACTIVATIONS, activation, derivative_of, value_of
from ffncalc.numeric.checks import Array

Real = Callable[[float], float]
Elementwise = Callable[[Array], Array]

SPAN = 6.0  # every feature of every activation is nearer to 0
GRID = 1201
TABULATED = tuple(range(-3, 4))
APPROXIMATIONS = ("gelu_tanh", "gelu_sigmoid")
GOLDEN = (math.sqrt(5) - 1) / 2


class Place(NamedTuple):
    """A value, and where it is."""

    value: float
    at: float


class Shape(NamedTuple):
    """An activation: its values at the tabulated inputs, its lowest value, its lowest and highest slope.

    A place is None where there is no single one: a minimum at the edge of the grid or on a flat stretch.
    """

    name: str
    values: tuple[float, ...]
    minimum: Place | None
    lowest_slope: Place | None
    highest_slope: Place | None


class Approximation(NamedTuple):
    """The largest absolute error of an approximation of GELU; it is the same at -at."""

    name: str
    error: Place


class Curves(NamedTuple):
    """One activation drawn: points (input, value) and (input, slope)."""

    name: str
    values: tuple[tuple[float, float], ...]
    slopes: tuple[tuple[float, float], ...]


class Report(NamedTuple):
    """All that `ffncalc lab activations` says."""

    inputs: tuple[int, ...]
    shapes: tuple[Shape, ...]
    approximations: tuple[Approximation, ...]
    curves: tuple[Curves, ...]


def activations(names: tuple[str, ...] = (), span: float = 4.0, points: int = 64) -> Report:
    """Measure the activations of these names (all of them unless told). Raises InputError for a name that isn't one."""
    chosen = names or tuple(ACTIVATIONS)
    errors = tuple(Approximation(name, largest_error(name)) for name in APPROXIMATIONS)
    curves = tuple(curve(name, span, points) for name in chosen)
    return Report(TABULATED, tuple(map(measured, chosen)), errors, curves)


def measured(name: str) -> Shape:
    """One activation."""
    value, slope = _value(name), _slope(name)
    values = tuple(value(np.array(TABULATED, float)).tolist())
    return Shape(name, values, minimum(name), extreme(slope), extreme(slope, sign=-1))


def _value(name: str) -> Elementwise:
    return partial(value_of, activation(name))


def _slope(name: str) -> Elementwise:
    return partial(derivative_of, activation(name))


def minimum(name: str) -> Place | None:
    """The lowest value, where the slope changes from falling to rising: bracketed on a grid, then bisected."""
    slope, grid = _slope(name), _grid()
    slopes = slope(grid)
    turns = np.flatnonzero((slopes[:-1] < 0) & (slopes[1:] > 0))
    if not turns.size:
        return None
    at = bisected(_at(slope), float(grid[turns[0]]), float(grid[turns[0] + 1]))
    return Place(_at(_value(name))(at), at)


def largest_error(name: str) -> Place:
    """The largest |approximation - GELU|, at its positive input: on a grid, then refined around the largest."""
    exact, other = _value("gelu"), _value(name)
    found = extreme(lambda z: np.abs(other(z) - exact(z)), sign=-1, low=0.0)
    if found is None:
        raise InputError(f"{name} has no largest error between 0 and {SPAN:g}")
    return found


def extreme(function: Elementwise, sign: int = 1, low: float = -SPAN) -> Place | None:
    """The lowest place of sign·function between `low` and SPAN, or None where it is no dip of its own."""
    grid = _grid(low)
    values = sign * function(grid)
    best = int(values.argmin())
    inside = 0 < best < len(grid) - 1
    if not inside or values[best] == values[best - 1] or values[best] == values[best + 1]:
        return None
    at = narrowed(_at(function, sign), float(grid[best - 1]), float(grid[best + 1]))
    return Place(_at(function)(at), at)


def _at(function: Elementwise, sign: int = 1) -> Real:
    return lambda z: sign * float(function(np.array(z)))


def _grid(low: float = -SPAN) -> Array:
    """Inputs that miss the round numbers where activations have kinks."""
    return np.linspace(low, SPAN, GRID) + math.pi / 1e4


def bisected(function: Real, low: float, high: float) -> float:
    """Where a function that is negative at `low` and positive at `high` crosses 0, to the last digit."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return middle


def narrowed(function: Real, low: float, high: float) -> float:
    """Where a function that falls and then rises between `low` and `high` is lowest: golden sections.

    A minimum is flat, so its place is found to half the digits (1e-8), its value to all of them.
    """
    while high - low > 1e-9:
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        low, high = (low, right) if function(left) < function(right) else (left, high)
    return (low + high) / 2


def curve(name: str, span: float, points: int) -> Curves:
    """Points of one activation and its slope from -span to span."""
    inputs = np.linspace(-span, span, points)
    act = activation(name)
    values, slopes = value_of(act, inputs), derivative_of(act, inputs)
    pairs = [tuple(zip(inputs.tolist(), found.tolist(), strict=True)) for found in (values, slopes)]
    return Curves(name, pairs[0], pairs[1])
