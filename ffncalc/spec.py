"""What an architecture comes down to, once its config has been read: plain records, no keys and no spellings.

Every field of `Attention`, `Ffn`, `Norm`, `Positions` and `Embedding` is a *switch*: a family's row sets it by its
dotted name ("attention.n_kv_heads"), and a YAML config of one's own sets it in the group of that name. `MEANING` says
in a sentence what each does; `CHOICES` lists the words that one may take. Both feed the JSON schema and the error
messages.
"""

# Annotations are not deferred where NamedTuples are defined: each would be compiled from text at every start.
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ffncalc.expr import ONE, ZERO, Expr
from ffncalc.ops import Op

# A kind of sublayer is a word of `CHOICES`, or a generator of its operations where only one family has it.
Block = Callable[..., Iterator[Op]]


class Attention(NamedTuple):
    """One attention sublayer. Widths that a kind has no use for stay ZERO."""

    kind: str | Block = "grouped"
    n_heads: Expr = ZERO
    n_kv_heads: Expr = ZERO
    d_head: Expr = ZERO
    width: Expr = ZERO
    bias: str = ""
    qk_norm: str = "none"
    qk_norm_bias: bool = False
    window: Expr = ZERO
    sides: int = 1
    chunked: bool = False
    sinks: bool = False
    conv: Expr = ZERO
    relative: Expr = ZERO
    position_scores: bool = False
    q_lora_rank: Expr = ZERO
    kv_lora_rank: Expr = ZERO
    d_nope: Expr = ZERO
    d_rope: Expr = ZERO
    d_v: Expr = ZERO
    d_source: Expr = ZERO


class Ffn(NamedTuple):
    """One feed-forward sublayer; in a mixture of experts `d_ff` is the width of one expert."""

    kind: str | Block = "plain"
    activation: str = "gelu"
    d_ff: Expr = ZERO
    bias: bool = False
    n_experts: Expr = ZERO
    top_k: Expr = ZERO
    expert: str = "gated"
    router_bias: bool = False
    correction: bool = False
    n_shared: Expr = ZERO
    d_shared: Expr = ZERO
    shared_gate: bool = False
    shared_bias: bool = False


class Norm(NamedTuple):
    """The normalisation of the blocks: its weights, and where it sits."""

    kind: str = "layer"
    bias: bool = True
    place: str = "pre"
    final: bool = True


class Positions(NamedTuple):
    """How a token knows where it stands; only a table has weights."""

    kind: str = "rotary"
    n_positions: Expr = ZERO
    offset: int = 0
    width: Expr = ZERO


class Embedding(NamedTuple):
    """The tables at the bottom, and what lies between them and the first block."""

    width: Expr = ZERO
    token_types: Expr = ZERO
    norm: bool = False
    bias: bool = True


class Layer(NamedTuple):
    """One block: its sublayers, and whatever weights of its own the architecture adds."""

    attention: Attention
    cross: Attention | None
    ffn: Ffn
    norm: Norm
    parallel: bool
    extra: tuple[Op, ...] = ()
    runs: Expr = ONE


class LayerKind(NamedTuple):
    """Like layers: one of them, how many are stored, and which they are (inclusive ranges)."""

    layer: Layer
    n_stored: Expr
    ranges: tuple[tuple[int, int], ...]

    @property
    def runs(self) -> Expr:
        """How often each of them runs."""
        return self.layer.runs


class Stack(NamedTuple):
    """A stack of blocks. `is_source`: it runs on the source rows, beside a decoder."""

    name: str
    kinds: tuple[LayerKind, ...]
    norm: Norm
    positions: Positions
    embedding: Embedding
    is_source: bool = False
    extra: tuple[Op, ...] = ()
    d_model: Expr = ZERO

    @property
    def n_layers(self) -> int:
        """Blocks that it stores."""
        return sum(kind.n_stored.value for kind in self.kinds)


class Spec(NamedTuple):
    """A whole model, resolved."""

    name: str
    family: str
    source: str
    n_vocab: Expr | None
    stacks: tuple[Stack, ...]
    head: str
    tied: bool
    head_bias: bool = False
    n_labels: Expr = ZERO  # classes of a classification head
    extra: tuple[Op, ...] = ()
    head_extra: tuple[Op, ...] = ()  # what the head holds beyond what its builder knows from the sizes
    flops: str = ""  # why its FLOPs are not counted, or nothing
    warnings: tuple[str, ...] = ()

    @property
    def d_model(self) -> Expr:
        """Width of the stack that the head stands on: the last."""
        return self.stacks[-1].d_model


