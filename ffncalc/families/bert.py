"""BERT and the encoders of its kind."""

from __future__ import annotations

from ffncalc.blocks.ends import mlm_head, pooler
from ffncalc.families import by_name
from ffncalc.families.row import Row, count, derived, divided, flag, key, text

BERT = Row(
    name="bert",
    source="arXiv:1810.04805; transformers BertForMaskedLM, BertModel (pooler)",
    heads={"mlm": mlm_head, "causal": mlm_head, "pooler": pooler},
    stacks=("encoder",),
    says={
        "d_model": key("hidden_size"),
        "n_layers": key("num_hidden_layers"),
        "n_vocab": key("vocab_size"),
        "tied": flag("tie_word_embeddings"),
        "attention.n_heads": key("num_attention_heads"),
        "attention.d_head": derived(divided("d_model", "attention.n_heads", "d_head")),
        "attention.bias": "qkvo",
        "ffn.kind": "plain",
        "ffn.activation": text("hidden_act", "gelu"),
        "ffn.d_ff": key("intermediate_size"),
        "ffn.bias": True,
        "norm.place": "post",
        "norm.final": False,
        "positions.kind": "learned",
        "positions.n_positions": key("max_position_embeddings"),
        "embedding.token_types": count("type_vocab_size"),
        "embedding.norm": True,
    },
    defaults={
        "vocab_size": 30522,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "tie_word_embeddings": True,
    },
)

ROWS = by_name(BERT)
