"""Arrays from and to files: .npy and .npz, pickles refused, written whole or not at all."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from ffncalc import atomic
from ffncalc.errors import InputError
from ffncalc.numeric.block import Shapes, Weights
from ffncalc.numeric.checks import Array, expect_shape, number_array
from ffncalc.numeric.decoder import check_weights

SAVED = ("x", "y")  # what `save` writes beside the weights, with "steps." and "gradients."
DERIVED = ("steps.", "gradients.")


def read_weights(path: str, wanted: Shapes) -> Weights:
    """The arrays of an .npz by name, each of the shape wanted; what `save` wrote beside them is left aside.

    InputError says which array is missing, left over, of another shape, or no array of numbers.
    """
    found = _load(path)
    if not isinstance(found, np.lib.npyio.NpzFile):
        raise InputError(f"{path}: holds one array; an .npz of the arrays by name is wanted: {', '.join(wanted)}")
    with found:
        names = [name for name in found.files if name not in SAVED and not name.startswith(DERIVED)]
        arrays = {name: _member(path, found, name) for name in names}
    try:
        return check_weights(arrays, wanted)[0]
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def read_rows(path: str, d_model: int | None) -> Array:
    """The input of an .npy, or the "x" of what `save` wrote: (T, d_model) or (batch, T, d_model)."""
    found = _load(path)
    if isinstance(found, np.lib.npyio.NpzFile):
        with found:
            if "x" not in found.files:
                raise InputError(f"{path}: has no array 'x'; an .npy of shape (T, d_model) is wanted")
            found = _member(path, found, "x")
    try:
        rows = number_array("the input", found)
        wanted = (None,) * (rows.ndim - 1) + (d_model,)
        if rows.ndim not in {2, 3}:
            wanted = (None, d_model)
        expect_shape("the input", rows, wanted, "(T, d_model) or (batch, T, d_model)")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if not rows.size:
        raise InputError(f"{path}: the input has shape {rows.shape}; at least one token is wanted")
    return rows


def save(path: str, arrays: Mapping[str, Array]) -> None:
    """Write an .npz in one step: a reader finds the old file or the new one, never a part."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    atomic.write(path, buffer.getvalue())


def _load(path: str) -> Any:
    try:
        with open(path, "rb") as file:
            return np.load(io.BytesIO(file.read()), allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or 'no .npy or .npz file'}") from None
    except Exception as error:  # whatever NumPy's reader meets in a header that somebody made up
        raise InputError(f"{path}: {_why(error)}") from None


def _member(path: str, file: Any, name: str) -> Array:
    try:
        array: Array = file[name]
    except Exception as error:  # the same
        raise InputError(f"{path}: array {name!r}: {_why(error)}") from None
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path}: {name!r} is no array")
    return array


def _why(error: Exception) -> str:
    if "pickle" in str(error):
        return "holds pickled objects (or isn't .npy or .npz at all); they are refused, since reading them runs code"
    return "too large for the memory" if isinstance(error, MemoryError) else f"can't be read: {error}"


def holds_input(path: str) -> bool:
    """Whether an .npz of weights also holds the input that it was saved with."""
    found = _load(path)
    if not isinstance(found, np.lib.npyio.NpzFile):
        return False
    with found:
        return "x" in found.files
