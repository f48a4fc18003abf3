"""One place that decides when two strings are the same: cleaning, folding, keys, scripts.

Pure functions over `str`. Knows nothing of words, cards or the database.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

HAN: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
"""Han characters as the inside of a regular expression's character class."""

_FORBIDDEN = re.compile(r"[\x00\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_HAN = re.compile(f"[{HAN}]")
_CHINESE_SHARE: Final = 0.3
_WORD = re.compile(r"\w")

# Marks are taken off Latin and Greek letters only: there they are accents. A dakuten, a vowel sign
# or the breve of a Cyrillic й makes another letter.
_ACCENTED = re.compile(r"([a-z\u0131\u017f\u1d00-\u1dbf\u2c60-\u2c7f\u0180-\u024f\u03b1-\u03c9])[\u0300-\u036f]+")
# Latin letters whose accent is part of the glyph, so that no decomposition knows of it.
_GLYPHS = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe"})

# Punctuation that tells names apart: C++, C#, R&D, 5%.
_TELLING = frozenset("+#&%@")
# The same in ASCII, where most names are: what `_in_key` leaves out, and where a gap stays.
_ASCII_GAP = re.compile(r"[^a-z0-9+#&%@$<=>|~]+")
_ASCII_DIGITS_APART = re.compile(r"(?<=[0-9])[^a-z0-9+#&%@$<=>|~]+(?=[0-9])")
_ASCII_LEADING_DOT = re.compile(r"[^a-z0-9+#&%@$<=>|~]*\.(?=[a-z])")


def clean(text: str) -> str:
    """`text` without what PostgreSQL and UTF-8 refuse: NUL and lone surrogates. Split pairs are joined."""
    if not _FORBIDDEN.search(text):
        return text
    text = text.replace("\x00", "")
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return text


def has_forbidden(text: str) -> bool:
    """Whether `text` holds NUL or a surrogate, which a door of the API has to reject."""
    return _FORBIDDEN.search(text) is not None


def fold(text: str) -> str:
    """`text` for comparing: NFKC, case folded (İ → i, ß → ss, ς → σ), no accents on Latin and Greek. Idempotent."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold().translate(_GLYPHS)
    text = _ACCENTED.sub(r"\1", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFKC", text)


def name_key(name: str) -> str:
    """The key under which titles and names meet: folded, without spaces and punctuation.

    `System Admin`, `system-admin`, `SystemAdmin` and `Ｓｙｓｔｅｍ Ａｄｍｉｎ` share one key; `C`, `C++` and `C#`,
    `.NET` and `net`, `1.2` and `12` do not. Empty for blank names only.
    """
    folded = fold(name).strip()
    if folded.isalnum():
        return folded
    if folded.isascii():
        return _ascii_key(folded) or "".join(folded.split())
    key: list[str] = []
    gap = ""
    for ch in folded:
        if not _in_key(ch):
            gap = ch
            continue
        # A gap between digits, and a dot in front of the first letter, are part of the name.
        if gap and ((key and key[-1].isdigit() and ch.isdigit()) or (not key and gap == "." and ch.isalpha())):
            key.append(".")
        key.append(ch)
        gap = ""
    # Once more: what stood apart may have come together.
    return fold("".join(key)) or "".join(folded.split())


def _ascii_key(folded: str) -> str:
    dotted = "." if _ASCII_LEADING_DOT.match(folded) else ""
    parts = _ASCII_DIGITS_APART.split(folded)
    return dotted + ".".join(_ASCII_GAP.sub("", part) for part in parts)


def _in_key(ch: str) -> bool:
    return ch.isalnum() or ch in _TELLING or (unicodedata.category(ch)[0] in "SM" and ch not in "`^\ufe0e\ufe0f")


def is_han(ch: str) -> bool:
    return _HAN.match(ch) is not None


def han_share(text: str) -> float:
    """Han characters among the word characters of `text`, 0…1."""
    word = len(_WORD.findall(text))
    return len(_HAN.findall(text)) / word if word else 0.0


def is_chinese(text: str) -> bool:
    """Whether `text` wants to be read, and answered, as Chinese: names and terms of other scripts are common in it."""
    return han_share(text) > _CHINESE_SHARE
