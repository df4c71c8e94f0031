"""Published config files of well-known models, as they are in the wild: old names of keys, code of their own, towers
beside the language model, keys that count nothing.

Of each file the keys that an architecture reads are given here, with a few of the others; `NOISE` is what most files
hold beside. Where a class of transformers 5.24 is named, total and parts are those of its own parameters; elsewhere the
shapes are those of the published code named, and the total is the published one where that is given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from ffncalc.errors import InputError
from ffncalc.loading import load
from ffncalc.report.params import params


class Parts(NamedTuple):
    """Parameters by component; they add up to the total."""

    embedding: int
    attention: int
    ffn: int
    norm: int
    head: int
    other: int


class Published(NamedTuple):
    """A model's source, the parameters of its language model, and its config."""

    source: str
    total: int
    parts: Parts
    config: dict[str, Any]


# What files of any family hold beside: notes of the tools that wrote them, and null or false for what is off.
NOISE: dict[str, Any] = {
    "_name_or_path": "a/model",
    "auto_map": {"AutoModel": "modeling_own.OwnModel"},
    "initializer_range": 0.02,
    "pad_token_id": 0,
    "pruned_heads": {},
    "quantization_config": {"quant_method": "gptq", "bits": 4},
    "task_specific_params": None,
    "tie_encoder_decoder": False,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.31.0",
    "use_cache": True,
}

