"""Configs that hold the config of a language model inside them, beside towers for pictures or sound.

The language model is counted; that the rest is not, is said. Three facts about a multimodal model type decide: under
which key the language model stands, of which type it is where the file doesn't say, and at which level the class reads
whether the embeddings are tied. They are those of the classes of transformers 5.24; a model type that isn't listed is
read by what its file holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ffncalc.config import Config
from ffncalc.keys import never_counts
from ffncalc.view import Options

# How the class decides on the tie: by the outer flag (and what it is by default), by either, by the inner one, never.
TIES = {
    "outer, else untied": """
        apertus1p5:apertus1p5_text aria:aria_text cosmos3_omni:qwen3_vl_text exaone4_5:exaone4 fast_vlm:qwen2
        fuyu:persimmon glm46v:glm4v_text glm5_next:glm5_next_text glmga:glm4v_text hy_v4_vl:hy_v4_vl_text
        idefics2:mistral idefics3:llama llava_next:llama minicpmv4_6:qwen3_5_text minicpmv4_7:qwen3_5_text
        mistral_large4:mistral_large4_text modernvbert:modernbert muse_glimmer:muse_glimmer_text perception_lm:llama
        qianfan_ocr:qwen3 cohere_compass:cohere_compass_text deepseek_ocr2:deepseek_ocr2_text
        granite4_vision:granite4_vision_text qwen2_5_omni_thinker:qwen2_5_omni_text
        qwen3_omni_moe_thinker:qwen3_omni_moe_text qwen3_vl:qwen3_vl_text qwen3_vl_moe:qwen3_vl_moe_text
        smolvlm:llama step3p7:step3p5 ultravbert:ultrabert unlimited_ocr:unlimited_ocr_text video_llava:llama
        vipllava:llama llava_llama:llama llava_mistral:mistral llava_qwen:qwen2 phi3_v:phi3
    """,
    "outer, else tied": """
        aya_vision:cohere2 cohere2_vision:cohere2 deepseek_vl:llama deepseek_vl_hybrid:llama
        diffusion_gemma:diffusion_gemma_text ernie4_5_vl_moe:ernie4_5_vl_moe_text florence2:bart fun_asr_nano:qwen3
        gemma3:gemma3_text gemma3n:gemma3n_text gemma4:gemma4_text gemma4_unified:gemma4_unified_text
        gemma4_unified_assistant:gemma4_unified_assistant glmasr:llama got_ocr2:qwen2
        granite_docling:granite_docling_text granite_speech:granite granite_speech_plus:granite
        hunyuan_vl:hunyuan_vl_text hyperclovax_vision_v2:hyperclovax internvl:qwen2 janus:llama kimi_k25:deepseek_v3
        lfm2_vl:lfm2 lfm3_vl:lfm3 lighton_ocr:qwen3 minicpm_ocr:qwen3_5_text moss_transcribe_diarize:qwen3
        ovis2:qwen2 paligemma:gemma pp_chart2table:qwen2 qwen3_asr:qwen3 voxtral_realtime:voxtral_realtime_text
    """,
    # mistral3's class ties unless told; of its checkpoints those tie whose file says so at either level, and they win
    "either": """
        glm4v:glm4v_text glm4v_moe:glm4v_moe_text glm_ocr:glm_ocr_text llava:llama llava_next_video:llama
        llava_onevision:qwen2 minimax_m3_vl:minimax_m3_vl_text mistral3:mistral qwen2_5_vl:qwen2_5_vl_text
        qwen2_vl:qwen2_vl_text video_llama_3:qwen2
    """,
    "inner": """
        blip-2:opt instructblip:opt instructblipvideo:opt emu3:emu3_text_model
        llama4:llama4_text qwen3_5:qwen3_5_text qwen3_5_moe:qwen3_5_moe_text qwen4_exp:qwen4_exp_text
        vibevoice:qwen2 clip:clip_text_model shieldgemma2:gemma3_text tipsv2:tipsv2_text_model
        embedding_gemma2:embedding_gemma2_text glm_image:glm_image_text musicgen:musicgen_decoder
        musicgen_melody:musicgen_melody_decoder vision-encoder-decoder:bert speech-encoder-decoder:bert
        internvl_chat:qwen2 deepseek_vl_v2:deepseek_v2 kimi_vl:deepseek_v3
    """,
    "inner, or outer without one": """
        dots3_note:dots3_note_text
    """,
    "never": """
        audioflamingo3:qwen2 cosmos3_edge:cosmos3_edge_text mllama:mllama_text_model molmo2:molmo2_text
        muse_spark:muse_spark_text musicflamingo:qwen2 omniasr:llama qwen2_audio:qwen2 vibevoice_asr:qwen2
        voxtral:llama
    """,
}
TYPES = {
    pair.partition(":")[0]: (pair.partition(":")[2], rule) for rule, pairs in TIES.items() for pair in pairs.split()
}

KEYS = ("text_config", "thinker_config", "llm_config", "language_config", "language_model", "text_model")
# Theirs is called `decoder`.
DECODERS = ("musicgen", "musicgen_melody", "vision-encoder-decoder", "speech-encoder-decoder")
# What stands outside belongs to the language model too.
WITH_OUTER_KEYS = ("gemma4_unified_assistant",)


def text_part(config: Config, options: Options) -> tuple[Config, Options, tuple[str, ...]]:
    """The language model's own config, the options with the tie that its class reads, and what to warn of.

    A config without another one inside comes back as it is.
    """
    outer = config.values
    model_type = outer.get("model_type")
    name = _key(outer)
    if name is None and model_type not in TYPES:
        return config, options, ()
    inner_type, rule = TYPES.get(str(model_type), ("", "inner or outer"))
    inner = _own(outer, name, inner_type)
    places = config.places_in(name) if name else config.places
    if _key(inner) is not None:  # a thinker inside a model that speaks, with a language model inside it
        part = config._replace(values={"model_type": f"{model_type}_thinker", **inner}, places=places)
        found, options, notes = text_part(part, options)
        return found, options, (*_not_counted(outer, name), *notes)
    tied = options.tied if options.tied is not None else _tied(rule, outer, inner)
    part = config._replace(values=inner, places=places)
    return part, options._replace(tied=tied), _not_counted(outer, name)


def _key(outer: Mapping[str, Any]) -> str | None:
    """The key that the language model's config stands under."""
    names = ("decoder",) if outer.get("model_type") in DECODERS else KEYS
    return next((name for name in names if isinstance(outer.get(name), dict)), None)


