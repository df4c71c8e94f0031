"""A config and the row of its family -> a `Spec`: every switch read once, like layers put together.

`Resolver` holds what is read and which keys were read; a `View` looks at it from one stack (an encoder-decoder has two)
and, in a file of ours with unlike `layers`, from one group of them. Keys that nobody read are reported at the end: that
is how a feature that ffncalc doesn't know can't slip through as a wrong count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

from ffncalc import spec as sp
from ffncalc.config import Config
from ffncalc.errors import InputError
from ffncalc.expr import ONE, ZERO, Expr, size
from ffncalc.families.row import PerLayer, Reader, Row
from ffncalc.hidden import rule_width
from ffncalc.keys import HEADS, OWN, WORDS, never_counts
from ffncalc.ops import Op
from ffncalc.text import Misread, Path

MAX_UNLIKE_LAYERS = 1_000_000

_CORE = ("d_model", "n_layers", "n_vocab", "attention.n_heads", "ffn.d_ff")
_NEVER_ZERO = (*_CORE, "attention.n_kv_heads", "attention.d_head")
_OF_THE_MODEL = ("d_model", "n_layers", "n_vocab", "positions", "embedding")  # switches and groups that no layer has for itself


class Options:
    """What the command line may say over the file: the head, the vocabulary, the tie."""

    def __init__(self, head: str | None = None, n_vocab: int | None = None, tied: bool | None = None) -> None:
        self.head, self.n_vocab, self.tied = head, n_vocab, tied

    def over(self, switch: str) -> Any:
        """What the command line says for a switch, which goes over the file; None where it says nothing."""
        if switch == "tied":
            return self.tied
        return size("n_vocab", self.n_vocab, "--vocab-size") if switch == "n_vocab" and self.n_vocab else None


class Resolver:
    """One config being read by one row."""

    def __init__(self, config: Config, row: Row, options: Options) -> None:
        self.config, self.row, self.options = config, row, options
        self.values = _respelled(config, row)
        self.stated: dict[str, tuple[Any, Path]] = {}  # switch -> what a file of ours states for it
        self.seen: set[Path] = set()
        self.warnings: list[str] = []
        self.spelled: dict[str, str] = {}
        own = config.kind == "own"
        self.no_default = {k for s in _CORE for k in self._keys(s)} if own else set()
        if own:
            self._translate_words()

    def _keys(self, switch: str) -> tuple[str, ...]:
        for name in (switch, *(f"{stack}.{switch}" for stack in self.row.stacks)):
            entry = self.row.says.get(name)
            if isinstance(entry, Reader) and entry.keys and entry.holds_it:
                return entry.keys[:1]
        return ()

    def _translate_words(self) -> None:
        """Our words -> the keys that the row reads; where it reads none for a switch, the switch itself."""
        read = {k for entry in self.row.says.values() if isinstance(entry, Reader) for k in entry.keys}
        for word, (switch, others) in WORDS.items():
            elsewhere = read.difference(self._keys(switch))  # what the row reads for something else is no other spelling
            found = [k for k in (word, *others) if self.values.get(k) is not None and k not in elsewhere]
            if len(found) > 1:
                self.fail(f"{found[0]} and {found[1]} are two spellings of one size; leave one of them", found[1])
            if not found or self._keys(switch) == (found[0],):
                continue
            self.seen.add((found[0],))
            value = self.values.pop(found[0])
            keys = self._keys(switch)
            if keys:
                self.values[keys[0]] = value
                self.spelled[keys[0]] = found[0]
            else:
                self.stated[switch] = (value, (found[0],))
        for path, switch, value in _switches_of(self.values, ()):
            if value is not None and (switch in self.stated or any(self.values.get(k) is not None for k in self._keys(switch))):
                self.fail(f"{switch} is stated a second time here; leave one of them", *path)
            self.stated[switch] = (value, path)
            self.seen.add(path[:1])

    # -------------------------------------------------------------- reading keys
    def raw(self, name: str) -> tuple[Any, str]:
        """The value of a key ("ffn_config.moe_top_k" inside another), and where it came from; null is the default."""
        self.seen.add((name,))
        value: Any = self.values
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            return value, f"key {self.spelled.get(name, name)}"
        default = None if name in self.no_default else self.row.defaults.get(name)
        return default, f"default of {self.row.name} ({name})"

    def fail(self, what: str, *path: str | int) -> NoReturn:
        raise InputError(f"{self.config.at(*path)}: {what}")

    def _ignored(self, name: str) -> bool:
        """Whether the row lists the key as one that counts nothing; there, a name ending in * stands for all that start so."""
        ignores = self.row.ignores
        return name in ignores or any(entry.endswith("*") and name.startswith(entry[:-1]) for entry in ignores)

    def unread(self) -> Iterator[str]:
        """A sentence for each key that nothing has read and that may therefore have been meant to count."""
        known = sorted({k for entry in self.row.says.values() if isinstance(entry, Reader) for k in entry.keys} | set(WORDS))
        own = self.config.kind == "own"
        for name, value in self._flat(self.values):
            if (name,) in self.seen or name in known or self._ignored(name) or value in (None, {}):
                continue
            if never_counts(name.split(".")[-1], value) or (own and name in OWN):
                continue
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield f"{self.config.at(name)}: key {name!r} was not read{hint}"
        for switch, (_, path) in self.stated.items():
            if path not in self.seen and switch not in sp.SWITCHES:
                near = get_close_matches(switch, sp.SWITCHES, n=1)
                yield f"{self.config.at(*path)}: key {switch!r} was not read" + (f"; did you mean {near[0]}?" if near else "")


    def _flat(self, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The keys, and those inside a mapping of which any was read, with dots."""
        opened = {path[0].split(".")[0] for path in self.seen if isinstance(path[0], str) and "." in path[0]}
        for name, value in values.items():
            if name in opened and isinstance(value, dict):
                yield from ((f"{name}.{inner}", v) for inner, v in value.items())
            else:
                yield name, value


