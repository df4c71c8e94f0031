"""Readers: how a switch is taken from a config's keys. A handful, named for what they do; rows are written in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ffncalc.expr import ZERO, Expr, size
from ffncalc.families.row import PerLayer, Reader, keys_in, said
from ffncalc.ops import Op
from ffncalc.view import View

Or = str | Callable[[View], Any] | None


def _otherwise(view: View, other: Or) -> Any:
    return view.get(other) if isinstance(other, str) else other(view) if other else None


def key(name: str, or_: Or = None) -> Reader:
    """A size: a positive whole number, or a list of one for each layer. Absent: what `or_` gives, else an error.

    A null that stands in the file takes `or_` even where the family has a default, as it does in the classes: a null
    num_key_value_heads means as many as query heads.
    """

    def read(view: View, switch: str) -> Any:
        found = None if or_ and view.is_null(name) else view.size(name, switch)
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
    """A size for which a null that stands in the file means none at all (a window, a rank), as it does to the
    classes."""

    def read(view: View, switch: str) -> Any:
        if view.is_null(name):
            return ZERO
        return view.size(name, switch, zero=True) or ZERO

    return Reader((name,), read)


def when(name: str, value: Any, otherwise: Any = ZERO) -> Reader:
    """`value` (a reader or a constant) where the key is true, `otherwise` where it is false or absent."""

    def read(view: View, switch: str) -> Any:
        chosen = value if view.flag(name) else otherwise
        return said(chosen, view, switch)

    return Reader((name, *keys_in((value, otherwise))), read)


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

    def read(view: View, own: str) -> Any:
        chosen = view.get(switch)
        kinds = set(chosen) if isinstance(chosen, PerLayer) else {chosen}
        values = {kind: said(entry, view, own) for kind, entry in table.items() if kind in kinds}
        if not isinstance(chosen, PerLayer):
            return values[chosen]
        return PerLayer(_at(values[k], i) for i, k in enumerate(chosen))

    return Reader(keys_in(table.values()), read)


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

    def read(view: View, switch: str) -> Any:
        layers = view.n_layers()
        count = min(view.number(name), layers)
        return PerLayer([first] * count + [rest] * (layers - count))

    return Reader((name,), read)


def layer_types(name: str, table: Mapping[str, Any], or_: Any, keys: tuple[str, ...] = ()) -> Reader:
    """The key's list of layer kinds, through the table. Where it is absent: what `or_` gives, a value, a reader, or the
    class's rule (view, layer) -> kind, which reads `keys`.
    """

    def read(view: View, switch: str) -> Any:
        listed = view.words(name, tuple(table))
        if listed is None and callable(or_):
            listed = [or_(view, layer) for layer in range(view.n_layers())]
        if listed is None:
            return said(or_, view, switch)
        values = {kind: said(entry, view, switch) for kind, entry in table.items() if kind in listed}
        return PerLayer(values[k] for k in listed)

    read_keys = dict.fromkeys((name, *keys, *keys_in((*table.values(), or_))))
    return Reader(tuple(read_keys), read, holds_it=False)


def also(ops: Callable[[View], Iterable[Op]], *keys: str) -> Reader:
    """Operations that a family adds (`extra`, `stack_extra`, ...), made from `keys` and from other switches."""
    return Reader(keys, lambda view, switch: tuple(ops(view)), holds_it=False)


def derived(other: Callable[[View], Any], *keys: str) -> Reader:
    """A value that follows from other switches, and from `keys` of which none is its own size."""
    return Reader(keys, lambda view, switch: other(view), holds_it=False)


def divided(width: str, parts: str, name: str, whole: bool = True) -> Callable[[View], Any]:
    """width / parts, a size called `name`; an error where it doesn't come out whole (unless the class rounds down)."""

    def value(view: View) -> Any:
        a, b = view.get(width), view.get(parts)
        return PerLayer(share(view, a, each) for each in b) if isinstance(b, PerLayer) else share(view, a, b)

    def share(view: View, a: Expr, b: Expr) -> Expr:
        if a.value % b.value and whole:
            view.fail(f"{view.spelling(width)} {a.value} is not a multiple of {view.spelling(parts)} {b.value}")
        sign = "//" if a.value % b.value else "/"
        return size(
            name, a.value // b.value, f"{width.rsplit('.', maxsplit=1)[-1]} {sign} {parts.rsplit('.', maxsplit=1)[-1]}"
        )

    return value


def times(factor: int, switch: str, name: str) -> Callable[[View], Expr]:
    """factor x another size, as a size called `name`: it follows when that one changes."""
    return lambda view: size(name, factor * view.get(switch).value, f"{factor} x {switch.rsplit('.', maxsplit=1)[-1]}")
