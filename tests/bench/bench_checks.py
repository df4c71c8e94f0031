"""1,000 JSON configs in one `ffncalc check` against one, in CPU time: `python tests/bench/bench_checks.py`."""

import json
import statistics
import tempfile
from pathlib import Path

from bench_startup import Case, cpu_seconds, environment, ffncalc

CONFIGS, ROUNDS, TARGET = 1000, 7, 20.0


def write(folder: Path) -> None:
    """The configs, a checks file for all of them, and one for the first."""
    for i in range(CONFIGS):
        config = {
            "model_type": "llama",
            "hidden_size": 64 * (1 + i % 7),
            "intermediate_size": 256 + i,
            "num_hidden_layers": 2 + i % 5,
        }
        (folder / f"c{i}.json").write_text(json.dumps(config | {"num_attention_heads": 4, "vocab_size": 1000 + i}))
    for name, model in (("one", "c0.json"), ("all", "*.json")):
        (folder / f"{name}.yaml").write_text(
            f"checks: [{{model: '{model}', params.total: {{max: 7B}}, dims.d_ff: {{min: 1}}}}]\n"
        )


def main() -> None:
    """Measure in interleaved rounds and print the median ratio."""
    with tempfile.TemporaryDirectory() as name:
        write(Path(name))
        one, whole = (Case(n, ffncalc("check", f"{name}/{n}.yaml"), "") for n in ("one", "all"))
        env = environment()
        rounds = [(cpu_seconds(one, env), cpu_seconds(whole, env)) for _ in range(ROUNDS)]
    ratio = statistics.median(b / a for a, b in rounds if a and b)
    print(f"{CONFIGS:,} JSON configs in one process: {ratio:.1f} × one (target {TARGET:.0f})")


if __name__ == "__main__":
    main()
