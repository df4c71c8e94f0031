"""What goes in: dtypes, shapes and NaN. Every refusal names the array, what it is and what it should be.

Dtype rules, the same in every function of the numeric mode:
* float32 and float64 are computed in themselves; where arrays differ, in the wider of them (`np.result_type`).
* float16 is computed in float32 and rounded once, at the end (its matmul has no BLAS, and its sums would overflow).
* Integers and booleans are promoted to float64. Anything else (complex, text, objects, long double) is refused.

NaN is looked for in the result, where it costs nothing beside the matmul; only if it is there are the inputs searched
for the one that brought it.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ffncalc.errors import InputError

Array = NDArray[Any]

SUPPORTED = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64))


def compute_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that a result of this dtype is computed in."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def number_array(name: str, value: ArrayLike) -> Array:
    """`value` as a float16, float32 or float64 array; InputError, naming it, for what isn't numbers."""
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array; fill what is masked (`.filled`), as the mask would be ignored")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:  # the last two are another library's array refusing
        raise InputError(f"{name} is not a rectangular array of numbers: {error}") from None
    if array.dtype.kind in "biu":
        return array.astype(np.float64)
    dtype = array.dtype.newbyteorder("=")
    if dtype not in SUPPORTED:
        raise InputError(f"{name} has dtype {array.dtype}; float16, float32, float64 or integers are wanted")
    return array.astype(dtype, copy=False)


def prepare(named: Mapping[str, ArrayLike | None], optional: Container[str] = ()) -> tuple[list[Any], np.dtype[Any]]:
    """All arrays of a call in the dtype they are computed in, and the dtype to give the result in.

    None stays None where it is `optional`; elsewhere it is an InputError.
    """
    for name, value in named.items():
        if value is None and name not in optional:
            raise InputError(f"{name} is missing")
    arrays = [None if value is None else number_array(name, value) for name, value in named.items()]
    dtype = np.result_type(*[array.dtype for array in arrays if array is not None])
    compute = compute_dtype(dtype)
    return [None if array is None else array.astype(compute, copy=False) for array in arrays], dtype


def expect_shape(name: str, array: Array, wanted: tuple[int | None, ...], words: str) -> None:
    """InputError unless the shape is the one wanted (None: any size there); `words` says what the axes are."""
    fits = array.ndim == len(wanted) and all(
        size is None or size == found for size, found in zip(wanted, array.shape, strict=True)
    )
    if not fits:
        sizes = ", ".join("any" if size is None else str(size) for size in wanted)
        comma = "," if len(wanted) == 1 else ""
        raise InputError(f"{name} has shape {array.shape}; {words} = ({sizes}{comma}) is wanted")


def expect_rows(name: str, array: Array, words: str = "(..., d_model)") -> None:
    """InputError unless the array has a last axis to work along."""
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InputError(f"{name} has shape {array.shape}; {words} with d_model at least 1 is wanted")


def expect_one_of(what: str, value: str, allowed: Iterable[str]) -> None:
    """InputError unless `value` is one of the names allowed."""
    names = list(allowed)
    if value not in names:
        raise InputError(f"{what} is {value!r}; one of {', '.join(names)} is wanted")


def report_nan(result: Array, named: Mapping[str, ArrayLike | None]) -> None:
    """InputError, naming the input and the place, if the result has a NaN that came in with an input.

    A NaN that arises from infinities (inf - inf) is no input's and is left in the result.
    """
    if not result.size or not np.isnan(result.min()):
        return
    for name, value in named.items():
        if value is None:
            continue
        missing = np.isnan(np.asarray(value, dtype=np.float64))
        if missing.any():
            place = ", ".join(str(index) for index in np.argwhere(missing)[0].tolist())
            raise InputError(f"{name} holds NaN: {missing.sum()} of {missing.size} values, the first at [{place}]")
