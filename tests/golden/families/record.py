"""Record what the reference classes hold, for every architecture: run by a person, with torch and transformers.

    python tests/golden/families/record.py [MODEL_TYPE ...]

Each class is built on the meta device from a config that says little (its model type, its class, a few layers), and
again with one key at a time changed from its default. Written to reference.json.gz: the name and shape of every
distinct parameter, and for each change the total. Nothing of ffncalc is imported but the list of model types.
"""

from __future__ import annotations

import gzip
import json
import logging
import pathlib
import sys
import warnings
from typing import Any

import torch
import transformers
from transformers.models.auto import modeling_auto as auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

HERE = pathlib.Path(__file__).parent
FILE = HERE / "reference.json.gz"
HEADS = (
    auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
)
LAYERS = (
    "num_hidden_layers",
    "n_layer",
    "n_layers",
    "num_layers",
    "encoder_layers",
    "decoder_layers",
    "num_decoder_layers",
)
# What a class needs before it can be built at all: its own defaults leave it out.
NEEDS: dict[str, dict[str, Any]] = {
    "dbrx": {"attn_config": {"kv_n_heads": 8, "rope_theta": 500000.0}},
    "dots1": {"n_routed_experts": 16, "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408},
    "esm": {"vocab_size": 33},
    "gemma3n_text": {"num_hidden_layers": 10, "num_kv_shared_layers": 5},
    "gpt_neo": {"num_layers": 4, "attention_types": [[["global", "local"], 2]]},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "hunyuan_vl_text": {"head_dim": 128},
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 48},
}
SAID = {"model_type", "architectures", "transformers_version", "dtype", "use_cache", "is_encoder_decoder", *LAYERS}


def classes(model_type: str) -> list[str]:
    """The classes with a language-model head; without one, the bare model."""
    found = []
    for mapping in HEADS:
        name = mapping.get(model_type)
        found += [name[0] if isinstance(name, (tuple, list)) else name] if name else []
    base = auto.MODEL_MAPPING_NAMES.get(model_type)
    return list(dict.fromkeys(found)) or ([base[0] if isinstance(base, (tuple, list)) else base] if base else [])


def tensors(config: dict[str, Any], cls: str) -> list[tuple[str, list[int]]]:
    """Every distinct parameter of the class built from this config: name and shape."""
    values = {k: v for k, v in config.items() if k not in ("model_type", "architectures")}
    built = CONFIG_MAPPING[config["model_type"]].from_dict(values)
    with torch.device("meta"):
        model = getattr(transformers, cls)._from_config(built)
    return [(name, list(p.shape)) for name, p in model.named_parameters()]


def total(found: list[tuple[str, list[int]]]) -> int:
    """Numbers in all of them."""
    return sum(torch.Size(shape).numel() for _, shape in found)


def changes(value: Any, key: str) -> list[Any]:
    """Other values to try for a key, likely ones first."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int) and value:
        halves = [value // 2, 1] if "kv" in key or "key_value" in key else [value * 2, value // 2, value + 1, 1]
        return [v for v in halves if v > 0 and v != value]
    return [1, 16] if value is None else [2] if value == 0 else []


def record(model_type: str, cls: str) -> dict[str, Any]:
    """One row: the small config, its tensors, and the totals with one key changed."""
    defaults = CONFIG_MAPPING[model_type]().to_dict()
    config = {"model_type": model_type, "architectures": [cls]}
    small = config | {key: 3 for key in LAYERS if isinstance(defaults.get(key), int)}
    small |= NEEDS.get(model_type, {})
    found = tensors(small, cls)
    moved = []
    for key, value in sorted(defaults.items()):
        if (
            key in SAID
            or key in NEEDS.get(model_type, {})
            or key.startswith("_")
            or isinstance(value, (str, float, dict, list))
            or key.endswith("token_id")
        ):
            continue
        for other in changes(value, key):
            try:
                moved.append([key, other, total(tensors(small | {key: other}, cls))])
            except Exception:
                continue
            break
    return {"config": small, "tensors": found, "total": total(found), "changed": moved}


def main(names: list[str]) -> None:
    """Record the given model types, or all that ffncalc reads."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    transformers.logging.set_verbosity_error()
    rows = json.loads(gzip.decompress(FILE.read_bytes())) if FILE.exists() else {}
    if not names:
        sys.path.insert(0, str(HERE.parents[2]))
        from ffncalc import families

        names = [name for name in families.names() if name in CONFIG_MAPPING]
    for name in names:
        for cls in classes(name):
            try:
                rows[f"{name}/{cls}"] = record(name, cls)
                print(name, cls, len(rows[f"{name}/{cls}"]["changed"]), flush=True)
            except Exception as error:
                print(f"{name} {cls}: {type(error).__name__}: {error}"[:200], flush=True)
    text = json.dumps(
        {"transformers": transformers.__version__, **{k: rows[k] for k in sorted(rows) if k != "transformers"}}
    )
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1:])
