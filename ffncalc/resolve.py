"""A config and the row of its family -> a `Spec`: every switch read through a `View`, like layers put together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from ffncalc import spec as sp
from ffncalc.config import Config
from ffncalc.errors import nearest
from ffncalc.expr import ZERO, Expr, indexed, size
from ffncalc.families.row import PerLayer, Row
from ffncalc.keys import HEADS
from ffncalc.text import Path
from ffncalc.view import OF_THE_MODEL, Options, Resolver, View, short, switches_of

MAX_KINDS = 1000
MAX_GROUPS = 2000


# ------------------------------------------------------------------ the spec
def resolve(config: Config, row: Row, options: Options | None = None) -> sp.Spec:
    """The Spec that `config` comes down to when `row` reads it. Raises InputError."""
    options = options or Options()
    resolver = Resolver(config, row, options)
    groups = _groups(resolver)
    views = [View(resolver, stack) for stack in row.stacks]
    stacks = tuple(_stack(view, groups if view is views[-1] else None) for view in views)
    main = views[-1]
    source = config.values.get("source")
    result = sp.Spec(
        name=config.name,
        family=row.name,
        source=source if isinstance(source, str) and config.kind == "own" else row.source,
        n_vocab=main.get("n_vocab"),
        stacks=stacks,
        head=_head(resolver),
        tied=main.get("tied"),
        head_bias=main.get("head_bias"),
        n_labels=_labels(resolver),
        extra=main.get("model_extra"),
        head_extra=main.get("head_extra"),
        flops=main.get("flops") or row.flops,
    )
    return result._replace(warnings=(*resolver.warnings, *resolver.unread()))


def _head(resolver: Resolver) -> str:
    """The head that was asked for, that the config names, or the family's own."""
    heads = resolver.row.heads
    stated = resolver.config.values.get("head") if resolver.config.kind == "own" else None
    asked = resolver.options.head or stated
    wanted = asked or head_of_class(resolver.config.values.get("architectures"), heads)
    if wanted is None:
        return next(iter(heads), "none")
    if wanted != "none" and wanted not in heads:
        choices = ", ".join(head for head in HEADS if head in heads or head == "none")
        if asked:
            resolver.fail(f"{resolver.row.name} has no {wanted!r} head; want one of {choices}")
        resolver.fail(
            f"the head of {resolver.config.values['architectures'][0]} is not counted; choose with --head: {choices}",
            "architectures",
        )
    return str(wanted)


# What a class's name ends in -> the head it has. The first that fits counts.
_CLASS_HEADS = (
    (("ForCausalLM", "LMHeadModel", "LMHeadCustomModel", "LMHead"), "causal"),
    (("ForMaskedLM",), "mlm"),
    (("ForConditionalGeneration", "ForTextToText", "MTModel", "WithLMHeadModel"), "seq2seq"),
    (("ForPreTraining",), "pretraining"),
    (("ForNextSentencePrediction",), "nsp"),
    (("ForSequenceClassification",), "classifier"),
    (("ForTokenClassification",), "tagger"),
    (("ForQuestionAnswering",), "span"),
    (("ForMultipleChoice",), "choice"),
    (("DoubleHeadsModel",), "double"),
    (("EncoderModel",), "encoder"),
    (("WithProjection",), "projection"),
    (("Reader",), "reader"),
    (("BaseModel",), "base"),
    (("Model", "Encoder"), "pooler"),
)
_LANGUAGE_HEADS = ("causal", "mlm", "seq2seq")  # another name of the family's own, where it has none of that name


def head_of_class(architectures: Any, heads: Mapping[str, Any]) -> str | None:
    """The head that a class name stands for: `BertModel` has the pooler, `GPT2Model` none; None is the family's own."""
    listed = isinstance(architectures, list) and architectures and isinstance(architectures[0], str)
    name = architectures[0] if listed else ""
    head = next((head for endings, head in _CLASS_HEADS if name.endswith(endings)), None)
    if head is None and re.search("For[A-Z]", name):
        return "another"  # a task that nothing here is built for
    if head is None or head in heads:
        return head
    if head in _LANGUAGE_HEADS:
        return next((own for own in heads if own in _LANGUAGE_HEADS), None)
    return "none" if head in ("pooler", "encoder") else head


