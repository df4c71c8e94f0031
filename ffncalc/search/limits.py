"""The space that a budget is searched in: its sizes, which may stand together, and the config they go into."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

from ffncalc import edit
from ffncalc.errors import InputError
from ffncalc.report.dims import dims
from ffncalc.search.space import Axis, Point

D_MODEL, N_LAYERS, ASPECT = range(256, 32769, 128), range(1, 257), (64.0, 192.0)
GATED = {"glu": "sigmoid", "bilinear": "linear", "reglu": "relu", "geglu": "gelu", "swiglu": "silu"}
PLAIN = {"relu": "relu", "gelu": "gelu", "swish": "silu", "relu2": "relu2"}
VARIANTS = (*PLAIN, *GATED)


class Limits(NamedTuple):
    """The sizes of a search; an empty list leaves a size to follow, or as the config has it."""

    d_model: Sequence[int]
    n_layers: Sequence[int]
    n_heads: Sequence[int]
    n_kv_heads: Sequence[int]
    d_ff: Sequence[int]
    n_vocab: Sequence[int]
    d_head: int
    tensor_parallel: int
    aspect: tuple[float, float] | None  # d_model / n_layers, from and to


class Part(NamedTuple):
    """One choice of the sizes that others follow from, and the plain ones that may stand beside them."""

    point: Point
    plain: tuple[Axis, ...]


def llama_like(ffn: str, d_head: int | None, multiple_of: int, n_vocab: int, tied: bool) -> dict[str, Any]:
    """The config that a search starts from unless told: LLaMA's family, or its like with another FFN."""
    if ffn not in VARIANTS:
        raise InputError(f"FFN {ffn!r} is not known; want one of {', '.join(VARIANTS)}")
    sizes: dict[str, Any] = {"d_model": 4096, "n_layers": 32, "n_heads": 32}
    sizes |= {"d_head": d_head} if d_head else {}
    rule: dict[str, Any] = {"rule": "llama" if ffn in GATED else "4d", "multiple_of": multiple_of}
    end = {"d_ff": rule, "n_vocab": n_vocab, "tied": tied}
    if ffn == "swiglu":
        return {"family": "llama", **sizes, **end}
    kind = {"kind": "gated" if ffn in GATED else "plain", "activation": (GATED | PLAIN)[ffn]}
    return {"family": "decoder", **sizes, **end, "ffn": kind}


def parts(start: edit.Base, limits: Limits, dropped: Counter[str]) -> Iterator[Part]:
    """The choices of d_model and heads that the limits allow, with the layers, widths and vocabularies beside each.

    `dropped` counts, for each limit, the choices that it ruled out.
    """
    t = limits.tensor_parallel
    d_ff = _kept(limits.d_ff, t, f"d_ff must divide by {t}", dropped)
    n_vocab = _kept(limits.n_vocab, t, f"n_vocab must divide by {t}", dropped)
    if bool(limits.d_ff) > bool(d_ff) or bool(limits.n_vocab) > bool(n_vocab):
        return
    for d_model in limits.d_model:
        layers = _layers(limits, d_model)
        if not layers:
            dropped[f"d_model / n_layers must be in {shown_aspect(limits)}"] += 1
            continue
        plain = tuple(
            Axis(name, tuple(values), f"key {edit.key_of(start, name)}")
            for name, values in (("n_layers", layers), ("d_ff", d_ff), ("n_vocab", n_vocab))
            if values
        )
        for heads, kv in product(_heads(limits, d_model, dropped), limits.n_kv_heads or (0,)):
            if _split(heads, t, "n_heads", dropped) and _split(kv, t, "n_kv_heads", dropped):
                yield Part({"d_model": d_model, "n_heads": heads} | ({"n_kv_heads": kv} if kv else {}), plain)


def _layers(limits: Limits, d_model: int) -> Sequence[int]:
    """The depths of the (ascending) list that keep d_model / n_layers in bounds; there may be millions in the list."""
    if limits.aspect is None:
        return limits.n_layers
    least, most = limits.aspect
    first = bisect_left(limits.n_layers, -most, key=lambda n: -d_model / n)
    return limits.n_layers[first : bisect_right(limits.n_layers, -least, key=lambda n: -d_model / n)]


def _heads(limits: Limits, d_model: int, dropped: Counter[str]) -> Sequence[int]:
    if limits.n_heads:
        return limits.n_heads
    if d_model % limits.d_head:
        dropped[f"d_model must divide by d_head {limits.d_head}"] += 1
        return ()
    return (d_model // limits.d_head,)


def _kept(values: Sequence[int], t: int, why: str, dropped: Counter[str]) -> list[int]:
    kept = [value for value in values if value % t == 0]
    dropped[why] += len(values) - len(kept)
    return kept


def _split(value: int, t: int, name: str, dropped: Counter[str]) -> bool:
    if value % t:
        dropped[f"{name} must divide by {t}"] += 1
    return value % t == 0


def undivided(start: edit.Base, point: Point, t: int) -> str:
    """Which of the sizes that follow, or that the config states, doesn't divide by the degree of tensor parallelism."""
    if t == 1:
        return ""
    found = dims(edit.model_of(start, point))
    for name in ("n_heads", "n_kv_heads", "d_ff", "n_vocab"):
        values = found[name] if isinstance(found[name], list) else [found[name]]
        if any(value % t for value in values if value):
            return f"{name} must divide by {t}"
    return ""


def shown_aspect(limits: Limits) -> str:
    """`100..160`."""
    return "any" if limits.aspect is None else f"{limits.aspect[0]:g}..{limits.aspect[1]:g}"


def described(limits: Limits, start: edit.Base) -> dict[str, Any]:
    """The space in words and numbers, as it is shown."""
    stated = start.config.values
    data: dict[str, Any] = {
        "family": start.row.name,
        "d_model": _ends(limits.d_model),
        "n_layers": _ends(limits.n_layers),
    }
    data["n_heads"] = _ends(limits.n_heads) if limits.n_heads else f"d_model / {limits.d_head}"
    data["n_kv_heads"] = (
        _ends(limits.n_kv_heads) if limits.n_kv_heads else stated.get("n_kv_heads", "as the family has them")
    )
    data["d_ff"] = _ends(limits.d_ff) if limits.d_ff else stated.get("d_ff", "as the config has it")
    data["n_vocab"] = _ends(limits.n_vocab) if limits.n_vocab else stated.get("n_vocab", "as the config has it")
    return data | {"tensor_parallel": limits.tensor_parallel, "aspect": shown_aspect(limits)}


def _ends(values: Sequence[int]) -> Any:
    """A list of values, short where it is a range."""
    if len(values) < 4:
        return list(values)
    steps = {b - a for a, b in pairwise(values)}
    return {"first": values[0], "last": values[-1], "step": steps.pop()} if len(steps) == 1 else list(values)
