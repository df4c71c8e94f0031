"""The tiny models whose logits are recorded: each as this package describes it.

`record_numeric.py` has the same models as transformers configs. Weights are drawn by `decoder.seeded` from
`decoder.shapes`, so they need no room in the golden file.
"""

from ffncalc.numeric import Attention, Block, Decoder, Ffn, Moe, Norm, Rotary

V, D, F, HEADS, KV_HEADS, D_HEAD = 29, 12, 20, 4, 2, 6
SEED, BATCH, T = 5, 2, 9

GROUPED = Attention(HEADS, KV_HEADS, D_HEAD, rotary=Rotary(D_HEAD))
LAYER = Norm("layer", eps=1e-5, bias=True)
GEMMA = Norm("rms", eps=1e-6, offset=1.0)
NEMOTRON = Norm("layer", eps=1e-5, bias=True, offset=1.0)

_GPT2 = Block(
    D,
    Attention(3, 3, 4, bias=("q", "k", "v", "o")),
    Ffn(F, "gelu_tanh", gated=False, bias=True),
    LAYER,
)
_LLAMA = Block(D, GROUPED, Ffn(F), Norm(eps=1e-6))
_MIXTRAL = Block(D, GROUPED._replace(rotary=Rotary(D_HEAD, 1e6)), Moe(Ffn(F), 5, 2), Norm(eps=1e-5))
_GEMMA = Block(D, GROUPED, Ffn(F, "gelu_tanh"), GEMMA)
_NEMOTRON = Block(
    D,
    GROUPED._replace(d_head=8, rotary=Rotary(4)),
    Ffn(F, "relu_squared", gated=False),
    NEMOTRON,
)
_OLMO2 = Block(
    D,
    Attention(3, 3, 4, qk_norm="full", norm=Norm(eps=1e-5), rotary=Rotary(4)),
    Ffn(F),
    Norm(eps=1e-5),
    place="output",
)
_NEOX = Block(
    24,
    Attention(3, 3, 8, bias=("q", "k", "v", "o"), rotary=Rotary(4)),
    Ffn(F, "gelu", gated=False, bias=True),
    LAYER,
    parallel="two norms",
)
_GPTJ = Block(
    24,
    Attention(3, 3, 8, rotary=Rotary(4, pairs="neighbours")),
    Ffn(F, "gelu_tanh", gated=False, bias=True),
    LAYER,
    parallel="one norm",
)


def _gemma3(theta: float, window: int | None) -> Block:
    heads = Attention(
        HEADS, KV_HEADS, D_HEAD, qk_norm="head", norm=GEMMA, rotary=Rotary(D_HEAD, theta), window=window, scale=0.25
    )
    return Block(D, heads, Ffn(F, "gelu_tanh"), GEMMA, place="both")


_QWEN2_MOE = Block(
    D,
    Attention(3, 1, 4, bias=("q", "k", "v"), rotary=Rotary(4)),
    Moe(Ffn(7), 5, 2, renormalise=False, shared=Ffn(11), shared_gate=True),
    Norm(eps=1e-6),
)

MODELS = {
    "gpt2": Decoder(D, V, (_GPT2, _GPT2), LAYER, n_positions=16, tied=True),
    "llama": Decoder(D, V, (_LLAMA, _LLAMA), Norm(eps=1e-6)),
    "mixtral": Decoder(D, V, (_MIXTRAL, _MIXTRAL), Norm(eps=1e-5)),
    "gemma": Decoder(D, V, (_GEMMA, _GEMMA), GEMMA, tied=True, embedding_scale=D**0.5),
    "nemotron": Decoder(D, V, (_NEMOTRON, _NEMOTRON), NEMOTRON),
    "olmo2": Decoder(D, V, (_OLMO2, _OLMO2), Norm(eps=1e-5)),
    "gpt_neox": Decoder(24, V, (_NEOX, _NEOX), LAYER),
    "gptj": Decoder(24, V, (_GPTJ, _GPTJ), LAYER, head_bias=True),
    "gemma3": Decoder(D, V, (_gemma3(1e4, 3), _gemma3(1e6, None)), GEMMA, tied=True, embedding_scale=D**0.5),
    "qwen2_moe": Decoder(D, V, (_QWEN2_MOE, _QWEN2_MOE), Norm(eps=1e-6)),
}
