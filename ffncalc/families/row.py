"""A family is a row: how its architecture reads a config, said as what differs from the row it starts from.

`says` maps a switch of `ffncalc.spec` to a constant, or to a *reader*, which takes it from the config's keys. A row made
by `like` keeps all that its base says and changes what it names. `defaults` holds what the reference class takes where a
key is absent or null: defaults belong to the family, never to ffncalc.

A reader is called with the view (the config, seen from one stack) and the switch's name; it returns the value of the
switch, or a `PerLayer` of values where they differ from layer to layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ffncalc.expr import ZERO, Expr, size

if TYPE_CHECKING:
    from ffncalc.ops import Op
    from ffncalc.resolve import View
    from ffncalc.spec import Spec


class PerLayer(tuple[Any, ...]):
    """One value for each layer of a stack, in order."""

    __slots__ = ()


class Reader(NamedTuple):
    """How a switch is read: the config keys it looks at, and the function that does.

    `holds_it`: the first key holds the switch's own size, so a word of ours ("d_ff") is another spelling of that key.
    """

    keys: tuple[str, ...]
    read: Callable[[View, str], Any]
    holds_it: bool = True


HeadBuilder = Callable[["Spec"], "tuple[Op, ...]"]


class Row(NamedTuple):
    """One architecture.

    `heads`: the heads it may have by name, the family's own first. `stacks`: those that run, an encoder before a decoder.
    `ignores`: keys that the class has and that change no count (t2u_*: all that start so). `spellings`: other names of keys, {other: the key read}.
    `by_head`: the row to take instead where another head means other stacks (a BART that is only a decoder).
    `flops`: why its FLOPs are not counted, or nothing; `refuses`: why it is not counted at all, or nothing. `note`: what a reader of `ffncalc families` ought to know.
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
    refuses: str = ""
    note: str = ""

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


# ------------------------------------------------------------------ readers
Or = str | Callable[["View"], Any] | None


def _otherwise(view: View, other: Or) -> Any:
    return view.get(other) if isinstance(other, str) else other(view) if other else None


def key(name: str, or_: Or = None) -> Reader:
    """A size: a positive whole number, or a list of one for each layer. Absent: what `or_` gives, else an error."""

    def read(view: View, switch: str) -> Any:
        found = view.size(name, switch)
        if found is None:
            found = _otherwise(view, or_)
        return view.missing(name) if found is None else found

    return Reader((name,), read)


def count(name: str, or_: Or = None) -> Reader:
    """The same for a number that may be zero or absent, which is ZERO unless `or_` says otherwise."""

    def read(view: View, switch: str) -> Any:
        found = view.size(name, switch, zero=True)
        return found if found is not None else _otherwise(view, or_) or ZERO

    return Reader((name,), read)


def nullable(name: str) -> Reader:
    """A size for which a null that stands in the file means none at all (a window, a rank), as it does to the classes."""

    def read(view: View, switch: str) -> Any:
        if view.is_null(name):
            return ZERO
        return view.size(name, switch, zero=True) or ZERO

    return Reader((name,), read)


def when(name: str, value: Any, otherwise: Any = ZERO) -> Reader:
    """`value` (a reader or a constant) where the key is true, `otherwise` where it is false or absent."""

    def read(view: View, switch: str) -> Any:
        chosen = value if view.flag(name) else otherwise
        return chosen.read(view, switch) if isinstance(chosen, Reader) else chosen

    return Reader((name, *(k for side in (value, otherwise) if isinstance(side, Reader) for k in side.keys)), read)


def flag(name: str, yes: Any = True, no: Any = False) -> Reader:
    """`yes` where the key is true, `no` where it is false or absent."""
    return Reader((name,), lambda view, switch: yes if view.flag(name) else no)


def word(name: str, table: Mapping[str, Any]) -> Reader:
    """What the table has for the key's text; any other text is an error that lists those it knows."""
    return Reader((name,), lambda view, switch: table[view.choice(name, tuple(table))])


def text(name: str, default: str) -> Reader:
    """The key's text as it stands (the name of an activation), which changes no count."""
    return Reader((name,), lambda view, switch: view.text(name) or default)


