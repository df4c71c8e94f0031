"""The numeric mode: run feed-forward networks, attention and whole small decoders on NumPy arrays, and differentiate.

Plain functions, usable alone. What the text names is here; the pairs `forward` and `backward` of each part, and its
plain description, are in the part's module (`ffn_rows`, `moe`, `attention`, `norms`, `block`, `decoder`).
"""

from ffncalc.numeric.activations import (
    ACTIVATIONS,
    derivative,
    gelu,
    gelu_sigmoid,
    gelu_tanh,
    identity,
    normal_cdf,
    relu,
    relu_squared,
    sigmoid,
    silu,
    swish,
    swish_derivative,
    tanh,
)
from ffncalc.numeric.attention import Attention, Rotary, self_attention
from ffncalc.numeric.block import Block
from ffncalc.numeric.decoder import Decoder, logits
from ffncalc.numeric.feedforward import (
    VARIANTS,
    ffn,
    ffn_backward,
    glu_backward,
    glu_ffn,
    split_gate_up,
    swiglu_backward,
    swiglu_ffn,
)
from ffncalc.numeric.matmul import count_macs
from ffncalc.numeric.memory import Memories, ffn_memories, memories, rank_one_edit
from ffncalc.numeric.moe import Ffn, Moe
from ffncalc.numeric.norms import Norm, layer_norm, rms_norm

__all__ = [
    "ACTIVATIONS",
    "VARIANTS",
    "Attention",
    "Block",
    "Decoder",
    "Ffn",
    "Memories",
    "Moe",
    "Norm",
    "Rotary",
    "count_macs",
    "derivative",
    "ffn",
    "ffn_backward",
    "ffn_memories",
    "gelu",
    "gelu_sigmoid",
    "gelu_tanh",
    "glu_backward",
    "glu_ffn",
    "identity",
    "layer_norm",
    "logits",
    "memories",
    "normal_cdf",
    "rank_one_edit",
    "relu",
    "relu_squared",
    "rms_norm",
    "self_attention",
    "sigmoid",
    "silu",
    "split_gate_up",
    "swiglu_backward",
    "swiglu_ffn",
    "swish",
    "swish_derivative",
    "tanh",
]
