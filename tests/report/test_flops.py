"""FLOPs: against torch's own counter, pairs by brute force, the crossover, the rules of thumb, a training run."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ffncalc import bundled
from ffncalc.errors import InputError
from ffncalc.expr import size
from ffncalc.loading import load
from ffncalc.ops import PAIR, Rows
from ffncalc.report.flops import KINDS, Flops, flops
from ffncalc.report.params import params
from ffncalc.workload import Workload, causal_pairs, keys_met

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "bundled.json").read_text())["models"]
OWN: dict[str, Any] = {
    "family": "decoder", "d_model": 24, "n_layers": 5, "n_vocab": 101, "n_heads": 6, "n_kv_heads": 3, "d_head": 10,
    "d_ff": 40,
}  # fmt: skip
PROJECTIONS, FFN, SCORES = 2 * (2 * 24 * 60 + 2 * 24 * 30), 2 * 3 * 24 * 40, 4 * 60


def values(kinds: Any) -> dict[str, int]:
    """Numbers without their formulas."""
    return {kind: number.value for kind, number in kinds.items()}


def group(report: Flops, name: str) -> dict[str, int]:
    """One group of the report, as numbers."""
    return values(getattr(report, name))


# ------------------------------------------------------------------ independent counts
@pytest.mark.parametrize("name", bundled.names())
def test_golden(name: str) -> None:
    """What every bundled model's forward pass does is what torch counts (golden/record_bundled.py)."""
    work = Workload(seq_len=GOLDEN[name]["seq_len"])
    assert group(flops(load(name), work), "total") == dict.fromkeys(KINDS, 0) | GOLDEN[name]["flops"]


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("gpt2", 291_648_307_200),
        ("llama-7b", 14_081_050_279_936),
        ("llama-3-8b", 15_919_296_282_624),
        ("llama-3-70b", 145_088_290_226_176),
        ("mixtral-8x7b", 26_658_862_006_272),
        ("deepseek-v3", 80_247_034_740_736),
    ],
)
def test_forward_totals(name: str, total: int) -> None:
    """Forward FLOPs of one sequence of 1,024 tokens, every pair."""
    assert group(flops(load(name), Workload(seq_len=1024)), "total")["total"] == total


# ------------------------------------------------------------------ per token and in total
def test_per_token() -> None:
    """A token's work: 2 FLOPs a weight of its matrices, 4·T·n_heads·d_head for scores and mixing."""
    report = flops(load(OWN), Workload(seq_len=7))
    parts = {
        "ffn": 5 * FFN,
        "attention_projections": 5 * PROJECTIONS,
        "attention_scores": 5 * SCORES * 7,
        "head": 2 * 24 * 101,
    }
    assert group(report, "per_token") == {**dict.fromkeys(KINDS, 0), **parts, "total": sum(parts.values())}
    assert group(report, "per_source_token") == group(report, "per_sequence") == dict.fromkeys((*KINDS, "total"), 0)


@pytest.mark.parametrize(
    "name", ["llama-7b", "bert-base", "t5-small", "transformer-base", "deepseek-v2-lite", "gpt-oss-20b", "primer"]
)
@pytest.mark.parametrize(("t", "s", "batch"), [(5, 3, 1), (7, 7, 3), (300, 11, 2)])
def test_total_is_batch_times_its_groups(name: str, t: int, s: int, batch: int) -> None:
    """With full pairs: batch × (T × per_token + S × per_source_token + per_sequence), kind by kind."""
    model = load(name)
    has_source = any(stack.is_source for stack in model.spec.stacks)
    report = flops(model, Workload(seq_len=t, source_len=s if has_source else None, batch=batch))
    token, source, once = (group(report, g) for g in ("per_token", "per_source_token", "per_sequence"))
    expected = {kind: batch * (t * token[kind] + s * source[kind] + once[kind]) for kind in (*KINDS, "total")}
    assert group(report, "total") == expected


