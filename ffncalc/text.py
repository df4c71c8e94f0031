"""YAML and JSON text -> plain values, each key's line and column kept, and nothing ambiguous let through.

YAML is read from libyaml's events rather than by a loader, because that is what makes it safe and exact: depth and size
are bounded while reading, aliases can't multiply, a key that stands twice is an error with its place, and a number
means what it looks like (YAML 1.1 reads `010` as 8, `1:30` as 90 and `1e4` as text; here each is an error that says
what to write).
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from ffncalc.errors import InputError

MAX_BYTES = 16 * 2**20
_MAX_DEPTH = 40
MAX_VALUES = 250_000
_MAX_DIGITS = 1000

Path = tuple[str | int, ...]


class Text(NamedTuple):
    """What a text held, and where each of its keys and entries stands ((line, column) from 1, by path; empty for
    JSON)."""

    values: Any
    places: dict[Path, tuple[int, int]]


def parse(
    text: str, file: str, as_json: bool | None = None, decimal: Callable[[str], Any] = float, bounded: bool = True
) -> Text:
    """The values of a YAML or JSON text. Raises InputError with file, line and column where it can't be read.

    `decimal` makes a value of a YAML number that has a point (Misread keeps it as it is written); `bounded` refuses
    JSON of more than MAX_VALUES values (YAML is bounded in any case).
    """
    text = text.removeprefix("\ufeff")
    if as_json is None:
        as_json = bool(re.match(r'\s*(\{\s*["}]|\[)', text))
    if as_json and bounded and text.count(",") + text.count("{") + text.count("[") > MAX_VALUES:
        raise InputError(f"{file}: more than {MAX_VALUES:,} values; a config has a few dozen")
    return Text(_json(text, file), {}) if as_json else _yaml(text, file, decimal)


# ------------------------------------------------------------------ JSON
def _json(text: str, file: str) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) < len(items):
            seen: set[str] = set()
            twice = next(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise InputError(f"{file}: key {twice!r} stands twice; leave one of them")
        return result

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise InputError(f"{file}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{file}: nested too deeply; a config has a few levels") from None
    except ValueError:
        raise InputError(f"{file}: a number of more digits than can be read") from None


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError
    return int(text)


# ------------------------------------------------------------------ YAML
_NULL = ("", "~", "null", "Null", "NULL")
_BOOL = {"true": True, "false": False} | dict.fromkeys(("True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True)
_BOOL |= dict.fromkeys(("False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False)
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*(_[0-9]+)*)$")
_FLOAT = re.compile(
    r"[-+]?(?=\.?[0-9])([0-9]+(_[0-9]+)*)?\.[0-9]*([eE][-+][0-9]+)?$|[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"
)
_MISREAD = re.compile(r"[-+]?(0[0-9_]+|0[xob][0-9a-fA-F_]+|[0-9][0-9_]*(:[0-5]?[0-9])+|\.(inf|Inf|INF|nan|NaN|NAN))$")


class Misread(str):
    """Plain YAML text that looks like a number and that YAML does not read as one (`1e4`)."""

    __slots__ = ()


class _Composer:
    """Builds values from libyaml's events, with bounds; one instance a text."""

    def __init__(self, events: Any, file: str, decimal: Callable[[str], Any]) -> None:
        self.events = events
        self.file = file
        self.decimal = decimal
        self.places: dict[Path, tuple[int, int]] = {}
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.nodes = 0

    def fail(self, mark: Any, what: str) -> NoReturn:
        raise InputError(f"{self.file}: line {mark.line + 1}, column {mark.column + 1}: {what}")

    def node(self, event: Any, path: Path) -> Any:
        """The value that starts with `event`."""
        kind = type(event).__name__
        before = self.nodes
        self.count(event, 1)
        if kind == "AliasEvent":
            return self.alias(event)
        if getattr(event, "tag", None) not in (None, "!"):
            self.fail(event.start_mark, f"the tag {event.tag} is not used here; remove it")
        if len(path) > _MAX_DEPTH:
            self.fail(event.start_mark, "nested too deeply; a config has a few levels")
        readers: dict[str, Callable[[Any, Path], Any]] = {"ScalarEvent": self.scalar, "MappingStartEvent": self.mapping}
        reader: Callable[[Any, Path], Any] = readers.get(kind, self.sequence)
        value = reader(event, path)
        if event.anchor:
            self.anchors[event.anchor] = (value, self.nodes - before)
        return value

    def count(self, event: Any, nodes: int) -> None:
        self.nodes += nodes
        if self.nodes > MAX_VALUES:
            self.fail(
                event.start_mark, f"more than {MAX_VALUES:,} values, aliases written out; a config has a few dozen"
            )

    def alias(self, event: Any) -> Any:
        if event.anchor not in self.anchors:
            self.fail(event.start_mark, f"the alias *{event.anchor} has no anchor before it")
        value, size = self.anchors[event.anchor]
        self.count(event, size)
        return value

    def mapping(self, start: Any, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for event in self.until("MappingEndEvent"):
            key = self.node(event, (*path, ""))
            if not isinstance(key, str):
                self.fail(event.start_mark, f"a key must be a name, and this is {_shown(key)}")
            if key in result:
                self.fail(event.start_mark, f"key {key!r} stands twice; leave one of them")
            self.places[*path, key] = (event.start_mark.line + 1, event.start_mark.column + 1)
            result[key] = self.node(next(self.events), (*path, key))
        return result

    def sequence(self, start: Any, path: Path) -> list[Any]:
        result: list[Any] = []
        for i, event in enumerate(self.until("SequenceEndEvent")):
            self.places[*path, i] = (event.start_mark.line + 1, event.start_mark.column + 1)
            result.append(self.node(event, (*path, i)))
        return result

    def until(self, end: str) -> Any:
        for event in self.events:
            if type(event).__name__ == end:
                return
            yield event

    def scalar(self, event: Any, path: Path) -> Any:
        text = event.value
        if event.style:  # quoted or block text is text
            return text
        if text in _NULL:
            return None
        if text in _BOOL:
            return _BOOL[text]
        if _MISREAD.match(text):
            self.fail(event.start_mark, f"{text} does not read the same everywhere; write a plain decimal number")
        return self.number(event, text)

    def number(self, event: Any, text: str) -> Any:
        try:
            if _INT.match(text):
                return _whole(text)
            if _FLOAT.match(text):
                return self.decimal(text) if "." in text and not re.search(r"[eE][0-9]", text) else Misread(text)
        except ValueError:
            self.fail(event.start_mark, "a number of more digits than can be read")
        return text


def _yaml(text: str, file: str, decimal: Callable[[str], Any]) -> Text:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        composer = _Composer(iter(yaml.parse(text, Loader=loader)), file, decimal)
        return Text(_document(composer), composer.places)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise InputError(f"{file}: {place}not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise InputError(
            f"{file}: not YAML: {getattr(error, 'reason', '') or 'a character that YAML does not allow'}"
        ) from None


def _document(composer: _Composer) -> Any:
    value = None
    documents = 0
    for event in composer.events:
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            documents += 1
            if documents > 1:
                composer.fail(event.start_mark, "a second document; one file holds one config")
        elif kind not in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"):
            value = composer.node(event, ())
    return value


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) < 40 else text[:36] + " ..."


def to_yaml(values: dict[str, Any]) -> str:
    """A config as YAML text, its keys in the order they have, small mappings on one line."""
    import yaml

    text: str = yaml.safe_dump(values, sort_keys=False, default_flow_style=None, allow_unicode=True)
    return text
