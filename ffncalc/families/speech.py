"""Models that hear or speak: Whisper and its kin, the text decoders of OCR and music models, Moshi, SeamlessM4T.

Their text part is counted, with the small convolutions of a speech encoder where the class is one with it; separate
encoders of sound, vocoders and depth decoders are not, and a warning says so.
"""

from __future__ import annotations

from ffncalc.blocks.ends import lm_head
from ffncalc.expr import Expr, size
from ffncalc.families import by_name
from ffncalc.families.bart import BART, PRE_NORM, decoder_alone, tables_of_stacks
from ffncalc.families.llama import LLAMA
from ffncalc.families.readers import count, flag, key, nullable, text
from ffncalc.families.row import Reader, Row
from ffncalc.ops import Op, linear, lookup
from ffncalc.view import View

BY_FRAMES = "its encoder runs on frames of sound"


# ------------------------------------------------------------------ Speech2Text
def _subsampler(view: View, switch: str) -> tuple[Op, ...]:
    """Convolutions over the frames, each halving its channels by a gate; the last one gives the encoder's width."""
    kernels, _ = view.resolver.raw("conv_kernel_sizes")
    if not isinstance(kernels, list) or not kernels or len(kernels) != view.number("num_conv_layers"):
        view.fail("conv_kernel_sizes has to list one width for each of num_conv_layers", "conv_kernel_sizes")
    channels = view.single("conv_channels", "n_channels")
    entering = [view.single("input_feat_per_channel", "n_features") * view.single("input_channels", "n_inputs")]
    entering += [size("n_channels / 2", channels.value // 2, "conv_channels")] * (len(kernels) - 1)
    leaving = [channels] * (len(kernels) - 1) + [2 * view.get("d_model")]
    return tuple(
        linear(
            "other",
            f"encoder.conv.{i}",
            size("d_kernel", kernel, "conv_kernel_sizes") * entering[i],
            leaving[i],
            bias=True,
        )
        for i, kernel in enumerate(kernels)
    )


CONVOLUTIONS = ("conv_kernel_sizes", "num_conv_layers", "conv_channels", "input_feat_per_channel", "input_channels")

SPEECH_TO_TEXT = BART.like(
    "speech_to_text",
    "arXiv:2010.05171; transformers Speech2TextForConditionalGeneration: positions are computed",
    {
        **PRE_NORM,
        "positions.kind": "sinusoidal",
        "embedding.norm": False,
        "model_extra": (),
        "encoder.stack_extra": Reader(CONVOLUTIONS, _subsampler, holds_it=False),
    },
    {
        "vocab_size": 10000,
        "encoder_ffn_dim": 2048,
        "encoder_attention_heads": 4,
        "decoder_layers": 6,
        "decoder_ffn_dim": 2048,
        "decoder_attention_heads": 4,
        "d_model": 256,
        "num_conv_layers": 2,
        "conv_kernel_sizes": [5, 5],
        "conv_channels": 1024,
        "input_feat_per_channel": 80,
        "input_channels": 1,
    },
    ignores=("max_source_positions", "max_target_positions"),
    flops=BY_FRAMES,
)


# ------------------------------------------------------------------ Whisper
def _stem(view: View, switch: str) -> tuple[Op, ...]:
    """Two convolutions of width 3 from the mel bins to the encoder's width."""
    d = view.get("d_model")
    entering = (("conv1", view.single("num_mel_bins", "n_mels")), ("conv2", d))
    return tuple(linear("other", f"encoder.{name}", 3 * width, d, bias=True) for name, width in entering)


WHISPER_FULL = BART.like(
    "whisper",
    "arXiv:2212.04356; transformers WhisperForConditionalGeneration: no bias on the keys",
    {
        **PRE_NORM,
        "attention.bias": "qvo",
        "positions.offset": 0,
        "encoder.positions.n_positions": key("max_source_positions"),
        "decoder.positions.n_positions": key("max_target_positions"),
        "embedding.norm": False,
        "model_extra": (),
        "encoder.stack_extra": Reader(("num_mel_bins",), _stem, holds_it=False),
    },
    {
        "vocab_size": 51865,
        "num_mel_bins": 80,
        "encoder_layers": 4,
        "encoder_attention_heads": 6,
        "decoder_layers": 4,
        "decoder_attention_heads": 6,
        "decoder_ffn_dim": 1536,
        "encoder_ffn_dim": 1536,
        "d_model": 384,
        "max_source_positions": 1500,
        "max_target_positions": 448,
    },
    spellings={"num_key_value_heads": "encoder_attention_heads"},
    ignores=(
        *("use_weighted_layer_sum", "classifier_proj_size", "apply_spec_augment", "median_filter_width"),
        *(f"mask_{axis}_{what}" for axis in ("time", "feature") for what in ("prob", "length", "min_masks")),
        *(
            "max_position_embeddings",
            "num_mel_bins",
            "encoder_layers",
            "encoder_ffn_dim",
            "max_source_positions",
            "alignment_heads",
        ),
    ),
    flops=BY_FRAMES,
)
WHISPER = decoder_alone(
    WHISPER_FULL,
    "arXiv:2212.04356; transformers WhisperForCausalLM: the decoder alone; with the encoder for the other classes",
)

# ------------------------------------------------------------------ decoders of OCR and music models
TROCR = decoder_alone(
    BART,
    "arXiv:2109.10282; transformers TrOCRForCausalLM: the text decoder",
    **{
        "positions.kind": flag("use_learned_position_embeddings", "learned", "sinusoidal"),
        "embedding.norm": flag("layernorm_embedding"),
        "attention.d_source": count("cross_attention_hidden_size"),
    },
)._replace(
    name="trocr",
    defaults={
        **BART.defaults,
        "max_position_embeddings": 512,
        "use_learned_position_embeddings": True,
        "layernorm_embedding": True,
    },
    spellings={
        "num_attention_heads": "decoder_attention_heads",
        "hidden_size": "d_model",
        "num_hidden_layers": "decoder_layers",
    },
)


def _codebook_entries(view: View, switch: str) -> Expr:
    return size(
        "n_vocab",
        view.single("num_codebooks", "n_codebooks").value * view.single("vocab_size", "n_vocab").value,
        "num_codebooks x vocab_size",
    )


def _padding(rows: str | None) -> Reader:
    """A row of padding beyond the vocabulary in the token table, or in as many tables as the key says."""

    def padding(view: View, switch: str) -> tuple[Op, ...]:
        return (
            lookup(
                "embedding",
                "embed_tokens.padding",
                view.single(rows, "n_codebooks") if rows else 1,
                view.get("d_model"),
            ),
        )

    return Reader((rows,) if rows else (), padding, holds_it=False)


MUSICGEN = Row(
    name="musicgen_decoder",
    source="arXiv:2306.05284; transformers MusicgenForCausalLM: a table and a head for each codebook, no biases",
    heads={"causal": lm_head},
    says={
        "d_model": key("hidden_size"),
        "n_layers": key("num_hidden_layers"),
        "n_vocab": Reader(("num_codebooks", "vocab_size"), _codebook_entries, holds_it=False),
        "tied": False,
        "cross": True,
        "attention.n_heads": key("num_attention_heads"),
        "attention.d_head": BART.says["attention.d_head"],
        "ffn.kind": "plain",
        "ffn.activation": text("activation_function", "gelu"),
        "ffn.d_ff": key("ffn_dim"),
        "positions.kind": "sinusoidal",
        "model_extra": _padding("num_codebooks"),
    },
    defaults={
        "vocab_size": 2048,
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "ffn_dim": 4096,
        "num_codebooks": 4,
    },
    ignores=(
        "max_position_embeddings",
        "audio_channels",
        "cross_attention_hidden_size",
        "tie_word_embeddings",
        "is_decoder",
        "add_cross_attention",
    ),
)

MUSICGEN_MELODY = MUSICGEN.like(
    "musicgen_melody_decoder",
    "arXiv:2306.05284; transformers MusicgenMelodyForCausalLM: the melody stands before the text, no cross-attention",
    {"cross": False},
)


# ------------------------------------------------------------------ Moshi
def _half(view: View, switch: str) -> Expr:
    """ffn_dim counts gate and up together."""
    both = view.single("ffn_dim", "d_ff")
    if both.value % 2:
        view.fail("ffn_dim has to be an even number: it counts gate and up together", "ffn_dim")
    return size("d_ff", both.value // 2, "ffn_dim / 2")


MOSHI = LLAMA.like(
    "moshi",
    "arXiv:2410.00037; transformers MoshiForCausalLM: the text model, whose table has a row for padding",
    {
        "tied": False,
        "attention.bias": "",
        "attention.window": nullable("sliding_window"),
        "ffn.bias": False,
        "ffn.d_ff": Reader(("ffn_dim",), _half),
        "model_extra": _padding(None),
    },
    {"ffn_dim": 22528, "sliding_window": 3000},
    ignores=("num_codebooks", "audio_vocab_size", "tie_word_embeddings"),
)


def _codebooks(view: View, switch: str) -> tuple[Op, ...]:
    """Rows of the one table for the sound's codebooks, and one for padding."""
    rows = view.single("num_codebooks", "n_codebooks") * view.single("codebook_vocab_size", "n_vocab") + 1
    return (lookup("embedding", "embed_tokens.codebooks", rows, view.get("d_model")),)


KYUTAI = MOSHI.like(
    "kyutai_speech_to_text",
    "arXiv:2509.08753; transformers KyutaiSpeechToTextForConditionalGeneration: text and codebooks in one table",
    {
        "tied": flag("tie_word_embeddings"),
        "model_extra": Reader(("num_codebooks", "codebook_vocab_size"), _codebooks, holds_it=False),
    },
    {
        "vocab_size": 4001,
        "hidden_size": 2048,
        "num_hidden_layers": 48,
        "ffn_dim": 11264,
        "sliding_window": 375,
        "num_codebooks": 32,
        "codebook_vocab_size": 2049,
    },
    ignores=("frame_size", "audio_*"),
)


# ------------------------------------------------------------------ SeamlessM4T
def _seamless_tables(view: View, switch: str) -> tuple[Op, ...]:
    """The tables of text; it warns where the class named has more to it."""
    named = view.resolver.config.values.get("architectures") or ["none"]
    if not str(named[0]).endswith("ForTextToText"):
        view.resolver.warnings.append(
            "the text encoder and decoder are counted; speech encoder, unit model and vocoder are not"
        )
    return tables_of_stacks(view, switch)


SEAMLESS = BART.like(
    "seamless_m4t",
    "arXiv:2308.11596; transformers SeamlessM4TForTextToText: positions are computed",
    {
        **PRE_NORM,
        "d_model": key("hidden_size"),
        "positions.kind": "sinusoidal",
        "embedding.norm": False,
        "model_extra": Reader(("tie_word_embeddings",), _seamless_tables, holds_it=False),
    },
    {
        "vocab_size": 256102,
        "hidden_size": 1024,
        "encoder_layers": 24,
        "encoder_ffn_dim": 8192,
        "decoder_layers": 24,
        "decoder_ffn_dim": 8192,
    },
    model_types=("seamless_m4t", "seamless_m4t_v2"),
    ignores=(
        *(
            "t2u_*",
            "char_vocab_size",
            "max_new_tokens",
            "speech_encoder_*",
            "add_adapter",
            "feature_projection_*",
            "num_conv_pos_*",
        ),
        *(
            "adaptor_*",
            "num_adapter_layers",
            "rotary_embedding_base",
            "max_source_positions",
            "max_position_embeddings",
            "conv_*",
        ),
        *(
            "left_max_*",
            "right_max_*",
            "sampling_rate",
            "upsample_*",
            "resblock_*",
            "leaky_relu_slope",
            "unit_*",
            "lang_embed_dim",
        ),
        *("spkr_embed_dim", "vocoder_*", "variance_predictor_*", "var_pred_dropout", "position_embeddings_type"),
    ),
)._replace(spellings={"num_hidden_layers": "decoder_layers", "num_attention_heads": "decoder_attention_heads"})

ROWS = by_name(
    SPEECH_TO_TEXT,
    WHISPER._replace(by_head={"seq2seq": WHISPER_FULL, "none": WHISPER_FULL}),
    TROCR,
    MUSICGEN,
    MUSICGEN_MELODY,
    MOSHI,
    KYUTAI,
    SEAMLESS,
)
