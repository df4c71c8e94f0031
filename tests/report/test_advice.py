"""Advice: which sizes meet the guidance, what would, and where it is said."""

from ffncalc import load
from ffncalc.report.advice import advise


def test_gpt2_xl() -> None:
    """GPT-2 XL's 25 heads, 1,600 and 50,257 against eight devices: the nearest sizes, a vocabulary only ever padded."""
    unmet = {(entry.size, entry.value, entry.nearest) for entry in advise(load("gpt2-xl"), 8) if not entry.met}
    assert unmet == {
        ("d_model", 1600, 1536),
        ("d_ff", 6400, 6656),
        ("n_heads", 25, 24),
        ("n_kv_heads", 25, 24),
        ("n_vocab", 50257, 50304),
        ("n_vocab", 50257, 51200),
    }


def test_llama_2_70b() -> None:
    """A model made for eight devices meets all but the padding, and every sentence has a source."""
    advice = advise(load("llama-2-70b"), 8)
    assert [(entry.size, entry.nearest) for entry in advice if not entry.met] == [("n_vocab", 32768)]
    assert all(entry.source for entry in advice)


def test_one_device() -> None:
    """On one device there is nothing to share out."""
    assert all(entry.met for entry in advise(load("gpt2-xl"), 1) if entry.size in ("n_heads", "n_kv_heads"))


def test_unlike_layers() -> None:
    """A size that differs between layers is advised on at each of its values; one that nobody stated at none."""
    assert {entry.value for entry in advise(load("deepseek-v3"), 8) if entry.size == "d_ff"} == {18432, 2048}
