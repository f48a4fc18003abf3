"""What a prepared card becomes: plain rows, ready to be written in one go."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.providers.ports import Vector


@dataclass(frozen=True, slots=True)
class WindowRow:
    """One embedded text. Offsets refer to the card's content."""

    start: int
    end: int
    text: str
    text_hash: uuid.UUID


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """`terms` is a `tsvector` literal; `word_terms` and `gram_terms` map a term's hash to its frequency in
    one of the two streams, `words` and `grams` are the lengths of these streams.
    """

    id: uuid.UUID
    ordinal: int
    start: int
    end: int
    text: str
    heading: str
    tokens: int
    terms: str
    words: int
    grams: int
    word_terms: Mapping[int, int]
    gram_terms: Mapping[int, int]
    windows: Sequence[WindowRow]


@dataclass(frozen=True, slots=True)
class CardRows:
    """All derived rows of one card at one version of its text."""

    card_id: uuid.UUID
    text_version: int
    chunks: Sequence[ChunkRow]

    @property
    def texts(self) -> dict[uuid.UUID, str]:
        """Every distinct text to embed, by hash."""
        return {window.text_hash: window.text for chunk in self.chunks for window in chunk.windows}


@dataclass(frozen=True, slots=True)
class StoredVector:
    """`dense` float32 of unit norm; `sparse` token id to weight, where the space has it."""

    dense: Vector
    sparse: Mapping[int, float] | None = None


def text_hash(text: str) -> uuid.UUID:
    """The first 128 bits of SHA-256: what equal texts share."""
    return uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16])
