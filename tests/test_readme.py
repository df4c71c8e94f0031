"""The README shows what the commands print; `python tests/test_readme.py` rewrites what has changed."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
CONSOLE = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
GENERATED = re.compile(r"<!-- generated: (\w+) -->\n(.*?)(?=\n## )", re.DOTALL)


def output(command: str) -> str:
    """What a command line of the README prints in a pipe."""
    script = f'ffncalc() {{ "{sys.executable}" -m ffncalc "$@"; }}; {command}'
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=env, check=False, encoding="utf-8"
    )
    assert done.stderr == ""
    return done.stdout


def commands(block: str) -> list[str]:
    """The command lines of a console block."""
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def fresh(block: str) -> str:
    """A console block with each command's present output."""
    return "\n".join(f"$ {command}\n{output(command).rstrip()}\n" for command in commands(block))


def formulas() -> str:
    """The table of blocks: parameters and FLOPs a token, with the sizes left as symbols."""
    from ffncalc.blocks.attention import attention
    from ffncalc.blocks.ffn import ffn
    from ffncalc.expr import size, total
    from ffncalc.ops import Op, macs_per_row, parameters
    from ffncalc.spec import Attention, Ffn, Norm

    d, d_ff, heads, kv = size("d_model", 24), size("d_ff", 101), size("n_heads", 6), size("n_kv_heads", 3)
    head, experts, top_k = size("d_head", 10), size("n_experts", 8), size("top_k", 2)
    many = Attention(n_heads=heads, n_kv_heads=heads, d_head=head, width=d, d_v=head)
    ranks = {"q_lora_rank": size("q_lora_rank", 13), "kv_lora_rank": size("kv_lora_rank", 7)}
    widths = {"d_nope": size("d_nope", 5), "d_rope": size("d_rope", 4), "d_v": size("d_v", 9)}
    grouped = many._replace(n_kv_heads=kv, width=heads * head)
    experts_ffn = Ffn("moe", "silu", d_ff, n_experts=experts, top_k=top_k)
    rows: dict[str, list[Op]] = {
        "FFN, two matrices, biases": list(ffn(Ffn("plain", "gelu", d_ff, bias=True), d, many)),
        "FFN, gated": list(ffn(Ffn("gated", "silu", d_ff), d, many)),
        "FFN, mixture of gated experts": list(ffn(experts_ffn, d, many)),
        "attention, multi-head, biases": list(attention(many._replace(bias="qkvo"), d, Norm())),
        "attention, grouped heads": list(attention(grouped, d, Norm())),
        "attention, latent": list(attention(Attention("latent", heads, **ranks, **widths), d, Norm("none"))),
    }

    def flops(ops: list[Op], kind: str) -> str:
        return total(2 * macs_per_row(op) for op in ops if op.rows.kind == kind).formula()

    lines = ["| block | parameters | FLOPs a token | FLOPs a query-key pair |", "|---|---|---|---|"]
    for name, ops in rows.items():
        lines.append(f"| {name} | {parameters(ops).formula()} | {flops(ops, 'token')} | {flops(ops, 'pair')} |")
    return "\n".join(lines) + "\n"


def test_console_blocks_are_what_the_commands_print() -> None:
    """Every command shown in the README prints what stands below it."""
    for block in CONSOLE.findall(README.read_text(encoding="utf-8")):
        assert block == fresh(block)


def test_formulas_are_generated() -> None:
    """The table of formulas is the one that the operations give."""
    found = dict(GENERATED.findall(README.read_text(encoding="utf-8")))
    assert found["formulas"].strip() == formulas().strip()


def test_python_example_runs() -> None:
    """The Python block runs, its assertions included."""
    for block in re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, "README.md", "exec"), {})


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL))
def test_yaml_examples_count_without_a_warning(block: str, tmp_path: pathlib.Path) -> None:
    """Every YAML config of the README is read without a warning."""
    from ffncalc import params

    path = tmp_path / "example.yaml"
    path.write_text(block, encoding="utf-8")
    assert params(str(path)).warnings == ()


def update() -> None:
    """Rewrite the console blocks and the generated table."""
    text = README.read_text(encoding="utf-8")
    text = CONSOLE.sub(lambda found: fresh(found[0]), text)
    text = re.sub(
        r"(<!-- generated: formulas -->\n).*?(?=\n## )", lambda m: m[1] + "\n" + formulas(), text, flags=re.DOTALL
    )
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    update()
