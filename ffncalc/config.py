"""MODEL, as a person names it -> the config it stands for: a bundled name, a file, a folder, or `-` for standard
input."""

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ffncalc import bundled
from ffncalc.errors import InputError
from ffncalc.text import MAX_BYTES, Path, parse


class Config(NamedTuple):
    """A config as it was read. `kind`: own (has `family`), hf (has `model_type`), or meta (params.json)."""

    file: str
    kind: str
    values: dict[str, Any]
    places: dict[Path, tuple[int, int]]
    name: str

    def at(self, *path: str | int) -> str:
        """Where a key stands, for a message: the file, and line and column where they are known."""
        place = self.places.get(path)
        return f"{self.file}: line {place[0]}, column {place[1]}" if place else self.file

    def places_in(self, name: str) -> dict[Path, tuple[int, int]]:
        """The places of what stands under a key, as those of a config of its own."""
        return {path[1:]: place for path, place in self.places.items() if path[:1] == (name,) and len(path) > 1}


def read(model: str | dict[str, Any] | Config) -> Config:
    """The config that MODEL stands for. Raises InputError where there is none, or where it can't be read."""
    if isinstance(model, Config):
        return model
    if isinstance(model, dict):
        return _config(model, {}, "config", str(model.get("name") or model.get("model_type") or "config"))
    if model == "-":
        return of_bytes(sys.stdin.buffer.read(MAX_BYTES + 1), "stdin", "stdin")
    path = _path(model)
    shown = path if os.path.exists(model) else f"bundled {os.path.basename(path)}"
    return _parsed(read_file(path), shown, name_of(path))


def of_bytes(data: bytes, file: str, name: str) -> Config:
    """The config that the bytes of a file are; the ending of `file` says whether as JSON or as YAML. Raises
    InputError."""
    return _parsed(_bounded(data, file), file, name)


def is_checkpoint(path: str) -> bool:
    """Whether a path is a safetensors file, an index of shards, or a folder that holds shards and no config."""
    if path.endswith((".safetensors", ".safetensors.index.json")):
        return True
    return os.path.isdir(path) and not os.path.isfile(os.path.join(path, "config.json")) and holds_shards(path)


def holds_shards(folder: str) -> bool:
    """Whether a folder holds safetensors files."""
    return any(entry.endswith(".safetensors") for entry in os.listdir(folder))


def _path(model: str) -> str:
    if os.path.isdir(model):
        for candidate in ("config.json", "params.json", "config.yaml"):
            if os.path.isfile(os.path.join(model, candidate)):
                return os.path.join(model, candidate)
        raise InputError(f"{model}: a folder without a config.json, params.json or config.yaml")
    if os.path.exists(model):
        return model
    found = bundled.path_of(model) if model and "\0" not in model and "\n" not in model else None
    if found is None:
        raise _missing(model)
    return found


def _missing(model: str) -> InputError:
    if os.path.islink(model):
        return InputError(f"{model}: a link that leads nowhere")
    if os.path.splitext(model)[1].lower() in (".json", ".yaml", ".yml") or model.startswith((".", "/", "~")):
        return InputError(f"{model}: no such file")
    return bundled.unknown(model)


def read_file(path: str) -> str:
    """The text of a file, which must be UTF-8 and no larger than a config can be. Raises InputError."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_BYTES:
                raise too_large(path)
            return _bounded(file.read(MAX_BYTES + 1), path)
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from None


def too_large(file: str) -> InputError:
    """The error for more bytes than a config can have."""
    return InputError(f"{file}: over {MAX_BYTES // 2**20} MB; a config is a few kilobytes")


def _bounded(data: bytes, file: str) -> str:
    if len(data) > MAX_BYTES:
        raise too_large(file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: byte {error.start} is not UTF-8 text") from None


def _parsed(text: str, file: str, name: str) -> Config:
    as_json = {".json": True, ".yaml": False, ".yml": False}.get(os.path.splitext(file)[1].lower())
    values, places = parse(text, file, as_json)
    if not isinstance(values, dict) or not values:
        what = "is empty" if values is None or values == {} else f"holds a {type(values).__name__}"
        raise InputError(f"{file}: {what}; a config is a mapping with `family`, `model_type`, or `dim` and `n_heads`")
    return _config(values, places, file, name)


def _config(values: dict[str, Any], places: dict[Path, tuple[int, int]], file: str, name: str) -> Config:
    found = [kind for kind, holds in _KINDS.items() if holds(values)]
    if len(found) != 1:
        what = "nothing says which architecture this is" if not found else "two kinds of config at once"
        wanted = "want one of `family` (ours), `model_type` (Hugging Face), `dim` with `n_heads` (Meta)"
        raise InputError(f"{file}: {what}; {wanted}")
    key = {"own": "family", "hf": "model_type"}.get(found[0])
    if key and not isinstance(values[key], str):
        raise InputError(f"{file}: {key} must be the name of an architecture, not a {type(values[key]).__name__}")
    stated = values.get("name")
    return Config(file, found[0], values, places, stated if isinstance(stated, str) and stated else name)


_KINDS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "own": lambda values: "family" in values,
    "hf": lambda values: "model_type" in values,
    "meta": lambda values: "dim" in values and "n_heads" in values and not {"family", "model_type"} & values.keys(),
}


def name_of(path: str) -> str:
    """What to call a file: its stem, or its folder's name where the file is called config or params."""
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    return folder if stem in ("config", "params") and folder else stem
