"""Bytes to text: which encoding a file is in, decided on the whole file.

UTF-8 (with and without BOM), UTF-16 and UTF-32 with BOM, UTF-16 without one, GB18030 (GBK),
Big5; charset-normalizer for the rest. Knows nothing of what the text means.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from charset_normalizer import from_bytes

from app.transfer.errors import UnknownEncoding

SAMPLE_BYTES = 256 * 1024
# One damaged character in a long UTF-8 file must not turn all of it into mojibake.
MAX_DAMAGED_SHARE = 0.05
MIN_FREQUENT_SHARE = 0.08
MIN_ORDINARY_SHARE = 0.7
FEW_CHARACTERS = 24

# utf-8-sig and utf-16/32 names re-encode to the same bytes once the BOM is written again.
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Without their BOM these are guesses that turn plain Latin text into something else.
_NEVER_WITHOUT_BOM = ["utf_16", "utf_16_le", "utf_16_be", "utf_32", "utf_32_le", "utf_32_be", "utf_7", "johab"]
_HIGH_BYTES = bytes(range(0x80, 0x100))
_WIDE = re.compile(r"[^\x00-\x7f]+")
_UNWANTED = re.compile("[\x00\ud800-\udfff]")

# The characters that make up about a third of any Chinese text, simplified and traditional.
_FREQUENT = frozenset(
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行"
    "学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然"
    "前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无"
    "這個國時來們為於動會對發產過說種後學經進著電裡現實兩體機當點從業應開還與關條結問無樣間見長書車東買賣話語寫讀網頁"
)
_GB18030, _BIG5 = "gb18030", "big5hkscs"


@dataclass(frozen=True, slots=True)
class Decoded:
    """`encoding` is a Python codec name; `damaged` counts the bytes that had to be replaced."""

    text: str
    encoding: str
    damaged: int = 0


def decode(data: bytes) -> Decoded:
    """The text of `data` without its BOM. Raises `UnknownEncoding` for what is no text."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _lenient(data[len(bom) :], encoding)
    if (wide := _utf16_without_bom(data)) is not None:
        return wide
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    guessed, high_bytes = _lenient(data, "utf-8"), len(data) - len(data.translate(None, _HIGH_BYTES))
    if guessed.damaged <= MAX_DAMAGED_SHARE * high_bytes:
        return guessed
    if (chinese := guess_chinese(data)) is not None:
        return Decoded(data.decode(chinese), chinese)
    if high_bytes < FEW_CHARACTERS and not _undefined_in_cp1252(data):
        return Decoded(data.decode("cp1252"), "cp1252")
    best = from_bytes(data[:SAMPLE_BYTES], cp_exclusion=_NEVER_WITHOUT_BOM).best()
    if best is None:
        raise UnknownEncoding
    return _lenient(data, best.encoding)


def guess_chinese(data: bytes) -> str | None:
    """`gb18030` or `big5hkscs` when every byte of `data` fits and the result looks like Chinese."""
    candidates = list(_as_chinese(data))
    likely = [one for one in candidates if one.likely]
    if likely:
        return max(likely, key=lambda one: one.score).encoding
    # Too short to look like anything: a name of rare characters. GBK is the commoner of the two.
    return next((one.encoding for one in candidates if one.brief), None)


def clean(text: str) -> str:
    """`text` without NUL and lone surrogates, which neither PostgreSQL nor UTF-8 can hold."""
    return _UNWANTED.sub("", text)


def decode_name(raw: bytes, fallback: str = "cp437") -> str:
    """A file name of unknown encoding, on its own."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode(guess_chinese(raw) or fallback, errors="replace")


def _lenient(data: bytes, encoding: str) -> Decoded:
    text = data.decode("utf-8" if encoding == "utf-8-sig" else encoding, errors="replace")
    meant = data.count("\ufffd".encode()) if encoding.startswith("utf-8") else 0
    return Decoded(text, encoding, text.count("\ufffd") - meant)


def _utf16_without_bom(data: bytes) -> Decoded | None:
    """Text of mostly ASCII in UTF-16 is valid UTF-8 with every other character a NUL."""
    sample = data[:SAMPLE_BYTES]
    if len(data) % 2 or len(data) < 4:
        return None
    half = len(sample) // 2
    for encoding, zeros, others in (("utf-16-le", 1, 0), ("utf-16-be", 0, 1)):
        if sample[zeros::2].count(0) > 0.5 * half and sample[others::2].count(0) < 0.05 * half:
            try:
                return Decoded(data.decode(encoding), encoding)
            except UnicodeDecodeError:
                return None
    return None


@dataclass(frozen=True, slots=True)
class _Candidate:
    encoding: str
    wide: int
    longest: int
    ordinary: float
    frequent: float

    @property
    def brief(self) -> bool:
        return self.wide < FEW_CHARACTERS and self.longest > 1

    @property
    def likely(self) -> bool:
        # Korean and Japanese bytes decode to ordinary but arbitrary characters; only a longer
        # text can show that the frequent ones are missing.
        convincing = self.wide < FEW_CHARACTERS or self.frequent >= MIN_FREQUENT_SHARE
        return self.ordinary >= MIN_ORDINARY_SHARE and convincing

    @property
    def score(self) -> float:
        # All of GB level 1 is also valid Big5, while most Big5 text leaves GB level 1 at once.
        return self.ordinary + 2 * self.frequent + (0.5 if self.encoding == _GB18030 else 0.0)


def _as_chinese(data: bytes) -> Iterator[_Candidate]:
    for encoding in (_GB18030, _BIG5):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        runs = _WIDE.findall(text)
        wide = "".join(runs)
        if wide:
            ordinary = sum(char in _ordinary(encoding) for char in wide) / len(wide)
            frequent = sum(char in _FREQUENT for char in wide) / len(wide)
            yield _Candidate(encoding, len(wide), max(map(len, runs)), ordinary, frequent)


def _undefined_in_cp1252(data: bytes) -> bool:
    return any(byte in data for byte in b"\x81\x8d\x8f\x90\x9d")


@cache
def _ordinary(encoding: str) -> frozenset[str]:
    """Level 1 of the standard, sorted apart by its authors as the characters in common use, and punctuation."""
    if encoding == _GB18030:
        rows, cells, codec = (range(0xA1, 0xA4), range(0xB0, 0xD8)), range(0xA1, 0xFF), "gb2312"
    else:
        rows, cells, codec = (range(0xA1, 0xA4), range(0xA4, 0xC7)), range(0x40, 0xFF), "big5"
    pairs = (bytes((row, cell)) for block in rows for row in block for cell in cells)
    return frozenset(char for pair in pairs if len(char := pair.decode(codec, errors="ignore")) == 1)