def _own(outer: Mapping[str, Any], name: str | None, inner_type: str) -> dict[str, Any]:
    """The values of the language model. A file without a key for it has its sizes outside (the older kind), or none."""
    found = dict(outer[name]) if name else {}
    if name is None and outer.get("hidden_size") is not None:
        found = {k: v for k, v in outer.items() if not isinstance(v, dict) or k.startswith("rope")}
    if name is None or found.get("model_type") is None or outer.get("model_type") in WITH_OUTER_KEYS:
        found["model_type"] = inner_type or found.get("model_type")
    if outer.get("model_type") in WITH_OUTER_KEYS:
        found = {**{k: v for k, v in outer.items() if k != name}, **found}
    return {**found, "architectures": [_class(outer)]}


def _class(outer: Mapping[str, Any]) -> str:
    """The class as one of the language model: with the head of one, unless it is named as one without or for a task."""
    listed = outer.get("architectures")
    named = str(listed[0]) if isinstance(listed, list) and listed else ""
    bare = named.endswith("Model") and not named.endswith("ChatModel")
    return named if bare or named.endswith("Classification") else "ForConditionalGeneration"


def _tied(rule: str, outer: Mapping[str, Any], inner: Mapping[str, Any]) -> bool | None:
    """Whether the class ties; None leaves it to the language model's own row."""
    outside, inside = outer.get("tie_word_embeddings"), inner.get("tie_word_embeddings")
    if rule == "inner":
        return None
    if rule == "inner, or outer without one":
        return outside if _key(outer) is None else None
    if rule == "inner or outer":
        return outside if inside is None and isinstance(outside, bool) else None
    if rule == "never":
        return False
    if rule == "either":
        return True in (outside, inside)
    return outside if isinstance(outside, bool) else rule == "outer, else tied"


def _not_counted(outer: Mapping[str, Any], name: str | None) -> tuple[str, ...]:
    """The sentence on the towers: those that the file names, or whatever the class has; none where it says null."""
    if outer.get("model_type") in WITH_OUTER_KEYS:
        return ()
    others = [
        k
        for k, v in outer.items()
        if isinstance(v, dict) and k != name and k.endswith(("_config", "encoder", "_model")) and not never_counts(k, v)
    ]
    if not others and any(v is None and k.endswith("_config") for k, v in outer.items()):
        return ()
    what = ", ".join(sorted(others)) or "a tower for pictures or sound, if any,"
    return (f"the language model{f' in {name}' if name else ''} is counted; {what} is not",)
