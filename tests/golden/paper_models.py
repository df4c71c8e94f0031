"""Small torch models of the architectures that no library ships, written from their papers, for record_bundled.py.

Each module is named for the component it belongs to, as Hugging Face's are (`attn`, `mlp`, `norm`, `embed`, `lm_head`).
"""

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn


def heads(x: Tensor, n: int) -> Tensor:
    """(B, T, n·d_head) -> (B, n, T, d_head)."""
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


class Attention(nn.Module):
    """Multi-head or multi-query attention without biases, with Primer's convolutions and T5's position table."""

    def __init__(
        self, d: int, n: int, n_kv: int, d_head: int, taps: int = 0, buckets: int = 0, spans: bool = False
    ) -> None:
        super().__init__()
        self.n, self.n_kv, self.taps = n, n_kv, taps
        self.q, self.o = nn.Linear(d, n * d_head, bias=False), nn.Linear(n * d_head, d, bias=False)
        self.k, self.v = nn.Linear(d, n_kv * d_head, bias=False), nn.Linear(d, n_kv * d_head, bias=False)
        if taps:
            widths = n * d_head, n_kv * d_head, n_kv * d_head
            self.convolutions = nn.ModuleList(nn.Conv1d(w, w, taps, groups=w, bias=False) for w in widths)
        if buckets:
            self.relative = nn.Embedding(buckets, n)
        if spans:
            self.span = nn.Parameter(torch.empty(n))

    def projected(self, x: Tensor, source: Tensor) -> list[Tensor]:
        """Queries, keys and values of every head."""
        qkv = [self.q(x), self.k(source), self.v(source)]
        if self.taps:
            padded = [nn.functional.pad(y.mT, (self.taps - 1, 0)) for y in qkv]
            qkv = [conv(y).mT for conv, y in zip(self.convolutions, padded, strict=True)]
        split = [heads(y, n) for y, n in zip(qkv, (self.n, self.n_kv, self.n_kv), strict=True)]
        return [y.expand(-1, self.n, -1, -1) for y in split]

    def forward(
        self, x: Tensor, source: Tensor, positions: Tensor | None = None, memory: nn.Module | None = None
    ) -> Tensor:
        """Every query meets every key."""
        q, k, v = self.projected(x, source)
        weights = q @ k.mT
        if positions is not None:
            q @ positions[: x.shape[1]].T
        mixed = weights @ v
        if memory is not None:
            mixed = mixed + memory(q)
        return self.o(mixed.transpose(1, 2).flatten(-2))


class Mlp(nn.Module):
    """Two matrices, or three."""

    def __init__(self, d: int, d_ff: int, bias: bool, gated: bool = False) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(d, d_ff, bias=bias), nn.Linear(d_ff, d, bias=bias)
        self.gate = nn.Linear(d, d_ff, bias=bias) if gated else None

    def forward(self, x: Tensor) -> Tensor:
        """Any nonlinearity: it costs no matmul."""
        return self.down(self.up(x) * self.gate(x) if self.gate else self.up(x).relu())


class Memory(nn.Module):
    """Persistent key and value vectors of each head (arXiv:1907.01470)."""

    def __init__(self, n: int, vectors: int, d_head: int) -> None:
        super().__init__()
        self.keys, self.values = (nn.Parameter(torch.empty(n, vectors, d_head)) for _ in "kv")

    def forward(self, q: Tensor) -> Tensor:
        """Queries (B, n, T, d_head) against all of them."""
        return (q @ self.keys.mT) @ self.values


class Block(nn.Module):
    """One layer; the norms' places change no count."""

    def __init__(
        self,
        d: int,
        attn: Attention,
        mlp: nn.Module,
        norms: int,
        norm_bias: bool = True,
        cross: Attention | None = None,
    ) -> None:
        super().__init__()
        self.attn, self.cross_attn, self.mlp = attn, cross, mlp
        self.norms = nn.ModuleList(nn.LayerNorm(d, bias=norm_bias) for _ in range(norms))

    def forward(self, x: Tensor, source: Tensor | None = None, positions: Tensor | None = None) -> Tensor:
        """Attention, then what stands for the FFN."""
        memory = self.mlp if isinstance(self.mlp, Memory) else None
        for norm in self.norms:
            x = norm(x)
        x = x + self.attn(x, x, positions, memory)
        if self.cross_attn is not None and source is not None:
            x = x + self.cross_attn(x, source)
        return x if memory else x + self.mlp(x)