# fmt: off
PUBLISHED: dict[str, Published] = {
    "chatglm-6b": Published(
        "THUDM/chatglm-6b: modeling_chatglm.py; 6,173,286,400 in public fine-tuning logs",
        6_173_286_400, Parts(534_642_688, 1_879_506_944, 3_758_669_824, 466_944, 0, 0), {
            "model_type": "chatglm", "architectures": ["ChatGLMModel"], "hidden_size": 4096, "inner_hidden_size": 16384,
            "num_attention_heads": 32, "num_layers": 28, "position_encoding_2d": True, "vocab_size": 130528,
        },
    ),
    "chatglm2-6b": Published(
        "THUDM/chatglm2-6b: modeling_chatglm.py; 6,243,584,000 in public summaries of it",
        6_243_584_000, Parts(266_338_304, 998_373_376, 4_712_300_544, 233_472, 266_338_304, 0), {
            "model_type": "chatglm", "architectures": ["ChatGLMModel"], "add_bias_linear": False, "add_qkv_bias": True,
            "apply_query_key_layer_scaling": True, "attention_softmax_in_fp32": True, "bias_dropout_fusion": True,
            "hidden_size": 4096, "kv_channels": 128, "multi_query_attention": True, "multi_query_group_num": 2,
            "num_attention_heads": 32, "post_layer_norm": True, "rmsnorm": True, "tie_word_embeddings": False,
            "ffn_hidden_size": 13696, "num_layers": 28, "padded_vocab_size": 65024,
        },
    ),
    "glm-4-9b-chat": Published(
        "THUDM/glm-4-9b-chat: modeling_chatglm.py; 9.4B",
        9_399_951_360, Parts(620_756_992, 1_426_247_680, 6_731_857_920, 331_776, 620_756_992, 0), {
            "model_type": "chatglm", "architectures": ["ChatGLMModel"], "add_bias_linear": False, "add_qkv_bias": True,
            "apply_query_key_layer_scaling": True, "attention_softmax_in_fp32": True, "bias_dropout_fusion": True,
            "hidden_size": 4096, "kv_channels": 128, "multi_query_attention": True, "multi_query_group_num": 2,
            "num_attention_heads": 32, "post_layer_norm": True, "rmsnorm": True, "tie_word_embeddings": False,
            "ffn_hidden_size": 13696, "num_layers": 40, "padded_vocab_size": 151552, "num_hidden_layers": 40,
            "vocab_size": 151552, "max_position_embeddings": 131072,
        },
    ),
    "Baichuan2-13B-Chat": Published(
        "baichuan-inc/Baichuan2-13B-Chat: modeling_baichuan.py",
        13_896_668_160, Parts(643_563_520, 4_194_304_000, 8_414_822_400, 414_720, 643_563_520, 0), {
            "model_type": "baichuan", "tie_word_embeddings": False, "architectures": ["BaichuanForCausalLM"],
            "hidden_size": 5120, "intermediate_size": 13696, "num_attention_heads": 40, "num_hidden_layers": 40,
            "vocab_size": 125696, "z_loss_weight": 0,
        },
    ),
    "internlm2-chat-1_8b": Published(
        "internlm/internlm2-chat-1_8b: modeling_internlm2.py; 1,889,110,016 in public model tables",
        1_889_110_016, Parts(189_530_112, 301_989_888, 1_207_959_552, 100_352, 189_530_112, 0), {
            "tie_word_embeddings": False, "model_type": "internlm2", "architectures": ["InternLM2ForCausalLM"],
            "bias": False, "hidden_size": 2048, "intermediate_size": 8192, "max_position_embeddings": 32768,
            "num_attention_heads": 16, "num_key_value_heads": 8, "num_hidden_layers": 24, "vocab_size": 92544,
        },
    ),
    "Qwen-1_8B": Published(
        "Qwen/Qwen-1_8B: modeling_qwen.py; 1.84B",
        1_836_828_672, Parts(311_164_928, 402_800_640, 811_597_824, 100_352, 311_164_928, 0), {
            "model_type": "qwen", "architectures": ["QWenLMHeadModel"], "bf16": False, "fp16": False, "fp32": False,
            "kv_channels": 128, "max_position_embeddings": 8192, "no_bias": True, "onnx_safe": None,
            "tie_word_embeddings": False, "use_cache_quantization": False, "use_cache_kernel": False,
            "softmax_in_fp32": False, "hidden_size": 2048, "intermediate_size": 11008, "num_attention_heads": 16,
            "num_hidden_layers": 24, "vocab_size": 151936,
        },
    ),
    "phi-2, first config": Published(
        "microsoft/phi-2: modeling_phi.py; as transformers PhiForCausalLM on the later file",
        2_779_683_840, Parts(131_072_000, 839_188_480, 1_678_131_200, 168_960, 131_123_200, 0), {
            "model_type": "phi-msft", "architectures": ["PhiForCausalLM"], "flash_attn": False, "flash_rotary": False,
            "fused_dense": False, "img_processor": None, "n_embd": 2560, "n_head": 32, "n_head_kv": None,
            "n_inner": None, "n_layer": 32, "n_positions": 2048, "tie_word_embeddings": False, "vocab_size": 51200,
        },
    ),
    "MiniCPM-2B-sft-bf16": Published(
        "openbmb/MiniCPM-2B-sft-bf16: modeling_minicpm.py; 2,724,880,896 in public model tables",
        2_724_880_896, Parts(282_822_912, 849_346_560, 1_592_524_800, 186_624, 0, 0), {
            "model_type": "minicpm", "architectures": ["MiniCPMForCausalLM"], "scale_emb": 12, "dim_model_base": 256,
            "scale_depth": 1.4, "hidden_size": 2304, "intermediate_size": 5760, "max_position_embeddings": 2048,
            "num_attention_heads": 36, "num_hidden_layers": 40, "num_key_value_heads": 36, "vocab_size": 122753,
        },
    ),
    "OpenELM-270M": Published(
        "apple/OpenELM-270M: modeling_openelm.py; 0.27B",
        271_527_168, Parts(40_960_000, 51_609_600, 178_913_280, 44_288, 0, 0), {
            "model_type": "openelm", "architectures": ["OpenELMForCausalLM"], "activation_fn_name": "swish",
            "ffn_dim_divisor": 256, "ffn_with_glu": True, "head_dim": 64, "max_context_length": 2048,
            "normalization_layer_name": "rms_norm", "normalize_qk_projections": True, "num_gqa_groups": 4,
            "share_input_output_layers": True, "vocab_size": 32000,
            "ffn_multipliers": [
                0.5, 0.73, 0.97, 1.2, 1.43, 1.67, 1.9, 2.13, 2.37, 2.6, 2.83, 3.07, 3.3, 3.53, 3.77, 4.0,
            ],
            "model_dim": 1280, "num_transformer_layers": 16,
            "num_query_heads": [12, 12, 12, 12, 12, 16, 16, 16, 16, 16, 16, 16, 20, 20, 20, 20],
            "num_kv_heads": [3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5], "qkv_multipliers": [0.5, 1.0],
        },
    ),
    "falcon-7b, first config": Published(
        "tiiuae/falcon-7b: modelling_RW.py; as transformers FalconForCausalLM on the later file",
        6_921_720_704, Parts(295_469_056, 1_340_080_128, 5_285_871_616, 299_904, 0, 0), {
            "model_type": "RefinedWebModel", "architectures": ["RWForCausalLM"], "alibi": False, "bias": False,
            "hidden_size": 4544, "multi_query": True, "n_head": 71, "n_layer": 32, "parallel_attn": True,
            "vocab_size": 65024,
        },
    ),
    "falcon-40b, first config": Published(
        "tiiuae/falcon-40b: modelling_RW.py; as transformers FalconForCausalLM on the later file",
        41_303_293_952, Parts(532_676_608, 8_556_380_160, 32_212_254_720, 1_982_464, 0, 0), {
            "model_type": "RefinedWeb", "architectures": ["RWForCausalLM"], "alibi": False, "bias": False,
            "hidden_size": 8192, "n_head": 128, "n_head_kv": 8, "n_layer": 60, "parallel_attn": True,
            "vocab_size": 65024,
        },
    ),
    "falcon-11B": Published(
        "tiiuae/falcon-11B: transformers FalconForCausalLM",
        11_102_822_400, Parts(266_338_304, 2_516_582_400, 8_053_063_680, 499_712, 266_338_304, 0), {
            "model_type": "falcon", "architectures": ["FalconForCausalLM"], "activation": "gelu", "alibi": False,
            "bias": False, "ff_factor": 4, "ffn_hidden_size": 16384, "hidden_size": 4096,
            "max_position_embeddings": 8192, "multi_query": True, "new_decoder_architecture": True,
            "num_attention_heads": 32, "num_hidden_layers": 60, "num_kv_heads": 8, "num_ln_in_parallel_attn": 1,
            "parallel_attn": True, "vocab_size": 65024, "tie_word_embeddings": False,
        },
    ),
    "mpt-7b-chat": Published(
        "mosaicml/mpt-7b-chat: transformers MptForCausalLM",
        6_649_286_656, Parts(206_569_472, 2_147_483_648, 4_294_967_296, 266_240, 0, 0), {
            "model_type": "mpt", "architectures": ["MPTForCausalLM"], "emb_pdrop": 0, "embedding_fraction": 1.0,
            "expansion_ratio": 4, "init_config": {"emb_init_std": None, "fan_mode": "fan_in", "name": "kaiming_normal_",
            "verbose": 0}, "learned_pos_emb": True, "no_bias": True, "norm_type": "low_precision_layernorm",
            "tokenizer_name": "EleutherAI/gpt-neox-20b", "verbose": 0, "attn_config": {"alibi": True,
            "alibi_bias_max": 8, "attn_impl": "torch", "attn_pdrop": 0, "attn_type": "multihead_attention",
            "attn_uses_sequence_id": False, "clip_qkv": None, "prefix_lm": False, "qk_ln": False,
            "softmax_scale": None}, "d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50432,
        },
    ),
    "bloom": Published(
        "bigscience/bloom: transformers BloomForCausalLM",
        176_247_271_424, Parts(3_596_615_680, 57_549_864_960, 115_096_719_360, 4_071_424, 0, 0), {
            "model_type": "bloom", "attention_softmax_in_fp32": True, "bias_dropout_fusion": True,
            "masked_softmax_fusion": True, "skip_bias_add": True, "skip_bias_add_qkv": False, "slow_but_exact": False,
            "vocab_size": 250880, "offset_alibi": 100, "architectures": ["BloomForCausalLM"], "n_embed": 14336,
            "num_attention_heads": 112, "n_layer": 70,
        },
    ),
    "opt-350m": Published(
        "facebook/opt-350m: transformers OPTForCausalLM",
        331_196_416, Parts(28_887_040, 100_761_600, 201_449_472, 98_304, 0, 0), {
            "model_type": "opt", "architectures": ["OPTForCausalLM"], "do_layer_norm_before": False,
            "max_position_embeddings": 2048, "vocab_size": 50272, "hidden_size": 1024, "ffn_dim": 4096,
            "num_attention_heads": 16, "num_hidden_layers": 24, "word_embed_proj_dim": 512,
        },
    ),
    "DeepSeek-Coder-V2-Lite-Instruct": Published(
        "deepseek-ai/DeepSeek-Coder-V2-Lite-Instruct: transformers DeepseekV2ForCausalLM",
        15_706_484_224, Parts(209_715_200, 371_589_120, 14_915_338_240, 126_464, 209_715_200, 0), {
            "model_type": "deepseek_v2", "architectures": ["DeepseekV2ForCausalLM"], "attention_bias": False,
            "first_k_dense_replace": 1, "kv_lora_rank": 512, "moe_layer_freq": 1, "n_shared_experts": 2,
            "num_experts_per_tok": 6, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "tie_word_embeddings": False,
            "v_head_dim": 128, "hidden_size": 2048, "intermediate_size": 10944, "max_position_embeddings": 163840,
            "moe_intermediate_size": 1408, "n_routed_experts": 64, "num_attention_heads": 16, "num_hidden_layers": 27,
            "num_key_value_heads": 16, "q_lora_rank": None, "vocab_size": 102400,
        },
    ),
    "deepseek-vl2-tiny": Published(
        "deepseek-ai/deepseek-vl2-tiny: modeling_deepseek.py without latent attention; 3.37B with its tower",
        2_934_734_080, Parts(165_478_400, 78_643_200, 2_525_102_080, 32_000, 165_478_400, 0), {
            "model_type": "deepseek_vl_v2", "architectures": ["DeepseekVLV2ForCausalLM"],
            "candidate_resolutions": [[384, 384]], "global_view_pos": "head",
            "language_config": {"architectures": ["DeepseekV2ForCausalLM"], "first_k_dense_replace": 1,
            "hidden_size": 1280, "intermediate_size": 6848, "kv_lora_rank": None, "lm_head": True,
            "max_position_embeddings": 4096, "model_type": "deepseek_v2", "moe_intermediate_size": 896,
            "n_routed_experts": 64, "n_shared_experts": 2, "num_attention_heads": 10, "num_experts_per_tok": 6,
            "num_hidden_layers": 12, "num_key_value_heads": 10, "q_lora_rank": None, "qk_nope_head_dim": 0,
            "qk_rope_head_dim": 0, "rm_head": False, "use_mla": False, "v_head_dim": 0, "vocab_size": 129280},
            "projector_config": {"model_type": "mlp_projector", "n_embed": 1280}, "tile_tag": "2D",
            "vision_config": {"model_type": "vision", "hidden_size": 1152},
        },
    ),
    "Phi-3.5-MoE-instruct": Published(
        "microsoft/Phi-3.5-MoE-instruct: transformers PhimoeForCausalLM",
        41_873_153_344, Parts(131_334_144, 1_342_504_960, 40_267_415_552, 532_480, 131_366_208, 0), {
            "model_type": "phimoe", "architectures": ["PhiMoEForCausalLM"], "attention_bias": True, "hidden_size": 4096,
            "input_jitter_noise": 0.01, "intermediate_size": 6400, "lm_head_bias": True,
            "max_position_embeddings": 131072, "num_attention_heads": 32, "num_experts_per_tok": 2,
            "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 16, "sliding_window": 131072,
            "tie_word_embeddings": False, "vocab_size": 32064,
        },
    ),
    "stablelm-2-12b": Published(
        "stabilityai/stablelm-2-12b: transformers StableLmForCausalLM",
        12_143_185_920, Parts(513_802_240, 2_621_440_000, 8_493_465_600, 675_840, 513_802_240, 0), {
            "model_type": "stablelm", "architectures": ["StableLmForCausalLM"], "max_position_embeddings": 4096,
            "tie_word_embeddings": False, "hidden_size": 5120, "intermediate_size": 13824, "num_attention_heads": 32,
            "num_hidden_layers": 40, "num_key_value_heads": 8, "qk_layernorm": True, "use_parallel_residual": True,
            "use_qkv_bias": False, "vocab_size": 100352,
        },
    ),
    "gemma-3-4b-pt": Published(
        "google/gemma-3-4b-pt: transformers Gemma3ForConditionalGeneration",
        3_880_263_168, Parts(671_252_480, 534_773_760, 2_673_868_800, 368_128, 0, 0), {
            "model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
            "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
            "num_hidden_layers": 34, "sliding_window": 1024},
            "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152},
        },
    ),
    "Llama-3.2-11B-Vision": Published(
        "meta-llama/Llama-3.2-11B-Vision: transformers MllamaForConditionalGeneration",
        9_775_192_080, Parts(525_369_344, 1_677_721_600, 7_046_430_720, 333_824, 525_336_576, 16), {
            "model_type": "mllama", "architectures": ["MllamaForConditionalGeneration"],
            "text_config": {"hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 131072,
            "model_type": "mllama_text_model", "num_attention_heads": 32, "num_hidden_layers": 40,
            "num_key_value_heads": 8, "tie_word_embeddings": False, "vocab_size": 128256,
            "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38], "top_k": 50},
            "vision_config": {"model_type": "mllama_vision_model", "hidden_size": 1280},
        },
    ),
    "Mistral-Small-3.1-24B-Instruct-2503": Published(
        "mistralai/Mistral-Small-3.1-24B-Instruct-2503: "
        "transformers Mistral3ForConditionalGeneration, untied as in the checkpoint; 24.0B with its tower",
        23_572_403_200, Parts(671_088_640, 2_097_152_000, 20_132_659_200, 414_720, 671_088_640, 0), {
            "model_type": "mistral3", "architectures": ["Mistral3ForConditionalGeneration"],
            "multimodal_projector_bias": False, "projector_hidden_act": "gelu", "spatial_merge_size": 2,
            "text_config": {"head_dim": 128, "hidden_size": 5120, "intermediate_size": 32768,
            "max_position_embeddings": 131072, "model_type": "mistral", "num_attention_heads": 32,
            "num_hidden_layers": 40, "num_key_value_heads": 8, "sliding_window": None, "vocab_size": 131072},
            "vision_config": {"model_type": "pixtral", "hidden_size": 1024}, "vision_feature_layer": -1,
        },
    ),
    "llava-1.5-7b-hf": Published(
        "llava-hf/llava-1.5-7b-hf: transformers LlavaForConditionalGeneration",
        6_738_939_904, Parts(131_334_144, 2_147_483_648, 4_328_521_728, 266_240, 131_334_144, 0), {
            "model_type": "llava", "architectures": ["LlavaForConditionalGeneration"], "ignore_index": -100,
            "projector_hidden_act": "gelu", "text_config": {"architectures": ["LlamaForCausalLM"],
            "max_position_embeddings": 4096, "model_type": "llama", "vocab_size": 32064}, "tie_word_embeddings": False,
            "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024}, "vision_feature_layer": -2,
            "vision_feature_select_strategy": "default", "vocab_size": 32064,
        },
    ),
    "llava-v1.5-7b": Published(
        "liuhaotian/llava-v1.5-7b: transformers LlavaForConditionalGeneration",
        6_738_415_616, Parts(131_072_000, 2_147_483_648, 4_328_521_728, 266_240, 131_072_000, 0), {
            "model_type": "llava", "architectures": ["LlavaLlamaForCausalLM"], "hidden_size": 4096,
            "intermediate_size": 11008, "max_position_embeddings": 4096, "num_attention_heads": 32,
            "num_hidden_layers": 32, "num_key_value_heads": 32, "tie_word_embeddings": False, "vocab_size": 32000,
        },
    ),
    "Qwen2.5-VL-7B-Instruct": Published(
        "Qwen/Qwen2.5-VL-7B-Instruct: transformers Qwen2_5_VLForConditionalGeneration",
        7_615_616_512, Parts(544_997_376, 822_212_608, 5_703_204_864, 204_288, 544_997_376, 0), {
            "model_type": "qwen2_5_vl", "architectures": ["Qwen2_5_VLForConditionalGeneration"], "hidden_size": 3584,
            "intermediate_size": 18944, "max_position_embeddings": 128000, "max_window_layers": 28,
            "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4, "sliding_window": 32768,
            "tie_word_embeddings": False, "use_sliding_window": False,
            "vision_config": {"model_type": "vision", "hidden_size": 1280}, "vocab_size": 152064,
        },
    ),
    "InternVL2_5-8B": Published(
        "OpenGVLab/InternVL2_5-8B: modeling_internlm2.py; 8.08B with its tower",
        7_737_782_272, Parts(379_097_088, 1_342_177_280, 5_637_144_576, 266_240, 379_097_088, 0), {
            "model_type": "internvl_chat", "architectures": ["InternVLChatModel"], "downsample_ratio": 0.5,
            "dynamic_image_size": True, "force_image_size": 448,
            "llm_config": {"architectures": ["InternLM2ForCausalLM"], "bias": False, "hidden_size": 4096,
            "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "internlm2",
            "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "tie_word_embeddings": False,
            "vocab_size": 92553}, "max_dynamic_patch": 12, "min_dynamic_patch": 1, "ps_version": "v2",
            "select_layer": -1, "template": "internvl2_5", "use_backbone_lora": 0, "use_llm_lora": 0,
            "use_thumbnail": True, "vision_config": {"model_type": "intern_vit_6b", "hidden_size": 1024},
        },
    ),
    "OLMo-1B": Published(
        "allenai/OLMo-1B: olmo/model.py; 1,176,764,416 in public training logs",
        1_176_764_416, Parts(103_022_592, 268_435_456, 805_306_368, 0, 0, 0), {
            "model_type": "hf_olmo", "architectures": ["OLMoForCausalLM"], "activation_type": "swiglu", "alibi": False,
            "alibi_bias_max": 8.0, "attention_layer_norm": False, "attention_layer_norm_with_affine": False,
            "bias_for_layer_norm": False, "block_group_size": 1, "block_type": "sequential", "d_model": 2048,
            "embedding_size": 50304, "include_bias": False, "init_cutoff_factor": None, "init_fn": "mitchell",
            "layer_norm_type": "default", "layer_norm_with_affine": False, "mlp_hidden_size": None, "mlp_ratio": 8,
            "multi_query_attention": False, "n_heads": 16, "n_kv_heads": None, "n_layers": 16, "precision": "amp_bf16",
            "rope": True, "scale_logits": False, "vocab_size": 50280, "weight_tying": True,
        },
    ),
    "c4ai-command-r-plus": Published(
        "CohereForAI/c4ai-command-r-plus: transformers CohereForCausalLM",
        103_810_674_688, Parts(3_145_728_000, 20_937_965_568, 79_725_330_432, 1_650_688, 0, 0), {
            "model_type": "cohere", "architectures": ["CohereForCausalLM"], "attention_bias": False,
            "hidden_size": 12288, "intermediate_size": 33792, "max_position_embeddings": 8192,
            "num_attention_heads": 96, "num_hidden_layers": 64, "num_key_value_heads": 8, "use_qk_norm": True,
            "vocab_size": 256000,
        },
    ),
    "dbrx-base": Published(
        "databricks/dbrx-base: transformers DbrxForCausalLM",
        131_596_523_520, Parts(616_562_688, 3_523_215_360, 126_839_685_120, 497_664, 616_562_688, 0), {
            "model_type": "dbrx", "architectures": ["DbrxForCausalLM"], "attn_config": {"clip_qkv": 8, "kv_n_heads": 8,
            "model_type": "", "rope_theta": 500000}, "d_model": 6144, "emb_pdrop": 0.0,
            "ffn_config": {"ffn_hidden_size": 10752, "model_type": "", "moe_jitter_eps": 0, "moe_loss_weight": 0.05,
            "moe_num_experts": 16, "moe_top_k": 4}, "n_heads": 48, "n_layers": 40, "tie_word_embeddings": False,
            "vocab_size": 100352,
        },
    ),
    "Qwen1.5-MoE-A2.7B": Published(
        "Qwen/Qwen1.5-MoE-A2.7B: transformers Qwen2MoeForCausalLM",
        14_315_784_192, Parts(311_164_928, 402_800_640, 13_290_553_344, 100_352, 311_164_928, 0), {
            "model_type": "qwen2_moe", "architectures": ["Qwen2MoeForCausalLM"], "use_sliding_window": False,
            "decoder_sparse_step": 1, "hidden_size": 2048, "intermediate_size": 5632, "max_position_embeddings": 8192,
            "max_window_layers": 21, "mlp_only_layers": [], "moe_intermediate_size": 1408, "num_attention_heads": 16,
            "num_experts": 60, "num_experts_per_tok": 4, "num_hidden_layers": 24, "num_key_value_heads": 16,
            "qkv_bias": True, "shared_expert_intermediate_size": 5632, "sliding_window": 32768,
            "tie_word_embeddings": False, "vocab_size": 151936,
        },
    ),
    "Hunyuan-A13B-Instruct": Published(
        "tencent/Hunyuan-A13B-Instruct: transformers HunYuanMoEV1ForCausalLM; 80B",
        80_393_183_232, Parts(524_972_032, 1_342_177_280, 78_525_759_488, 274_432, 0, 0), {
            "model_type": "hunyuan_v1_moe", "architectures": ["HunYuanMoEV1ForCausalLM"],
            "add_classification_head": False, "anyres_pooling_size": 2, "attention_bias": False,
            "attention_head_dim": 128, "cla_share_factor": 2, "class_num": 0, "dense_list": [4096, 0],
            "group_limited_greedy": False, "hidden_size": 4096, "im_end_id": 6, "intermediate_size": 3072,
            "kv_lora_rank": None, "mask_init_id": 12, "max_position_embeddings": 32768, "mlp_bias": False,
            "moe_drop_tokens": False, "moe_intermediate_size": [3072] * 32, "moe_layer_num_skipped": 0,
            "moe_random_routing_dropped_token": False, "moe_topk": [8] * 32, "norm_type": "rms",
            "num_attention_heads": 32, "num_experts": 64, "num_hidden_layers": 32, "num_key_value_heads": 8,
            "num_shared_expert": [1] * 32, "org_vocab_size": 128167, "pad_id": 127961, "pool_type": "last",
            "position_embedding_xdrope": False, "q_lora_rank": None, "qk_nope_head_dim": None, "qk_rope_head_dim": None,
            "skip_cls_token": False, "text_end_id": 7, "text_start_id": 8, "tie_word_embeddings": True,
            "use_mixed_mlp_moe": True, "use_mla": False, "use_qk_norm": True, "use_rotary_pos_emb": True,
            "v_head_dim": None, "vit_path": None, "vocab_size": 128167,
        },
    ),
    "bert-base-chinese": Published(
        "google-bert/bert-base-chinese: transformers BertForMaskedLM",
        102_290_312, Parts(16_621_056, 28_348_416, 56_669_184, 38_400, 613_256, 0), {
            "model_type": "bert", "max_position_embeddings": 512, "type_vocab_size": 2, "hidden_size": 768,
            "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12,
            "architectures": ["BertForMaskedLM"], "directionality": "bidi", "pooler_fc_size": 768,
            "pooler_num_attention_heads": 12, "pooler_num_fc_layers": 3, "pooler_size_per_head": 128,
            "pooler_type": "first_token_transform", "vocab_size": 21128,
        },
    ),
    "all-MiniLM-L6-v2": Published(
        "sentence-transformers/all-MiniLM-L6-v2: transformers BertModel",
        22_713_216, Parts(11_917_824, 3_548_160, 7_089_408, 9_984, 0, 147_840), {
            "model_type": "bert", "max_position_embeddings": 512, "type_vocab_size": 2, "architectures": ["BertModel"],
            "hidden_size": 384, "intermediate_size": 1536, "num_attention_heads": 12, "num_hidden_layers": 6,
            "vocab_size": 30522,
        },
    ),
    "finbert": Published(
        "ProsusAI/finbert: transformers BertForSequenceClassification",
        109_484_547, Parts(23_835_648, 28_348_416, 56_669_184, 38_400, 2_307, 590_592), {
            "model_type": "bert", "max_position_embeddings": 512, "type_vocab_size": 2, "hidden_size": 768,
            "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12,
            "architectures": ["BertForSequenceClassification"],
            "id2label": {"0": "positive", "1": "negative", "2": "neutral"}, "vocab_size": 30522,
        },
    ),
    "jina-embeddings-v2-base-en": Published(
        "jinaai/jina-embeddings-v2-base-en: modeling_bert.py of JinaBERT; 137,368,320 in public model tables",
        137_368_320, Parts(23_447_040, 28_348_416, 84_943_872, 38_400, 0, 590_592), {
            "model_type": "bert", "architectures": ["JinaBertModel"], "emb_pooler": "mean",
            "feed_forward_type": "geglu", "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
            "num_hidden_layers": 12, "max_position_embeddings": 8192, "type_vocab_size": 2, "vocab_size": 30528,
            "position_embedding_type": "alibi",
        },
    ),
    "nomic-embed-text-v1": Published(
        "nomic-ai/nomic-embed-text-v1: modeling_hf_nomic_bert.py; 137M",
        136_731_648, Parts(23_447_040, 28_311_552, 84_934_656, 38_400, 0, 0), {
            "model_type": "nomic_bert", "architectures": ["NomicBertModel"], "causal": False, "dense_seq_output": True,
            "fused_bias_fc": True, "fused_dropout_add_ln": True, "max_trained_positions": 2048, "mlp_fc1_bias": False,
            "mlp_fc2_bias": False, "n_embd": 768, "n_head": 12, "n_inner": 3072, "n_layer": 12, "n_positions": 8192,
            "pad_vocab_size_multiple": 64, "parallel_block": False, "parallel_block_tied_norm": False, "prenorm": False,
            "qkv_proj_bias": False, "rotary_emb_interleaved": False, "rotary_emb_scale_base": None,
            "rotary_scaling_factor": 2, "type_vocab_size": 2, "use_rms_norm": False, "use_xentropy": True,
            "vocab_size": 30528,
        },
    ),
    "mDeBERTa-v3-base-mnli-xnli": Published(
        "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli: transformers DebertaV2ForSequenceClassification",
        278_811_651, Parts(193_161_216, 28_348_416, 56_669_184, 39_936, 592_899, 0), {
            "model_type": "deberta-v2", "architectures": ["DebertaV2ForSequenceClassification"], "hidden_size": 768,
            "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12,
            "id2label": {"0": "e", "1": "n", "2": "c"}, "max_position_embeddings": 512, "relative_attention": True,
            "position_buckets": 256, "norm_rel_ebd": "layer_norm", "share_att_key": True,
            "pos_att_type": ["p2c", "c2p"], "max_relative_positions": -1, "position_biased_input": False,
            "vocab_size": 251000, "type_vocab_size": 0, "pooler_dropout": 0, "pooler_hidden_act": "gelu",
            "pooler_hidden_size": 768,
        },
    ),
    "flan-t5-base": Published(
        "google/flan-t5-base: transformers T5ForConditionalGeneration",
        247_577_856, Parts(24_674_304, 84_935_424, 113_246_208, 47_616, 24_674_304, 0), {
            "is_encoder_decoder": True, "relative_attention_num_buckets": 32,
            "architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "d_ff": 2048, "d_kv": 64,
            "d_model": 768, "feed_forward_proj": "gated-gelu", "dense_act_fn": "gelu_new", "is_gated_act": True,
            "n_positions": 512, "num_decoder_layers": 12, "num_heads": 12, "num_layers": 12,
            "relative_attention_max_distance": 128, "tie_word_embeddings": False, "vocab_size": 32128,
        },
    ),
    "bart-large-cnn": Published(
        "facebook/bart-large-cnn: transformers BartForConditionalGeneration",
        406_290_432, Parts(53_571_584, 151_142_400, 201_449_472, 126_976, 0, 0), {
            "model_type": "bart", "architectures": ["BartForConditionalGeneration"], "add_bias_logits": False,
            "add_final_layer_norm": False, "is_encoder_decoder": True, "normalize_before": False,
            "normalize_embedding": True, "id2label": {"0": "LABEL_0"}, "d_model": 1024, "encoder_ffn_dim": 4096,
            "decoder_ffn_dim": 4096, "encoder_attention_heads": 16, "decoder_attention_heads": 16, "encoder_layers": 12,
            "decoder_layers": 12, "num_hidden_layers": 12, "force_bos_token_to_be_generated": True,
            "max_position_embeddings": 1024, "vocab_size": 50264,
        },
    ),
    "nllb-200-distilled-600M": Published(
        "facebook/nllb-200-distilled-600M: transformers M2M100ForConditionalGeneration",
        615_073_792, Parts(262_354_944, 151_142_400, 201_449_472, 126_976, 0, 0), {
            "model_type": "m2m_100", "architectures": ["M2M100ForConditionalGeneration"], "d_model": 1024,
            "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096, "encoder_attention_heads": 16,
            "decoder_attention_heads": 16, "encoder_layers": 12, "decoder_layers": 12, "num_hidden_layers": 12,
            "max_position_embeddings": 1024, "vocab_size": 256206, "is_encoder_decoder": True,
        },
    ),
    "whisper-tiny": Published(
        "openai/whisper-tiny: transformers WhisperForConditionalGeneration",
        37_760_640, Parts(20_664_192, 7_091_712, 9_452_544, 16_896, 0, 535_296), {
            "model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "apply_spec_augment": False,
            "classifier_proj_size": 256, "is_encoder_decoder": True, "mask_feature_length": 10,
            "mask_feature_min_masks": 0, "mask_feature_prob": 0.0, "mask_time_length": 10, "mask_time_min_masks": 2,
            "mask_time_prob": 0.05, "max_source_positions": 1500, "max_target_positions": 448, "median_filter_width": 7,
            "use_weighted_layer_sum": False, "d_model": 384, "encoder_ffn_dim": 1536, "decoder_ffn_dim": 1536,
            "encoder_attention_heads": 6, "decoder_attention_heads": 6, "encoder_layers": 4, "decoder_layers": 4,
            "num_hidden_layers": 4, "num_mel_bins": 80, "vocab_size": 51865,
        },
    ),
}
# fmt: on

