"""Meta's params.json, as it lies beside the published LLaMA checkpoints."""

from __future__ import annotations

from ffncalc.families import by_name
from ffncalc.families.llama import BIASLESS, LLAMA
from ffncalc.families.row import derived, divided, key, Reader
from ffncalc.expr import ZERO

META_LLAMA = LLAMA.like(
    "meta-llama",
    "model.py of Meta's published code for LLaMA, Llama 2 and Llama 3",
    {
        **BIASLESS,
        "d_model": key("dim"),
        "n_layers": key("n_layers"),
        "n_vocab": key("vocab_size"),
        "tied": False,
        "attention.n_heads": key("n_heads"),
        "attention.n_kv_heads": key("n_kv_heads", "attention.n_heads"),
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "attention.window": ZERO,
    },
)

ROWS = by_name(META_LLAMA)
