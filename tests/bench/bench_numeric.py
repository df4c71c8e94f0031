"""What the numeric mode costs beyond its matrix products. Run by a person on a quiet machine; not a test.

    python tests/bench/bench_numeric.py [--quick]

One thread, CPU clock. Each round runs the bare `numpy.matmul` calls of the same shapes and then each candidate; printed
is the median over rounds of the ratio to the bare calls of the same round, and beside it the ratio of the fastest runs,
which a busy machine disturbs less. PyTorch (eager, autograd for the backward pass) and scipy are run where they can be
imported.
"""

# ruff: noqa: E402 - the number of BLAS threads is read when numpy is imported

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ffncalc.numeric import ACTIVATIONS, VARIANTS, count_macs, glu_ffn, swiglu_backward, swiglu_ffn
from ffncalc.numeric import ffn_rows as rows
from ffncalc.numeric.activations import activation, derivative_of, value_of

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]
try:
    from scipy.special import erf
except ImportError:
    erf = None

N = 512
ROUNDS = {256: 41, 1024: 11, 4096: 3}
Run = Callable[[], Any]


def timed(run: Run, before: Callable[[], Any] | None = None) -> float:
    """CPU seconds of one run; `before` is not timed, and what the run returns is dropped after the clock stops."""
    if before is not None:
        before()
    start = time.process_time()
    kept = run()
    seconds = time.process_time() - start
    del kept
    return seconds


def ratios(bare: Run, candidates: dict[str, Run | tuple[Run, Run]], rounds: int) -> dict[str, str]:
    """median (fastest) of each candidate's time over the bare one's; a candidate may be (before, run)."""
    base: list[float] = []
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for round_ in range(rounds + 1):
        seconds = timed(bare)
        taken = {n: timed(c[1], c[0]) if isinstance(c, tuple) else timed(c) for n, c in candidates.items()}
        if round_:  # the first warms up
            base.append(seconds)
            for name, value in taken.items():
                times[name].append(value)
    return {
        name: f"{statistics.median(t / b for t, b in zip(ts, base, strict=True)):.2f} ({min(ts) / min(base):.2f})"
        for name, ts in times.items()
    }


def arrays(d: int, dtype: Any) -> dict[str, np.ndarray]:
    """X, dY and the matrices of a gated FFN with d_ff = 8d/3."""
    f, draw = 8 * d // 3, np.random.default_rng(0).standard_normal
    shapes = {"X": (N, d), "dY": (N, d), "W_gate": (d, f), "W_up": (d, f), "W_down": (f, d)}
    return {
        name: (draw(shape) / math.sqrt(shape[0] if name[0] == "W" else 1)).astype(dtype)
        for name, shape in shapes.items()
    }


# ---- SwiGLU


def swiglu(d: int, dtype: Any, rounds: int) -> dict[str, str]:
    """Forward against its three products, backward against its six, both together against eight."""
    a = arrays(d, dtype)
    X, dY, W_gate, W_up, W_down = a.values()
    H, act = X @ W_up, activation("silu")
    cache: list[rows.Cache] = []

    def three() -> Any:
        return np.matmul(X, W_gate), np.matmul(X, W_up), np.matmul(H, W_down)

    def six() -> Any:
        weights = np.matmul(H.T, dY), np.matmul(X.T, H), np.matmul(X.T, H)
        return weights, np.matmul(dY, W_down.T), np.matmul(H, W_gate.T), np.matmul(H, W_up.T)

    def fill() -> None:
        cache[:] = [rows.forward(X, rows.Weights(W_up, W_down, W_gate), act)[1]]

    forward: dict[str, Any] = {"forward": lambda: swiglu_ffn(X, W_gate, W_up, W_down)}
    backward: dict[str, Any] = {"backward": (fill, lambda: rows.backward(dY, cache[0]))}
    if torch is not None:
        forward["torch forward"], backward["torch backward"] = torch_swiglu(a)
    found = ratios(three, forward, rounds) | ratios(six, backward, rounds)
    eight = {"swiglu_backward": lambda: swiglu_backward(dY, X, W_gate, W_up, W_down)}
    return found | ratios(lambda: (np.matmul(X, W_gate), np.matmul(X, W_up), six()), eight, rounds)


