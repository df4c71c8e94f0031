"""Sweeps: every row is what `params` and `flops` say of the edited config, in a grid, in columns and beyond int64."""

from typing import Any

import numpy as np
import pytest

from ffncalc import bundled, edit, flops, load, params, sweep
from ffncalc.errors import InputError
from ffncalc.search.cells import split
from ffncalc.search.space import space

OWN: dict[str, Any] = {
    "family": "decoder",
    "d_model": 24,
    "n_layers": 5,
    "n_vocab": 101,
    "n_heads": 6,
    "n_kv_heads": 3,
    "d_head": 10,
    "d_ff": 40,
    "attention": {"bias": True, "qk_norm": "head"},
}
RULED = {
    "family": "llama",
    "d_model": 24,
    "n_layers": 5,
    "n_heads": 6,
    "d_ff": {"rule": "llama", "multiple_of": 8},
    "n_vocab": 101,
}
EXPERTS = {
    "family": "mixtral",
    "d_model": 24,
    "n_layers": 5,
    "n_heads": 6,
    "n_kv_heads": 3,
    "d_ff": 40,
    "n_experts": 4,
    "top_k": 2,
    "n_vocab": 101,
}
WINDOWED = {
    "family": "gemma2",
    "d_model": 24,
    "n_layers": 5,
    "n_heads": 6,
    "n_kv_heads": 3,
    "d_head": 10,
    "d_ff": 40,
    "n_vocab": 101,
    "sliding_window": 16,
}
UNLIKE = {**OWN, "layers": [{"repeat": 2, "ffn": {"d_ff": 33}}, {"repeat": 3}]}
GPT2 = {
    "model_type": "gpt2",
    "n_embd": 24,
    "n_layer": 5,
    "n_head": 6,
    "n_inner": None,
    "vocab_size": 101,
    "n_positions": 64,
}
T5 = {"family": "t5", "d_model": 24, "n_layers": 5, "n_heads": 6, "d_head": 10, "d_ff": 40, "n_vocab": 101}


def counted(config: dict[str, Any], row: dict[str, int], **work: Any) -> dict[str, int]:
    """The numbers of one config, by loading and counting it on its own."""
    lengths = {"T": "seq_len", "S": "source_len", "batch": "batch"}
    work = work | {lengths[name]: value for name, value in row.items() if name in lengths}
    model = load({**config, **{name: value for name, value in row.items() if name not in lengths}})
    found = {f"params.{name}": number.value for name, number in params(model).numbers().items() if number is not None}
    report = flops(model, **work)
    for group in ("per_token", "per_source_token", "per_sequence", "total"):
        found |= {f"flops.{group}.{kind}": number.value for kind, number in getattr(report, group).items()}
    return found


def rows_of(columns: dict[str, Any]) -> list[dict[str, int]]:
    """The rows of a sweep."""
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*(column.tolist() for column in columns.values()), strict=True)
    ]


def agrees(config: dict[str, Any], columns: dict[str, Any], every: int = 1, **work: Any) -> None:
    """Hold every n-th row against the config counted on its own."""
    sizes = [name for name in columns if "." not in name]
    for row in rows_of(columns)[::every]:
        alone = counted(config, {name: row[name] for name in sizes}, **work)
        assert {name: alone[name] for name in row if name not in sizes} == {
            name: row[name] for name in row if name not in sizes
        }


GRIDS = [
    pytest.param(OWN, {"d_model": [24, 30, 37], "n_layers": [1, 2, 7], "T": [5, 9]}, id="stated-stays"),
    pytest.param(OWN, {"d_ff": [1, 8], "n_heads": [3, 6, 9], "n_kv_heads": [1, 3]}, id="grouped-heads"),
    pytest.param(OWN, {"d_ff": [7, 8], "d_head": [3, 4], "n_vocab": [2, 3]}, id="all-plain"),
    pytest.param(RULED, {"d_model": [24, 30, 36], "n_layers": [3, 1], "n_vocab": [101, 7]}, id="rule-follows"),
    pytest.param(RULED, {"d_model": [24, 36], "batch": [1, 2, 5], "T": [3, 4]}, id="batch"),
    pytest.param(EXPERTS, {"n_experts": [2, 4, 8], "top_k": [1, 2], "n_layers": [1, 2]}, id="experts"),
    pytest.param(WINDOWED, {"T": [4, 16, 17, 40], "n_layers": [1, 2, 5]}, id="windows"),
    pytest.param(T5, {"T": [3, 9], "S": [4, 8], "d_model": [24, 25], "n_layers": [1, 3]}, id="encoder-decoder"),
    pytest.param(GPT2, {"n_embd": [24, 36], "n_layer": [2, 3], "vocab_size": [9, 11]}, id="hugging-face-keys"),
]


