"""What the mutator starts from: every bundled config, some in the keys of Hugging Face, checks files, expressions."""

import json
import struct
from pathlib import Path

from ffncalc import bundled

HUGGING_FACE = [
    {
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 100,
        "tie_word_embeddings": False,
        "rope_scaling": {"factor": 8.0},
    },
    {
        "model_type": "mixtral",
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "vocab_size": 101,
        "sliding_window": None,
    },
    {
        "model_type": "gpt2",
        "n_embd": 24,
        "n_layer": 3,
        "n_head": 6,
        "n_positions": 40,
        "vocab_size": 101,
        "n_inner": None,
    },
    {
        "model_type": "bert",
        "hidden_size": 24,
        "intermediate_size": 40,
        "num_hidden_layers": 3,
        "num_attention_heads": 6,
        "vocab_size": 101,
        "type_vocab_size": 2,
        "max_position_embeddings": 50,
        "architectures": ["BertForMaskedLM"],
    },
    {
        "model_type": "t5",
        "d_model": 24,
        "d_kv": 10,
        "d_ff": 40,
        "num_layers": 3,
        "num_decoder_layers": 2,
        "num_heads": 6,
        "vocab_size": 101,
        "feed_forward_proj": "gated-gelu",
        "relative_attention_num_buckets": 8,
    },
    {
        "model_type": "deepseek_v3",
        "hidden_size": 64,
        "intermediate_size": 96,
        "moe_intermediate_size": 32,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "q_lora_rank": 24,
        "kv_lora_rank": 16,
        "qk_nope_head_dim": 12,
        "qk_rope_head_dim": 4,
        "v_head_dim": 10,
        "n_routed_experts": 8,
        "num_experts_per_tok": 2,
        "n_shared_experts": 1,
        "first_k_dense_replace": 1,
        "vocab_size": 101,
    },
    {
        "model_type": "gemma3",
        "text_config": {
            "model_type": "gemma3_text",
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 6,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "sliding_window": 8,
            "vocab_size": 101,
        },
        "vision_config": {"hidden_size": 8},
    },
    {
        "model_type": "qwen2_moe",
        "hidden_size": 64,
        "intermediate_size": 96,
        "moe_intermediate_size": 24,
        "num_hidden_layers": 6,
        "shared_expert_intermediate_size": 40,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "decoder_sparse_step": 2,
        "mlp_only_layers": [3],
        "vocab_size": 101,
    },
    {
        "dim": 64,
        "n_layers": 2,
        "n_heads": 4,
        "n_kv_heads": 2,
        "multiple_of": 16,
        "ffn_dim_multiplier": 1.3,
        "vocab_size": -1,
    },
]

OWN = """\
family: decoder
name: own
d_model: 64
n_layers: 6
n_vocab: 101
attention: {kind: grouped, n_heads: 8, n_kv_heads: 2, d_head: 10, bias: [q, k, v], qk_norm: head, sinks: true}
ffn: {kind: gated, d_ff: {rule: llama, multiple_of: 8, multiplier: 1.3, round: up}, bias: true}
norm: {kind: layer, bias: true, place: both, final: true}
positions: {kind: learned, n_positions: 50}
embedding: {width: 32, token_types: 2, norm: true}
parallel: false
tied: true
layers: [{repeat: 2, ffn: {kind: moe, n_experts: 8, top_k: 2, d_ff: 24}}, {repeat: 3}, {attention: {kind: none}}]
"""

CHECKS = [
    b"""baseline: other.yaml
checks:
  - model: gpt2
    seq_len: 1k
    params.total: {max: 125M, within: 124.4 million \xc2\xb1 1 %, equals: 124_439_808}
    dims.d_ff: {multiple_of: 256, divisible_by: 8, one_of: [3072, 4096]}
    flops.total.total: {at_most: 1.05 \xc3\x97 gpt2, same_as: gpt2}
    assert: [params.ffn > 2 * params.attention - 100, dims.d_ff % 256 == 0]
""",
    b"""checks:
- model: [own*.yaml, t5-small]
  head: none
  ffn_share: {min: 0.3}
  layers[*].ffn: {min: 1}
  crossover_seq_len: {min: 1}
""",
    b'{"checks": [{"model": "own.yaml", "params.total": {"max": 3}, "tied": true, "assert": "params.ffn > 1"}]}',
    b"checks: 3\n",
    b"checks:\n- model: own.yaml\n  params.total: 3\nbaseline: x\n",
]

EXPRESSIONS = [
    "total <= 7B",
    "d_ff % 256 == 0",
    "params.total == 124.4M ± 1 %",
    "6B < total < 7 billion",
    "ffn_share >= 66 %",
    "layers[*].ffn == 4722432",
    "2 * (attention + ffn) - -1 != 3 / 4",
    "dims.d_ff[*] >= 1e3",
    "(((total))) > 1_000",
    "total +- 5 == 6",
    "n_layers × 2 ≥ 24",
    "layers[0].total > 1",
]

EXPRESSION_PIECES = [
    *(
        b"(",
        b")",
        b"-",
        b"%",
        b" % ",
        b"==",
        b"<",
        b"<=",
        b"\xc2\xb1",
        b"+-",
        b"/",
        b"*",
        b"0",
        b"/ 0",
        b"% 0",
        b"1e999",
        b"1e-999",
    ),
    *(
        b"9" * 1001,
        b"1e9999",
        b"7Q",
        b"7 B",
        b"1.",
        b".5",
        b"[*]",
        b"[0]",
        b"[99999999]",
        b".total",
        b"params",
        b"total",
        b"not",
    ),
    *(
        b"(" * 45,
        b"-" * 45,
        b"1+" * 600,
        b"__import__('os')",
        b"\x1b[2J",
        b"\xe2\x80\xae",
        b"\n",
        b"\x00",
        b"'",
        b'"',
        b"=",
        b"ffn.",
    ),
]


def configs() -> list[tuple[str, bytes]]:
    """(file ending, contents) of every config that is mutated."""
    paths = [bundled.path_of(name) for name in bundled.names()]
    own = [("yaml", Path(path).read_bytes()) for path in paths if path]
    return [*own, ("yaml", OWN.encode()), *(("json", json.dumps(values, indent=1).encode()) for values in HUGGING_FACE)]


def header() -> bytes:
    """The header of a checkpoint of three tensors."""
    tensors = {
        "model.embed_tokens.weight": [10, 4],
        "model.layers.0.mlp.up_proj.weight": [6, 4],
        "lm_head.weight": [10, 4],
    }
    entries: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, (rows, columns) in tensors.items():
        size = 2 * rows * columns
        entries[name] = {"dtype": "F16", "shape": [rows, columns], "data_offsets": [at, at + size]}
        at += size
    return json.dumps(entries).encode()


def safetensors(text: bytes) -> bytes:
    """A checkpoint with this header, and room for the data of the real one."""
    return struct.pack("<Q", len(text)) + text + bytes(208)
