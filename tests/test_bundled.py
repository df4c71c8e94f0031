"""Every bundled config: it is what its source says, and counts to what is known of it."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ffncalc import bundled
from ffncalc.loading import load
from ffncalc.report.params import params
from ffncalc.schema import schema

NAMES = bundled.names()
PROMISED = """
    transformer-base transformer-big bert-base bert-large gpt2 gpt2-medium gpt2-large gpt2-xl gpt3-125m gpt3-350m
    gpt3-760m gpt3-1.3b gpt3-2.7b gpt3-6.7b gpt3-13b gpt3-175b t5-small t5-base t5-large t5-3b t5-11b
    t5-v1_1-small t5-v1_1-base t5-v1_1-large t5-v1_1-xl t5-v1_1-xxl shazeer-relu shazeer-gelu shazeer-swish
    shazeer-glu shazeer-bilinear shazeer-reglu shazeer-geglu shazeer-swiglu primer all-attention-small
    all-attention-large nemotron-4-15b nemotron-4-340b gemma-2b gemma-7b palm-8b palm-62b palm-540b llama-7b
    llama-13b llama-33b llama-65b llama-2-7b llama-2-13b llama-2-70b llama-3-8b llama-3-70b llama-3-405b
    llama-3.2-1b llama-3.2-3b mistral-7b mixtral-8x7b mixtral-8x22b qwen-7b qwen2.5-7b qwen2.5-72b qwen3-8b
    qwen3-30b-a3b deepseek-llm-7b deepseek-llm-67b deepseek-v2 deepseek-v2-lite deepseek-v3 gpt-oss-20b
    gpt-oss-120b olmo-2-7b phi-3-mini
""".split()  # noqa: SIM905

# What the published weights hold.
TOTALS = {
    "gpt2": 124_439_808,
    "gpt2-xl": 1_557_611_200,
    "bert-base": 109_482_240,
    "t5-base": 222_903_552,
    "t5-v1_1-base": 247_577_856,
    "llama-7b": 6_738_415_616,
    "llama-13b": 13_015_864_320,
    "llama-65b": 65_285_660_672,
    "llama-2-70b": 68_976_648_192,
    "mistral-7b": 7_241_732_096,
    "llama-3-8b": 8_030_261_248,
    "llama-3-70b": 70_553_706_496,
    "llama-3.2-1b": 1_235_814_400,
    "gemma-2b": 2_506_172_416,
    "gemma-7b": 8_537_680_896,
    "mixtral-8x7b": 46_702_792_704,
    "deepseek-v3": 671_026_404_352,
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
    "qwen3-30b-a3b": 30_532_122_624,
}
# What comes out where the source prints something else, rounded the same.
PRINTED_OTHERWISE = {
    # the paper's counts, which its authors later called wrong
    ("gpt2", "parameters"): "124M",
    ("gpt2-medium", "parameters"): "355M",
    ("gpt2-large", "parameters"): "774M",
    ("gpt2-xl", "parameters"): "1,558M",
    # names more than counts
    ("bert-base", "parameters"): "109M",
    ("bert-large", "parameters"): "335M",
    ("gpt3-350m", "parameters"): "356M",
    ("gpt3-175b", "parameters"): "174.6B",
    ("llama-2-70b", "parameters"): "69B",
    ("llama-3-70b", "parameters"): "71B",
    ("llama-3-405b", "parameters"): "406B",
    ("qwen-7b", "parameters"): "8B",
    ("t5-base", "parameters"): "223M",
    ("t5-large", "parameters"): "738M",
    # rounded down
    ("t5-small", "parameters"): "61M",
    ("t5-3b", "parameters"): "2.9B",
    ("llama-65b", "parameters"): "65.3B",
    ("llama-3.2-1b", "parameters"): "1.24B",
    ("qwen2.5-7b", "parameters"): "7.62B",
    ("qwen2.5-72b", "non_embedding_parameters"): "70.2B",
    ("qwen3-30b-a3b", "active_parameters"): "3.4B",
    ("deepseek-v3", "active_parameters"): "38B",
    # the file says why
    ("gpt3-13b", "parameters"): "12.9B",
    ("transformer-base", "parameters"): "63M",
    ("transformer-big", "parameters"): "214M",
    ("palm-540b", "parameters"): "540.36B",
    ("nemotron-4-15b", "embedding_parameters"): "3.1B",
    ("gemma-2b", "embedding_parameters"): "524,288,000",
    ("gemma-7b", "embedding_parameters"): "786,432,000",
    ("deepseek-v2-lite", "active_parameters"): "2.7B",
}


def config(name: str) -> dict[str, Any]:
    """What a bundled file holds."""
    return bundled.read(str(Path(bundled.FOLDER) / f"{name}.yaml"))


def numbers(name: str, **options: Any) -> dict[str, int]:
    """Every number of `params`."""
    found = params(load(name, **options)).numbers()
    return {key: number.value for key, number in found.items() if number is not None}


def test_what_is_bundled() -> None:
    """All that was promised is there, and nothing that isn't."""
    assert sorted(NAMES) == sorted(PROMISED)