def test_encoder_decoder() -> None:
    """Cross-attention projects its keys and values on the S source rows and scores T·S pairs."""
    report = flops(load({**OWN, "family": "encoder-decoder", "n_kv_heads": 6}), Workload(seq_len=7, source_len=11))
    matrix, plain = 2 * 24 * 60, 2 * 2 * 24 * 40
    token, source = group(report, "per_token"), group(report, "per_source_token")
    assert token["attention_projections"] == 5 * (4 + 2) * matrix
    assert source["attention_projections"] == 5 * (4 + 2) * matrix
    assert token["attention_scores"] == 5 * SCORES * (7 + 11)
    assert source["attention_scores"] == 5 * SCORES * 11
    assert (token["ffn"], source["ffn"], source["head"]) == (5 * plain, 5 * plain, 0)


def test_source_len_is_the_decoders_unless_told() -> None:
    """Both stacks run on T tokens where nothing is said of S."""
    model = load("t5-small")
    assert group(flops(model, Workload(seq_len=7)), "total") == group(flops(model, Workload(7, 7)), "total")


def test_default_length() -> None:
    """2,048 tokens, or the position table's length where that is shorter."""
    lengths = {
        name: flops(load(name)).work.seq_len for name in ("llama-7b", "gpt2", "gpt3-13b", "bert-base", "t5-small")
    }
    assert lengths == {"llama-7b": 2048, "gpt2": 1024, "gpt3-13b": 2048, "bert-base": 512, "t5-small": 2048}


def test_beyond_the_table() -> None:
    """A length beyond a learned position table is counted, with a warning."""
    report = flops(load("gpt2"), Workload(seq_len=1025))
    assert report.warnings == ("seq_len 1,025 is beyond the 1,024 positions of gpt2's table",)
    assert flops(load("gpt2"), Workload(seq_len=1024)).warnings == ()


@pytest.mark.parametrize(("name", "factor"), [("forward", 1), ("train", 3), ("recompute", 4)])
def test_passes(name: str, factor: int) -> None:
    """Training is 3 × every number of the forward pass, recomputing 4 ×."""
    forward, other = flops(load("bert-base"), Workload(33)), flops(load("bert-base"), Workload(33, passes=name))
    for g in ("per_token", "per_source_token", "per_sequence", "total"):
        assert group(other, g) == {kind: factor * n for kind, n in group(forward, g).items()}
    assert [values(layer.kinds) for layer in other.layers] == [
        {kind: factor * n for kind, n in values(layer.kinds).items()} for layer in forward.layers
    ]


# ------------------------------------------------------------------ pairs by brute force
def brute_keys(i: int, t: int, rows: Rows, causal: bool) -> int:
    """Keys that query i of t meets, one by one."""
    window = rows.window.value if rows.window else None

    def met(j: int) -> bool:
        if causal and j > i:
            return False
        if window is None:
            return True
        return j // window == i // window if rows.chunked else i - window < j

    return sum(met(j) for j in range(t))


@pytest.mark.parametrize("chunked", [False, True], ids=["sliding", "chunked"])
def test_causal_pairs(chunked: bool) -> None:
    """The pairs that a causal mask leaves, with windows and chunks: each length to 12, each window to 14."""
    for t, w in product(range(1, 13), (None, *range(1, 15))):
        rows = Rows("pair", window=size("window", w) if w else None, chunked=chunked)
        brute = sum(brute_keys(i, t, rows, causal=True) for i in range(t))
        assert causal_pairs(rows, t) == brute, (t, w)


