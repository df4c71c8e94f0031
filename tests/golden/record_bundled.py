"""Record tests/golden/bundled.json: every bundled model as a torch model, its parameters summed, its matmuls counted.

    python tests/golden/record_bundled.py [NAME...]

needs torch, transformers (recorded with the versions that the file names) and PyYAML, and nothing of ffncalc: a
config's sizes are put into the config class of the reference library, the model is made on the meta device, its
parameters are walked, and its forward pass is run under torch's own FLOP counter. What no library ships is in
paper_models.py.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import paper_models as papers
import torch
import transformers as hf
import yaml
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from transformers import masking_utils

masking_utils.find_packed_sequence_indices = lambda position_ids: None  # it reads a value, and a meta tensor has none

HERE = Path(__file__).parent
CONFIGS = HERE.parents[1] / "configs"
SEQ_LEN = 1024  # or as many tokens as the model's window or position table takes: the counter sees neither
Build = Callable[[SimpleNamespace], nn.Module]

# ours -> the key of most config classes of the reference library
KEYS = {
    "d_model": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "d_head": "head_dim",
    "d_ff": "intermediate_size",
    "n_vocab": "vocab_size",
    "top_k": "num_experts_per_tok",
    "n_shared": "n_shared_experts",
    "tied": "tie_word_embeddings",
}
NOT_SIZES = {"name", "aliases", "source", "family", "published", "head", "notes", "ffn"}


def read(path: Path) -> SimpleNamespace:
    """The sizes of a bundled file; a rule for d_ff is that of the FeedForward class in Meta's published code."""
    values = yaml.safe_load(path.read_text(encoding="utf-8"))
    if isinstance(rule := values.get("d_ff"), dict):
        multiple, hidden = rule["multiple_of"], int(2 * (4 * values["d_model"]) / 3)
        hidden = int(rule["multiplier"] * hidden) if "multiplier" in rule else hidden
        values["d_ff"] = multiple * ((hidden + multiple - 1) // multiple)
    return SimpleNamespace(**values)


def usual(config: type[Any], model: type[Any], experts: str = "num_local_experts", **fixed: Any) -> Build:
    """A family of the reference library whose keys are the usual ones."""

    def build(c: SimpleNamespace) -> nn.Module:
        sizes = {k: v for k, v in vars(c).items() if k not in NOT_SIZES}
        sizes = {{**KEYS, "n_experts": experts}.get(k, k): v for k, v in sizes.items()}
        sizes.setdefault("num_key_value_heads", c.n_heads)
        return make(model, config(**sizes, **fixed, pad_token_id=0))

    return build


def make(model: type[Any], config: Any) -> nn.Module:
    """The model itself, with matmuls that can be counted."""
    experts = {"experts_implementation": "batched_mm"} if hasattr(config, "num_experts_per_tok") else {}
    made: nn.Module = model._from_config(config, attn_implementation="eager", **experts)
    return made


def gpt2(c: SimpleNamespace) -> nn.Module:
    """GPT-2, and GPT-3 with every layer dense."""
    sizes = {"n_embd": c.d_model, "n_layer": c.n_layers, "n_head": c.n_heads, "n_inner": c.d_ff}
    return make(hf.GPT2LMHeadModel, hf.GPT2Config(**sizes, vocab_size=c.n_vocab, n_positions=c.n_positions))


def bert(c: SimpleNamespace) -> nn.Module:
    """BERT with its pooler."""
    sizes = {KEYS.get(k, k): v for k, v in vars(c).items() if k not in NOT_SIZES}
    return make(hf.BertModel, hf.BertConfig(**sizes))


def t5(c: SimpleNamespace) -> nn.Module:
    """T5; the class ties its head always, the checkpoints of v1.1 do not."""
    gated = getattr(c, "ffn", {}).get("kind") == "gated" or hasattr(c, "feed_forward_proj")
    sizes = {
        "d_model": c.d_model,
        "d_ff": c.d_ff,
        "num_layers": c.n_layers,
        "num_heads": c.n_heads,
        "vocab_size": c.n_vocab,
    }
    sizes |= {"d_kv": getattr(c, "d_head", 64), "relative_attention_num_buckets": c.relative_attention_num_buckets}
    model = make(
        hf.T5ForConditionalGeneration, hf.T5Config(**sizes, feed_forward_proj="gated-gelu" if gated else "relu")
    )
    if not getattr(c, "tied", True):
        model.lm_head = nn.Linear(c.d_model, c.n_vocab, bias=False)
    return model


BUILD: dict[str, Build] = {
    "gpt2": gpt2,
    "gpt3": gpt2,
    "bert": bert,
    "t5": t5,
    "llama": usual(hf.LlamaConfig, hf.LlamaForCausalLM),
    "mistral": usual(hf.MistralConfig, hf.MistralForCausalLM),
    "mixtral": usual(hf.MixtralConfig, hf.MixtralForCausalLM),
    "gemma": usual(hf.GemmaConfig, hf.GemmaForCausalLM),
    "qwen": usual(
        hf.Qwen2Config, hf.Qwen2ForCausalLM
    ),  # Qwen1's own code is not in the library: the same biases and matrices
    "qwen2": usual(hf.Qwen2Config, hf.Qwen2ForCausalLM),
    "qwen3": usual(hf.Qwen3Config, hf.Qwen3ForCausalLM),
    "qwen3_moe": usual(hf.Qwen3MoeConfig, hf.Qwen3MoeForCausalLM, experts="num_experts"),
    "nemotron": usual(hf.NemotronConfig, hf.NemotronForCausalLM),
    "olmo2": usual(hf.Olmo2Config, hf.Olmo2ForCausalLM),
    "phi3": usual(hf.Phi3Config, hf.Phi3ForCausalLM),
    "gpt_oss": usual(hf.GptOssConfig, hf.GptOssForCausalLM),
    "deepseek_v2": usual(hf.DeepseekV2Config, hf.DeepseekV2ForCausalLM, experts="n_routed_experts"),
    "deepseek_v3": usual(hf.DeepseekV3Config, hf.DeepseekV3ForCausalLM, experts="n_routed_experts"),
    "transformer": papers.transformer,
    "palm": papers.palm,
    "primer": papers.primer,
    "all-attention": papers.all_attention,
}

# The first pattern that a parameter's name meets says its component.
COMPONENTS = (
    ("attention", r"relative_attention_bias|\.relative\."),
    ("norm", r"norm|\.ln_"),
    ("head", r"^lm_head"),
    ("other", r"^pooler"),
    ("embedding", r"embed|\.wte|\.wpe|^shared"),
    ("attention", r"attn|attention"),
    ("ffn", r"\.mlp|DenseReluDense|\.intermediate\.|\.output\.dense"),
)


def component(name: str) -> str:
    """The component that a parameter or a module belongs to."""
    return next(part for part, pattern in COMPONENTS if re.search(pattern, name, re.IGNORECASE))


def parameters(model: nn.Module, c: SimpleNamespace) -> dict[str, int]:
    """Distinct parameters by component; routed experts at top_k of n_experts; what a checkpoint stores beside."""
    sizes = {name: p.numel() for name, p in model.named_parameters()}
    parts: Counter[str] = Counter()
    for name, n in sizes.items():
        parts[component(name)] += n
    routed = sum(n for name, n in sizes.items() if ".experts." in name)
    idle = routed - routed * c.top_k // c.n_experts if routed else 0
    kept = sum(b.numel() for name, b in model.named_buffers() if name.endswith("e_score_correction_bias"))
    total = sum(sizes.values())
    return {"total": total, "active": total - idle, "stored": total + kept, **parts}


def flops(model: nn.Module, seq_len: int) -> dict[str, int]:
    """FLOPs of one sequence by what they go to: every leaf module is one thing, and the rest is attention's scores."""
    ids = torch.zeros((1, seq_len), dtype=torch.long)
    inputs: dict[str, Any] = {"input_ids": ids}
    if hasattr(model, "config"):
        inputs |= {"use_cache": False} if not isinstance(model, hf.BertModel) else {}
        inputs |= {"decoder_input_ids": ids} if model.config.is_encoder_decoder else {}
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model.eval()(**inputs)
    root = f"{type(model).__name__}."
    counts = {name.removeprefix(root): sum(found.values()) for name, found in counter.get_flop_counts().items()}
    kinds: Counter[str] = Counter()
    for name, module in model.named_modules():
        if counts.get(name) and (name.endswith(".experts") or not list(module.children())):
            part = component(f"{name}.weight")
            kinds[{"attention": "attention_projections", "embedding": "head"}.get(part, part)] += counts[name]
    kinds["attention_scores"] = counts["Global"] - sum(kinds.values())
    return {"total": counts["Global"], **kinds}


def record(path: Path) -> dict[str, Any]:
    """One bundled model."""
    c = read(path)
    seq_len = min(
        SEQ_LEN, *(getattr(c, key, SEQ_LEN) for key in ("sliding_window", "n_positions", "max_position_embeddings"))
    )
    with torch.device("meta"):
        model = BUILD[c.family](c)
        return {"params": parameters(model, c), "seq_len": seq_len, "flops": flops(model, seq_len)}


def main(names: list[str]) -> None:
    """Record the models that are named, or all of them."""
    target = HERE / "bundled.json"
    kept = json.loads(target.read_text()) if target.exists() and names else {"models": {}}
    for path in sorted(CONFIGS.glob("*.yaml")):
        if not names or path.stem in names:
            print(path.stem, file=sys.stderr)
            kept["models"][path.stem] = record(path)
    made_with = {"torch": torch.__version__, "transformers": hf.__version__}
    target.write_text(
        json.dumps({"made_with": made_with, "models": dict(sorted(kept["models"].items()))}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
