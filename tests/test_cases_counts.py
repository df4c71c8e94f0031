"""Counts that calculators have got wrong in public: the config that shows the fault, and the numbers that are right.

Sizes are those of the published models, so that every number can be looked up; widths by rule are in test_cases.py.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ffncalc import load
from ffncalc.export import flops_data, params_data
from ffncalc.report.flops import flops
from ffncalc.report.params import params
from ffncalc.workload import Workload

Config = dict[str, Any]


def hf(model_type: str, d: int, d_ff: Any, layers: int, heads: int, vocab: int, **more: Any) -> Config:
    """A Hugging Face config with an untied head."""
    sizes = {"hidden_size": d, "intermediate_size": d_ff, "num_hidden_layers": layers, "num_attention_heads": heads}
    return {"model_type": model_type, **sizes, "vocab_size": vocab, "tie_word_embeddings": False, **more}


GPT2 = {
    "model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_inner": None, "n_positions": 1024,
    "vocab_size": 50257, "tie_word_embeddings": True,
}  # fmt: skip
LLAMA_7B = hf("llama", 4096, 11008, 32, 32, 32000, num_key_value_heads=32)
PYTHIA_70M = hf("gpt_neox", 512, 2048, 6, 8, 50257)
V2_LITE = hf(
    "deepseek_v2", 2048, 10944, 27, 16, 102400, moe_intermediate_size=1408, n_routed_experts=64, n_shared_experts=2,
    num_experts_per_tok=6, first_k_dense_replace=1, q_lora_rank=None, kv_lora_rank=512, qk_rope_head_dim=64,
    qk_nope_head_dim=128, v_head_dim=128,
)  # fmt: skip
GEMMA_7B = hf("gemma", 3072, 24576, 28, 16, 256000, head_dim=256, tie_word_embeddings=True)
META = {"n_kv_heads": 8, "vocab_size": 128256, "multiple_of": 1024}
META_1B = {"dim": 2048, "n_layers": 16, "n_heads": 32, "ffn_dim_multiplier": 1.5, **META}
META_3B = {"dim": 3072, "n_layers": 28, "n_heads": 24, "ffn_dim_multiplier": 1.0, **META}
GEMMA3N = {
    "model_type": "gemma3n_text", "hidden_size": 2048, "num_attention_heads": 8, "num_key_value_heads": 2,
    "head_dim": 256, "vocab_size": 262400, "vocab_size_per_layer_input": 262144, "hidden_size_per_layer_input": 256,
    "laurel_rank": 64, "altup_num_inputs": 4,
}  # fmt: skip
E4B = {**GEMMA3N, "intermediate_size": [16384] * 35, "num_hidden_layers": 35, "num_kv_shared_layers": 15}
E2B = {**GEMMA3N, "intermediate_size": [8192] * 30, "num_hidden_layers": 30, "num_kv_shared_layers": 10}
NO, KEPT = {"no_op": True, "replace_with_linear": False}, {"no_op": False, "replace_with_linear": False}
NAS = hf("nemotron-nas", 8192, None, 4, 64, 128256, num_key_value_heads=None, architectures=["DeciLMForCausalLM"])
NAS["block_configs"] = [
    {"attention": {**KEPT, "n_heads_in_group": 8}, "ffn": {**KEPT, "ffn_mult": 5.25}},
    {"attention": {**NO, "n_heads_in_group": None}, "ffn": {**KEPT, "ffn_mult": 1.3125}},
    {"attention": {**KEPT, "n_heads_in_group": 16}, "ffn": {**KEPT, "ffn_mult": 2.625}},
    {"attention": {"no_op": False, "replace_with_linear": True, "n_heads_in_group": None}, "ffn": NO},
]
DBRX = {
    "model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "vocab_size": 100352,
    "attn_config": {"kv_n_heads": 8, "clip_qkv": 8}, "tie_word_embeddings": False,
    "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
}  # fmt: skip
PACKED = {**LLAMA_7B, "quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}
WIDE_HEADS = hf("llama", 6144, 9216, 2, 64, 1000, num_key_value_heads=8, head_dim=128)
OPT = {
    "model_type": "opt", "hidden_size": 8, "word_embed_proj_dim": 8, "ffn_dim": 32, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 50272, "max_position_embeddings": 2048,
}  # fmt: skip
QWEN3_235B = hf(
    "qwen3_moe", 4096, 12288, 94, 64, 151936, num_key_value_heads=4, head_dim=128, moe_intermediate_size=1536,
    num_experts=128, num_experts_per_tok=8, decoder_sparse_step=1, mlp_only_layers=[],
)  # fmt: skip
WINDOWED = hf("llama", 4096, 11008, 4, 32, 1000, num_key_value_heads=8, sliding_window=4096)
WINDOWED["layer_types"] = ["sliding_attention"] * 3 + ["full_attention"]
QWEN2_MOE = hf(
    "qwen2_moe", 64, 160, 6, 4, 128, num_key_value_heads=2, moe_intermediate_size=48, num_experts=8,
    shared_expert_intermediate_size=96, num_experts_per_tok=2, decoder_sparse_step=2, mlp_only_layers=[3],
)  # fmt: skip


def at(data: Any, path: str) -> Any:
    """What stands at a path of the JSON, such as layers.0.ffn."""
    for step in path.split("."):
        data = data[int(step) if step.isdigit() else step]
    return data


@pytest.mark.parametrize(
    ("config", "options", "expected"),
    [
        pytest.param(
            GPT2,
            {},
            {"params.total": 124439808, "params.ffn": 56669184, "params.attention": 28348416, "dims.d_ff": 3072},
            id="the-head-is-tied-not-forgotten",
        ),
        pytest.param(
            GPT2, {"tied": False}, {"params.total": 163037184, "params.head": 38597376}, id="the-head-is-untied"
        ),
        pytest.param(
            LLAMA_7B,
            {},
            {"params.total": 6738415616, "params.ffn": 4328521728, "params.attention": 2147483648},
            id="three-matrices-not-two",
        ),
        pytest.param(
            V2_LITE,
            {},
            {
                "params.total": 15706484224,
                "params.active": 2661150208,
                "params.active_without_embedding": 2451435008,
                "params.head": 2451435008 - 2241719808,
            },
            id="active-with-and-without-embeddings",
        ),
        pytest.param(GEMMA_7B, {}, {"params.total": 8537680896}, id="heads-wider-than-the-model"),
        pytest.param(META_1B, {"tied": True}, {"params.total": 1235814400, "dims.d_ff": 8192}, id="tied-1b"),
        pytest.param(META_1B, {"tied": False}, {"params.total": 1498482688}, id="untied-1b"),
        pytest.param(META_3B, {"tied": True}, {"params.total": 3212749824, "dims.d_ff": 8192}, id="tied-3b"),
        pytest.param(META_3B, {"tied": False}, {"params.total": 3606752256}, id="untied-3b"),
        pytest.param(E4B, {}, {"params.total": 6866696688, "params.ffn": 3523215360}, id="listed-widths-e4b"),
        pytest.param(E2B, {}, {"params.total": 4456156768, "params.ffn": 1509949440}, id="listed-widths-e2b"),
        pytest.param(
            NAS,
            {},
            {
                "params.ffn": 1233125376,
                "params.attention": 360710144,
                "dims.d_ff": [28672, 7168, 14336],
                "dims.n_kv_heads": [8, 4],
                "dims.n_heads": 64,
                "layers.1.attention": 0,
                "layers.2.ffn": 352321536,
                "layers.3.attention": 67108864,
                "layers.3.ffn": 0,
            },
            id="a-block-of-its-own-for-each-layer",
        ),
        pytest.param(
            DBRX,
            {},
            {
                "params.total": 131596523520,
                "params.active": 36469708800,
                "params.ffn": 126835752960 + 3932160,
            },
            id="sizes-in-groups-of-the-file",
        ),
        pytest.param(PACKED, {}, {"params.total": 6738415616}, id="packing-weights-drops-none"),
        pytest.param(
            WIDE_HEADS,
            {},
            {"params.total": 578549760, "layers.0.attention": 113246208, "layers.0.ffn": 169869312},
            id="64-heads-of-128-on-6144",
        ),
        pytest.param(OPT, {}, {"params.total": 420336, "layers.0.ffn": 552}, id="opt-spells-it-ffn_dim"),
        pytest.param(
            {**OPT, "ffn_dim": 3072, "intermediate_size": 32}, {}, {"params.total": 523696}, id="ffn_dim-wins-in-opt"
        ),
        pytest.param(
            QWEN3_235B, {}, {"params.total": 235093634560, "params.active": 22190763520}, id="top-8-of-128-experts"
        ),
        pytest.param(
            QWEN2_MOE,
            {},
            {
                "params.total": 400064,
                "layers.0.ranges": [[0, 0], [2, 4]],
                "layers.0.ffn": 30720,
                "layers.1.ranges": [[1, 1], [5, 5]],
                "layers.1.ffn": 92736,
            },
            id="which-layers-have-experts",
        ),
    ],
)
def test_parameters(config: Config, options: dict[str, Any], expected: dict[str, Any]) -> None:
    """The parameters come out, by their path in the JSON."""
    data = params_data(params(load(config, **options)))
    assert {path: at(data, path) for path in expected} == expected


def test_two_widths_that_disagree_are_said() -> None:
    """A width that the architecture does not read is named in a warning."""
    warnings = params(load({**OPT, "intermediate_size": 64})).warnings
    assert any("'intermediate_size' was not read" in warning for warning in warnings)


LLAMA_8K, LLAMA_126K = (Workload(seq_len=t, batch=4, passes="train") for t in (8192, 129024))
LONG = Workload(seq_len=196608, passes="train")
OURS = {
    "family": "decoder", "d_model": 4096, "n_layers": 30, "n_heads": 32, "n_vocab": 102400, "d_ff": 16384,
    "ffn": {"kind": "plain"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "work", "expected"),
    [
        pytest.param(
            LLAMA_7B,
            LLAMA_8K,
            {"linear": 1299004268740608, "total.attention_scores": 422212465065984},
            id="every-pair-at-8k",
        ),
        pytest.param(
            LLAMA_7B,
            LLAMA_126K,
            {"linear": 20459317232664576, "total.attention_scores": 104735079615430656},
            id="every-pair-at-126k",
        ),
        pytest.param(
            LLAMA_7B,
            LLAMA_8K._replace(causal=True),
            {"total.attention_scores": 422212465065984 * 8193 // (2 * 8192)},
            id="causal-pairs-with-the-diagonal",
        ),
        pytest.param(
            GPT2,
            Workload(seq_len=1024),
            {"rule_n": 123653376, "rules_of_thumb.2.value": 855166464, "per_token.attention_scores": 37748736},
            id="6N-and-12LHQT-without-positions",
        ),
        pytest.param(
            PYTHIA_70M,
            Workload(seq_len=2048, passes="train"),
            {
                "total.ffn": 154618822656,
                "total.attention_projections": 231928233984 - 154618822656,
                "total.attention_scores": 154618822656,
                "total.head": 316189704192,
                "total.total": 702736760832,
            },
            id="the-head-is-trained-too",
        ),
        pytest.param(
            QWEN3_235B,
            LONG,
            {"linear": 25442218030399488, "total.attention_scores": 357191745445822464},
            id="heads-times-their-width-not-d_model",
        ),
        pytest.param(
            WINDOWED, Workload(seq_len=8192), {"per_token.attention_scores": 335544320}, id="beyond-the-window"
        ),
        pytest.param(
            WINDOWED, Workload(seq_len=2048), {"per_token.attention_scores": 134217728}, id="within-the-window"
        ),
        pytest.param(
            OURS,
            Workload(seq_len=4096, passes="train"),
            {"blocks": 36238786560, "linear per token": 38755368960, "per_token.total": 44795166720},
            id="with-and-without-the-vocabulary",
        ),
        pytest.param(
            QWEN2_MOE, Workload(seq_len=8), {"layers.0.ffn": 61440, "layers.1.ffn": 74880}, id="layers-with-experts"
        ),
    ],
)
def test_flops(config: Config, work: Workload, expected: dict[str, int]) -> None:
    """The FLOPs come out, by their path in the JSON; `linear` is all but the scores, `blocks` without the head too."""
    data = flops_data(flops(load(config), work))
    whole, token = data["total"], data["per_token"]
    data["linear"] = whole["total"] - whole["attention_scores"]
    data["linear per token"] = token["total"] - token["attention_scores"]
    data["blocks"] = token["ffn"] + token["attention_projections"]
    assert {path: at(data, path) for path in expected} == expected


# ------------------------------------------------------------------ what a config says and a class does
SMALL = {"hidden_size": 96, "intermediate_size": 178, "num_attention_heads": 6, "vocab_size": 331}


def forward(config: Config, t: int = 11) -> dict[str, Any]:
    """The FLOPs of one sequence."""
    return flops_data(flops(load(config), Workload(seq_len=t)))


def test_a_bottleneck_that_never_runs() -> None:
    """MobileBERT stores its second bottleneck where the first narrows values too, and never runs it (torch's count)."""
    sizes = {**SMALL, "hidden_size": 128, "embedding_size": 96, "intra_bottleneck_size": 64, "num_attention_heads": 4}
    config = {"model_type": "mobilebert", **sizes, "intermediate_size": 90, "num_hidden_layers": 3,
              "num_feedforward_networks": 3, "use_bottleneck_attention": True}  # fmt: skip
    assert forward(config)["total"]["total"] == 6640128


def test_a_router_that_always_runs_two() -> None:
    """Phi-3.5-MoE's SparseMixer draws two experts: another num_experts_per_tok changes no count, and is a warning."""
    config = {"model_type": "phimoe", **SMALL, "num_key_value_heads": 3, "num_hidden_layers": 3}
    for stated in (2, 3):
        found = forward({**config, "num_experts_per_tok": stated})
        assert found["layers"][0]["ffn"] == 2 * (2 * 3 * 96 * 178 + 96 * 16)
        assert any("num_experts_per_tok is 3" in warning for warning in found["warnings"]) == (stated == 3)


def test_sections_that_overlap() -> None:
    """Dory's layers run as often as the class's slices hold them, also where a section is longer than the stack."""
    config = {"model_type": "dory", **SMALL, "num_key_value_heads": 3, "head_dim": 20}
    assert forward({**config, "num_hidden_layers": 4})["total"]["total"] == 18296256
    kinds = load({**config, "num_hidden_layers": 6, "n_input_layers": 1, "n_output_layers": 2, "n_recurrent_loops": 3})
    assert next((kind.ranges, kind.runs.value) for kind in kinds.layers) == (((0, 0), (4, 5)), 1)


def test_convolutions_count_in_the_crossover() -> None:
    """What attention does for a token at any T stands with its projections when FFN and scores are weighed."""
    config = {"model_type": "convbert", **SMALL, "embedding_size": 52, "head_ratio": 2, "conv_kernel_size": 5}
    config |= {"num_hidden_layers": 3}
    found = forward(config)["crossover_seq_len"]
    assert found is not None
    t = -int(-found // 1)

    def ahead(length: int) -> int:
        token = forward(config, length)["per_token"]
        return int(token["attention_projections"] + token["attention_scores"] - token["ffn"])

    assert ahead(t) >= 0 > ahead(t - 1)


@pytest.mark.parametrize(
    ("config", "stack"),
    [
        ({"model_type": "bert", "is_decoder": True, "architectures": ["BertLMHeadModel"]}, "decoder"),
        ({"model_type": "bert", "is_decoder": False}, "encoder"),
        ({"model_type": "roberta", "is_decoder": True, "architectures": ["RobertaForCausalLM"]}, "decoder"),
        ({"model_type": "xlm", "causal": True}, "decoder"),
        ({"model_type": "xlm"}, "encoder"),
        ({"model_type": "openai_privacy_filter"}, "encoder"),
    ],
)
def test_who_decodes(config: Config, stack: str) -> None:
    """A mask on what follows is the config's to say in BERT's kin: such a decoder has half the pairs."""
    model = load(config)
    full, causal = (flops(model, Workload(9, causal=c)).total["attention_scores"].value for c in (False, True))
    assert {kind.stack for kind in model.layers} == {stack}
    assert causal * 9 == full * (5 if stack == "decoder" else 9)


@pytest.mark.parametrize(
    ("groups", "inner", "layers", "depth", "runs"), [(1, 1, 12, 12, 12), (2, 1, 6, 6, 3), (1, 3, 6, 18, 6)]
)
def test_depth_of_shared_layers(groups: int, inner: int, layers: int, depth: int, runs: int) -> None:
    """ALBERT's n_layers is how many blocks run; the layers themselves are those that are stored."""
    config = {"model_type": "albert", **SMALL, "num_hidden_layers": layers}
    data = params_data(params(load({**config, "num_hidden_groups": groups, "inner_group_num": inner})))
    (entry,) = data["layers"]
    assert (data["dims"]["n_layers"], entry["count"], entry["runs"]) == (depth, groups * inner, runs)


def test_sizes_that_differ_stay_lists_in_json(ffncalc: Callable[..., Any]) -> None:
    """In compare's JSON a size that differs between layers is a list, as in that of params; CSV and tables join it."""
    listed = json.loads(ffncalc("compare", "gpt2", "t5-small", "--json").out)
    assert [row["dims.n_layers"] for row in listed] == [12, [6, 6]]
    assert ",6 6," in ffncalc("compare", "gpt2", "t5-small", "--format", "csv").out
    assert "6/6" in ffncalc("compare", "gpt2", "t5-small").out
