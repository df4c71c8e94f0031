"""The bundled configs: one YAML file each, in configs/ of a checkout or beside the package in an installed copy."""

from __future__ import annotations

import os
import re
from typing import Any

from ffncalc.errors import InputError, nearest

_HERE = os.path.dirname(__file__)
_INSTALLED = os.path.join(_HERE, "_configs")
FOLDER = _INSTALLED if os.path.isdir(_INSTALLED) else os.path.join(os.path.dirname(_HERE), "configs")


def names() -> list[str]:
    """The names of all bundled configs, in the order in which a person would list them."""
    found = [entry[:-5] for entry in os.listdir(FOLDER) if entry.endswith(".yaml")]
    return sorted(found, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])


def path_of(name: str) -> str | None:
    """The file of the bundled config called `name`, or by one of its aliases; None where there is no such one."""
    path = file_of(name)
    if re.fullmatch(r"[a-z0-9._-]+", name) and os.path.isfile(path):
        return path
    wanted = plain(name)
    for known in names():
        if plain(known) == wanted:
            return file_of(known)
    known_by = {plain(alias): known for known in names() for alias in aliases(known)}
    return file_of(known_by[wanted]) if wanted in known_by else None


def file_of(name: str) -> str:
    """Where a bundled config of exactly this name stands."""
    return os.path.join(FOLDER, f"{name}.yaml")


def plain(name: str) -> str:
    """A name without what people write differently: case, - _ or a space between its words, v1_1 for v1.1.

    A point between digits stays: gpt3-1.3b is not gpt3-13b.
    """
    return re.sub(r"[-_ ]|(?<!\d)\.|\.(?!\d)", "", re.sub(r"(?<=\d)_(?=\d)", ".", name.lower()))


def aliases(name: str) -> list[str]:
    """The other names of a bundled config."""
    return list(read(file_of(name)).get("aliases") or [])


def read(path: str) -> dict[str, Any]:
    """What a bundled file holds."""
    from ffncalc.text import parse

    with open(path, encoding="utf-8") as file:
        values: dict[str, Any] = parse(file.read(), path, as_json=False).values
    return values


def unknown(name: str) -> InputError:
    """The error for a name that is neither bundled nor a file, with the nearest names."""
    near = nearest(name.lower(), names(), n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else "`ffncalc configs` lists the bundled names"
    return InputError(f"{name!r} is neither a bundled model nor a file; {hint}")
