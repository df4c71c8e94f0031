"""A byte-level mutator: files that are nearly right, the same ones for the same seed."""

import random
from collections.abc import Sequence

PIECES = [
    *(
        b"0",
        b"-1",
        b"1",
        b"2",
        b"3",
        b"7",
        b"1e4",
        b"1e400",
        b"1.5",
        b"1.0",
        b"64.0",
        b"010",
        b"1:30",
        b"0x10",
        b"1_000",
    ),
    *(
        b"10" * 15,
        b"9" * 999,
        b"9" * 1001,
        b"9" * 5000,
        b"1000000",
        b"NaN",
        b"Infinity",
        b"-Infinity",
        b".inf",
        b".nan",
    ),
    *(b"null", b"true", b"false", b"~", b"[]", b"{}", b"[1, 2]", b"{rule: llama}", b'""', b'"64"', b"''", b"no"),
    *(
        b"&a ",
        b"*a",
        b"<<: *a",
        b"!!python/object/apply:os.system ['x']",
        b"!!int ",
        b"? ",
        b"- ",
        b"---\n",
        b"...\n",
        b"%YAML 9.9\n",
    ),
    *(
        b"\x1b[2J",
        b"\\u001b",
        b"\\ud800",
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xc2\x9b",
        b"\xe2\x80\xae",
        b"\t",
        b"\r\n",
        b"\n",
    ),
    *(b"[" * 60, b"{" * 60, b"{a: " * 45, b'"' * 3, b"#", b": ", b", ", b"]", b"}", b"[", b"{", b"|\n", b">-\n"),
    *(
        b"d_model: 1\n",
        b"n_layers: 1000000\n",
        b"n_kv_heads: 3\n",
        b"d_ff: {rule: llama, multiplier: 1e308}\n",
        b"family: t5\n",
    ),
    *(
        b"layers: [{repeat: 3}]\n",
        b"ffn: {kind: moe, n_experts: 4, top_k: 5}\n",
        b"attention: {window: 0}\n",
        b"tied: maybe\n",
    ),
    *(
        b"n_layers: 1" + b"0" * 30 + b"\n",
        b"head: mlm\n",
        b"model_type: gpt2\n",
        b"dim: 8\n",
        b'"num_hidden_layers": 1000000,',
    ),
    *(
        b'"layer_types": ["full_attention"],',
        b'"hidden_size": 1' + b"0" * 400 + b",",
        b'"sliding_window": 1,',
        b'"n_inner": [1, 2],',
    ),
]


def mutants(seeds: Sequence[bytes], count: int, seed: int, pieces: Sequence[bytes] = PIECES) -> list[bytes]:
    """`count` files, each a seed with one to four small changes."""
    chance = random.Random(seed)
    return [mutant(chance, seeds, pieces) for _ in range(count)]


def mutant(chance: random.Random, seeds: Sequence[bytes], pieces: Sequence[bytes]) -> bytes:
    """One file."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 1, 1, 2, 8, 40)))
        match chance.randrange(8):
            case 0:
                del data[start:end]
            case 1:
                data[start:end] = data[start:end] * 2
            case 2:
                data[start:end] = bytes(chance.randrange(256) for _ in range(end - start))
            case 3 | 4:
                data[start:start] = chance.choice(pieces)
            case 5:
                other = chance.choice(seeds)
                cut = chance.randrange(len(other) + 1)
                data[start:end] = other[cut : cut + 60]
            case _:
                replace_value(chance, data, pieces)
    return bytes(data)


def replace_value(chance: random.Random, data: bytearray, pieces: Sequence[bytes]) -> None:
    """Put a piece in the place of what stands behind a colon, up to the end of the value."""
    colons = [i for i, byte in enumerate(data) if byte == ord(":")]
    if colons:
        start = chance.choice(colons) + 1
        ends = [data.find(mark, start) for mark in (b"\n", b",", b"}")]
        end = min((e for e in ends if e >= 0), default=len(data))
        data[start:end] = b" " + chance.choice(pieces)
