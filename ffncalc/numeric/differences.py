"""Finite differences: is a gradient the gradient?

Each array is moved along one random direction v by ±step, and (loss(w + step·v) - loss(w - step·v)) / (2·step) is held
against ⟨gradient, v⟩. That is two runs an array instead of two an entry, and a wrong entry shows unless v misses it,
which a random direction does not. Only float64 has the digits for it. At a kink (ReLU) or where a router would choose
other experts the two differ, rightly.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ffncalc.numeric.checks import Array

STEP = 1e-5


class Slope(NamedTuple):
    """The derivative of the loss along one direction of length 1: from the gradient, and from two runs."""

    backward: float
    measured: float
    norm: float

    @property
    def error(self) -> float:
        """Their difference, relative to the length of the gradient (to 0.01 where that is shorter: rounding)."""
        return abs(self.backward - self.measured) / max(self.norm, 0.01)


def check_gradients(
    loss: Callable[[dict[str, Array]], float],
    arrays: Mapping[str, Array],
    gradients: Mapping[str, Array],
    seed: int = 0,
) -> dict[str, Slope]:
    """One `Slope` for each array that has a gradient; `loss` takes the arrays by name and gives a number."""
    random = np.random.RandomState(seed)
    slopes = {}
    for name, gradient in gradients.items():
        direction = random.standard_normal(gradient.shape)
        direction /= max(float(np.linalg.norm(direction)), 1e-300)
        ends = [loss({**arrays, name: arrays[name] + sign * STEP * direction}) for sign in (1, -1)]
        measured = (ends[0] - ends[1]) / (2 * STEP)
        slopes[name] = Slope(float((gradient * direction).sum()), measured, float(np.linalg.norm(gradient)))
    return slopes