def by(switch: str, table: Mapping[str, Any]) -> Reader:
    """What the table has for the value of another switch, layer by layer where that one differs between layers."""
    keys = tuple(k for entry in table.values() if isinstance(entry, Reader) for k in entry.keys)

    def read(view: View, own: str) -> Any:
        chosen = view.get(switch)
        kinds = set(chosen) if isinstance(chosen, PerLayer) else {chosen}
        values = {k: entry.read(view, own) if isinstance(entry, Reader) else entry for k, entry in table.items() if k in kinds}
        if not isinstance(chosen, PerLayer):
            return values[chosen]
        return PerLayer(_at(values[k], i) for i, k in enumerate(chosen))

    return Reader(keys, read)


def _at(value: Any, layer: int) -> Any:
    return value[layer] if isinstance(value, PerLayer) else value


def each_layer(keys: tuple[str, ...], value: Callable[[View, int], Any]) -> Reader:
    """`value(view, i)` for every layer i."""
    return Reader(keys, lambda view, switch: PerLayer(value(view, i) for i in range(view.n_layers())))


def in_first_layer(name: str) -> Reader:
    """The key's size in the first layer and ZERO in the others: a table that one layer holds for its whole stack."""

    def read(view: View, switch: str) -> Any:
        held = view.size(name, switch) or view.missing(name)
        return PerLayer([held] + [ZERO] * (view.n_layers() - 1))

    return Reader((name,), read)


def first_layers(name: str, first: Any, rest: Any) -> Reader:
    """`first` for as many layers as the key says, `rest` for those after (DeepSeek's first_k_dense_replace)."""
    return each_layer((name,), lambda view, i: first if i < view.number(name) else rest)


def layer_types(name: str, table: Mapping[str, Any], or_: Any, keys: tuple[str, ...] = ()) -> Reader:
    """The key's list of layer kinds, through the table. Where it is absent: what `or_` gives, a value, a reader, or the
    class's rule (view, layer) -> kind, which reads `keys`.
    """

    def read(view: View, switch: str) -> Any:
        listed = view.words(name, tuple(table))
        if listed is None and callable(or_):
            listed = [or_(view, layer) for layer in range(view.n_layers())]
        if listed is None:
            return or_.read(view, switch) if isinstance(or_, Reader) else or_
        values = {k: v.read(view, switch) if isinstance(v, Reader) else v for k, v in table.items() if k in listed}
        return PerLayer(values[k] for k in listed)

    read_keys = (name, *keys, *(k for v in (*table.values(), or_) if isinstance(v, Reader) for k in v.keys))
    return Reader(tuple(dict.fromkeys(read_keys)), read, holds_it=False)


def sized(view: View, name: str, leaf: str) -> Expr:
    """The one size that a key holds, called `leaf` in formulas; an error where it is absent or a list."""
    found = view.size(name, leaf)
    if found is None:
        view.missing(name)
    return found if isinstance(found, Expr) else view.fail(f"{name} has to be one number", name)


def also(ops: Callable[[View], Iterable[Op]], *keys: str) -> Reader:
    """Operations that a family adds (`extra`, `stack_extra`, ...), made from `keys` and from other switches."""
    return Reader(keys, lambda view, switch: tuple(ops(view)), holds_it=False)


def derived(other: Callable[[View], Any]) -> Reader:
    """A value that follows from other switches."""
    return Reader((), lambda view, switch: other(view))


def divided(width: str, parts: str, name: str, whole: bool = True) -> Callable[[View], Any]:
    """width / parts, a size called `name`; an error where it doesn't come out whole (unless the class rounds down)."""

    def value(view: View) -> Any:
        a, b = view.get(width), view.get(parts)
        return PerLayer(share(view, a, each) for each in b) if isinstance(b, PerLayer) else share(view, a, b)

    def share(view: View, a: Expr, b: Expr) -> Expr:
        if a.value % b.value and whole:
            view.fail(f"{view.spelling(width)} {a.value} is not a multiple of {view.spelling(parts)} {b.value}")
        sign = "//" if a.value % b.value else "/"
        return size(name, a.value // b.value, f"{width.rsplit('.', maxsplit=1)[-1]} {sign} {parts.rsplit('.', maxsplit=1)[-1]}")

    return value


def times(factor: int, switch: str, name: str) -> Callable[[View], Expr]:
    """factor x another size, as a size called `name`: it follows when that one changes."""
    return lambda view: size(name, factor * view.get(switch).value, f"{factor} x {switch.rsplit('.', maxsplit=1)[-1]}")
