"""A checkpoint's tensors counted by component, and held against the model that a config describes.

The comparison goes layer by layer and component by component. Names differ between codebases (q_proj, c_attn, Wqkv), so
a tensor is first looked for by name, then by shape, then as several in one (q, k and v side by side, all experts
stacked): what is left over is missing, extra, or has another shape.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod
from typing import NamedTuple, TypeVar

from ffncalc.checkpoint import Tensor
from ffncalc.model import Model
from ffncalc.ops import PARTS, Op

# What a name's parts say about the component, the first that fits; of the parts, the last is the tensor's own name.
_BUFFER = re.compile(
    r"inv_freq$|masked_bias$|position_ids$|(attn|attention)\.bias$|e_score_correction_bias$|final_logits_bias$"
)
_HEAD = re.compile(
    r"(^|\.)(lm_head|embed_out|cls|output_projection|\w*predictions|generator\w*|vocab_\w+)(\.|$)"
    r"|^head\.|^(output|decoder)\.(weight|bias)$"
)
_PARTS = (
    ("norm", r"norm|(^|\.)ln_?\w*\.(weight|bias)$"),
    (
        "ffn",
        r"mlp|ffn|feed_?forward|fc_?[12]|fc_in|fc_out|experts?|\.moe|densereludense|intermediate|(^|\.)w[123]\.|router",
    ),
    ("attention", r"attn|attention|relative_attention_bias|\.[qkvo]_proj|sinks|(^|\.)w[qkvo]\."),
    ("embedding", r"embed|wte|wpe|(^|\.)shared\.|word_embeddings|position|project_(in|out)"),
)
_LAYER = re.compile(r"(?:^|\.)(?:layers?|h|blocks?|block)\.(\d+)\.")

Place = tuple[str, int | None, str]  # stack, layer, component


class Counted(NamedTuple):
    """A checkpoint's numbers: `total` without buffers, `stored` with them, by component, and what they are made of."""

    name: str
    tensors: int
    parts: dict[str, int]
    total: int
    stored: int
    dtypes: dict[str, int]


class Difference(NamedTuple):
    """One tensor on which checkpoint and config don't agree. `kind`: missing, extra or shape."""

    kind: str
    name: str
    found: tuple[int, ...] | None
    wanted: tuple[int, ...] | None


class Comparison(NamedTuple):
    """A checkpoint beside a config: how many tensors agree, and those that don't."""

    checkpoint: Counted
    model: Model
    matched: int
    differences: tuple[Difference, ...]


def is_buffer(tensor: Tensor) -> bool:
    """Whether a tensor is none that trains: rotary frequencies, attention masks, router corrections."""
    masks = tensor.name.endswith(("attn.bias", "attention.bias"))
    return bool(_BUFFER.search(tensor.name)) and (not masks or len(tensor.shape) > 2)


def component(name: str) -> str:
    """The component that a tensor's name puts it in, by the parts below its layer, or below the model's own name."""
    if _HEAD.search(name.lower()):
        return "head"
    inside = _LAYER.split(name.lower())[-1]
    lowered = inside if inside.count(".") < 2 or inside != name.lower() else inside.split(".", 1)[1]
    if inside != name.lower() and re.match(r"output\.dense", lowered):
        return "ffn"
    return next((part for part, pattern in _PARTS if re.search(pattern, lowered)), "other")


def place(name: str) -> Place:
    """Where a tensor belongs: its stack (encoder, or the main one), its layer, its component."""
    found = _LAYER.search(name)
    stack = "encoder" if re.search(r"(^|[._])encoder\.", name) else "decoder"
    return stack, int(found[1]) if found else None, component(name)


def count(name: str, tensors: Iterable[Tensor]) -> Counted:
    """The numbers of a checkpoint by component."""
    parts = dict.fromkeys(PARTS, 0)
    dtypes: defaultdict[str, int] = defaultdict(int)
    stored = n = 0
    for tensor in tensors:
        n += 1
        stored += tensor.size
        dtypes[tensor.dtype] += tensor.size
        if not is_buffer(tensor):
            parts[component(tensor.name)] += tensor.size
    return Counted(name, n, parts, sum(parts.values()), stored, dict(dtypes))


# ------------------------------------------------------------------ against a config
class Wanted(NamedTuple):
    """One tensor that the config asks for; `copies` of it where experts may be stacked into one."""

    name: str
    shape: tuple[int, ...]
    copies: int = 1

    @property
    def size(self) -> int:
        """Numbers in all its copies."""
        return prod(self.shape) * self.copies


def wanted_tensors(model: Model) -> Iterator[tuple[Place, Wanted]]:
    """Every tensor of a model and where it belongs; a tied head has none of its own."""
    main = model.spec.stacks[-1].name
    for kind in model.layers:
        stack = "encoder" if kind.stack == "encoder" and main != "encoder" else "decoder"
        for first, last in kind.ranges:
            # layers that run several times have no number of their own to be looked for by
            for layer in range(first, last + 1) if kind.runs.value == 1 else [None] * kind.n_stored.value:
                prefix = f"{stack}.{layer}." if layer is not None else ""
                yield from (((stack, layer, part), w._replace(name=prefix + w.name)) for part, w in _of(kind.ops))
    for part, tensor in _of(model.outer):
        yield ("decoder", None, part), tensor


def _of(ops: Iterable[Op]) -> Iterator[tuple[str, Wanted]]:
    for op in ops:
        for weight in op.weights:
            if not (weight.tied or weight.buffer) and all(weight.shape):
                yield op.part, Wanted(weight.name, tuple(size.value for size in weight.shape), weight.copies.value)


