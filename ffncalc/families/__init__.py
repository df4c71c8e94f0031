"""Every architecture that is understood. A family's module is imported only when a config asks for it.

`MODULES` says which module holds which rows and which Hugging Face model types they are read for; a test holds it
against the modules.
"""

from __future__ import annotations

from importlib import import_module

from ffncalc.errors import InputError, nearest
from ffncalc.families.row import Row

MODULES: dict[str, tuple[str, ...]] = {
    "generic": ("decoder", "encoder", "encoder-decoder"),
    "llama": ("llama", "mistral", "qwen", "qwen2", "qwen3", "gemma", "phi3", "olmo2", "nemotron", "palm"),
    "moe": (
        "mixtral",
        "grok-1",
        "phimoe",
        "minimax_m2",
        "gpt_oss",
        "openai_privacy_filter",
        "qwen2_moe",
        "qwen3_moe",
        "qwen3_vl_moe_text",
        "olmoe",
        "flex_olmo",
        "dbrx",
        "granitemoe",
        "granitemoeshared",
        "granitemoe_swa",
    ),
    "interleaved": ("jetmoe", "ernie4_5", "ernie4_5_moe", "llama4_text"),
    "experts": (
        "deepseek",
        "glm4_moe",
        "glm4v_moe_text",
        "solar_open",
        "sarvam_moe",
        "dots1",
        "exaone_moe",
        "hunyuan_v1_moe",
        "hy_v3",
    ),
    "windowed": ("mimo_v2_flash", "afmoe", "laguna", "mellum", "cohere2_moe", "aria_text"),
    "latent": (
        "deepseek_v2",
        "deepseek_v3",
        "kimi_k2",
        "kimi_k25",
        "sarvam_mla",
        "mistral4",
        "glm4_moe_lite",
        "axk1",
        "longcat_flash",
    ),
    "sparse": (
        "deepseek_v32",
        "glm_moe_dsa",
        "axk2",
        "hy_v4",
        "hy_v4_vl_text",
        "mistral_large4_text",
        "dots3_note_text",
        "dots3_note",
    ),
    "compressed": ("deepseek_v4", "zaya", "minimax_m3_vl_text", "minimax_m3"),
    "blt": ("blt",),
    "gpt": ("gpt2", "gpt3", "primer", "all-attention"),
    "bert": (
        "bert",
        "roberta",
        "xlm-roberta",
        "camembert",
        "data2vec-text",
        "xlm-roberta-xl",
        "roberta-prelayernorm",
        "ibert",
        "ernie",
        "megatron-bert",
        "electra",
        "albert",
        "distilbert",
        "mpnet",
    ),
    "disentangled": ("deberta", "deberta-v2"),
    "bert_kin": (
        "rembert",
        "roformer",
        "bert-generation",
        "dpr",
        "splinter",
        "luke",
        "roc_bert",
        "xmod",
        "nystromformer",
        "yoso",
        "mra",
        "big_bird",
        "longformer",
    ),
    "pages": ("layoutlm", "tapas", "bros", "markuplm", "lilt", "layoutlmv3"),
    "odd_encoders": ("mobilebert", "squeezebert", "convbert", "canine", "perceiver"),
    "xlnet": ("xlm", "flaubert", "xlnet", "funnel"),
    "embedders": ("embedding_gemma2_text", "neomme"),
    "encoders": (
        "modernbert",
        "modernbert-decoder",
        "nomic_bert",
        "gte",
        "new",
        "jina_embeddings_v3",
        "eurobert",
        "esmc",
        "ultrabert",
        "cohere_compass_text",
        "esm",
        "clip_text_model",
        "tipsv2_text_model",
    ),
    "seq2seq": ("transformer",),
    "t5": ("t5", "mt5", "umt5", "longt5", "switch_transformers", "udop", "t5gemma"),
    "speech": (
        "speech_to_text",
        "whisper",
        "trocr",
        "musicgen_decoder",
        "musicgen_melody_decoder",
        "moshi",
        "kyutai_speech_to_text",
        "seamless_m4t",
        "seamless_m4t_v2",
    ),
    "bart": (
        "bart",
        "mbart",
        "plbart",
        "mvp",
        "pegasus",
        "pegasus_x",
        "bigbird_pegasus",
        "blenderbot",
        "blenderbot-small",
        "marian",
        "m2m_100",
        "nllb-moe",
        "fsmt",
        "led",
        "prophetnet",
    ),
    "decoders": (
        "gemma2",
        "gemma3_text",
        "vaultgemma",
        "cohere",
        "cohere2",
        "olmo",
        "olmo3",
        "granite",
        "granite_docling_text",
        "granite_swa",
        "glm",
        "glm4",
        "smollm3",
        "exaone",
        "exaone4",
        "seed_oss",
        "hunyuan_v1_dense",
        "hyperclovax",
        "helium",
        "cwm",
        "iquestcoder",
        "internlm3",
        "emu3",
        "emu3_text_model",
        "ministral",
        "ministral3",
        "arcee",
        "jais2",
        "nanochat",
    ),
    "classic": (
        "gpt-sw3",
        "gpt_bigcode",
        "gptj",
        "codegen",
        "openai-gpt",
        "ctrl",
        "imagegpt",
        "decision_transformer",
        "gpt_neo",
        "gpt_neox",
        "gpt_neox_japanese",
        "opt",
        "biogpt",
        "xglm",
    ),
    "layernorm": (
        "bloom",
        "falcon",
        "RefinedWebModel",
        "RefinedWeb",
        "mpt",
        "phi",
        "persimmon",
        "stablelm",
        "starcoder2",
    ),
    "singular": (
        "apertus",
        "apertus1p5_text",
        "bitnet",
        "diffllama",
        "doge",
        "youtu",
        "minicpm3",
        "hrm_text",
        "dory",
        "cpmant",
    ),
    "gated": ("flint", "beam", "kolibri1", "muse_glimmer_text", "muse_spark_text"),
    "gemma4": ("gemma3n_text", "gemma4_text", "gemma4_unified_text", "gemma4_unified_assistant"),
    "multimodal": (
        "qwen2_vl_text",
        "qwen2_5_vl_text",
        "qwen3_vl_text",
        "glm4v_text",
        "glm_image_text",
        "glm_ocr_text",
        "hunyuan_vl_text",
        "cosmos3_edge_text",
        "molmo2_text",
        "mllama_text_model",
    ),
    "recurrent": ("granitemoehybrid", "lfm2"),
    "published": (
        "aquila",
        "Yi",
        "xverse",
        "skywork",
        "baichuan",
        "internlm",
        "internlm2",
        "orion",
        "stablelm_epoch",
        "minicpm",
        "deci",
        "mimo",
        "nemotron-nas",
        "openelm",
        "chatglm",
        "hf_olmo",
        "jais",
        "btlm",
        "phi-msft",
        "mixformer-sequential",
    ),
    "meta": ("meta-llama",),
}


def row(name: str) -> Row | None:
    """The row of a family or a model type; None where it is not known."""
    for module, names in MODULES.items():
        if name in names:
            rows: dict[str, Row] = import_module(f"ffncalc.families.{module}").ROWS
            return rows[name]
    return None


def find(name: object, file: str, key: str) -> Row:
    """The row that a config names, or an InputError with the nearest names."""
    found = row(name) if isinstance(name, str) else None
    if found is None:
        near = nearest(str(name), names(), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`ffncalc families` lists those that are"
        raise InputError(f"{file}: {key} {str(name)[:60]!r} is not an architecture that ffncalc knows; {hint}")
    return found


def names() -> list[str]:
    """All families and model types, by name."""
    return sorted(name for names in MODULES.values() for name in names)


def rows() -> list[Row]:
    """Every row once, in the order of the modules."""
    found: dict[str, Row] = {}
    for module in MODULES:
        for entry in import_module(f"ffncalc.families.{module}").ROWS.values():
            found.setdefault(entry.name, entry)
    return list(found.values())


def by_name(*entries: Row) -> dict[str, Row]:
    """The rows of one module, by the names and model types that they are read for."""
    return {name: entry for entry in entries for name in (entry.model_types or (entry.name,))}