def test_order_of_names() -> None:
    """Names are listed as a person would: 7b before 13b."""
    llamas = [name for name in NAMES if re.fullmatch(r"llama-\d+b", name)]
    assert llamas == ["llama-7b", "llama-13b", "llama-33b", "llama-65b"]


def test_names_and_aliases_are_unique() -> None:
    """No two configs answer to one name, however it is written."""
    plain = [{bundled.plain(name) for name in (known, *bundled.aliases(known))} for known in NAMES]
    counts = Counter(name for names in plain for name in names)
    assert [name for name, n in counts.items() if n > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_file(name: str) -> None:
    """A file is called by its name, names its source, meets the JSON schema, and counts without a warning."""
    values = config(name)
    assert values["name"] == name
    assert len(values["source"]) > 20
    jsonschema.Draft202012Validator(schema()).validate(values)
    assert load(name).spec.warnings == ()
    for alias in values.get("aliases", ()):
        assert bundled.path_of(alias) == bundled.path_of(name)


@pytest.mark.parametrize("name", NAMES)
def test_components_add_up(name: str) -> None:
    """The components are the total; layers, counted, are the blocks; active is at most total, total at most stored."""
    report = params(load(name))
    found = numbers(name)
    assert sum(found[part] for part in report.parts) == found["total"]
    assert found["active_without_embedding"] <= found["active"] <= found["total"] <= found["stored"]
    for part in ("attention", "ffn"):
        assert found[part] == sum(layer.parts[part].value * layer.kind.n_stored.value for layer in report.layers)


@pytest.mark.parametrize(("name", "total"), TOTALS.items())
def test_published_weights(name: str, total: int) -> None:
    """The distinct parameters of the released checkpoint, to the last one."""
    assert numbers(name)["total"] == total


def test_totals_beside_the_main_one() -> None:
    """BERT as a masked language model, and what one token passes through in a mixture of experts."""
    assert numbers("bert-base", head="mlm")["total"] == 109_514_298
    assert numbers("mixtral-8x7b")["active"] == 12_879_925_248
    assert numbers("deepseek-v3")["active"] == 37_552_282_624
    assert numbers("deepseek-v3")["stored"] == 671_026_419_200


def rounded_to(printed: str, number: int) -> str:
    """`number` rounded to as many digits as `printed` has behind its point, in its unit."""
    text, unit = re.fullmatch(r"([\d,.]+)([MB]?)", printed).groups()  # type: ignore[union-attr]
    scale = {"": 1, "M": 10**6, "B": 10**9}[unit]
    decimals = len(text.partition(".")[2])
    return f"{number / scale:,.{decimals}f}{unit}" if scale > 1 else f"{number:,}"


PRINTED = [(name, key, text) for name in NAMES for key, text in (config(name).get("published") or {}).items()]


@pytest.mark.parametrize(("name", "key", "printed"), [entry for entry in PRINTED if entry[1] != "log_perplexity"])
def test_printed_figures(name: str, key: str, printed: str) -> None:
    """What a source prints is what comes out, rounded as it rounds, or is known not to be."""
    found = numbers(name)
    embedding = found["embedding"] + (found["head"] if name.startswith(("nemotron", "qwen")) else 0)
    number = {
        "parameters": found["total"],
        "active_parameters": found["active_without_embedding" if name.startswith("gpt-oss") else "active"],
        "embedding_parameters": embedding,
        "non_embedding_parameters": found["total"] - embedding,
    }[key]
    assert rounded_to(printed, number) == PRINTED_OTHERWISE.get((name, key), printed)


def test_perplexities_of_the_variants() -> None:
    """Shazeer's table 1: GEGLU and SwiGLU come out ahead of every variant without a gate."""
    found = {
        name.removeprefix("shazeer-"): config(name)["published"]["log_perplexity"]
        for name in NAMES
        if "shazeer" in name
    }
    assert found["geglu"] == min(found.values()) == 1.633
    assert max(found["geglu"], found["swiglu"]) < min(found[name] for name in ("relu", "gelu", "swish"))
    assert len({numbers(f"shazeer-{name}")["total"] for name in found}) == 1


def test_schema_refuses() -> None:
    """The schema finds what the reader finds: a size that isn't one, a switch that isn't there."""
    validator = jsonschema.Draft202012Validator(schema())
    jsonschema.Draft202012Validator.check_schema(schema())
    good = config("llama-7b")
    for bad in (
        {**good, "d_model": -1},
        {**good, "d_model": "4096"},
        {**good, "family": "lama"},
        {**good, "ffn": {"kind": "gatted"}},
        {**good, "ffn": {"d_fff": 3}},
        {**good, "d_ff": {"multiple_of": 256}},
        {key: value for key, value in good.items() if key != "family"},
    ):
        assert not validator.is_valid(bad), bad
    assert json.loads(json.dumps(schema())) == schema()