RECURRENT: dict[str, dict[str, Any]] = {
    "Jamba-v0.1": {"model_type": "jamba", "attn_layer_period": 8, "attn_layer_offset": 4, "mamba_d_state": 16},
    "mamba-130m-hf": {"model_type": "mamba", "d_model": 768, "n_layer": 24, "state_size": 16},
    "rwkv-4-169m-pile": {"model_type": "rwkv", "attention_hidden_size": 768, "context_length": 1024},
    "recurrentgemma-2b": {"model_type": "recurrent_gemma", "_block_types": ["recurrent", "recurrent", "attention"]},
    "MiniMax-M1-80k": {"model_type": "minimax_m1", "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1] * 10},
    "Kimi-Linear-48B-A3B": {"model_type": "kimi_linear", "linear_attn_config": {"kda_layers": [1, 2, 3]}},
    "Qwen3-Next-80B-A3B": {"model_type": "qwen3_next", "full_attention_interval": 4, "linear_conv_kernel_dim": 4},
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_total_and_parts_are_those_published(name: str) -> None:
    """The total and each component of the language model, from the file with all its other keys."""
    known = PUBLISHED[name]
    counted = params(load(NOISE | known.config)).numbers()
    found = {part: value.value if value is not None else 0 for part, value in counted.items()}
    assert found["total"] == known.total, known.source
    assert Parts(*(found[part] for part in Parts._fields)) == known.parts


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_file_raises_no_false_alarm(name: str) -> None:
    """A key that can't count brings no warning; that a tower is not counted does, and names towers only."""
    warnings = params(load(NOISE | PUBLISHED[name].config)).warnings
    assert all("language model" in warning and "quantization" not in warning for warning in warnings)


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_model_is_refused(name: str) -> None:
    """A published model with recurrent layers is refused by name, whatever else its file says."""
    with pytest.raises(InputError, match="recurrent"):
        load(NOISE | RECURRENT[name])
