"""Whether an assertion holds of a model's numbers: a tree as in the JSON of `params` and `flops`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from ffncalc.checks.expression import Assertion, Binary, Choices, Negative, Node, Number, Path, Tolerance, paths
from ffncalc.errors import InputError, nearest
from ffncalc.number import exactly, shown


class Numbers(NamedTuple):
    """A model's numbers by their path, and the groups in which a name without a dot is looked for."""

    tree: Mapping[str, Any]
    groups: tuple[str, ...] = ()
    of: str = ""  # whose they are, for a message


class Interval(NamedTuple):
    """From the least to the most."""

    least: Fraction
    most: Fraction


Value = Fraction | Interval | tuple[Fraction | Interval, ...]  # a tuple: any one of them
Models = Callable[[str | None], Numbers]  # the numbers of a model that an assertion names; None: of the one under check

HOLDS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
ARITHMETIC: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
}


def failure(assertion: Assertion, models: Models) -> str | None:
    """Why the assertion doesn't hold; None where it does. Raises InputError where that can't be decided."""
    for index in range(_repeats(assertion, models)):
        reason = _failure(assertion, lambda path, i=index: _number(path, models(path.model), i))  # type: ignore[misc]
        if reason:
            return reason.replace("[*]", f"[{index}]")
    return None


def found(path: Path, numbers: Numbers) -> Any:
    """What stands at a path, for a table: a number, or the list of them where the path says [*]."""
    return _at(path, numbers, None)


def _failure(assertion: Assertion, find: Callable[[Path], Fraction]) -> str | None:
    values = [_value(side.node, find) for side in assertion.sides]
    for i, operator in enumerate(assertion.operators):
        left, right = values[i], values[i + 1]
        if not _compare(operator, left, right, assertion.text):
            return _reason(assertion.sides[i].text, operator, left, right)
    return None


def _reason(text: str, operator: str, left: Value, right: Value) -> str:
    wanted = f"{operator} {_text(right)}"
    if not isinstance(right, Fraction):
        wanted = ("" if operator == "==" else "not ") + _text(right)
    off = ""
    if isinstance(left, Fraction) and isinstance(right, Fraction) and right:
        share = (left - right) / abs(right)
        if 10 > abs(share) >= Fraction(1, 1000):
            off = f" ({'+' if share > 0 else ''}{shown(Fraction(round(share * 1000), 10))} %)"
    return f"{text} is {_text(left)}, wanted {wanted}{off}"


def _text(value: Value) -> str:
    if isinstance(value, Fraction):
        return shown(value)
    if isinstance(value, Interval):
        return f"{shown(value.least)} to {shown(value.most)}"
    return f"one of {', '.join(map(_text, value))}"


def _compare(operator: str, left: Value, right: Value, text: str) -> bool:
    if type(right) is tuple:
        return any(_compare(operator, left, one, text) for one in right)
    if operator in ("==", "!="):
        a, b = _interval(left), _interval(right)
        return (a.least <= b.most and b.least <= a.most) == (operator == "==")
    if not isinstance(left, Fraction) or not isinstance(right, Fraction):
        raise InputError(f"{text}: ± goes with == and !=, not with {operator}")
    return HOLDS[operator](left, right)


def _interval(value: Any) -> Interval:
    return value if isinstance(value, Interval) else Interval(value, value)


def _value(node: Node, find: Callable[[Path], Fraction]) -> Value:
    if isinstance(node, Tolerance):
        middle, off = _number_of(node.middle, find), abs(_number_of(node.off, find))
        off *= abs(middle) if node.relative else 1
        return Interval(middle - off, middle + off)
    if isinstance(node, Choices):
        return tuple(_value(one, find) for one in node.of)  # type: ignore[misc]  # there are no choices inside choices
    return _number_of(node, find)


def _number_of(node: Node, find: Callable[[Path], Fraction]) -> Fraction:
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Path):
        return find(node)
    if isinstance(node, Negative):
        return -_number_of(node.of, find)
    assert isinstance(node, Binary)  # the grammar has a tolerance only at the end of a side
    right = _number_of(node.right, find)
    if node.operator in ("/", "%") and not right:
        raise InputError(f"an assertion divides by zero ({node.operator})")
    return ARITHMETIC[node.operator](_number_of(node.left, find), right)


