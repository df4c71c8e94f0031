"""Every architecture that is understood. A family's module is imported only when a config asks for it.

`MODULES` says which module holds which rows and which Hugging Face model types they are read for; a test holds it against
the modules.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from ffncalc.errors import InputError
from ffncalc.families.row import Row

MODULES: dict[str, tuple[str, ...]] = {
    "generic": ("decoder", "encoder", "encoder-decoder"),
    "llama": ("llama", "mistral", "qwen", "qwen2", "qwen3", "gemma", "phi3", "olmo2", "nemotron", "palm"),
    "moe": ("mixtral", "qwen3_moe", "gpt_oss"),
    "latent": ("deepseek_v2", "deepseek_v3"),
    "gpt": ("gpt2", "gpt3", "primer", "all-attention"),
    "bert": ("bert",),
    "seq2seq": ("transformer", "marian", "t5"),
    "meta": ("meta-llama",),
}


def row(name: str) -> Row | None:
    """The row of a family or a model type; None where it is not known."""
    for module, names in MODULES.items():
        if name in names:
            rows: dict[str, Row] = import_module(f"ffncalc.families.{module}").ROWS
            return rows[name]
    return None


def find(name: object, file: str, key: str) -> Row:
    """The row that a config names, or an InputError with the nearest names."""
    found = row(name) if isinstance(name, str) else None
    if found is None:
        near = get_close_matches(str(name), names(), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`ffncalc families` lists those that are"
        raise InputError(f"{file}: {key} {str(name)[:60]!r} is not an architecture that ffncalc knows; {hint}")
    return found


def names() -> list[str]:
    """All families and model types, by name."""
    return sorted(name for names in MODULES.values() for name in names)


def rows() -> list[Row]:
    """Every row once, in the order of the modules."""
    found: dict[str, Row] = {}
    for module in MODULES:
        for entry in import_module(f"ffncalc.families.{module}").ROWS.values():
            found.setdefault(entry.name, entry)
    return list(found.values())


def by_name(*entries: Row) -> dict[str, Row]:
    """The rows of one module, by the names and model types that they are read for."""
    return {name: entry for entry in entries for name in (entry.model_types or (entry.name,))}
