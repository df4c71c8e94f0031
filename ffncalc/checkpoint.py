"""The tensors of a checkpoint in safetensors form, from the headers alone: names, shapes and types, never the weights.

A file starts with the length of its header (8 bytes, little-endian), then the header as JSON, then the data. The format
bounds a header to 100 MB; everything that a header claims is held against the file's size before it is believed.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

from ffncalc.config import holds_shards, is_checkpoint
from ffncalc.errors import InputError
from ffncalc.text import parse

MAX_HEADER = 100 * 10**6
_BITS = {"F64": 64, "I64": 64, "U64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16, "BF16": 16, "I16": 16, "U16": 16}
_BITS |= {
    "F8_E4M3": 8,
    "F8_E5M2": 8,
    "F8_E8M0": 8,
    "I8": 8,
    "U8": 8,
    "BOOL": 8,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "F4": 4,
    "C64": 64,
}
INDEX = "model.safetensors.index.json"


class Tensor(NamedTuple):
    """One tensor as its header describes it."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    file: str

    @property
    def size(self) -> int:
        """Numbers in it."""
        return prod(self.shape)


def read(path: str) -> list[Tensor]:
    """Every tensor of a checkpoint: a file, an index with its shards, or a folder of them. Raises InputError."""
    if not is_checkpoint(path) and not (os.path.isdir(path) and holds_shards(path)):
        raise InputError(
            f"{path}: no safetensors checkpoint: want a .safetensors file, its index, or a folder of shards"
        )
    if os.path.isdir(path):
        index = os.path.join(path, INDEX)
        return read(index) if os.path.isfile(index) else _folder(path)
    return _indexed(path) if path.endswith(".index.json") else list(_file(path))


def _folder(folder: str) -> list[Tensor]:
    files = sorted(entry for entry in os.listdir(folder) if entry.endswith(".safetensors"))
    return _distinct(folder, (tensor for entry in files for tensor in _file(os.path.join(folder, entry))))


def _indexed(path: str) -> list[Tensor]:
    """The tensors that an index names, each held against the shard that it is said to be in."""
    from ffncalc.config import read_file

    values = parse(read_file(path), path, as_json=True, bounded=False).values
    weight_map = values.get("weight_map") if isinstance(values, dict) else None
    if not isinstance(weight_map, dict) or not all(isinstance(file, str) for file in weight_map.values()):
        raise InputError(f"{path}: no weight_map from tensor names to shard files")
    folder = os.path.dirname(path)
    files = sorted(set(weight_map.values()))
    shards = {file: {tensor.name: tensor for tensor in _file(_beside(path, folder, file))} for file in files}
    missing = next((name for name, file in weight_map.items() if name not in shards[file]), None)
    if missing is not None:
        raise InputError(f"{path}: tensor {missing!r} is not in {weight_map[missing]}, where the index has it")
    return [shards[file][name] for name, file in weight_map.items()]


def _beside(index: str, folder: str, file: str) -> str:
    if os.path.basename(file) != file:
        raise InputError(f"{index}: shard {file!r} is not a plain file name")
    path = os.path.join(folder, file)
    if not os.path.isfile(path):
        raise InputError(f"{index}: shard {file} is not beside the index; its header is needed")
    return path


def _distinct(where: str, tensors: Iterator[Tensor]) -> list[Tensor]:
    found: dict[str, Tensor] = {}
    for tensor in tensors:
        if tensor.name in found:
            raise InputError(
                f"{where}: tensor {tensor.name!r} stands in {found[tensor.name].file} and in {tensor.file}"
            )
        found[tensor.name] = tensor
    return list(found.values())


def _file(path: str) -> Iterator[Tensor]:
    header, room = _header(path)
    spans = []
    for name, entry in header.items():
        if name != "__metadata__":
            tensor, span = _tensor(path, name, entry, room)
            spans.append((span, name))
            yield tensor
    spans.sort()
    for ((_, end), first), ((start, _), second) in pairwise(spans):
        if start < end:
            raise InputError(f"{path}: tensors {first!r} and {second!r} overlap in the file")


def _header(path: str) -> tuple[dict[str, Any], int]:
    """The header of one file, and how many bytes of data follow it."""
    try:
        with open(path, "rb") as file:
            whole = os.fstat(file.fileno()).st_size
            start = file.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if length > MAX_HEADER or length > whole - 8:
                raise InputError(f"{path}: not safetensors: a header of {length:,} bytes in a file of {whole:,}")
            text = file.read(length)
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from None
    try:
        header = parse(text.decode("utf-8"), path, as_json=True, bounded=False).values
    except UnicodeDecodeError:
        raise InputError(f"{path}: not safetensors: the header is not UTF-8 text") from None
    if not isinstance(header, dict):
        raise InputError(f"{path}: not safetensors: the header is no JSON object")
    return header, whole - 8 - length


def _tensor(path: str, name: str, entry: Any, room: int) -> tuple[Tensor, tuple[int, int]]:
    described: dict[str, Any] = entry if isinstance(entry, dict) else {}
    shape: Any = described.get("shape")
    span: Any = described.get("data_offsets")
    if not _whole_numbers(shape) or not _whole_numbers(span) or len(span) != 2:
        raise InputError(f"{path}: tensor {name!r} needs a shape and two data_offsets, all whole numbers")
    dtype = str(described.get("dtype"))
    tensor = Tensor(name, tuple(shape), dtype, os.path.basename(path))
    if not span[0] <= span[1] <= room:
        raise InputError(
            f"{path}: tensor {name!r} lies at {span[0]:,} to {span[1]:,}, beyond the {room:,} bytes of data"
        )
    bits = _BITS.get(dtype)
    if bits and tensor.size * bits != 8 * (span[1] - span[0]):
        what = f"tensor {name!r} of shape {list(shape)} and type {dtype}"
        raise InputError(f"{path}: {what} does not fill its {span[1] - span[0]:,} bytes")
    return tensor, (span[0], span[1])


def _whole_numbers(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(v, int) and not isinstance(v, bool) and v >= 0 for v in values)
