"""Record what torch's FLOP counter sees the reference classes do, for every architecture: run by a person.

    python tests/golden/families/record_flops.py

Each class of reference.json.gz, and each of `MORE`, is built on the meta device with sizes that differ pairwise, and
its forward pass counted at two lengths, so that what grows with the tokens and what grows with their pairs can't make
up for each other. Written to flops.json.gz. Classes that read values in their forward pass (routing in a loop over the
experts, masks from data) can't run so, and are left out. Nothing of ffncalc is imported.
"""

from __future__ import annotations

import gzip
import inspect
import json
import logging
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any

import torch
import transformers
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode
from transformers import masking_utils
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

masking_utils.find_packed_sequence_indices = lambda position_ids: None  # it reads a value, and a meta tensor has none

HERE = pathlib.Path(__file__).parent
LENGTHS = ((11, 7), (5, 13))  # of the one stack or the encoder; of a decoder beside an encoder
SIZES: dict[int, str] = {
    96: "hidden_size d_model n_embd dim embed_dim emb_dim",
    6: "num_attention_heads n_head n_heads encoder_attention_heads num_heads num_encoder_attention_heads",
    4: "num_decoder_attention_heads decoder_attention_heads num_hidden_layers n_layer n_layers decoder_layers "
    "num_decoder_layers",
    3: "num_key_value_heads num_experts_per_tok encoder_layers num_encoder_layers num_layers",
    20: "head_dim d_kv",
    178: "intermediate_size d_ff ffn_dim n_inner encoder_ffn_dim hidden_dim",
    142: "decoder_ffn_dim",
    58: "moe_intermediate_size",
    74: "shared_expert_intermediate_size",
    202: "intermediate_size_mlp",
    331: "vocab_size",
    8: "num_experts num_local_experts n_routed_experts",
    52: "embedding_size",
    1: "n_group topk_group",
    0: "pad_token_id",
}
MAY_BE_NULL = ("num_key_value_heads", "head_dim", "n_inner")
# What some classes can't take: left at their defaults, one group after another until the class runs.
LEFT: tuple[tuple[str, ...], ...] = (
    (),
    ("head_dim",),
    ("num_key_value_heads",),
    ("head_dim", "num_key_value_heads"),
    ("num_hidden_layers", "num_layers"),
    ("num_hidden_layers", "embedding_size"),
    tuple(" ".join(SIZES.values()).split()),
)

DENSE = {"pad_token_id": 0, "hidden_size": 96, "intermediate_size": 178, "num_attention_heads": 6,
         "num_hidden_layers": 3, "vocab_size": 331}  # fmt: skip
GROUPED = {**DENSE, "num_key_value_heads": 3}
LATENT = {
    **DENSE, "num_key_value_heads": 6, "head_dim": 8, "first_k_dense_replace": 1, "moe_intermediate_size": 58,
    "n_routed_experts": 8, "num_local_experts": 8, "num_experts_per_tok": 3, "n_group": 1, "topk_group": 1,
    "kv_lora_rank": 28, "q_lora_rank": 44, "qk_nope_head_dim": 18, "qk_rope_head_dim": 8, "v_head_dim": 14,
    "n_shared_experts": 2, "index_n_heads": 5, "index_head_dim": 22, "index_topk": 2048,
}  # fmt: skip
NARROW = {**DENSE, "hidden_size": 128, "embedding_size": 96, "intra_bottleneck_size": 64, "num_attention_heads": 4,
          "intermediate_size": 90, "num_feedforward_networks": 3}  # fmt: skip
T5 = {
    "d_model": 96,
    "d_kv": 20,
    "d_ff": 178,
    "num_heads": 6,
    "num_layers": 2,
    "num_decoder_layers": 5,
    "vocab_size": 331,
}
GPT = {"n_embd": 96, "n_head": 6, "n_inner": 178, "n_layer": 3, "vocab_size": 331}
SHARED = {"embedding_size": 52, **DENSE, "num_hidden_layers": 6}
FALCON = {"hidden_size": 96, "num_attention_heads": 6, "num_hidden_layers": 3, "vocab_size": 331, "num_kv_heads": 2}
DEBERTA = {**DENSE, "relative_attention": True, "position_buckets": 16, "norm_rel_ebd": "layer_norm",
           "pos_att_type": "p2c|c2p", "type_vocab_size": 0, "position_biased_input": False,
           "max_position_embeddings": 64}  # fmt: skip
