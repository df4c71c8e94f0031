"""Two models, and what the step from one to the other changed: sizes and switches, then every number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ffncalc.expr import Expr
from ffncalc.model import Model
from ffncalc.number import exactly
from ffncalc.report.compare import compare
from ffncalc.report.flops import Flops
from ffncalc.report.params import Params
from ffncalc.spec import MEANING, Spec

_FOLLOWS = ("attention.width", "ffn.activation")  # given by others, and without a count


class Change(NamedTuple):
    """What stood before and what stands now; None where there is nothing of the name."""

    name: str
    old: Any
    new: Any

    @property
    def off(self) -> float | None:
        """The change as a share of the old number."""
        if not all(isinstance(value, (int, float)) for value in (self.old, self.new)) or not self.old:
            return None
        share = (exactly(self.new) - exactly(self.old)) / abs(exactly(self.old))
        return float(share) if abs(share) < 10**9 else None


class Diff(NamedTuple):
    """All that `ffncalc diff` says. FLOPs are of `seq_len` tokens for both."""

    old: Params
    new: Params
    sizes: tuple[Change, ...]
    numbers: tuple[Change, ...]
    seq_len: int
    warnings: tuple[str, ...]


def diff(old: Model, new: Model, seq_len: int | None = None) -> Diff:
    """What differs between two models. Without `seq_len` the context is the shorter of the models' defaults."""
    both = compare([old, new], seq_len)
    (old_params, old_flops), (new_params, new_flops) = both.models
    return Diff(
        old=old_params,
        new=new_params,
        sizes=tuple(_changes(_sizes(old.spec), _sizes(new.spec))),
        numbers=tuple(_changes(_numbers(old_params, old_flops), _numbers(new_params, new_flops))),
        seq_len=both.seq_len,
        warnings=both.warnings,
    )


def _changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            yield Change(name, old.get(name), new.get(name))


def _numbers(params: Params, flops: Flops | None) -> dict[str, Any]:
    """Every number of both reports, by its path in the JSON."""
    found = {f"params.{name}": _plain(number) for name, number in params.numbers().items()}
    found["ffn_share"] = params.ffn_share
    if flops:
        for group, kinds in flops.groups().items():
            found |= {f"flops.{group}.{kind}": number.value for kind, number in kinds.items()}
        found["crossover_seq_len"] = flops.crossover_seq_len
    return found


def _sizes(spec: Spec) -> dict[str, Any]:
    """Every switch of a model, of each stack where there are two; the distinct values where layers differ."""
    found: dict[str, Any] = {"family": spec.family, "head": spec.head, "tied": spec.tied}
    found |= {"d_model": spec.d_model.value, "n_vocab": _plain(spec.n_vocab)}
    for stack in spec.stacks:
        prefix = f"{stack.name}." if len(spec.stacks) > 1 else ""
        found[f"{prefix}n_layers"] = stack.n_layers
        if len(stack.kinds) > 1:
            found[f"{prefix}layers of each kind"] = " + ".join(f"{kind.n_stored.value:,}" for kind in stack.kinds)
        layers = [kind.layer for kind in stack.kinds]
        groups: dict[str, list[Any]] = {"attention": [x.attention for x in layers], "ffn": [x.ffn for x in layers]}
        groups |= {
            "norm": [*(x.norm for x in layers), stack.norm],
            "positions": [stack.positions],
            "embedding": [stack.embedding],
        }
        for group, records in groups.items():
            for field in records[0]._fields:
                if (name := f"{group}.{field}") in MEANING and name not in _FOLLOWS:
                    found[prefix + name] = _distinct(getattr(record, field) for record in records)
        found[f"{prefix}parallel"] = _distinct(x.parallel for x in layers)
    return found


def _distinct(values: Iterable[Any]) -> Any:
    kept = list(dict.fromkeys(map(_plain, values)))
    return kept[0] if len(kept) == 1 else "/".join(map(str, kept))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Expr) else value.__name__ if callable(value) else value
