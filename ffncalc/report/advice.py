"""Advice on widths: what published guidance on shapes and hardware says of a model's sizes. Advice, never an error.

Sources. CODESIGN: Anthony et al. 2024, "The Case for Co-Designing Model Architectures with Hardware",
arXiv:2401.14489: the vocabulary, d_model / t and d_model / n_heads should hold powers of two up to 64, and the heads
should divide by t, the degree of tensor parallelism; the 8/3 of a gated FFN usually breaks the alignment and is worth
rounding. NVIDIA: "Matrix Multiplication Background User's Guide": on an A100 tensor cores are fed best by sizes that
are multiples of 128 bytes, 64 numbers of 16 bits. MEGATRON: Megatron-LM's --make-vocab-size-divisible-by, which pads
the vocabulary to a multiple of 128 times t.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ffncalc.model import Model
from ffncalc.report.dims import dims
from ffncalc.report.params import Params

CODESIGN = "arXiv:2401.14489"
NVIDIA = "NVIDIA, Matrix Multiplication Background User's Guide"
MEGATRON = "Megatron-LM, --make-vocab-size-divisible-by"


class Advice(NamedTuple):
    """What is said of one size: whether it is met, and the nearest value at which it would be (None: it is)."""

    size: str
    value: int
    advice: str
    met: bool
    nearest: int | None
    source: str


class Advised(NamedTuple):
    """A model's parameters with the advice on its sizes."""

    params: Params
    advice: list[Advice]


def advise(model: Model, tensor_parallel: int = 8) -> list[Advice]:
    """The guidance on each of the model's sizes, for tensor parallelism of the degree given."""
    return list(dict.fromkeys(_advice(dims(model), tensor_parallel)))


def _advice(sizes: dict[str, Any], t: int) -> Iterator[Advice]:
    for d in _each(sizes["d_model"]):
        yield _multiple("d_model", d, 64, "a multiple of 64: whole 128-byte rows of 16-bit numbers", NVIDIA)
        yield _multiple("d_model", d, 64 * t, f"a multiple of 64 on each of {t} devices", CODESIGN)
    for width in _each(sizes["d_ff"]):
        yield _multiple(
            "d_ff", width, 128, "a multiple of 128, two such rows; 8/3 x d rarely is one by itself", CODESIGN
        )
        yield _multiple("d_ff", width, 64 * t, f"a multiple of 64 on each of {t} devices", CODESIGN)
    for d_head in _each(sizes["d_head"]):
        yield _multiple("d_head", d_head, 64, "a multiple of 64, so that scores are made of whole rows", CODESIGN)
    for name in ("n_heads", "n_kv_heads"):
        for heads in _each(sizes[name]):
            yield _multiple(name, heads, t, f"shared out evenly over {t} devices", CODESIGN)
    for rows in _each(sizes["n_vocab"]):
        yield _multiple("n_vocab", rows, 64, "a multiple of 64; pad it, unused rows cost little", CODESIGN)
        yield _multiple("n_vocab", rows, 128 * t, f"padded to a multiple of 128 on each of {t} devices", MEGATRON)


def _each(value: Any) -> Sequence[int]:
    return () if value is None else value if isinstance(value, list) else (value,)


def _multiple(size: str, value: int, of: int, advice: str, source: str) -> Advice:
    """The vocabulary can only be padded; any other size may go to the nearer side."""
    up = -(-value // of) * of
    down = up - of
    nearest = up if size == "n_vocab" or up - value <= value - down or not down else down
    return Advice(size, value, advice, value % of == 0, None if value % of == 0 else nearest, source)