def test_keys_met_in_a_window() -> None:
    """A query meets min(T, window) keys; of a window to both sides, half to each and itself."""
    for t, w in product(range(1, 13), range(1, 15)):
        one, both = Rows("pair", size("window", w)), Rows("pair", size("window", w), sides=2)
        assert keys_met(one, size("T", t)).value == min(t, w)
        inside = max(sum(abs(i - j) <= w // 2 for j in range(100)) for i in range(100))
        assert keys_met(both, size("T", t)).value == min(t, inside)
    assert keys_met(PAIR, size("T", 9)).value == 9


@pytest.mark.parametrize("window", [None, 3, 8])
def test_causal_total(window: int | None) -> None:
    """--causal changes the scores in total, by the exact number of pairs, and nothing per token."""
    model, t = load({**OWN, "attention": {"window": window}}), 8
    full, causal = flops(model, Workload(t, batch=2)), flops(model, Workload(t, batch=2, causal=True))
    rows = Rows("pair", size("window", window) if window else None)
    assert group(causal, "per_token") == group(full, "per_token")
    pairs = sum(brute_keys(i, t, rows, causal=True) for i in range(t))
    assert group(causal, "total")["attention_scores"] == 2 * 5 * SCORES * pairs
    others = ("ffn", "attention_projections", "head")
    assert {k: group(causal, "total")[k] for k in others} == {k: group(full, "total")[k] for k in others}


def test_causal_touches_decoder_self_attention_only() -> None:
    """An encoder's pairs and cross-attention's stay whole; on an encoder alone --causal is a warning."""
    report = flops(load({**OWN, "family": "encoder-decoder"}), Workload(7, 11, causal=True))
    assert group(report, "total")["attention_scores"] == 5 * SCORES * (7 * 8 // 2 + 7 * 11 + 11 * 11)
    warned = flops(load("bert-base"), Workload(33, causal=True))
    assert warned.warnings == ("--causal changes nothing: bert-base is an encoder",)
    assert group(warned, "total") == group(flops(load("bert-base"), Workload(33)), "total")


# ------------------------------------------------------------------ crossover
MOE = {"kind": "moe", "n_experts": 10, "top_k": 3, "n_shared": 1}
WIDE = {"d_ff": 200}
CROSSOVERS = [
    pytest.param(WIDE, True, id="plain"),
    pytest.param({**WIDE, "attention": {"window": 100}}, True, id="window-beyond"),
    pytest.param({**WIDE, "attention": {"window": 84}}, True, id="window-at"),
    pytest.param({**WIDE, "attention": {"window": 83}}, False, id="window-before"),
    pytest.param({"ffn": MOE}, True, id="experts"),
    pytest.param({**WIDE, "layers": [{"repeat": 2, "attention": {"window": 25}}, {"repeat": 3}]}, True, id="mixed"),
    pytest.param(
        {**WIDE, "layers": [{"attention": {"window": 15}}, {"attention": {"window": 95}}, {"repeat": 3}]},
        True,
        id="three",
    ),
    pytest.param({"d_ff": 60}, False, id="level-at-none"),
    pytest.param({"d_ff": 1}, False, id="never-below"),
    pytest.param({"ffn": {"kind": "none"}}, False, id="no-ffn"),
]


@pytest.mark.parametrize(("changes", "there"), CROSSOVERS)
def test_crossover(changes: dict[str, Any], there: bool) -> None:
    """Up to it attention costs less than the FFN, from it on at least as much: windows and experts minded."""
    model = load({**OWN, **changes})
    at = flops(model, Workload(1)).crossover_seq_len

    def ahead(t: int) -> int:
        token = group(flops(model, Workload(t)), "per_token")
        return token["attention_projections"] + token["attention_scores"] - token["ffn"]

    lengths = list(range(1, 140))
    crossed = [t for t in lengths if ahead(t) >= 0]
    if not there:
        assert at is None
        assert crossed in ([], lengths)
        return
    assert at is not None
    assert crossed[0] - 1 < at <= crossed[0]
    assert crossed == lengths[crossed[0] - 1 :]


@pytest.mark.parametrize(
    ("name", "at"),
    [("gpt2", 2 * 768), ("gpt3-175b", 2 * 12288), ("llama-7b", 8320), ("t5-base", None), ("transformer-base", None)],
)
def test_crossover_of_known_models(name: str, at: float | None) -> None:
    """2d in the plain case; none for an encoder-decoder."""
    assert flops(load(name)).crossover_seq_len == at


# ------------------------------------------------------------------ rules of thumb, a training run
def test_rules_of_thumb() -> None:
    """2N, 6N and 6N + 12·L·H·Q·T on the N that they mean, each beside the exact number and how far off it is."""
    report = flops(load("gpt2"), Workload(1024))
    n = 124_439_808 - 1024 * 768
    exact = group(report, "per_token")["total"]
    assert report.n_rule.value == n
    assert [(r.rule, r.value, r.exact) for r in report.rules] == [
        ("2N", 2 * n, exact),
        ("6N", 6 * n, 3 * exact),
        ("6N + 12·L·H·Q·T", 6 * n + 12 * 12 * 768 * 1024, 3 * exact),
    ]
    assert [round(r.off, 4) for r in report.rules] == [-0.1317, -0.1317, 0.0009]


@pytest.mark.parametrize(
    ("name", "dropped"),
    [("llama-7b", 32000 * 4096), ("gpt2", 1024 * 768), ("gemma-2b", 0), ("mixtral-8x7b", 32000 * 4096)],
)
def test_n_of_the_rules(name: str, dropped: int) -> None:
    """N is active parameters without the token table where it isn't the head, and without positions."""
    model = load(name)
    active = params(model).active
    assert active is not None
    assert flops(model).n_rule.value == active.value - dropped


def test_no_rules_for_two_stacks() -> None:
    """One N has no meaning for an encoder-decoder."""
    assert flops(load("t5-base")).rules == ()


@pytest.mark.parametrize("causal", [False, True])
def test_training_run(causal: bool) -> None:
    """D tokens in sequences of T: D / T sequences of 3 × the forward pass, masked as was asked for; 6ND beside it."""
    tokens, t = 10**12 + 7, 2048
    report = flops(load("llama-7b"), Workload(t, causal=causal, tokens=tokens))
    assert report.training_run == 3 * group(report, "total")["total"] * tokens // t
    rule = report.rules[-1]
    assert (rule.rule, rule.value, rule.exact) == ("6ND", 6 * report.n_rule.value * tokens, report.training_run)
    assert flops(load("llama-7b"), Workload(t)).training_run is None


# ------------------------------------------------------------------ what is refused
@pytest.mark.parametrize(
    ("name", "work", "message"),
    [
        pytest.param(
            "gpt2",
            Workload(source_len=7),
            "gpt2 has no encoder beside a decoder; --source-len does not apply",
            id="source",
        ),
        pytest.param("gpt2", Workload(0), "seq_len is 0; want a positive whole number", id="length"),
        pytest.param("gpt2", Workload(batch=-1), "batch is -1; want a positive whole number", id="batch"),
        pytest.param("gpt2", Workload(tokens=0), "tokens is 0; want a positive whole number", id="tokens"),
        pytest.param(
            "t5-base", Workload(source_len=0), "source_len is 0; want a positive whole number", id="no-source"
        ),
        pytest.param(
            "gpt2", Workload(passes="backward"), "pass 'backward' is not known; want one of forward, train", id="pass"
        ),
    ],
)
def test_refused(name: str, work: Workload, message: str) -> None:
    """A workload that can't be is an error."""
    with pytest.raises(InputError, match=message):
        flops(load(name), work)


def test_no_vocabulary(write: Any) -> None:
    """Without a vocabulary the head can't be counted, unless it is left off."""
    path = write('{"dim": 24, "n_layers": 5, "n_heads": 6, "multiple_of": 8, "norm_eps": 1e-5}', "params.json")
    with pytest.raises(InputError, match="the head's FLOPs need a vocabulary; give --vocab-size N or leave it off"):
        flops(load(path))


def test_family_whose_flops_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a family's FLOPs depend on the data they are refused, and the parameters are not."""
    model = load(OWN)
    model = model._replace(spec=model.spec._replace(flops="routing depends on the data"))
    with pytest.raises(InputError, match="config: FLOPs of decoder are not counted: routing depends on the data"):
        flops(model)
    assert params(model).total is not None