def _labels(resolver: Resolver) -> Expr:
    """Classes of a classification head: as many as `id2label` names, else `num_labels`, else two."""
    named = resolver.values.get("id2label")
    if isinstance(named, dict) and named:
        return size("n_labels", len(named), "id2label")
    stated = resolver.values.get("num_labels")
    if isinstance(stated, int) and not isinstance(stated, bool) and stated > 0:
        return size("n_labels", stated, "num_labels")
    return size("n_labels", 2, "default of num_labels")


Group = tuple[int, dict[str, tuple[Any, Path]]]


def _groups(resolver: Resolver) -> list[Group] | None:
    """`layers:` of a file of ours: how many of each, and what they change. None where there is no such key."""
    listed = resolver.config.values.get("layers") if resolver.config.kind == "own" else None
    if listed is None:
        return None
    if not isinstance(listed, list) or not listed:
        example = "[{repeat: 2, ffn: {d_ff: 512}}, {repeat: 22}]"
        resolver.fail(f"layers must be a list of groups, such as {example}", "layers")
    if len(listed) > MAX_GROUPS:
        resolver.fail(f"layers lists {len(listed):,} groups; at most {MAX_GROUPS:,}, each with `repeat`", "layers")
    return [_layer_group(resolver, i, group) for i, group in enumerate(listed)]


