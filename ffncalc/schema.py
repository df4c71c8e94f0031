"""The JSON schema of YAML configs of one's own, for editors: made from the switches, their choices and their
meanings."""

from __future__ import annotations

from typing import Any

from ffncalc import families
from ffncalc.expr import Expr
from ffncalc.hidden import ROUNDINGS, RULES
from ffncalc.keys import HEADS, WORDS
from ffncalc.spec import CHOICES, GROUPS, MEANING, SWITCHES

_SIZE = {"type": "integer", "minimum": 1}
_COUNT = {"type": ["integer", "null"], "minimum": 0}
_RULE = {
    "type": "object",
    "required": ["rule"],
    "additionalProperties": False,
    "properties": {
        "rule": {"enum": list(RULES)},
        "multiple_of": _SIZE,
        "multiplier": {"type": "number", "exclusiveMinimum": 0},
        "round": {"enum": list(ROUNDINGS)},
    },
}
_WIDTH = {"anyOf": [_SIZE, {"type": "array", "items": _SIZE}, _RULE]}
_BIAS = {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"enum": ["q", "k", "v", "o"]}}]}


def schema() -> dict[str, Any]:
    """A JSON schema (draft 2020-12) that every bundled config meets. Other keys of a family's class are let through."""
    groups = {name: _group(name) for name in GROUPS}
    words = {spelling: _word(switch) for word, (switch, others) in WORDS.items() for spelling in (word, *others)}
    stack = {"type": "object", "properties": {**groups, **words}, "description": "what differs in this stack"}
    layer = {"type": "object", "properties": {"repeat": _SIZE, "parallel": {"type": "boolean"}, **groups, **words}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ffncalc config",
        "type": "object",
        "required": ["family"],
        "properties": {
            "family": {"enum": families.names(), "description": "a family's row, or decoder, encoder, encoder-decoder"},
            "name": {"type": "string"},
            "aliases": {"type": "array", "items": {"type": "string"}},
            "source": {"type": "string", "description": "where the sizes are from"},
            "published": {"type": "object", "description": "figures as they were printed; never used to count"},
            "notes": {"type": "string"},
            "head": {"enum": list(HEADS)},
            "parallel": {"type": "boolean", "description": MEANING["parallel"]},
            "layers": {"type": "array", "minItems": 1, "items": layer, "description": "unlike layers, in order"},
            **words,
            **groups,
            "encoder": stack,
            "decoder": stack,
        },
    }


def _group(name: str) -> dict[str, Any]:
    fields = {field: _word(f"{name}.{field}") for field in GROUPS[name]._fields if f"{name}.{field}" in MEANING}
    return {"type": "object", "additionalProperties": False, "properties": fields}


def _word(switch: str) -> dict[str, Any]:
    return {**_type_of(switch), "description": MEANING[switch]}


def _type_of(switch: str) -> dict[str, Any]:
    if switch in CHOICES:
        return {"enum": list(CHOICES[switch])}
    if switch == "attention.bias":
        return _BIAS
    if switch == "ffn.d_ff":
        return _WIDTH
    default = SWITCHES[switch]
    if isinstance(default, bool):
        return {"type": "boolean"}
    if isinstance(default, str):
        return {"type": "string"}
    return _SIZE if switch in ("d_model", "n_layers", "n_vocab") or not isinstance(default, Expr) else _COUNT
