"""What happens to a text before multilingual-e5-small sees it: normal form, tokens, truncation.

One normal form for both runtimes, so that a text gives the same tokens in each. Knows nothing of weights.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tokenizers

from app.providers.embedding.storable import storable

MAX_TOKENS: Final = 512
"""The model's window, with `<s>` and `</s>`."""
_SPECIALS: Final = 2
_BOS, _EOS = 0, 2
# No token is longer than 16 characters, so this much text always fills the window; what lies behind
# it need not be tokenised. Wide enough for runs of unknown characters, which become one token.
_WINDOW_CHARACTERS: Final = 64 * MAX_TOKENS
_ASTRAL: Final = 0x10000
# Marks that the model's vocabulary has in composed form: Latin, kana, Hangul. Arabic, Burmese and
# others must stay as they are: the canonical order of their marks is not the vocabulary's.
_COMPOSED: Final = re.compile("[^\u0300-\u036f][\u0300-\u036f\u3099\u309a\u1161-\u1175\u11a8-\u11c2]+")


class _CharMap(dict[int, int | str]):
    """For `str.translate`; remembers that a character stays as it is, since a miss costs an exception."""

    def __missing__(self, code: int) -> int:
        if code < _ASTRAL:
            self[code] = code
        return code


class Normaliser:
    """SentencePiece's `nmt_nfkc` as multilingual-e5 was trained with: NFKC, controls dropped, every
    kind of white space one space, none at the ends.
    """

    def __init__(self, charmap: Mapping[str, str]) -> None:
        self._charmap = _CharMap({ord(character): normal for character, normal in charmap.items()})

    def __call__(self, text: str) -> str:
        text = storable(text)
        if not unicodedata.is_normalized("NFC", text):
            text = _COMPOSED.sub(lambda match: unicodedata.normalize("NFC", match[0]), text)
        return re.sub(" {2,}", " ", text.translate(self._charmap)).strip(" ")


def tokenizer_json(pieces: Sequence[tuple[str, float]], unk: int) -> dict[str, Any]:
    """A `tokenizers` description of the vocabulary, for normalised text.

    Pieces written in angle brackets are markers, not text: they are renamed with a control character
    that the normal form never contains, so that a literal `<s>` in a text is spelt out.
    """
    vocabulary = [["\x01" + text if score == 0.0 else text, score] for text, score in pieces]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "post_processor": None,
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "model": {"type": "Unigram", "unk_id": unk, "vocab": vocabulary, "byte_fallback": False},
    }


def write_tokenizer(path: Path, pieces: Sequence[tuple[str, float]], unk: int) -> None:
    path.write_text(json.dumps(tokenizer_json(pieces, unk), ensure_ascii=False), encoding="utf-8")


class E5Tokenizer:
    """Text to token ids. Safe to call from several threads."""

    def __init__(self, path: Path, normalise: Normaliser) -> None:
        self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        self._normalise = normalise

    def content(self, text: str) -> list[int]:
        """All token ids of `text`, without `<s>` and `</s>`."""
        ids: list[int] = self._tokenizer.encode(self._normalise(text), add_special_tokens=False).ids
        return ids

    def window(self, text: str) -> tuple[npt.NDArray[np.int64], bool]:
        """Ids for the model, `<s> … </s>`, at most `MAX_TOKENS`; and whether the text was cut."""
        normal = self._normalise(text)
        ids = self._tokenizer.encode(normal[:_WINDOW_CHARACTERS], add_special_tokens=False).ids
        room = MAX_TOKENS - _SPECIALS
        cut = len(ids) > room or len(normal) > _WINDOW_CHARACTERS
        return np.array([_BOS, *ids[:room], _EOS], dtype=np.int64), cut