def _layer_group(resolver: Resolver, i: int, group: Any) -> Group:
    if not isinstance(group, dict):
        resolver.fail(f"layers[{i}] is {short(group)}; want a mapping with what differs", "layers", i)
    repeat = group.get("repeat", 1)
    if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 1:
        resolver.fail(f"layers[{i}].repeat is {short(repeat)}; want a positive whole number", "layers", i, "repeat")
    changes = {switch: (value, path) for path, switch, value in switches_of(group, ("layers", i))}
    for switch in changes:
        if switch.split(".")[0] in (*OF_THE_MODEL, "tied"):
            resolver.fail(f"layers[{i}]: {switch} is one for the whole model; state it outside of layers", "layers", i)
    for switch in changes:
        if switch not in sp.SWITCHES:
            near = nearest(switch, sp.SWITCHES, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            resolver.fail(f"layers[{i}]: key {switch!r} is not known{hint}", "layers", i)
    return repeat, changes


def _stack(view: View, groups: list[Group] | None) -> sp.Stack:
    layers: Expr = view.get("n_layers")
    if groups and sum(repeat for repeat, _ in groups) != layers.value:
        view.fail(f"layers lists {sum(r for r, _ in groups)} layers and n_layers is {layers.value}", "layers")
    has_cross = view.get("cross")
    kinds: dict[sp.Layer, list[tuple[int, int]]] = {}
    start = 0
    for repeat, changes in groups or [(layers.value, {})]:
        group = View(view.resolver, view.stack, changes) if changes else view
        for layer, first, last in _layers(group, start, start + repeat, has_cross):
            _extend(kinds.setdefault(layer, []), first, last)
            if len(kinds) > MAX_KINDS:
                view.fail(f"more than {MAX_KINDS:,} kinds of layers; a model has a few")
        start += repeat
    return sp.Stack(
        name="decoder" if view.get("decodes") else view.stack,
        kinds=tuple(
            _kind(view, layer, ranges, len(kinds), i, layers) for i, (layer, ranges) in enumerate(kinds.items(), 1)
        ),
        norm=_of_stack(view, "norm"),
        positions=_positions(view),
        embedding=_of_stack(view, "embedding"),
        is_source=view.stack == "encoder" and len(view.resolver.row.stacks) > 1,
        extra=view.get("stack_extra"),
        d_model=view.get("d_model"),
    )


def _positions(view: View) -> sp.Positions:
    positions: sp.Positions = _of_stack(view, "positions")
    if positions.kind == "learned" and not positions.n_positions:
        view.missing(view.spelling("positions.n_positions"))
    return positions


def _extend(ranges: list[tuple[int, int]], first: int, last: int) -> None:
    if ranges and ranges[-1][1] == first - 1:
        ranges[-1] = (ranges[-1][0], last)
    else:
        ranges.append((first, last))


def _kind(view: View, layer: sp.Layer, ranges: list[tuple[int, int]], kinds: int, i: int, layers: Expr) -> sp.LayerKind:
    covered = sum(last - first + 1 for first, last in ranges)
    count = layers if kinds == 1 else size(indexed("L", i), covered, f"layers {shown_ranges(ranges)}")
    return sp.LayerKind(layer, count, tuple(ranges))


def shown_ranges(ranges: list[tuple[int, int]]) -> str:
    """`0-2, 5, 7-31`."""
    return ", ".join(f"{a}-{b}" if a != b else f"{a}" for a, b in ranges)


_LAYER_SWITCHES = [f"{group}.{field}" for group in ("attention", "ffn", "norm") for field in sp.GROUPS[group]._fields]
_LAYER_SWITCHES += ["parallel", "extra", "runs"]


def _layers(view: View, start: int, end: int, has_cross: bool) -> Iterator[tuple[sp.Layer, int, int]]:
    """(layer, first, last) for the layers from `start` up to `end`, like ones next to each other put together."""
    values = {switch: view.get(switch) for switch in _LAYER_SWITCHES}
    varied = [switch for switch, value in values.items() if isinstance(value, PerLayer)]
    if not varied:
        yield _layer(view, values, has_cross), start, end - 1
        return
    built: dict[tuple[Any, ...], sp.Layer] = {}
    for key, like in groupby(zip(*(values[switch][start:end] for switch in varied), strict=True)):
        if key not in built:
            built[key] = _layer(view, {**values, **dict(zip(varied, key, strict=True))}, has_cross)
        first, start = start, start + sum(1 for _ in like)
        yield built[key], first, start - 1


def _layer(view: View, values: dict[str, Any], has_cross: bool) -> sp.Layer:
    attention = _attention(view, _of_layer("attention", values))
    ffn = _of_layer("ffn", values)
    if ffn.kind == "moe":
        _check_experts(view, ffn)
    cross = attention._replace(relative=ZERO, window=ZERO) if has_cross else None
    norm = _of_layer("norm", values)
    return sp.Layer(attention, cross, ffn, norm, values["parallel"], values["extra"], values["runs"])


def _of_layer(group: str, values: Mapping[str, Any]) -> Any:
    kind: Any = sp.GROUPS[group]
    return kind(**{field: values[f"{group}.{field}"] for field in kind._fields})


def _of_stack(view: View, group: str) -> Any:
    """A group for the whole stack; of a switch that differs between layers, what the first has."""
    kind: Any = sp.GROUPS[group]
    found = {field: view.get(f"{group}.{field}") for field in kind._fields}
    return kind(**{field: value[0] if isinstance(value, PerLayer) else value for field, value in found.items()})


def _attention(view: View, attention: sp.Attention) -> sp.Attention:
    """What follows from the other sizes of an attention: key/value heads, the heads' width, d_model where it is
    that."""
    if attention.kv_lora_rank:  # every head has keys and values of its own, made from one latent vector
        return attention._replace(n_kv_heads=attention.n_heads, d_head=attention.d_nope + attention.d_rope)
    if attention.kind == "latent":
        for needed in ("n_heads", "kv_lora_rank", "d_nope", "d_v"):
            if not getattr(attention, needed):
                view.missing(view.spelling(f"attention.{needed}"))
    if attention.kind in ("latent", "none"):
        return attention
    heads, kv = attention.n_heads, attention.n_kv_heads or attention.n_heads
    if not heads:
        view.missing(view.spelling("attention.n_heads"))
    if heads.value % kv.value:
        names = view.spelling("attention.n_heads"), view.spelling("attention.n_kv_heads")
        why = "each key/value head serves as many query heads"
        view.fail(f"{names[0]} {heads.value} is not a multiple of {names[1]} {kv.value}; {why}")
    d_model, d_head = view.get("d_model"), attention.d_head
    follows = not d_head or d_head.leaves()[0].origin == "d_model / n_heads"
    if not d_head:
        if d_model.value % heads.value:
            names = view.spelling("d_model"), view.spelling("attention.n_heads")
            why = "state d_head if that is meant"
            view.fail(f"{names[0]} {d_model.value} is not a multiple of {names[1]} {heads.value}; {why}")
        d_head = size("d_head", d_model.value // heads.value, "d_model / n_heads")
    width = attention.width or (d_model if follows else heads * d_head)
    return attention._replace(n_kv_heads=kv, d_head=d_head, width=width, d_v=attention.d_v or d_head)


def _check_experts(view: View, ffn: sp.Ffn) -> None:
    if not ffn.n_experts or not ffn.top_k:
        view.missing(view.spelling("ffn.top_k" if ffn.n_experts else "ffn.n_experts"))
    if ffn.top_k.value > ffn.n_experts.value:
        names = view.spelling("ffn.top_k"), view.spelling("ffn.n_experts")
        view.fail(f"{names[0]} {ffn.top_k.value} is more than {names[1]} {ffn.n_experts.value}")