def _respelled(config: Config, row: Row) -> dict[str, Any]:
    """The config's values with the class's other names of keys (`n_embed`) put into those that the row reads."""
    values = dict(config.values)
    for other, name in row.spellings.items():
        if values.get(other) is None or other == name:
            continue
        if values.get(name) not in (None, values[other]):
            raise InputError(f"{config.at(other)}: {other} and {name} are two names of one size and differ; leave one")
        values[name] = values.pop(other)
    return values


def _switches_of(values: Mapping[str, Any], prefix: Path) -> Iterator[tuple[Path, str, Any]]:
    """(path, switch, value) of the groups of a file of ours: attention: {n_heads: 4} sets attention.n_heads."""
    for group, inside in values.items():
        if group in sp.GROUPS and isinstance(inside, dict):
            for field, value in inside.items():
                yield (*prefix, group, field), f"{group}.{_field(field)}", value
        elif group in ("encoder", "decoder") and isinstance(inside, dict):
            for path, switch, value in _switches_of(inside, (*prefix, group)):
                yield path, f"{group}.{switch}", value
        elif prefix and group in WORDS:
            yield (*prefix, group), WORDS[group][0], inside
        elif group == "parallel" or (prefix and group not in sp.GROUPS and group != "repeat"):
            yield (*prefix, group), group, inside


def _field(name: str) -> str:
    for word, (switch, others) in WORDS.items():
        if name in others:
            return switch.split(".")[-1] if "." in switch else word
    return name


