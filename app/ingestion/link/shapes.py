"""What a name is made of: its words, numbers, signs and titles. Pure, computed once per name.

Knows nothing of entities; what follows from two shapes is decided by `guards` and `evidence`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.ingestion.link.simplified import simplified
from app.ingestion.link.words import (
    ARTICLES,
    COMPANY_ENDINGS,
    HAN_COMPANY,
    HAN_TITLES,
    NUMBER_WORDS,
    SMALL,
    TITLES,
)
from app.text.normalise import HAN, clean, fold, name_key

LONGEST_NAME: Final = 200

_WRAPPED = re.compile(r"^[\s《〈「『“‘\"'【\[]+|[\s》〉」』”’\"'】\]]+$")
_BRACKETED = re.compile(r"^(?P<outer>.+?)\s*[(（](?P<inner>[^()（）]+)[)）]$", re.DOTALL)
_HAN = re.compile(f"[{HAN}]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_TOKEN = re.compile(f"[{HAN}]+|\\d+(?:[.,]\\d+)*|[^\\W\\d_{HAN}]+(?:['’][^\\W\\d_{HAN}]+)*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:st|nd|rd|th|[a-z])?(?![a-z])")
NUMERONYM = re.compile(r"([a-z])([5-9]|[12]\d)([a-z])$")
"""k8s, i18n; not H2O, B2B."""
_ROMAN = re.compile(r"(?:X{0,2}(?:IX|IV|V?I{1,3}|V)|X{1,2})$")
_ROMAN_VALUES: Final = {"I": 1, "V": 5, "X": 10}
_HAN_NUMBER = re.compile("[〇零一二三四五六七八九十百千两]+")
_HAN_DIGITS: Final = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_COMPANY = re.compile(HAN_COMPANY)
_ACRONYM = re.compile(r"(?=[A-Z0-9]{2,7}s?$)[A-Z][A-Z0-9]*[A-Z][A-Z0-9]*s?$|(?:[A-Z]\.){2,7}$")
_SIGNS = re.compile(r"[+#%]+")


@dataclass(frozen=True, slots=True)
class Shape:
    """`key` is the name's key; `plain` the same without a qualifier, of simplified characters. `words` are the folded
    words as they stand, `written` the same unfolded; `core` those that carry the name: without article, title and
    company ending. `numbers`: every number, version and ordinal, sorted. `qualifier`: what stands in brackets and is
    no other name; `inside`: what does and is one.
    """

    name: str
    key: str
    plain: str
    words: tuple[str, ...]
    core: tuple[str, ...]
    written: tuple[str, ...]
    titles: frozenset[str]
    numbers: tuple[str, ...]
    signs: str
    qualifier: str
    inside: str
    has_han: bool
    has_latin: bool
    is_acronym: bool
    initials: frozenset[str]
    is_company: bool

    @property
    def letters(self) -> str:
        """Of an acronym: its letters, without the s of its plural."""
        return self.key[:-1] if self.name.endswith("s") else self.key

    @property
    def bare(self) -> str:
        """The core as one key."""
        return "".join(self.core)


def shown(name: str) -> str:
    """The name as it is kept: NUL and lone surrogates out (A7), one line, no quotes around it, bounded."""
    text = " ".join(clean(name).split())[:LONGEST_NAME].strip()
    bare = _WRAPPED.sub("", text)
    return bare if name_key(bare) else text


@lru_cache(maxsize=65_536)
def shape(name: str) -> Shape:
    name = shown(name)
    outer, inside, qualifier = _brackets(name) if name.endswith((")", "）")) else (name, "", "")
    text = unicodedata.normalize("NFKC", outer)
    has_han, has_latin = bool(_HAN.search(text)), bool(_LATIN.search(text))
    swapped = _comma_swapped(text)
    written = tuple(token for token in _TOKEN.findall(swapped.replace("&", " and ")) if token)
    folded = tuple(simplified(fold(word)).replace("'", "").replace("’", "") for word in written)
    titles, core = _core(folded)
    bare = name_key(outer)
    key = name_key(name) if qualifier else bare
    return Shape(
        name=name if qualifier else outer,
        key=key,
        plain=simplified(bare),
        words=folded,
        core=core,
        written=written,
        titles=titles,
        numbers=_numbers(text, written),
        signs="".join(_SIGNS.findall(key)),
        qualifier=simplified(name_key(qualifier)),
        inside=inside,
        has_han=has_han,
        has_latin=has_latin,
        is_acronym=not has_han and _ACRONYM.match(text) is not None,
        initials=_initials(folded),
        is_company=_COMPANY.search(simplified(text)) is not None or bool(COMPANY_ENDINGS & set(folded[1:])),
    )


def _brackets(name: str) -> tuple[str, str, str]:
    """(the name, another name of it that stands in brackets, a qualifier that does)."""
    match = _BRACKETED.match(name)
    if match is None or not name_key(match["outer"]):
        return name, "", ""
    outer, inner = match["outer"].strip(), match["inner"].strip()
    crosses = bool(_HAN.search(outer)) != bool(_HAN.search(inner)) and not any(ch.isdigit() for ch in inner)
    # 管道(golang) and 管道(python) say which one is meant; 知识图谱(knowledge graph) says it again.
    crosses = crosses and not (inner.isascii() and inner.islower() and " " not in inner)
    letters = name_key(inner.removesuffix("s")) if _ACRONYM.match(inner) else ""
    abbreviates = letters in _initials(tuple(fold(word) for word in _TOKEN.findall(outer)))
    return (outer, inner, "") if crosses or abbreviates else (outer, "", inner)


def _comma_swapped(text: str) -> str:
    """`Knuth, Donald` → `Donald Knuth`."""
    last, comma, first = text.partition(", ")
    if not comma or "," in first or _HAN.search(text) or len(last.split()) > 2 or len(first.split()) > 3:
        return text
    return text if set(fold(first).replace(".", "").split()) <= COMPANY_ENDINGS else f"{first} {last}"


def _core(words: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """(titles of a person, the words that carry the name)."""
    rest = list(words)
    while len(rest) > 1 and rest[0] in ARTICLES:
        rest.pop(0)
    titles: set[str] = set()
    while len(rest) > 1 and rest[0] in TITLES:
        titles.add(rest.pop(0))
    while len(rest) > 1 and rest[-1] in COMPANY_ENDINGS:
        rest.pop()
    while len(rest) > 1 and rest[-1] == "and":
        rest.pop()
    if len(rest) == 1 and _HAN.match(rest[0]):
        bare = _COMPANY.sub("", rest[0])
        if len(bare) >= 2:
            rest[0] = bare
    return frozenset(titles), tuple(rest)


def numberless(one: Shape) -> tuple[str, ...]:
    """The words without the numbers, in whatever way these are written; sorted, of a name with Han in one piece."""
    kept = []
    for place, (word, written) in enumerate(zip(one.words, one.written, strict=True)):
        if _number_word(written, place, len(one.written)) or word in ARTICLES:
            continue
        if _HAN.match(word):
            word = _HAN_NUMBER.sub("", word)
        elif word[0].isdigit():
            word = ""
        if word:
            kept.append(word)
    return ("".join(kept),) if one.has_han and kept else tuple(sorted(kept))


def without_han_title(name: str) -> tuple[str, str]:
    """(`李明`, `教授`) of `李明教授`; the title is empty where there is none, or only a surname in front of it."""
    for title in HAN_TITLES:
        if name.endswith(title) and 2 <= len(name) - len(title) <= 4:
            return name[: -len(title)], title
    return name, ""


def singular(word: str) -> str:
    """An English noun's singular, by form alone."""
    if (
        len(word) < 4
        or not word.isascii()
        or not word.endswith("s")
        or word.endswith(("ss", "us", "is", "ics", "news"))
    ):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zzes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


