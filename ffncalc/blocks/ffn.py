"""Feed-forward sublayers: two matrices, three with a gate, a mixture of such experts, persistent memory vectors."""

from __future__ import annotations

from collections.abc import Iterator

from ffncalc.expr import ONE, Expr
from ffncalc.ops import TOKEN, Op, contraction, linear, scale, stored
from ffncalc.spec import Attention, Ffn


def ffn(f: Ffn, d: Expr, attention: Attention, prefix: str = "mlp") -> Iterator[Op]:
    """The operations of one feed-forward sublayer on a stream of width `d`."""
    if not isinstance(f.kind, str):
        yield from f.kind(f, d, prefix)
    elif f.kind == "moe":
        yield from mixture(f, d, prefix)
    elif f.kind == "memory":
        yield from memory(f, attention, prefix)
    elif f.kind != "none":
        yield from mlp(f.kind == "gated", d, f.d_ff, f.bias, prefix)


def mlp(
    gated: bool, d: Expr, d_ff: Expr, bias: bool, prefix: str, copies: Expr = ONE, used: Expr | None = None
) -> Iterator[Op]:
    """Up and down, with a gate beside up where it is gated; `copies` of it where these are experts."""
    if gated:
        yield linear("ffn", f"{prefix}.gate_proj", d, d_ff, bias, copies=copies, used=used)
    yield linear("ffn", f"{prefix}.up_proj", d, d_ff, bias, copies=copies, used=used)
    yield linear("ffn", f"{prefix}.down_proj", d_ff, d, bias, copies=copies, used=used)


def mixture(f: Ffn, d: Expr, prefix: str) -> Iterator[Op]:
    """A router over n_experts of which top_k run for a token, and the shared experts that run for all."""
    yield linear("ffn", f"{prefix}.router", d, f.n_experts, f.router_bias)
    if f.correction:
        yield stored("ffn", f"{prefix}.router.e_score_correction_bias", f.n_experts)
    yield from mlp(f.expert == "gated", d, f.d_ff, f.bias, f"{prefix}.experts", f.n_experts, f.top_k)
    shared = f.d_shared or f.n_shared * f.d_ff
    if shared:
        yield from mlp(f.expert == "gated", d, shared, f.bias or f.shared_bias, f"{prefix}.shared_experts")
    if f.shared_gate:
        yield linear("ffn", f"{prefix}.shared_expert_gate", d, 1)


def memory(f: Ffn, a: Attention, prefix: str) -> Iterator[Op]:
    """Persistent key and value vectors (arXiv:1907.01470): d_ff of each a head, met by every query beside the
    context."""
    yield scale("ffn", f"{prefix}.persistent_keys", a.n_heads, f.d_ff, a.d_head)
    yield scale("ffn", f"{prefix}.persistent_values", a.n_heads, f.d_ff, a.d_head)
    yield contraction("ffn", f"{prefix}.persistent_scores", a.n_heads, f.d_ff, a.d_head, rows=TOKEN)
    yield contraction("ffn", f"{prefix}.persistent_mixing", a.n_heads, f.d_ff, a.d_head, rows=TOKEN)