MIXED = {**GROUPED, "num_hidden_layers": 6, "moe_intermediate_size": 58, "num_experts": 8, "num_experts_per_tok": 3}
GEMMA4 = {**GROUPED, "head_dim": 20, "num_global_key_value_heads": 2, "global_head_dim": 28, "num_hidden_layers": 6,
          "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2,
          "vocab_size_per_layer_input": 301}  # fmt: skip
MORE: list[tuple[str, dict[str, Any]]] = [
    *((name, LATENT) for name in (
        "deepseek_v2/DeepseekV2ForCausalLM", "deepseek_v3/DeepseekV3ForCausalLM", "deepseek_v32/DeepseekV32ForCausalLM",
        "glm_moe_dsa/GlmMoeDsaForCausalLM", "glm4_moe_lite/Glm4MoeLiteForCausalLM", "axk1/AXK1ForCausalLM",
        "axk2/AXK2ForCausalLM", "mistral4/Mistral4Model", "mistral_large4_text/MistralLarge4TextModel",
        "youtu/YoutuForCausalLM", "minicpm3/MiniCPM3ForCausalLM", "hy_v4/HYV4ForCausalLM",
    )),
    ("deepseek_v2/DeepseekV2ForCausalLM", {**LATENT, "q_lora_rank": None}),
    ("deepseek_v3/DeepseekV3ForCausalLM", {**LATENT, "attention_bias": True, "n_shared_experts": 1}),
    ("gptj/GPTJForCausalLM", {**GPT, "rotary_dim": 8}),
    ("codegen/CodeGenForCausalLM", {**GPT, "n_head": 8, "rotary_dim": 4}),
    ("mobilebert/MobileBertForMaskedLM", NARROW),
    ("mobilebert/MobileBertForMaskedLM", {**NARROW, "use_bottleneck_attention": True}),
    ("dory/DoryForCausalLM", {**GROUPED, "head_dim": 20, "num_hidden_layers": 4}),
    ("dory/DoryForCausalLM", {**GROUPED, "head_dim": 20, "num_hidden_layers": 6, "n_input_layers": 1,
                              "n_output_layers": 2, "n_recurrent_loops": 3}),
    ("helium/HeliumForCausalLM", {**GROUPED, "head_dim": 16}),
    ("falcon/FalconForCausalLM", {**FALCON, "new_decoder_architecture": True, "ffn_hidden_size": 178}),
    ("falcon/FalconForCausalLM", {**FALCON, "multi_query": True}),
    ("falcon/FalconForCausalLM", {**FALCON, "num_kv_heads": 6, "multi_query": False, "parallel_attn": False,
                                  "alibi": True}),
    ("gpt_bigcode/GPTBigCodeForCausalLM", {**GPT, "multi_query": False}),
    ("opt/OPTForCausalLM", {"hidden_size": 96, "word_embed_proj_dim": 52, "num_attention_heads": 6, "ffn_dim": 178,
                            "num_hidden_layers": 3, "vocab_size": 331, "do_layer_norm_before": False}),
    ("gemma4_text/Gemma4ForCausalLM", {**GEMMA4, "enable_moe_block": True, "num_experts": 8, "top_k_experts": 3,
                                       "moe_intermediate_size": 58, "hidden_size_per_layer_input": 0,
                                       "num_kv_shared_layers": 0}),
    ("gemma4_text/Gemma4ForCausalLM", {**GEMMA4, "attention_k_eq_v": True, "hidden_size_per_layer_input": 24,
                                       "num_kv_shared_layers": 2, "use_double_wide_mlp": True}),
    ("qwen2_moe/Qwen2MoeForCausalLM", {**MIXED, "shared_expert_intermediate_size": 74, "decoder_sparse_step": 2,
                                       "mlp_only_layers": [3]}),
    ("qwen3_moe/Qwen3MoeForCausalLM", {**MIXED, "head_dim": 20, "decoder_sparse_step": 3}),
    ("phimoe/PhimoeForCausalLM", {**GROUPED, "num_local_experts": 8}),
    ("t5/T5ForConditionalGeneration", {**T5, "feed_forward_proj": "gated-gelu"}),
    ("albert/AlbertForMaskedLM", {**SHARED, "num_hidden_groups": 2, "inner_group_num": 2}),
    ("albert/AlbertForMaskedLM", {**SHARED, "inner_group_num": 3}),
    ("deberta-v2/DebertaV2ForMaskedLM", {**DEBERTA, "share_att_key": True}),
    ("deberta-v2/DebertaV2ForMaskedLM", {**DEBERTA, "share_att_key": False, "conv_kernel_size": 3, "conv_act": "gelu"}),
    *((f"bert/{name}", DENSE) for name in ("BertModel", "BertForSequenceClassification", "BertForQuestionAnswering")),
    *((f"roberta/{name}", DENSE) for name in ("RobertaForTokenClassification", "RobertaForSequenceClassification")),
    ("electra/ElectraForPreTraining", {**DENSE, "embedding_size": 52}),
    ("stablelm/StableLmForCausalLM", {**GROUPED, "use_parallel_residual": True, "qk_layernorm": True}),
    ("squeezebert/SqueezeBertForMaskedLM", {**DENSE, "embedding_size": 96, "intermediate_size": 176, "q_groups": 2,
                                            "k_groups": 4, "v_groups": 2, "intermediate_groups": 4,
                                            "output_groups": 2}),
    ("convbert/ConvBertForMaskedLM", {**DENSE, "embedding_size": 52, "intermediate_size": 176, "head_ratio": 3,
                                      "conv_kernel_size": 7, "num_groups": 2}),
]  # fmt: skip


