"""A config as a family's row reads it: every key looked up once, checked, and marked as read.

`Resolver` holds what is read and which keys were read; a `View` looks at it from one stack (an encoder-decoder has two)
and, in a file of ours with unlike `layers`, from one group of them. Keys that nobody read are reported at the end: that
is how a feature that ffncalc doesn't know can't slip through as a wrong count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from ffncalc import spec as sp
from ffncalc.config import Config
from ffncalc.errors import InputError, nearest
from ffncalc.expr import Expr, size
from ffncalc.families.row import PerLayer, Row, said
from ffncalc.hidden import rule_width
from ffncalc.keys import OWN, WORDS, never_counts
from ffncalc.text import Misread, Path

MAX_UNLIKE_LAYERS = 100_000  # more would take seconds, and give a list of ranges that nobody reads
MAX_UNREAD = 20

_CORE = ("d_model", "n_layers", "n_vocab", "attention.n_heads", "ffn.d_ff")
_NEVER_ZERO = (*_CORE, "attention.n_kv_heads", "attention.d_head")
# Switches and groups that no layer has for itself.
OF_THE_MODEL = ("d_model", "n_layers", "n_vocab", "positions", "embedding")


class Options(NamedTuple):
    """What the command line may say over the file: the head, the vocabulary, the tie."""

    head: str | None = None
    n_vocab: int | None = None
    tied: bool | None = None

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
        self.no_default = {key for switch in _CORE if (key := self.key_of(switch))} if own else set()
        if own:
            self._translate_words()
            self._translate_groups()

    def key_of(self, switch: str) -> str | None:
        """The key that holds a switch; None where the row takes it from nowhere or works it out."""
        return next(iter(self.row.keys_of(switch)), None)

    def _translate_words(self) -> None:
        """Our words -> the keys that the row reads; where it reads none for a switch, the switch itself."""
        read = self.row.keys_read()
        for word, (switch, others) in WORDS.items():
            key = self.key_of(switch)
            elsewhere = read - {key}  # what the row reads for something else is no other spelling
            found = [k for k in (word, *others) if self.values.get(k) is not None and k not in elsewhere]
            if len(found) > 1:
                self.fail(f"{found[0]} and {found[1]} are two spellings of one size; leave one of them", found[1])
            if not found or found[0] == key:
                continue
            self.seen.add((found[0],))
            value = self.values.pop(found[0])
            if key:
                self.values[key] = value
                self.spelled[key] = found[0]
            else:
                self.stated[switch] = (value, (found[0],))

    def _translate_groups(self) -> None:
        """The groups of a file of ours (`attention: {...}`) -> the switches that they state."""
        for group in (*sp.GROUPS, "encoder", "decoder"):
            if not isinstance(self.values.get(group) or {}, dict):
                self.fail(f"{group} is {short(self.values[group])}; want a group, such as {group}: {{...}}", group)
        for path, switch, value in switches_of(self.values, ()):
            held = self.values.get(self.key_of(switch) or "")
            if value is not None and (switch in self.stated or held is not None):
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
        """An InputError that names the file, and the place of the key where it is known."""
        raise InputError(f"{self.config.at(*path)}: {what}")

    def _ignored(self, name: str) -> bool:
        """Whether the row lists the key as one that counts nothing; there, a name ending in * stands for all that start
        so."""
        ignores = self.row.ignores
        return name in ignores or any(entry.endswith("*") and name.startswith(entry[:-1]) for entry in ignores)

    def unread(self) -> Iterator[str]:
        """A sentence for each key that nothing has read and that may therefore have been meant to count; the first
        ones."""
        known = sorted(self.row.keys_read() | set(WORDS))
        found = list(self._unread(known))
        for name, path, names in found[:MAX_UNREAD]:
            near = nearest(name, names, n=1)
            yield f"{self.config.at(*path)}: key {name!r} was not read" + (f"; did you mean {near[0]}?" if near else "")
        if len(found) > MAX_UNREAD:
            yield f"{self.config.file}: {len(found) - MAX_UNREAD:,} more keys were not read"

    def _unread(self, known: list[str]) -> Iterator[tuple[str, Path, Collection[str]]]:
        """(key, its place, the keys it may have been meant for)."""
        own, names = self.config.kind == "own", frozenset(known)
        for name, value in self._flat(self.values):
            if (name,) in self.seen or name in names or self._ignored(name) or value in (None, {}):
                continue
            if never_counts(name.split(".")[-1], value) or (own and name in OWN):
                continue
            yield name, (name,), known
        for switch, (_, path) in self.stated.items():
            if path not in self.seen and switch not in sp.SWITCHES:
                yield switch, path, sp.SWITCHES

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


def switches_of(values: Mapping[str, Any], prefix: Path) -> Iterator[tuple[Path, str, Any]]:
    """(path, switch, value) of the groups of a file of ours: attention: {n_heads: 4} sets attention.n_heads."""
    for group, inside in values.items():
        if group in sp.GROUPS and isinstance(inside, dict):
            for field, value in inside.items():
                yield (*prefix, group, field), f"{group}.{_field(field)}", value
        elif group in ("encoder", "decoder") and isinstance(inside, dict):
            for path, switch, value in switches_of(inside, (*prefix, group)):
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
        for stated in (
            self.group.get(switch),
            resolver.stated.get(f"{self.stack}.{switch}"),
            resolver.stated.get(switch),
        ):
            if stated is not None and stated[0] is not None:
                resolver.seen.add(stated[1])
                return self._stated(switch, *stated)
            if stated is not None:
                resolver.seen.add(stated[1])
        says = resolver.row.says
        entry = says.get(f"{self.stack}.{switch}", says.get(switch, sp.SWITCHES[switch]))
        return said(entry, self, switch)

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
        origin = f"key {'.'.join(p for p in path if isinstance(p, str))}"
        return self._sizes(value, switch, origin, path, zero=switch not in _NEVER_ZERO)

    def _projections(self, value: Any, path: Path) -> str:
        letters = "qkvo" if value is True else "" if value is False else value
        if not isinstance(letters, (str, list)) or any(letter not in tuple("qkvo") for letter in letters):
            self.fail(f"attention.bias is {value!r}; want true, false or a list of q, k, v, o", *path)
        return "".join(letters)

    def _one_of(self, value: Any, choices: tuple[str, ...], path: Path) -> str:
        if value not in choices:
            near = nearest(str(value), choices, n=1)
            hint = f"did you mean {near[0]}?" if near else f"want one of {', '.join(choices)}"
            self.fail(f"{'.'.join(map(str, path))} is {value!r}; {hint}", *path)
        return str(value)

    # -------------------------------------------------------------- what readers use
    def size(self, name: str, switch: str, zero: bool = False) -> Any:
        """The size that a key holds (an Expr), a PerLayer of them where it holds a list, None where absent or null."""
        value, origin = self.resolver.raw(name)
        if value is None:
            return None
        return self._sizes(value, switch, origin, (self.resolver.spelled.get(name, name),), zero)

    def single(self, name: str, leaf: str, zero: bool = False) -> Expr:
        """The one size, called `leaf`, that a key holds for all layers; an error where it is absent or a list."""
        found: Expr | PerLayer | None = self.size(name, leaf, zero)
        if isinstance(found, PerLayer):
            self.fail(f"{name} is a list; want one size", name)
        return self.missing(name) if found is None else found

    def _sizes(self, value: Any, switch: str, origin: str, path: Path, zero: bool) -> Expr | PerLayer:
        leaf = self._leaf(switch)
        if isinstance(value, list) and switch.split(".", maxsplit=1)[0] not in OF_THE_MODEL:
            if len(value) != self.n_layers():
                self.fail(f"{path[-1]} has {len(value)} entries for {self.n_layers()} layers", *path)
            # Like layers are like to the last word: each says where its size first stands in the list.
            first = {v: i for i, v in reversed(list(enumerate(value))) if isinstance(v, int)}
            return PerLayer(
                size(leaf, self._whole(v, path, zero), f"{origin}[{first.get(v, i)}]") for i, v in enumerate(value)
            )
        if isinstance(value, dict) and "rule" in value and leaf == "d_ff":
            rule = rule_width(self.get("d_model").value, value, lambda what: self.fail(f"{path[-1]}: {what}", *path))
            return size(leaf, *rule)
        return size(leaf, self._whole(value, path, zero), origin)

    def _leaf(self, switch: str) -> str:
        name = switch.rsplit(".", maxsplit=1)[-1]
        beside_decoder = self.stack == "encoder" and len(self.resolver.row.stacks) > 1
        return "n_encoder_layers" if name == "n_layers" and beside_decoder else name

    def _whole(self, value: Any, path: Path, zero: bool) -> int:
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value < (0 if zero else 1):
            self._not_whole(value, path, zero)
        return value

    def _not_whole(self, value: Any, path: Path, zero: bool) -> NoReturn:
        wanted = "a whole number, zero or more" if zero else "a positive whole number"
        found = f"the text {str(value)!r}" if isinstance(value, str) else short(value)
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
            self.fail(f"{name} is {short(value)}; want a positive number, such as 1.3", name)
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
            self.fail(f"{name} is {short(value)}; want a list of layers", name)
        return [self._whole(entry, (name,), zero=True) for entry in value]

    def flag(self, name: str) -> bool:
        """Whether a key is true; absent is the family's default, and without one false."""
        value, _ = self.resolver.raw(name)
        if value not in (None, True, False):
            self.fail(f"{name} is {short(value)}; want true or false", name)
        return bool(value)

    def text(self, name: str) -> str | None:
        """A key's text."""
        value, _ = self.resolver.raw(name)
        if value is not None and not isinstance(value, str):
            self.fail(f"{name} is {short(value)}; want a name", name)
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
            self.fail(
                f"{layers:,} layers that differ among each other; at most {MAX_UNLIKE_LAYERS:,} can be told apart"
            )
        return layers

    def spelling(self, switch: str) -> str:
        """The key that a switch was read from, for a message."""
        key = self.resolver.key_of(switch)
        return self.resolver.spelled.get(key, key) if key else switch.rsplit(".", maxsplit=1)[-1]

    def missing(self, name: str) -> NoReturn:
        """The error for a size that the config has to state."""
        own = self.resolver.config.kind == "own"
        shown = next((w for w, (s, _) in WORDS.items() if own and name == self.resolver.key_of(s)), name)
        near = [key for key in nearest(shown, self.resolver.config.values, n=1) if (key,) not in self.resolver.seen]
        hint = f"; is {near[0]!r} meant for it?" if near else ""
        self.fail(f"{shown} is missing; {self.resolver.row.name} needs it, a positive whole number{hint}")

    def fail(self, what: str, *path: str | int) -> NoReturn:
        """An InputError that names the file, and the place of the key where it is known."""
        self.resolver.fail(what, *path)


def short(value: Any) -> str:
    """A value of a file as a message shows it: of bounded length."""
    if isinstance(value, bool):
        return str(value).lower()
    text = f"{value:,}" if isinstance(value, int) else repr(value)
    return text if len(text) <= 60 else text[:56] + " ..."