def _numbers(text: str, written: tuple[str, ...]) -> tuple[str, ...]:
    found: list[str] = []
    lowered = text.lower()
    for token in re.split(r"[\s\-/_]+", lowered):
        if NUMERONYM.match(token):
            continue
        for match in _NUMBER.findall(token):
            found.append(re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", match).replace(",", "."))
    found.extend(value for place, word in enumerate(written) if (value := _number_word(word, place, len(written))))
    found.extend(str(_han_number(run)) for run in _HAN_NUMBER.findall(simplified(text)))
    return tuple(sorted(found))


def _number_word(word: str, place: int, of: int) -> str:
    """II → 2, Second → 2; a name of a single word, or a Roman number in front, is none."""
    if place and _ROMAN.match(word):
        return str(_roman(word))
    return NUMBER_WORDS.get(word.lower(), "") if of > 1 else ""


def _roman(word: str) -> int:
    total, last = 0, 0
    for ch in reversed(word):
        value = _ROMAN_VALUES[ch]
        total, last = (total - value, last) if value < last else (total + value, value)
    return total


def _han_number(run: str) -> int | str:
    """十五 → 15, 二〇二四 → 2024; 十三五 stays what it is."""
    if not any(ch in _HAN_UNITS for ch in run):
        return int("".join(str(_HAN_DIGITS[ch]) for ch in run))
    total, digit = 0, None
    for ch in run:
        if ch in _HAN_UNITS:
            total += (1 if digit is None else digit) * _HAN_UNITS[ch]
            digit = None
        elif digit is not None and digit != 0:
            return run
        else:
            digit = _HAN_DIGITS[ch]
    return total + (digit or 0)


def _initials(words: tuple[str, ...]) -> frozenset[str]:
    """First letters of a name of several Latin words, with and without the small ones."""
    latin = [word for word in words if word[0].isalpha() and not _HAN.match(word)]
    if len(latin) < 2 or len(latin) != len(words):
        return frozenset()
    return frozenset(
        letters
        for letters in (
            "".join(word[0] for word in latin),
            "".join(word[0] for word in latin if word not in SMALL),
        )
        if len(letters) > 1
    )


def numeronym_of(short: str, long: str) -> bool:
    """k8s and kubernetes, i18n and internationalization. Both are keys."""
    match = NUMERONYM.match(short)
    return (
        match is not None and len(long) == int(match[2]) + 2 and long.startswith(match[1]) and long.endswith(match[3])
    )
