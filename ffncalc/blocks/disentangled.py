"""DeBERTa's disentangled attention (arXiv:2006.03654): queries and keys also meet a table of relative positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ffncalc.blocks.attention import pairs_of
from ffncalc.expr import Expr
from ffncalc.ops import ONCE, TOKEN, Op, Rows, contraction, linear
from ffncalc.spec import Attention, Norm


class Relative(NamedTuple):
    """What a layer does with the table of 2 x span relative positions, which it projects once a sequence.

    `content_to_position`, `position_to_content`: which scores there are. `shared`: the layer's own key and query
    projections serve the table too. `key_bias`: a bias on the table's own key projection. `cut`: of the table only as
    much is projected as the sequence is long.
    """

    span: Expr
    content_to_position: bool
    position_to_content: bool
    shared: bool = False
    key_bias: bool = True
    cut: bool = False


def disentangled(
    a: Attention, d: Expr, norm: Norm, prefix: str, relative: Relative | None = None, talking: bool = False
) -> Iterator[Op]:
    """Attention by content and by relative position; `talking` heads are mixed before and after the softmax."""
    yield linear("attention", f"{prefix}.q_proj", d, a.width, "q" in a.bias)
    yield linear("attention", f"{prefix}.k_proj", d, a.width, "k" in a.bias)
    yield linear("attention", f"{prefix}.v_proj", d, a.width, "v" in a.bias)
    yield contraction("attention", f"{prefix}.scores", a.n_heads, a.d_head, rows=pairs_of(a))
    if relative:
        yield from _positions(relative, a, d, prefix)
    if talking:
        yield linear("attention", f"{prefix}.head_logits", a.n_heads, a.n_heads, rows=pairs_of(a))
        yield linear("attention", f"{prefix}.head_weights", a.n_heads, a.n_heads, rows=pairs_of(a))
    yield contraction("attention", f"{prefix}.mixing", a.n_heads, a.d_head, rows=pairs_of(a))
    yield linear("attention", f"{prefix}.o_proj", a.width, d, "o" in a.bias)


def _positions(r: Relative, a: Attention, d: Expr, prefix: str) -> Iterator[Op]:
    kinds = (("c2p", "key", r.content_to_position, r.key_bias), ("p2c", "query", r.position_to_content, True))
    rows, span = (Rows("once", r.span), ()) if r.cut else (ONCE, (r.span,))
    for _, projected, wanted, bias in kinds:
        if wanted or r.shared:
            own = linear("attention", f"{prefix}.pos_{projected}_proj", d, a.width, bias, rows=rows)
            weights = tuple(weight._replace(tied=r.shared) for weight in own.weights)
            yield own._replace(axes=(2 * a.width, d, *span), weights=weights)
    for name, _, wanted, _ in kinds:
        if wanted:
            rows = Rows("pair", r.span) if r.cut else TOKEN
            yield contraction("attention", f"{prefix}.{name}_scores", 2 * a.n_heads, a.d_head, *span, rows=rows)