GROUPS: dict[str, type[NamedTuple]] = {
    "attention": Attention,
    "ffn": Ffn,
    "norm": Norm,
    "positions": Positions,
    "embedding": Embedding,
}
SWITCHES: dict[str, Any] = {
    f"{group}.{field}": default for group, kind in GROUPS.items() for field, default in kind._field_defaults.items()
}
SWITCHES |= {"d_model": ZERO, "n_layers": ZERO, "n_vocab": ZERO, "runs": ONE, "parallel": False, "tied": False}
SWITCHES |= {
    "cross": False,
    "decodes": False,
    "head_bias": False,
    "extra": (),
    "stack_extra": (),
    "model_extra": (),
    "head_extra": (),
    "flops": "",
}

CHOICES: dict[str, tuple[str, ...]] = {
    "attention.kind": ("grouped", "latent", "none"),
    "attention.qk_norm": ("none", "head", "full", "table"),
    "ffn.kind": ("plain", "gated", "moe", "memory", "none"),
    "ffn.expert": ("gated", "plain"),
    "norm.kind": ("rms", "layer", "none"),
    "norm.place": ("pre", "post", "both", "one", "second", "none"),
    "positions.kind": ("rotary", "learned", "sinusoidal", "relative", "alibi", "none"),
}

MEANING: dict[str, str] = {
    "d_model": "width of the residual stream",
    "n_layers": "blocks in the stack",
    "n_vocab": "rows of the token embedding",
    "tied": "whether the output matrix is the token embedding",
    "parallel": "whether attention and FFN run side by side on the same input",
    "cross": "whether each block also attends to the rows of an encoder",
    "decodes": "whether an encoder's stack runs as a decoder, each token meeting only those before it",
    "runs": "how often each stored layer runs",
    "head_bias": "a bias on the output matrix",
    "attention.kind": "grouped: heads share keys and values in groups, or none do; latent: DeepSeek's; none",
    "attention.n_heads": "query heads",
    "attention.n_kv_heads": "key/value heads; as many as query heads unless stated",
    "attention.d_head": "width of a head; d_model / n_heads unless stated",
    "attention.width": "n_heads x d_head, the width of all heads together",
    "attention.bias": "which of the projections q, k, v, o have a bias",
    "attention.qk_norm": "norm on queries and keys: head (of d_head), full (all heads' width), table (heads x d_head)",
    "attention.qk_norm_bias": "whether that norm has a bias",
    "attention.window": "keys that a query meets at most; null: all of them",
    "attention.sides": "2 where the window reaches to both sides",
    "attention.chunked": "whether the window is a chunk of fixed borders",
    "attention.sinks": "one learned score a head that takes part in the softmax",
    "attention.conv": "width of a depthwise convolution on q, k and v",
    "attention.relative": "buckets of a relative-position bias, one number a head each",
    "attention.position_scores": "whether queries also meet a vector for each relative position",
    "attention.q_lora_rank": "latent attention: rank of the queries; null: not compressed",
    "attention.kv_lora_rank": "latent attention: rank of keys and values",
    "attention.d_nope": "latent attention: width of a query/key head without positions",
    "attention.d_rope": "latent attention: width of its rotary part",
    "attention.d_v": "width of a value head",
    "attention.d_source": "width of the encoder's rows where cross-attention meets others than d_model wide",
    "ffn.kind": "plain: two matrices; gated: three; moe: routed experts; memory: persistent key-value vectors; none",
    "ffn.activation": "the nonlinearity; it never changes a count",
    "ffn.d_ff": "hidden width of the FFN (of one expert, in a mixture)",
    "ffn.bias": "whether the matrices have biases",
    "ffn.n_experts": "routed experts",
    "ffn.top_k": "experts that run for one token",
    "ffn.expert": "an expert's own kind: gated or plain",
    "ffn.router_bias": "whether the router has a bias",
    "ffn.correction": "a router-correction bias that the checkpoint stores as a buffer",
    "ffn.n_shared": "experts that run for every token",
    "ffn.d_shared": "hidden width of all shared experts together; n_shared x d_ff unless stated",
    "ffn.shared_gate": "a gate of one number a token on the shared experts",
    "ffn.shared_bias": "whether the shared experts have biases where the routed ones have none",
    "norm.kind": "rms, layer, or none (no weights)",
    "norm.bias": "whether a layer norm has a bias",
    "norm.place": "pre or post: two a block; both: four; one: a single one, shared; second: only before the FFN; none",
    "norm.final": "whether a norm follows the last block",
    "positions.kind": "learned has a table; the others have no weights outside attention",
    "positions.n_positions": "rows of the position table",
    "positions.offset": "rows of that table beyond n_positions",
    "positions.width": "width of that table where it isn't the width of the other tables",
    "embedding.width": "width of the tables where it isn't d_model (a projection follows)",
    "embedding.token_types": "rows of a token-type table",
    "embedding.norm": "whether a norm follows the tables",
    "embedding.bias": "whether the projection to d_model has a bias",
}
