"""A family is a row: how its architecture reads a config, said as what differs from the row it starts from.

`says` maps a switch of `ffncalc.spec` to a constant, or to a *reader*, which takes it from the config's keys. A row
made by `like` keeps all that its base says and changes what it names. `defaults` holds what the reference class takes
where a key is absent or null: defaults belong to the family, never to ffncalc.

A reader is called with the view (the config, seen from one stack) and the switch's name; it returns the value of the
switch, or a `PerLayer` of values where they differ from layer to layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ffncalc.ops import Op
    from ffncalc.spec import Spec


class PerLayer(tuple[Any, ...]):
    """One value for each layer of a stack, in order."""

    __slots__ = ()


class Reader(NamedTuple):
    """How a switch is read: the config keys it looks at, and the function that does.

    `holds_it`: the first key holds the switch's own size, so a word of ours ("d_ff") is another spelling of that key.
    """

    keys: tuple[str, ...]
    read: Callable[[Any, str], Any]
    holds_it: bool = True


def said(entry: Any, view: Any, switch: str) -> Any:
    """What an entry of a row says for a switch: what its reader finds, or the constant that it is."""
    return entry.read(view, switch) if isinstance(entry, Reader) else entry


def keys_in(entries: Iterable[Any]) -> tuple[str, ...]:
    """The keys that any of the entries reads."""
    return tuple(key for entry in entries if isinstance(entry, Reader) for key in entry.keys)


HeadBuilder = Callable[["Spec"], "tuple[Op, ...]"]


class Row(NamedTuple):
    """One architecture.

    `heads`: the heads it may have by name, the family's own first. `stacks`: those that run, an encoder before a
    decoder. `ignores`: keys that the class has and that change no count (t2u_*: all that start so). `spellings`: other
    names of keys, {other: the key read}. `by_head`: the row to take instead where another head means other stacks (a
    BART that is only a decoder). `flops`: why its FLOPs are not counted, or nothing. `note`: what a reader of
    `ffncalc families` ought to know.
    """

    name: str
    source: str
    says: Mapping[str, Any] = {}
    defaults: Mapping[str, Any] = {}
    heads: Mapping[str, HeadBuilder] = {}
    model_types: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ("decoder",)
    ignores: tuple[str, ...] = ()
    spellings: Mapping[str, str] = {}
    by_head: Mapping[str, Row] = {}
    flops: str = ""
    note: str = ""

    def keys_read(self) -> set[str]:
        """Every key that it reads."""
        return set(keys_in(self.says.values()))

    def keys_of(self, switch: str) -> list[str]:
        """The keys that hold a switch: one, or one a stack where each has its own."""
        entries = (self.says.get(name) for name in (switch, *(f"{stack}.{switch}" for stack in self.stacks)))
        held = (entry.keys[0] for entry in entries if isinstance(entry, Reader) and entry.keys and entry.holds_it)
        return list(dict.fromkeys(held))

    def like(
        self,
        name: str,
        source: str,
        says: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> Row:
        """A row that starts from this one. It is read for the model types given, else for that of its name."""
        merged = {"model_types": (), "note": "", "by_head": {}, **changes}
        merged["ignores"] = self.ignores + tuple(changes.get("ignores", ()))
        merged["spellings"] = {**self.spellings, **changes.get("spellings", {})}
        return self._replace(
            name=name,
            source=source,
            says={**self.says, **(says or {})},
            defaults={**self.defaults, **(defaults or {})},
            **merged,
        )