def sized(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The config with sizes that differ pairwise, fewer of them each time."""
    has = CONFIG_MAPPING[config["model_type"]]().to_dict()
    sizes = {
        key: size
        for size, keys in SIZES.items()
        for key in keys.split()
        if key in has and (type(has[key]) is int or (has[key] is None and key in MAY_BE_NULL))
    }
    for left in LEFT:
        yield {**config, **{key: size for key, size in sizes.items() if key not in left}}


def counted(config: dict[str, Any], cls: str) -> list[int]:
    """FLOPs of one forward pass at each of `LENGTHS`; every pair of tokens meets on eager attention."""
    built = CONFIG_MAPPING[config["model_type"]].from_dict({k: v for k, v in config.items() if k != "model_type"})
    kind = getattr(transformers, cls)
    options = {"experts_implementation": "batched_mm"} if kind._can_set_experts_implementation() else {}
    with torch.device("meta"):
        model = kind._from_config(built, attn_implementation="eager", **options).eval().requires_grad_(False)
    return [forward(model, *lengths) for lengths in LENGTHS]


class Read(TorchDispatchMode):
    """A truth value that is read off a meta tensor is true: every check of the masks, "all tokens count" among them."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten._local_scalar_dense.default and args[0].device.type == "meta":
            return args[0].dtype == torch.bool
        return func(*args, **(kwargs or {}))


def forward(model: Any, length: int, decoder_length: int) -> int:
    """What torch's counter sees of it."""
    given: dict[str, Any] = {"input_ids": torch.zeros((1, length), dtype=torch.long, device="meta")}
    if getattr(model.config, "is_encoder_decoder", False):
        given["decoder_input_ids"] = torch.zeros((1, decoder_length), dtype=torch.long, device="meta")
    if "use_cache" in inspect.signature(model.forward).parameters:
        given["use_cache"] = False
    counter = FlopCounterMode(display=False)
    with torch.device("meta"), torch.no_grad(), Read(), counter:
        model(**given)
    return int(counter.get_total_flops())


def record(name: str, configs: Iterator[dict[str, Any]]) -> dict[str, Any] | None:
    """The first of the configs that the class runs with, and its FLOPs."""
    why: Exception | None = None
    for config in configs:
        try:
            return {"config": config, "flops": counted(config, name.split("/")[1])}
        except Exception as error:
            why = why or error
    print(f"left out: {name}: {type(why).__name__}: {why}"[:160], flush=True)
    return None


def main() -> None:
    """Record them all."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    transformers.logging.set_verbosity_error()
    reference = json.loads(gzip.decompress((HERE / "reference.json.gz").read_bytes()))
    plain = [(name, sized(row["config"])) for name, row in reference.items() if name != "transformers"]
    more = [
        (name, iter([{"model_type": name.split("/")[0], "architectures": [name.split("/")[1]], **sizes}]))
        for name, sizes in MORE
    ]
    found = [(name, row) for name, configs in (*plain, *more) if (row := record(name, configs))]
    data = {"versions": f"torch {torch.__version__}, transformers {transformers.__version__}", "lengths": LENGTHS}
    rows = [{"class": name, **row} for name, row in found]
    (HERE / "flops.json.gz").write_bytes(gzip.compress(json.dumps({**data, "rows": rows}).encode(), mtime=0))


if __name__ == "__main__":
    main()