# ------------------------------------------------------------------ finding a number
def _repeats(assertion: Assertion, models: Models) -> int:
    """How many times an assertion is held against the numbers: once, or for each entry of the list that has [*]."""
    lengths = {}
    for side in assertion.sides:
        for path in paths(side.node):
            if "*" in path.steps:
                values = _at(path, models(path.model), None)
                lengths[len(values) if isinstance(values, list) else 1] = path.text
    if len(lengths) > 2 or (len(lengths) == 2 and 1 not in lengths):
        raise InputError(f"{assertion.text}: {' and '.join(lengths.values())} are lists of unlike lengths")
    return max(lengths, default=1)


def _number(path: Path, numbers: Numbers, index: int) -> Fraction:
    value = _at(path, numbers, index)
    if value is None:
        raise InputError(
            f"{path.text}{_whose(numbers)} is not known (null); nothing can be asserted of it{_vocabulary(numbers)}"
        )
    if isinstance(value, list):
        raise InputError(
            f"{path.text}{_whose(numbers)} is a list of {len(value)}; take one, {path.text}[0], or each, {path.text}[*]"
        )
    if isinstance(value, Mapping):
        raise InputError(
            f"{path.text}{_whose(numbers)} is a group; name a number of it: {path.text}.{next(iter(value), 'total')}"
        )
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{path.text}{_whose(numbers)} is text; only numbers can be checked")
    return exactly(value)


def _vocabulary(numbers: Numbers) -> str:
    dims = numbers.tree.get("dims")
    return "; state the vocabulary's size" if isinstance(dims, Mapping) and dims.get("n_vocab", 0) is None else ""


def _whose(numbers: Numbers) -> str:
    return f" of {numbers.of}" if numbers.of else ""


def _at(path: Path, numbers: Numbers, index: int | None) -> Any:
    """What stands at a path. For [*] the entry `index` (what is no list stands for each), or all of them for None."""
    value: Any = numbers.tree
    steps = path.steps
    if sum(isinstance(step, str) and step != "*" for step in steps) == 1:
        groups = (numbers.tree[name] for name in numbers.groups if isinstance(numbers.tree.get(name), Mapping))
        value = next((group for group in groups if steps[0] in group), value)
    for i, step in enumerate(steps):
        if step == "*" and isinstance(value, list) and index is None:
            return [_inside(entry, steps[i + 1 :], path, numbers) for entry in value]
        value = _step(value, step if step != "*" else index or 0, path, numbers, each=step == "*")
    return value


def _inside(value: Any, steps: tuple[str | int, ...], path: Path, numbers: Numbers) -> Any:
    for step in steps:
        value = _step(value, 0 if step == "*" else step, path, numbers, each=step == "*")
    return value


def _step(value: Any, step: str | int, path: Path, numbers: Numbers, each: bool) -> Any:
    if isinstance(step, str) and isinstance(value, Mapping) and step in value:
        return value[step]
    if isinstance(step, int) and isinstance(value, list) and step < len(value):
        return value[step]
    if each and not isinstance(value, (list, Mapping)):
        return value
    raise unknown(path, numbers)


def unknown(path: Path, numbers: Numbers) -> InputError:
    """The error for a path at which nothing stands, with the nearest that there is."""
    known = list(names(numbers.tree))
    short = (
        [name for group in numbers.groups for name in numbers.tree.get(group) or ()] if path.text.isidentifier() else []
    )
    bare = {name.rpartition(".")[2]: name for name in reversed(known)}
    last = path.text.rpartition(".")[2]
    near = nearest(path.text, short, n=1)
    near = near or ([bare[last]] if last in bare and bare[last] != path.text else nearest(path.text, known, n=1))
    near = near or [bare[name] for name in nearest(last, bare, n=1)]
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known[:4])}, ..."
    return InputError(f"{path.text}{_whose(numbers)} is no number that ffncalc reports; {hint}")


def names(tree: Any, prefix: str = "") -> Iterator[str]:
    """The path of every number of a tree."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from names(value, f"{prefix}.{key}" if prefix else key)
    elif isinstance(tree, list) and tree and isinstance(tree[0], Mapping):
        for i, value in enumerate(tree[:20]):
            yield from names(value, f"{prefix}[{i}]")
    elif isinstance(tree, (int, float)) or tree is None or (isinstance(tree, list) and tree):
        yield prefix