def compare(name: str, tensors: list[Tensor], model: Model) -> Comparison:
    """Hold a checkpoint against a config, tensor by tensor."""
    one_stack = len(model.spec.stacks) == 1
    found: defaultdict[tuple[object, ...], list[Tensor]] = defaultdict(list)
    corrections = {
        w.name.rsplit(".", 1)[-1] for kind in model.layers for op in kind.ops for w in op.weights if w.buffer
    }
    weights = [t for t in tensors if not is_buffer(t) or ("correction" in t.name and not corrections)]
    for tensor in weights:
        stack, layer, part = place(tensor.name)
        found["decoder" if one_stack or layer is None else stack, layer, part].append(tensor)
    wanted: defaultdict[tuple[object, ...], list[Wanted]] = defaultdict(list)
    for where, one in wanted_tensors(model):
        wanted[where].append(one)
    # by component; then, since a name can mislead about that, within each layer; then wherever they stand
    for level in (3, 2, 1):
        found, wanted = _coarser(found, level), _coarser(wanted, level)
        for shared in found.keys() & wanted.keys():
            _match(found[shared], wanted[shared])
    differences = [d for group in _in_order(found, wanted) for d in _left_over(found[group], wanted[group])]
    unmatched = sum(map(len, found.values()))
    return Comparison(count(name, tensors), model, len(weights) - unmatched, tuple(differences))


T = TypeVar("T", Tensor, Wanted)


def _coarser(by_place: Mapping[tuple[object, ...], list[T]], level: int) -> defaultdict[tuple[object, ...], list[T]]:
    """The same lists put together by stack, layer and component (3), by stack and layer (2), or by stack (1)."""
    result: defaultdict[tuple[object, ...], list[T]] = defaultdict(list)
    for where, entries in by_place.items():
        result[where[:level]] += entries
    return result


def _in_order(*groups: Mapping[tuple[object, ...], object]) -> list[tuple[object, ...]]:
    return sorted({where for group in groups for where in group}, key=str)


def _match(found: list[Tensor], wanted: list[Wanted]) -> None:
    """Take out of both lists what agrees."""
    wanted[:] = [copy for w in wanted for copy in _unstacked(w, found)]
    _match_one_to_one(found, wanted, _same_name)
    _match_fused(found, wanted)
    _match_one_to_one(found, wanted, _same_shape)
    _match_split(found, wanted)


def _match_one_to_one(found: list[Tensor], wanted: list[Wanted], fits: Callable[[Tensor, Wanted], bool]) -> None:
    for tensor in list(found):
        partner = next((w for w in wanted if fits(tensor, w)), None)
        if partner:
            found.remove(tensor)
            wanted.remove(partner)


def _unstacked(tensor: Wanted, found: list[Tensor]) -> list[Wanted]:
    """The copies of an expert's tensor as one stacked tensor or as many, as the checkpoint has them."""
    alone = sum(sorted(t.shape) == sorted(tensor.shape) for t in found)
    if tensor.copies > 1 and alone >= tensor.copies:
        return [tensor._replace(copies=1)] * tensor.copies
    return [tensor]


def _same_name(tensor: Tensor, wanted: Wanted) -> bool:
    own = re.sub(r"^(encoder|decoder)\.\d+\.", "", wanted.name)
    return tensor.name.endswith(f".{own}") and _same_shape(tensor, wanted)


def _same_shape(tensor: Tensor, wanted: Wanted) -> bool:
    """Whether two shapes are one but for the order of their axes (in x out or out x in) and axes of length 1."""
    shape = wanted.shape if wanted.copies == 1 else (wanted.copies, *wanted.shape)
    return sorted(n for n in tensor.shape if n != 1) == sorted(n for n in shape if n != 1)


def _match_fused(found: list[Tensor], wanted: list[Wanted]) -> None:
    """Take out tensors that hold several wanted ones side by side: q, k and v, gate and up, or all experts
    flattened."""
    for tensor in [t for t in found if not any(_same_shape(t, w) for w in wanted)]:
        group = _filling(tensor, wanted)
        if group:
            found.remove(tensor)
            for w in group:
                wanted.remove(w)


def _match_split(found: list[Tensor], wanted: list[Wanted]) -> None:
    """The other way round: wanted tensors that the checkpoint holds in pieces."""
    for one in list(wanted):
        pieces = _run_of_size([t for t in found if _is_bias(t.shape, t.name) == (len(one.shape) == 1)], one.size)
        if pieces:
            wanted.remove(one)
            for tensor in pieces:
                found.remove(tensor)


def _filling(tensor: Tensor, wanted: list[Wanted]) -> list[Wanted]:
    """The first wanted tensors, all matrices or all biases, that together have as many numbers as this one."""
    is_bias = _is_bias(tensor.shape, tensor.name)
    return _run_of_size([w for w in wanted if (len(w.shape) == 1) == is_bias], tensor.size)


def _is_bias(shape: tuple[int, ...], name: str) -> bool:
    return len(shape) == 1 or name.endswith("bias")


def _run_of_size(entries: list[T], size: int) -> list[T]:
    """The first entries next to each other whose sizes add up to `size`; empty where there are none."""
    for start in range(len(entries)):
        together = 0
        for end in range(start, len(entries)):
            together += entries[end].size
            if together == size:
                return entries[start : end + 1]
    return []


def _left_over(found: list[Tensor], wanted: list[Wanted]) -> Iterator[Difference]:
    for tensor in found:
        partner = next((w for w in wanted if tensor.name.endswith(w.name.split(".", 1)[-1])), None)
        if partner:
            wanted.remove(partner)
            yield Difference("shape", tensor.name, tensor.shape, partner.shape)
        else:
            yield Difference("extra", tensor.name, tensor.shape, None)
    for w in wanted:
        yield Difference("missing", w.name, None, w.shape if w.copies == 1 else (w.copies, *w.shape))