@pytest.mark.parametrize(("config", "sizes"), GRIDS)
def test_a_row_is_the_edited_config(config: dict[str, Any], sizes: dict[str, list[int]]) -> None:
    """Sizes that follow follow, stated ones stay, and every number is the one that the config alone gives."""
    found = sweep({**config}, sizes)
    assert found.rows + found.refused == np.prod([len(values) for values in sizes.values()])
    agrees(config, found.columns)


@pytest.mark.parametrize(("config", "sizes"), GRIDS)
def test_columns_are_the_grid_row_by_row(config: dict[str, Any], sizes: dict[str, list[int]]) -> None:
    """Given as columns, the combinations of a grid give the same rows."""
    grid = sweep(config, sizes).columns
    columns = sweep(config, {name: grid[name] for name in sizes}, grid=False).columns
    assert {name: column.tolist() for name, column in columns.items()} == {
        name: column.tolist() for name, column in grid.items()
    }


@pytest.mark.parametrize("name", bundled.names())
def test_bundled_models(name: str) -> None:
    """Every bundled model's numbers over widths, depths, vocabularies and lengths are those of the edited config."""
    config = bundled.read(f"{bundled.FOLDER}/{name}.yaml")
    d = config["d_model"]
    sizes = {"d_model": [d, 2 * d], "n_vocab": [97, 101], "T": [6, 9000]} | (
        {"n_layers": [2, config["n_layers"]]} if "layers" not in config else {}
    )
    try:
        found = sweep(config, sizes)
    except InputError as error:
        pytest.skip(str(error))
    if not any(column.startswith("flops") for column in found.columns):
        pytest.skip("its FLOPs are not counted")
    agrees(config, found.columns, every=3)


@pytest.mark.parametrize("passes", ["forward", "train", "recompute"])
def test_workload_stands_beside(passes: str) -> None:
    """Causal pairs and the passes are those of `flops`."""
    sizes = {"d_model": [24, 30], "T": [5, 8], "n_layers": [2, 3]}
    agrees(OWN, sweep(OWN, sizes, causal=True, passes=passes).columns, causal=True, passes=passes)


def test_exact_beyond_int64() -> None:
    """Where int64 would overflow, the column holds Python ints, exact; the others stay int64."""
    sizes = {"d_model": [10**9, 10**9 + 2], "n_layers": [3, 10**6], "n_vocab": [7, 10**9]}
    for grid in (True, False):
        given = sizes if grid else {"d_model": [10**9] * 2, "n_layers": [3, 10**6], "n_vocab": [7, 10**9]}
        columns = sweep(OWN, given, grid=grid).columns
        assert columns["flops.total.total"].dtype == object
        assert columns["params.norm"].dtype == np.int64
        agrees(OWN, columns)


def test_refused_combinations_are_left_out_and_counted() -> None:
    """Heads that don't divide the width are no rows; their number and the first reason are told."""
    found = sweep(RULED, {"d_model": [24, 25, 30, 31], "n_layers": [1, 2, 3]})
    assert found.columns["d_model"].tolist() == [24] * 3 + [30] * 3
    assert found.refused == 6
    assert "25 is not a multiple of n_heads 6" in found.why


def test_a_zero_among_many_rows() -> None:
    """What is plain in the first rows and 0 in a late one is refused there, and counted."""
    found = sweep(OWN, {"d_ff": [7] * 1500 + [0, 9], "n_layers": [2] * 1502}, numbers=["params.ffn"], grid=False)
    assert (found.rows, found.refused) == (1501, 1)
    assert found.columns["params.ffn"][-1] == 2 * 3 * 24 * 9