class View:
    """The config as one stack sees it, or one group of a stack's layers."""

    def __init__(self, resolver: Resolver, stack: str, group: Mapping[str, tuple[Any, Path]] | None = None) -> None:
        self.resolver, self.stack = resolver, stack
        self.group = group or {}
        self.memo: dict[str, Any] = {}

    def get(self, switch: str) -> Any:
        """The value of a switch."""
        if switch not in self.memo:
            self.memo[switch] = None  # a switch that asks for itself finds nothing
            self.memo[switch] = self._find(switch)
        return self.memo[switch]

    def _find(self, switch: str) -> Any:
        resolver = self.resolver
        if switch in ("tied", "n_vocab") and resolver.options.over(switch) is not None:
            return resolver.options.over(switch)
        for stated in (self.group.get(switch), resolver.stated.get(f"{self.stack}.{switch}"), resolver.stated.get(switch)):
            if stated is not None and stated[0] is not None:
                resolver.seen.add(stated[1])
                return self._stated(switch, *stated)
            if stated is not None:
                resolver.seen.add(stated[1])
        says = resolver.row.says
        entry = says.get(f"{self.stack}.{switch}", says.get(switch, sp.SWITCHES[switch]))
        return entry.read(self, switch) if isinstance(entry, Reader) else entry

    def _stated(self, switch: str, value: Any, path: Path) -> Any:
        """What a file of ours states for a switch, checked by the kind of value that the switch has."""
        if switch in sp.CHOICES:
            return self._one_of(value, sp.CHOICES[switch], path)
        default = sp.SWITCHES[switch]
        if switch == "attention.bias":
            return self._projections(value, path)
        if isinstance(default, bool):
            return value if isinstance(value, bool) else self.fail(f"{switch} is {value!r}; want true or false", *path)
        if isinstance(default, str):
            return value if isinstance(value, str) else self.fail(f"{switch} is {value!r}; want a word", *path)
        return self._sizes(value, switch, f"key {'.'.join(p for p in path if isinstance(p, str))}", path, zero=switch not in _NEVER_ZERO)

    def _projections(self, value: Any, path: Path) -> str:
        letters = "qkvo" if value is True else "" if value is False else value
        if not isinstance(letters, (str, list)) or any(letter not in tuple("qkvo") for letter in letters):
            self.fail(f"attention.bias is {value!r}; want true, false or a list of q, k, v, o", *path)
        return "".join(letters)

    def _one_of(self, value: Any, choices: tuple[str, ...], path: Path) -> str:
        if value not in choices:
            near = get_close_matches(str(value), choices, n=1)
            hint = f"did you mean {near[0]}?" if near else f"want one of {', '.join(choices)}"
            self.fail(f"{'.'.join(map(str, path))} is {value!r}; {hint}", *path)
        return str(value)

    # -------------------------------------------------------------- what readers use
    def size(self, name: str, switch: str, zero: bool = False) -> Any:
        """The size that a key holds (an Expr), a PerLayer of them where it holds a list, None where absent or null."""
        value, origin = self.resolver.raw(name)
        return None if value is None else self._sizes(value, switch, origin, (self.resolver.spelled.get(name, name),), zero)

    def single(self, name: str, leaf: str, zero: bool = False) -> Expr:
        """The one size, called `leaf`, that a key holds for all layers; an error where it is absent or a list."""
        found: Expr | PerLayer | None = self.size(name, leaf, zero)
        if isinstance(found, PerLayer):
            self.fail(f"{name} is a list; want one size", name)
        return self.missing(name) if found is None else found

    def _sizes(self, value: Any, switch: str, origin: str, path: Path, zero: bool) -> Expr | PerLayer:
        leaf = self._leaf(switch)
        if isinstance(value, list) and switch.split(".")[0] not in _OF_THE_MODEL:
            if len(value) != self.n_layers():
                self.fail(f"{path[-1]} has {len(value)} entries for {self.n_layers()} layers", *path)
            first = {v: i for i, v in reversed(list(enumerate(value))) if isinstance(v, int)}  # like layers are like to the last word
            return PerLayer(size(leaf, self._whole(v, path, zero), f"{origin}[{first.get(v, i)}]") for i, v in enumerate(value))
        if isinstance(value, dict) and "rule" in value and leaf == "d_ff":
            rule = rule_width(self.get("d_model").value, value, lambda what: self.fail(f"{path[-1]}: {what}", *path))
            return size(leaf, *rule)
        return size(leaf, self._whole(value, path, zero), origin)

    def _leaf(self, switch: str) -> str:
        name = switch.split(".")[-1]
        return "n_encoder_layers" if name == "n_layers" and self.stack == "encoder" and len(self.resolver.row.stacks) > 1 else name

    def _whole(self, value: Any, path: Path, zero: bool) -> int:
        least = 0 if zero else 1
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        wanted = "a whole number, zero or more" if zero else "a positive whole number"
        found = f"the text {str(value)!r}" if isinstance(value, str) else _short(value)
        hint = " (YAML reads this spelling as text)" if isinstance(value, Misread) else ""
        self.fail(f"{'.'.join(map(str, path))} is {found}{hint}; want {wanted}, such as 4096", *path)

    def is_null(self, name: str) -> bool:
        """Whether the key stands in the file with null for its value."""
        self.resolver.seen.add((name,))
        return name in self.resolver.values and self.resolver.values[name] is None

    def number(self, name: str) -> int:
        """A whole number, zero or more, that is no size of its own (how many layers, every how many); 0 when absent."""
        value, _ = self.resolver.raw(name)
        return 0 if value is None else self._whole(value, (name,), zero=True)

    def fraction(self, name: str) -> float | None:
        """A positive number that may have a fraction; None when absent."""
        value, _ = self.resolver.raw(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
            self.fail(f"{name} is {_short(value)}; want a positive number, such as 1.3", name)
        return value

    def warn(self, what: str) -> None:
        """A sentence that the user gets to read beside the numbers."""
        self.resolver.warnings.append(f"{self.resolver.config.file}: {what}")

    def numbers(self, name: str) -> list[int]:
        """A list of whole numbers (layers, counted from 0); empty when absent."""
        value, _ = self.resolver.raw(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self.fail(f"{name} is {_short(value)}; want a list of layers", name)
        return [self._whole(entry, (name,), zero=True) for entry in value]

    def flag(self, name: str) -> bool:
        """Whether a key is true; absent is the family's default, and without one false."""
        value, _ = self.resolver.raw(name)
        if value not in (None, True, False):
            self.fail(f"{name} is {_short(value)}; want true or false", name)
        return bool(value)

    def text(self, name: str) -> str | None:
        """A key's text."""
        value, _ = self.resolver.raw(name)
        if value is not None and not isinstance(value, str):
            self.fail(f"{name} is {_short(value)}; want a name", name)
        return value

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """A key's text, which has to be one of `choices`."""
        return self._one_of(self.resolver.raw(name)[0], choices, (name,))

    def words(self, name: str, choices: tuple[str, ...]) -> list[str] | None:
        """A key's list of one word for each layer, each of them one of `choices`; None where it is absent."""
        value, _ = self.resolver.raw(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != self.n_layers():
            found = f"has {len(value)} entries" if isinstance(value, list) else "is no list"
            self.fail(f"{name} {found}; want one for each of {self.n_layers()} layers", name)
        return [self._one_of(entry, choices, (name,)) for entry in value]

    def n_layers(self) -> int:
        """Layers in this stack, which must be few enough to list where they differ."""
        layers: int = self.get("n_layers").value
        if layers > MAX_UNLIKE_LAYERS:
            self.fail(f"{layers:,} layers that differ among each other; at most {MAX_UNLIKE_LAYERS:,} can be told apart")
        return layers

    def spelling(self, switch: str) -> str:
        """The key that a switch was read from, for a message."""
        keys = self.resolver._keys(switch)
        return self.resolver.spelled.get(keys[0], keys[0]) if keys else switch.split(".")[-1]

    def missing(self, name: str) -> NoReturn:
        """The error for a size that the config has to state."""
        own = self.resolver.config.kind == "own"
        shown = next((w for w, (s, _) in WORDS.items() if own and name in self.resolver._keys(s)), name)
        near = [key for key in get_close_matches(shown, self.resolver.config.values, n=1) if (key,) not in self.resolver.seen]
        hint = f"; is {near[0]!r} meant for it?" if near else ""
        self.fail(f"{shown} is missing; {self.resolver.row.name} needs it, a positive whole number{hint}")

    def fail(self, what: str, *path: str | int) -> NoReturn:
        """An InputError that names the file, and the place of the key where it is known."""
        self.resolver.fail(what, *path)


def _short(value: Any) -> str:
    text = "true" if value is True else "false" if value is False else repr(value) if not isinstance(value, int) else f"{value:,}"
    return text if len(text) <= 60 else text[:56] + " ..."


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
        d_model=main.get("d_model"),
        n_vocab=main.get("n_vocab"),
        n_layers=tuple(view.get("n_layers") for view in views),
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
        resolver.fail(f"the head of {resolver.config.values['architectures'][0]} is not counted; choose with --head: {choices}", "architectures")
    return str(wanted)


# What a class's name ends in -> the head it has. The first that fits counts.
_CLASS_HEADS = (
    (("ForCausalLM", "LMHeadModel", "LMHead"), "causal"),
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
    name = architectures[0] if isinstance(architectures, list) and architectures and isinstance(architectures[0], str) else ""
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
        resolver.fail("layers must be a list of groups, such as [{repeat: 2, ffn: {d_ff: 512}}, {repeat: 22}]", "layers")
    groups: list[Group] = []
    for i, group in enumerate(listed):
        if not isinstance(group, dict):
            resolver.fail(f"layers[{i}] is {_short(group)}; want a mapping with what differs", "layers", i)
        repeat = group.get("repeat", 1)
        if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 1:
            resolver.fail(f"layers[{i}].repeat is {_short(repeat)}; want a positive whole number", "layers", i, "repeat")
        changes = {switch: (value, path) for path, switch, value in _switches_of(group, ("layers", i))}
        whole = next((s for s in changes if s.split(".")[0] in (*_OF_THE_MODEL, "tied")), None)
        if whole:
            resolver.fail(f"layers[{i}]: {whole} is one for the whole model; state it outside of layers", "layers", i)
        unknown = next((s for s in changes if s not in sp.SWITCHES), None)
        if unknown:
            near = get_close_matches(unknown, sp.SWITCHES, n=1)
            resolver.fail(f"layers[{i}]: key {unknown!r} is not known" + (f"; did you mean {near[0]}?" if near else ""), "layers", i)
        groups.append((repeat, changes))
    return groups


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
        start += repeat
    return sp.Stack(
        name=view.stack,
        kinds=tuple(_kind(view, layer, ranges, len(kinds), i, layers) for i, (layer, ranges) in enumerate(kinds.items(), 1)),
        norm=_group(sp.Norm, "norm", {f: view.get(f"norm.{f}") for f in sp.Norm._fields}, 0),
        positions=_positions(view),
        embedding=_group(sp.Embedding, "embedding", {f: view.get(f"embedding.{f}") for f in sp.Embedding._fields}, 0),
        is_source=view.stack == "encoder" and len(view.resolver.row.stacks) > 1,
        extra=view.get("stack_extra"),
        d_model=view.get("d_model"),
    )


def _positions(view: View) -> sp.Positions:
    positions: sp.Positions = _group(sp.Positions, "positions", {f: view.get(f"positions.{f}") for f in sp.Positions._fields}, 0)
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
    index = str(i).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
    count = layers if kinds == 1 else size(f"L{index}", covered, f"layers {shown_ranges(ranges)}")
    return sp.LayerKind(layer, count, layer.runs, tuple(ranges))


def shown_ranges(ranges: list[tuple[int, int]]) -> str:
    """`0-2, 5, 7-31`."""
    return ", ".join(f"{a}-{b}" if a != b else f"{a}" for a, b in ranges)


_LAYER_SWITCHES = [f"{g}.{f}" for g in ("attention", "ffn", "norm") for f in sp.GROUPS[g]._fields] + ["parallel", "extra", "runs"]


def _layers(view: View, start: int, end: int, has_cross: bool) -> Iterator[tuple[sp.Layer, int, int]]:
    """(layer, first, last) for the layers from `start` up to `end`, like ones next to each other put together."""
    values = {switch: view.get(switch) for switch in _LAYER_SWITCHES}
    varied = [switch for switch, value in values.items() if isinstance(value, PerLayer)]
    if not varied:
        yield _layer(view, values, has_cross), start, end - 1
        return
    built: dict[tuple[Any, ...], sp.Layer] = {}
    for i in range(start, end):
        key = tuple(values[switch][i] for switch in varied)
        if key not in built:
            built[key] = _layer(view, {**values, **dict(zip(varied, key, strict=True))}, has_cross)
        yield built[key], i, i


def _layer(view: View, values: dict[str, Any], has_cross: bool) -> sp.Layer:
    attention = _attention(view, _group(sp.Attention, "attention", values, 0))
    ffn = _group(sp.Ffn, "ffn", values, 0)
    if ffn.kind == "moe":
        _check_experts(view, ffn)
    cross = attention._replace(relative=ZERO, window=ZERO) if has_cross else None
    return sp.Layer(attention, cross, ffn, _group(sp.Norm, "norm", values, 0), values["parallel"], values["extra"], values["runs"])


def _group(kind: Any, name: str, values: Mapping[str, Any], layer: int) -> Any:
    found = {f: values.get(f"{name}.{f}", values.get(f)) for f in kind._fields}
    return kind(**{f: v[layer] if isinstance(v, PerLayer) else v for f, v in found.items()})


def _attention(view: View, attention: sp.Attention) -> sp.Attention:
    """What follows from the other sizes of an attention: key/value heads, the heads' width, d_model where it is that."""
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
        view.fail(f"{names[0]} {heads.value} is not a multiple of {names[1]} {kv.value}; each key/value head serves as many query heads")
    d_model, d_head = view.get("d_model"), attention.d_head
    follows = not d_head or d_head.leaves()[0].origin == "d_model / n_heads"
    if not d_head:
        if d_model.value % heads.value:
            view.fail(f"{view.spelling('d_model')} {d_model.value} is not a multiple of {view.spelling('attention.n_heads')} {heads.value}; state d_head if that is meant")
        d_head = size("d_head", d_model.value // heads.value, "d_model / n_heads")
    width = attention.width or (d_model if follows else heads * d_head)
    return attention._replace(n_kv_heads=kv, d_head=d_head, width=width, d_v=attention.d_v or d_head)


def _check_experts(view: View, ffn: sp.Ffn) -> None:
    if not ffn.n_experts or not ffn.top_k:
        view.missing(view.spelling("ffn.top_k" if ffn.n_experts else "ffn.n_experts"))
    if ffn.top_k.value > ffn.n_experts.value:
        names = view.spelling("ffn.top_k"), view.spelling("ffn.n_experts")
        view.fail(f"{names[0]} {ffn.top_k.value} is more than {names[1]} {ffn.n_experts.value}")


__all__ = ["ONE", "Op", "Options", "Resolver", "View", "resolve", "shown_ranges"]