class Model(nn.Module):
    """Stacks of blocks between a token table and a head."""

    def __init__(
        self, c: SimpleNamespace, decoder: list[Block], encoder: list[Block] = (), tied: bool = True, **has: Any
    ) -> None:  # type: ignore[assignment]
        super().__init__()
        self.embed = nn.Embedding(c.n_vocab, c.d_model)
        self.encoder, self.decoder = nn.ModuleList(encoder), nn.ModuleList(decoder)
        self.lm_head = nn.Linear(c.d_model, c.n_vocab, bias=has.get("head_bias", False))
        if tied:
            self.lm_head.weight = self.embed.weight
        self.final_norm = nn.LayerNorm(c.d_model, bias=has.get("norm_bias", True)) if has.get("final") else None
        self.position_embed = nn.Embedding(c.n_positions, has["d_head"]) if "d_head" in has else None

    def forward(self, input_ids: Tensor) -> Tensor:
        """Logits for every token; the encoder reads the same tokens."""
        source = x = self.embed(input_ids)
        for block in self.encoder:
            source = block(source)
        positions = self.position_embed.weight if self.position_embed else None
        for block in self.decoder:
            x = block(x, source, positions)
        return self.lm_head(self.final_norm(x) if self.final_norm else x)


def transformer(c: SimpleNamespace) -> Model:
    """Vaswani et al. 2017 with the authors' code's biases: in the FFN, none in attention; one matrix embeds all."""

    def attn() -> Attention:
        return Attention(c.d_model, c.n_heads, c.n_heads, c.d_model // c.n_heads)

    encoder = [Block(c.d_model, attn(), Mlp(c.d_model, c.d_ff, True), norms=2) for _ in range(c.n_layers)]
    decoder = [Block(c.d_model, attn(), Mlp(c.d_model, c.d_ff, True), norms=3, cross=attn()) for _ in range(c.n_layers)]
    return Model(c, decoder, encoder)


def palm(c: SimpleNamespace) -> Model:
    """PaLM, section 2: SwiGLU, parallel layers on one norm, multi-query attention, no biases, shared embeddings."""
    d_head = getattr(c, "d_head", c.d_model // c.n_heads)
    blocks = [
        Block(
            c.d_model,
            Attention(c.d_model, c.n_heads, c.n_kv_heads, d_head),
            Mlp(c.d_model, c.d_ff, False, True),
            1,
            False,
        )
        for _ in range(c.n_layers)
    ]
    return Model(c, blocks, final=True, norm_bias=False)


def primer(c: SimpleNamespace) -> Model:
    """Primer-EZ: squared ReLU and convolutions of width 3 after the projections; one relative-position table."""
    d_head = c.d_model // c.n_heads
    tables = [c.relative_attention_num_buckets] + [0] * (c.n_layers - 1)
    blocks = [
        Block(
            c.d_model,
            Attention(c.d_model, c.n_heads, c.n_heads, d_head, taps=3, buckets=n),
            Mlp(c.d_model, c.d_ff, True),
            2,
        )
        for n in tables
    ]
    return Model(c, blocks, final=True)


def all_attention(c: SimpleNamespace) -> Model:
    """Sukhbaatar et al. 2019: d_ff persistent vectors a head, a span a head, one table of relative positions."""
    d_head = c.d_model // c.n_heads
    blocks = [
        Block(
            c.d_model,
            Attention(c.d_model, c.n_heads, c.n_heads, d_head, spans=True),
            Memory(c.n_heads, c.d_ff, d_head),
            1,
        )
        for _ in range(c.n_layers)
    ]
    return Model(c, blocks, tied=False, head_bias=True, d_head=d_head)