def torch_swiglu(a: dict[str, np.ndarray]) -> tuple[Run, tuple[Run, Run]]:
    """PyTorch's forward, and its backward with the forward pass before it."""
    torch.set_num_threads(1)
    X, dY, W_gate, W_up, W_down = (torch.from_numpy(array).clone().requires_grad_() for array in a.values())
    output: list[Any] = []

    def forward() -> Any:
        return (torch.nn.functional.silu(X @ W_gate) * (X @ W_up)) @ W_down

    def inference() -> Any:
        with torch.no_grad():
            return forward()

    def fill() -> None:
        output[:] = [forward()]

    return inference, (fill, lambda: torch.autograd.grad(output[0], (X, W_gate, W_up, W_down), dY.detach()))


# ---- the other variants and the activations


def variants(d: int, dtype: Any, rounds: int) -> dict[str, str]:
    """Forward of every variant against its own bare products."""
    X, _, W_gate, W_up, W_down = arrays(d, dtype).values()
    H = X @ W_up
    found = {}
    for name, variant in VARIANTS.items():
        gate = W_gate if variant.gated else None
        act = ACTIVATIONS[variant.activation]

        def bare(gate: Any = gate) -> Any:
            return np.matmul(X, W_up), None if gate is None else np.matmul(X, gate), np.matmul(H, W_down)

        def products_and_activation(bare: Run = bare, act: Any = act) -> Any:
            return bare(), value_of(act, H)

        candidates = {
            name: lambda gate=gate, name=name: glu_ffn(X, gate, W_up, W_down, name),
            f"{name}: products and activation apart": products_and_activation,
        }
        found |= ratios(bare, candidates, rounds)
    return found


def per_element(dtype: Any) -> dict[str, str]:
    """Nanoseconds an element: each activation, its derivative, and exact GELU by scipy."""
    x = np.random.default_rng(0).standard_normal(1 << 20).astype(dtype)
    runs: dict[str, Run] = {}
    for name, act in ACTIVATIONS.items():
        runs[name] = lambda act=act: value_of(act, x)
        runs[f"{name}'"] = lambda act=act: derivative_of(act, x)
    if erf is not None:
        runs["gelu by scipy"] = lambda: 0.5 * x * (1 + erf(x * math.sqrt(0.5)))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(9):
        for name, run in runs.items():
            times[name].append(timed(run))
    return {
        name: f"{statistics.median(t) * 1e9 / x.size:.1f} ({min(t) * 1e9 / x.size:.1f})" for name, t in times.items()
    }


def counting() -> dict[str, str]:
    """What the counter adds to a small FFN."""
    X, _, W_gate, W_up, W_down = arrays(64, np.float64).values()

    def counted() -> Any:
        with count_macs():
            return [swiglu_ffn(X, W_gate, W_up, W_down) for _ in range(20)]

    bare = ratios(lambda: [swiglu_ffn(X, W_gate, W_up, W_down) for _ in range(20)], {"counted": counted}, 41)
    return {"counted / not counted, d = 64": bare["counted"]}


def show(title: str, found: dict[str, str]) -> None:
    """One line a figure."""
    print(title)
    for name, figure in found.items():
        print(f"    {name:42} {figure}", flush=True)


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description="ratios to bare numpy.matmul: median (fastest)")
    parser.add_argument("--quick", action="store_true", help="leave out d = 4096 and most rounds")
    quick = parser.parse_args().quick
    for dtype in (np.float32, np.float64):
        kind = np.dtype(dtype).name
        show(f"ns an element, {kind}", per_element(dtype))
        for d, rounds in ROUNDS.items():
            if not (quick and d == max(ROUNDS)):
                show(f"SwiGLU / bare products, {kind}, d = {d}", swiglu(d, dtype, 5 if quick else rounds))
        show(f"variants / bare products, {kind}, d = 256", variants(256, dtype, 5 if quick else 21))
    show("counting", counting())


if __name__ == "__main__":
    main()
