"""Sweeps against a plain Python loop, as ratios within one run: `python tests/bench/bench_sweep.py`.

Points a second of CPU time, two numbers a point (parameters, FLOPs per token), medians over interleaved rounds. The
loop has the formulas of one model written out; sweeps read them off the config. Timed are whole calls of
`ffncalc.sweep` for columns (the arrays of the result, new each time, cost a third of it); then columns and grids piece
by piece, which bounds the memory, reading the config included; for the search whole calls of `ffncalc.size`.
"""

import argparse
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from ffncalc import edit, size, sweep
from ffncalc.search.cells import cell, points, split
from ffncalc.search.columns import lookup, values
from ffncalc.search.polynomial import CHUNK
from ffncalc.search.space import space
from ffncalc.search.table import blocks

CONFIG = {
    "family": "llama", "d_model": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "d_head": 128, "d_ff": 11008,
    "n_vocab": 32000,
}  # fmt: skip
NUMBERS = ("params.total", "flops.per_token.total")
T = 2048
GRID = {
    "d_model": range(1024, 9217, 512),
    "n_layers": range(8, 72),
    "n_vocab": range(32000, 64000, 1000),
    "d_ff": range(1024, 33792, 64),
}
SEARCH = {
    "d_model": range(1024, 8193, 128),
    "n_layers": range(1, 129),
    "n_vocab": range(32000, 202000, 1000),
    "d_ff": range(1024, 37889, 64),
}


def columns(rows: int) -> dict[str, Any]:
    """Arbitrary sizes, the same in every run."""
    draw = np.random.default_rng(1)
    return {
        "d_model": 64 * draw.integers(16, 256, rows),
        "n_layers": draw.integers(1, 129, rows),
        "d_ff": 64 * draw.integers(16, 800, rows),
        "n_vocab": draw.integers(1000, 200000, rows),
    }


def count(d: int, n_layers: int, d_ff: int, n_vocab: int) -> tuple[int, int]:
    """Parameters and FLOPs per token of one model, as one writes them down."""
    attention = 2 * d * 32 * 128 + 2 * d * 8 * 128
    ffn = 3 * d * d_ff
    norms = 2 * d
    head = d * n_vocab
    params = n_layers * (attention + ffn + norms) + d + 2 * head
    flops = n_layers * (2 * attention + 2 * ffn + 4 * T * 32 * 128) + 2 * head
    return params, flops


def loop(sizes: dict[str, list[int]]) -> list[tuple[int, int]]:
    """The plain Python loop."""
    return [count(*row) for row in zip(*sizes.values(), strict=True)]


def run_pieces(sizes: dict[str, Any]) -> int:
    """The numbers of columns, a piece at a time, each forgotten when the next is made."""
    where = space(edit.base(CONFIG), {name: column[:1].tolist() for name, column in sizes.items()}, None, NUMBERS)
    parts = split(where)
    (found,) = cell(where, {}, parts.plain)
    numbers, plain = lookup([found]), [sizes[axis.name] for axis in parts.plain]
    rows = 0
    for i in range(0, len(plain[0]), CHUNK):
        piece = [column[i : i + CHUNK] for column in plain]
        rows += _numbers(values(numbers, None, piece, len(piece[0])) or {})
    return rows


def run_blocks() -> int:
    """Every block of the grid, each forgotten when the next is made."""
    where = space(edit.base(CONFIG), GRID, None, NUMBERS)
    return sum(_numbers(block.columns) for block in blocks(where, split(where), sizes=False))


def _numbers(found: dict[str, Any]) -> int:
    return len(found[NUMBERS[0]])


def cpu(call: Callable[[], Any]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    few = {name: column.tolist() for name, column in columns(300_000).items()}
    many = columns(options.rows)
    budget = {"n_kv_heads": [8], **SEARCH}
    found = sweep(CONFIG, {name: column[:1000] for name, column in many.items()}, numbers=NUMBERS, grid=False).columns
    assert loop({name: column[:1000].tolist() for name, column in many.items()}) == list(
        zip(*(found[name].tolist() for name in NUMBERS), strict=True)
    )
    cases: dict[str, tuple[int, Callable[[], Any]]] = {
        "plain Python loop": (300_000, lambda: loop(few)),
        "sweep over columns": (options.rows, lambda: sweep(CONFIG, many, numbers=NUMBERS, grid=False)),
        "columns, a piece at a time": (options.rows, lambda: run_pieces(many)),
        "sweep over a grid": (points(space(edit.base(CONFIG), GRID).axes), run_blocks),
        "search for a budget": (size(7 * 10**9, **budget).points, lambda: size(7 * 10**9, **budget)),
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(options.rounds):
        for name, (_, call) in cases.items():
            times[name].append(cpu(call))
    print("| | points | CPU s | million points a second | × the loop |", "|---|---|---|---|---|", sep="\n")
    for name, (n, _) in cases.items():
        rates = [n / seconds / 1e6 for seconds in times[name]]
        loops = [cases["plain Python loop"][0] / seconds / 1e6 for seconds in times["plain Python loop"]]
        ratio = statistics.median(a / b for a, b in zip(rates, loops, strict=True))
        print(
            f"| {name} | {n:,} | {statistics.median(times[name]):.3f} | {statistics.median(rates):.1f} | {ratio:.0f} |"
        )
    tracemalloc.start()
    run_blocks()
    print(f"\nPeak memory of the grid's blocks: {tracemalloc.get_traced_memory()[1] / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
