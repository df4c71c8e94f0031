"""The JSON schema of checks files, for editors: made from the words that the reader knows."""

from __future__ import annotations

from typing import Any

from ffncalc.checks.expression import PATH
from ffncalc.checks.file import CONDITIONS, LENGTHS, ROOTS
from ffncalc.keys import HEADS
from ffncalc.workload import PASSES

_NUMBER = {"anyOf": [{"type": "number"}, {"type": "string"}], "description": "7B, 6.74e9, 1_000, 70.6 billion"}
_SIZE = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}
_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]}
_TYPES: dict[str, Any] = {
    "within": {"type": "string"},
    "multiple_of": _SIZE,
    "divisible_by": _SIZE,
    "one_of": {"type": "array", "minItems": 1, "items": _NUMBER},
    "same_as": {"type": "string"},
    "at_most": {"type": "string"},
    "at_least": {"type": "string"},
}


def schema() -> dict[str, Any]:
    """A JSON schema (draft 2020-12). That a number is one which ffncalc reports is left to the command."""
    conditions = {word: {**_TYPES.get(word, _NUMBER), "description": meaning} for word, meaning in CONDITIONS.items()}
    number = {"type": "object", "minProperties": 1, "additionalProperties": False, "properties": conditions}
    settings: dict[str, Any] = dict.fromkeys((*LENGTHS, "vocab_size"), _SIZE)
    settings |= {"causal": {"type": "boolean"}, "tied": {"type": "boolean"}, "head": {"enum": list(HEADS)}}
    entry = {
        "type": "object",
        "required": ["model"],
        "minProperties": 2,
        "additionalProperties": False,
        "properties": {
            "model": {
                **_TEXTS,
                "description": "a bundled name, a path from this file's folder, a glob, or a list of them",
            },
            "assert": {**_TEXTS, "description": "params.total <= 7B, dims.d_ff % 256 == 0"},
            **settings,
            "pass": {"enum": list(PASSES)},
        },
        "patternProperties": {rf"^(?=({'|'.join(ROOTS)})\b){PATH}$": {"anyOf": [_NUMBER, number]}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ffncalc checks",
        "type": "object",
        "required": ["checks"],
        "additionalProperties": False,
        "properties": {
            "baseline": {"type": "string", "description": "a file that `ffncalc check --record` writes, or a model"},
            "checks": {"type": "array", "minItems": 1, "items": entry},
        },
    }