def test_refused_rows_of_columns() -> None:
    """In columns it is the rows that are counted."""
    found = sweep(RULED, {"d_model": [24, 25, 30, 25], "n_layers": [1, 2, 3, 4]}, grid=False)
    assert found.columns["n_layers"].tolist() == [1, 3]
    assert found.refused == 2


@pytest.mark.parametrize(
    ("config", "sizes", "plain"),
    [
        pytest.param(
            RULED,
            {"d_model": [24, 30], "n_layers": [2, 3], "n_vocab": [2, 3], "T": [2, 3]},
            "n_layers n_vocab T",
            id="width-decides",
        ),
        pytest.param(OWN, {"d_model": [24, 30], "d_ff": [2, 3]}, "d_model d_ff", id="all-stated"),
        pytest.param(OWN, {"n_heads": [6, 9], "n_kv_heads": [3, 1], "d_head": [2, 3]}, "d_head", id="groups"),
        pytest.param(WINDOWED, {"T": [4, 40], "n_layers": [2, 3], "d_ff": [2, 3]}, "d_ff", id="windows-and-patterns"),
        pytest.param(UNLIKE, {"n_layers": [5, 6], "n_vocab": [2, 3]}, "n_vocab", id="listed-layers"),
        pytest.param(OWN, {"d_ff": [0, 3], "n_vocab": [2, 3]}, "n_vocab", id="zero-decides"),
    ],
)
def test_which_sizes_are_plain(config: dict[str, Any], sizes: dict[str, list[int]], plain: str) -> None:
    """Only what no rule, comparison or division looks at is put into polynomials."""
    assert [axis.name for axis in split(space(edit.base(config), sizes)).plain] == plain.split()


@pytest.mark.parametrize(
    ("config", "sizes", "options", "message"),
    [
        pytest.param(OWN, {"d_modle": [1]}, {}, "did you mean d_model", id="unknown-size"),
        pytest.param(GPT2, {"d_head": [1]}, {}, "no size that gpt2 reads", id="size-of-another-family"),
        pytest.param(OWN, {"d_model": [24], "hidden_size": [24]}, {}, "one size", id="twice"),
        pytest.param(OWN, {"d_model": []}, {}, "no values", id="no-values"),
        pytest.param(OWN, {}, {}, "no size varies", id="no-size"),
        pytest.param(
            OWN, {"d_model": [24]}, {"numbers": ["params.totl"]}, "did you mean params.total", id="unknown-number"
        ),
        pytest.param(RULED, {"d_model": [25, 31]}, {}, "all 2 combinations are refused", id="all-refused"),
        pytest.param(OWN, {"d_model": [24], "T": [1, 2]}, {"grid": False}, "unequal length", id="unequal-columns"),
        pytest.param(OWN, {"d_model": [2.5]}, {"grid": False}, "whole numbers", id="fraction"),
        pytest.param(
            {"dim": 24, "n_heads": 6, "n_layers": 2, "vocab_size": -1},
            {"dim": [24]},
            {},
            "vocabulary",
            id="no-vocabulary",
        ),
    ],
)
def test_wrong_input(config: dict[str, Any], sizes: dict[str, Any], options: dict[str, Any], message: str) -> None:
    """What can't be swept is one message that says what to do."""
    with pytest.raises(InputError, match=message):
        sweep(config, sizes, **options)


def test_columns_beyond_int64_where_rows_differ_in_structure() -> None:
    """Small coefficients, another in each row, times sizes that take the product beyond int64."""
    sizes = {"d_model": [768, 1536], "n_vocab": [10**17, 7], "T": [4096, 1]}
    columns = sweep("gpt2", sizes, grid=False).columns
    for row in rows_of(columns):
        start = edit.base("gpt2")
        model = edit.model_of(start, {name: row[name] for name in ("d_model", "n_vocab")})
        assert row["params.total"] == params(model).total
        assert row["flops.total.head"] == flops(model, row["T"]).total["head"]
