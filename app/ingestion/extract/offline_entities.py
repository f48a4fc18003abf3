"""The entities of a card by rules: what its title, links, tags, headings and text name. No model, no network.

Deterministic. Knows nothing of other cards except the names that `Source.known` brings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from app.ingestion.extract.offline_aliases import ends_a_word, is_alias, is_other_name, may_be_alias
from app.ingestion.extract.offline_definitions import definition, is_defined, opening_definition
from app.ingestion.extract.offline_names import (
    FILE,
    bare_name,
    is_heading_name,
    is_name,
    is_subject,
    linked_name,
    words_in,
)
from app.ingestion.extract.types import EntityDraft, EntityType, Source, Span
from app.text.names import guess_type, spots_in
from app.text.names_en import find_compounds
from app.text.names_marks import Marks, read_marks
from app.text.names_match import MAX_NAME_CHARS, NameMatcher
from app.text.names_words import COMMON_LATIN, NOT_ACRONYMS, PLACES, TEMPLATE, is_ordinary
from app.text.names_zh_words import SURNAMES
from app.text.normalise import HAN, clean, name_key
from app.text.segment import Segmenter

MAX_ENTITIES: Final = 400
MAX_MENTIONS: Final = 2_000
MAX_ALIASES: Final = 8
_HAN = re.compile(f"[{HAN}]")
_SPACES = re.compile(r"\s+")
_ARTICLE = re.compile(r"The ([A-Z0-9][^,()]{2,60})$")
_TITLE_AUTHOR = re.compile(f"^(.{{1,60}}?)[-－—]([{HAN}]{{2,4}}|[{HAN}]{{1,8}}(?:[·•][{HAN}]{{1,12}})+)$")
_PARENTHESIS = re.compile(r"[\]*_》」\ufffc]{0,3}[ \t]{0,2}[(（]([^()（）\n]{1,120})[)）]")
_PART = re.compile(r"[,，;；、/]\s*")
_CALLED = re.compile(
    r"^(?:简称|缩写为?|英文名为?|又称|又名|也称|也叫|亦称|全称|原名|别名|俗称|abbreviated(?: as| to)?|"
    r"(?:英文|英语)(?=\s*[:：为]?\s*[“\"]?[A-Za-z])为?|"
    r"also known as|also called|also|aka|a\.k\.a\.|known as|formerly|short for|or|i\.e\.)\s*[:：]?\s*",
    re.I,
)
_ALSO = re.compile(
    r"[,，]?\s*(?:also (?:known as|called)|(?:better|commonly|formerly) known as|known simply as"
    r"|又称为?|又名|也叫作?|也称为?|亦称|简称为?)\s*[“\"「《]?"
)
_HEADING = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?(#{1,6})[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_SPEAKER = re.compile(r"^(?:\[[^\]\n]{1,40}\][ \t]*)?([A-Z][\w.'’ -]{1,40}|[一-鿿]{2,4})[:：][ \t]", re.MULTILINE)
_LABELLED = re.compile(
    f"(?:作者|著者|译者|导演|编剧|主演|演员|主讲|嘉宾|歌手|讲师)[:：][ \\t]*"
    f"((?:[{HAN}]{{2,4}}|[{HAN}·•]{{2,20}}|[A-Z][A-Za-z.]+(?: [A-Z][A-Za-z.]+){{0,3}})"
    f"(?:[、/,，;；][ \\t]*(?:[{HAN}]{{2,4}}|[{HAN}·•]{{2,20}}|[A-Z][A-Za-z.]+(?: [A-Z][A-Za-z.]+){{0,3}}))*)(?=\\s|$)"
)
_FIRST_WORDS = re.compile(r"^(?![ \t]*#)[ \t]*[^\W_]", re.MULTILINE)
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-.][A-Za-z0-9]+)*$")
_DISAMBIGUATED = re.compile(r"^(.{2,80}?)\s*[(（]([^()（）]{1,60})[)）]$")


@dataclass(slots=True)
class _Found:
    """An entity in the making. `rank`: the title first, then what its writer marked, then the rest."""

    name: str
    rank: int
    type: EntityType = "other"
    description: str = ""
    aliases: dict[str, None] = field(default_factory=dict)
    mentions: list[Span] = field(default_factory=list)
    shown: list[Span] = field(default_factory=list)


def find_entities(source: Source, segmenter: Segmenter) -> list[EntityDraft]:
    """The card's own subject first, then by their first place in the text."""
    return _Card(source, segmenter).entities()


class _Card:
    def __init__(self, source: Source, segmenter: Segmenter) -> None:
        self.source = source
        self.segmenter = segmenter
        self.marks: Marks = read_marks(source.content)
        self.found: dict[str, _Found] = {}
        # Who answers to another name: the card's subject, and what its links call otherwise.
        self.aliased: dict[str, _Found] = {}
        self.known: dict[str, tuple[str, EntityType]] = {}
        for name, kind in source.known:
            self.known.setdefault(name_key(name), (name, kind))

    def entities(self) -> list[EntityDraft]:
        self._title()
        self._marked()
        for found in sorted(self.found.values(), key=lambda f: f.rank):
            for alias in found.aliases:
                if name_key(alias) not in self.found:
                    self.aliased.setdefault(name_key(alias), found)
        self._headings()
        self._known()
        self._text()
        self._aliases()
        self._opening()
        self._mentions()
        self._define()
        kept = sorted(self.found.values(), key=_order)
        if len(kept) > MAX_ENTITIES:
            kept = sorted(sorted(kept, key=lambda f: (f.rank, -len(f.mentions)))[:MAX_ENTITIES], key=_order)
        return [
            EntityDraft(f.name, f.type, f.description, tuple(f.aliases)[:MAX_ALIASES], tuple(f.mentions)) for f in kept
        ]

    # ------------------------------------------------------------------------------ sources

    def _add(self, name: str, rank: int, kind: EntityType = "other") -> _Found | None:
        name = _SPACES.sub(" ", clean(name)).strip()
        key = name_key(name)
        if not key or len(name) > MAX_NAME_CHARS:
            return None
        owner = self.aliased.get(key)
        if owner is not None and rank > 0:
            return owner
        known_name, known_kind = self.known.get(key, (name, "other"))
        found = self.found.get(key)
        if found is None:
            found = self.found[key] = _Found(name if rank == 0 else known_name, rank, known_kind)
            if found.type == "other":
                found.type = kind if kind != "other" else guess_type(name)
        elif found.type == "other":
            found.type = kind
        return found

    def _title(self) -> None:
        title = _SPACES.sub(" ", clean(self.source.title)).strip()
        name = bare_name(title)
        if not is_subject(name):
            return
        parts = _TITLE_AUTHOR.match(name)
        author = None
        if parts and (parts[2][0] in SURNAMES or re.search("[·•]", parts[2]) or self._is_author(parts[2])):
            author = parts[2]
        found = self._add(name, 0, "work" if author else "other")
        if found is None:
            return
        if parts and author:
            # 英国-乔治·奥威尔 says where he is from.
            if guess_type(bare_name(parts[1])) != "place":
                found.aliases[bare_name(parts[1])] = None
            self._add(author, 1, "person")
        if title != name:
            found.aliases[title] = None
        for part in re.split(r"[:：|]\s*", name) if re.search("[:：|]", name) else ():
            if is_heading_name(part.strip()):
                self._add(part.strip(), 1)
        split = _DISAMBIGUATED.match(name)
        if split and not split[2].strip().isdigit():
            found.aliases[split[1]] = None
            inner = split[2].strip()
            # 管道(golang) says which one is meant; 皮质醇(Cortisol) and 知识图谱(knowledge graph) say it again.
            if is_other_name(split[1], inner) and not (inner.islower() and " " not in inner):
                found.aliases[inner] = None
        elif split:
            found.aliases[split[1]] = None
        article = _ARTICLE.match(name)
        if article:
            found.aliases[article[1]] = None
        head = name.partition(", ")[0]
        if head != name and " " in head and head[0].isupper():
            found.aliases[head] = None

    def _is_author(self, name: str) -> bool:
        return re.search(f"(?:作者|著者|导演|讲师)[:：]\\s*{re.escape(name)}", self.source.content[:5000]) is not None

    def _marked(self) -> None:
        for link in self.marks.links:
            name = linked_name(link.name)
            if not is_name(name, marked=True):
                continue
            found = self._add(name, 1)
            if found is None:
                continue
            found.shown.append(Span(link.start, link.end))
            if link.alias and is_alias(link.alias, name):
                found.aliases.setdefault(link.alias)
        for target in self.source.links:
            name = linked_name(target.removesuffix(".md"))
            if is_name(name, marked=True) and not FILE.match(name):
                self._add(name, 1)
        for tag in self.marks.tags:
            found = self._tag(bare_name(tag.name))
            if found is not None:
                found.shown.append(Span(tag.start, tag.end))
        for given in self.source.tags:
            self._tag(bare_name(given.rpartition("/")[2]))
        counts = Counter(mark.name for mark in self.marks.code)
        for name, count in counts.items():
            if _IDENTIFIER.match(name) and 3 <= len(name) <= 30 and not is_ordinary(name.lower()):
                low = name.lower()
                if low not in COMMON_LATIN and low not in NOT_ACRONYMS and (count > 1 or name_key(name) in self.known):
                    self._add(name, 2, "product")
        for mark in self.marks.code:
            code = self.found.get(name_key(mark.name))
            if code is not None and code.rank == 2:
                code.shown.append(Span(mark.start, mark.end))

    def _tag(self, name: str) -> _Found | None:
        if not is_name(name, marked=True) or all(w in TEMPLATE for w in words_in(name)):
            return None
        return self._add(name.replace("_", " ") if name.islower() else name, 1)

    def _headings(self) -> None:
        for match in _HEADING.finditer(self.marks.text):
            name = bare_name(match[2].strip("*_ ：:"))
            if is_heading_name(name):
                self._add(name, 2)

    def _known(self) -> None:
        matcher = NameMatcher((name, name) for name, _ in self.known.values())
        for name in {name for name, _, _ in matcher.find(self.marks.text)}:
            if is_name(name, marked=True):
                self._add(name, 2, self.known[name_key(name)][1])

    def _text(self) -> None:
        text = self.marks.text
        names = {f.name.lower() for f in self.found.values()} | {
            a.lower() for f in self.found.values() for a in f.aliases
        }
        for spot in spots_in(self.marks, self.segmenter, names):
            name = text[spot.start : spot.end].strip(" *_-–—·.,'’“”\"")
            if is_name(name):
                self._add(name, 3, spot.type)
        for match in _LABELLED.finditer(text):
            for name in _PART.split(match[1])[:12]:
                if 2 <= len(name.strip()) <= 30 and is_name(name.strip()):
                    self._add(name.strip(), 3, "person")
        labels = Counter(match[1].strip() for match in _SPEAKER.finditer(text))
        for name, count in labels.items():
            words = name.split()
            if guess_type(name) == "person" or (
                count > 1 and len(words) < 4 and is_name(name) and not any(is_ordinary(w.lower()) for w in words)
            ):
                self._add(name, 3, "person")
        for phrase in find_compounds(text, names):
            self._add(phrase, 3, "concept")

    # ------------------------------------------------------------------------------ aliases

    def _aliases(self) -> None:
        """ "World Health Organization (WHO)", 知识图谱（Knowledge Graph，简称 KG）, "X, also known as Y"."""
        text = self.marks.text
        if "(" not in text and "（" not in text and "also" not in text and "known" not in text and "称" not in text:
            return
        matcher = self._matcher()
        # What only ends a longer word is not what the brackets explain: 支链氨基酸（BCAA） says nothing of 氨基酸.
        ends = {end: (name, start) for name, start, end in matcher.find(text) if not ends_a_word(text, start, end)}
        told: dict[str, list[str]] = {}
        for match in _PARENTHESIS.finditer(text):
            owner = ends.get(match.start())
            if owner is not None:
                told.setdefault(name_key(owner[0]), []).append(match[1])
        for key, insides in told.items():
            # 管道（Python） and 管道（Golang） are examples, not names.
            if len({name_key(inside) for inside in insides}) == 1:
                self._inside(self.found.get(key), insides[0])
        for match in _ALSO.finditer(text):
            owner = ends.get(match.start())
            other = next((n for n, s, _ in matcher.find(text[match.end() : match.end() + 80]) if s <= 4), None)
            if owner is not None and other is not None:
                self._same(owner[0], other)

    def _inside(self, owner: _Found | None, inside: str) -> None:
        if owner is None:
            return
        split = _DISAMBIGUATED.match(owner.name)
        if split is not None and name_key(split[2]) == name_key(inside):
            return  # its title has said already whether that is a name
        parts = _PART.split(inside)[:4]
        # IPO（输入问题、解决问题和输出产品） tells the parts of one thing.
        is_list = len(parts) > 1 and "、" in inside and all(_HAN.search(part) for part in parts)
        for part in parts:
            called = _CALLED.match(part)
            if is_list and not called:
                continue
            if called and called[0].lower().startswith("or ") and part[called.end() :].islower():
                continue  # "a link outside Logseq (or render image)" goes on with the sentence
            name = (part[called.end() :] if called else part).strip(" “”\"'「」《》*_")
            if not name_key(name) or name_key(name) == name_key(owner.name):
                continue
            if (called and len(name) < 60) or (is_name(name) and is_other_name(owner.name, name)):
                self._same(owner.name, name)

    def _same(self, name: str, other: str) -> None:
        owner, twin = self.found.get(name_key(name)), self.found.get(name_key(other))
        if owner is None or owner is twin or (twin is not None and twin.rank < owner.rank) or not may_be_alias(other):
            return
        owner.aliases.setdefault(_SPACES.sub(" ", other))
        if twin is not None:
            del self.found[name_key(other)]
            owner.shown += twin.shown
            for alias in twin.aliases:
                owner.aliases.setdefault(alias)

    def _opening(self) -> None:
        """A card "Billy Ferguson" that begins "William Ferguson was a footballer" tells another name of its subject."""
        title = next((f for f in self.found.values() if f.rank == 0), None)
        match = _FIRST_WORDS.search(self.marks.text)
        if title is None or match is None:
            return
        at = match.start()
        first = next(iter(self._matcher().find(self.marks.text[at : at + 200])), None)
        if first is None or first[1] > 0 or first[0] == title.name:
            return
        shared = set(words_in(first[0])) & set(words_in(title.name))
        if any(not is_ordinary(word) for word in shared) and is_defined(self.marks.text, at + first[2]):
            self._same(title.name, first[0])

    # ----------------------------------------------------------------------------- mentions

    def _matcher(self) -> NameMatcher:
        spellings: list[tuple[str, str]] = []
        for found in sorted(self.found.values(), key=lambda f: f.rank):
            spellings.append((found.name, found.name))
        for found in sorted(self.found.values(), key=lambda f: f.rank):
            spellings += [(alias, found.name) for alias in found.aliases]
            if found.type == "concept" and found.name.islower() and not found.name.endswith("s"):
                spellings.append((found.name + "s", found.name))
        spellings += self._short_names()
        return NameMatcher(spellings)

    def _short_names(self) -> Iterable[tuple[str, str]]:
        """ "Rogers" stands for Carl Rogers in a card that names only one of them."""
        owners: dict[str, list[_Found]] = {}
        for found in self.found.values():
            words = re.split(r"[ ·•]", found.name)
            if found.type not in ("person", "other") or not 2 <= len(words) <= 4 or "," in found.name:
                continue
            if (words[0][:1].isupper() and words[-1][:1].isupper()) or "·" in found.name:
                for word in dict.fromkeys((words[-1], words[0] if found.type == "person" else words[-1])):
                    if (
                        len(word) > 1 + word.isascii()
                        and word.isalpha()
                        and not (is_ordinary(word.lower()) or word.lower() in PLACES)
                    ):
                        owners.setdefault(word, []).append(found)
        for word, who in owners.items():
            short = self.found.get(name_key(word))
            if len(who) == 1 and short is not who[0] and (short is None or short.rank == 3):
                if short is not None:
                    del self.found[name_key(word)]
                yield word, who[0].name

    def _mentions(self) -> None:
        text = self.marks.text
        matcher = self._matcher()
        shown = sorted((s.start, s.end, f.name) for f in self.found.values() for s in f.shown)
        covered = {i for start, end, _ in shown for i in range(start, end)}
        for start, end, name in shown:
            self._mention(name, start, end)
        for name, start, end in matcher.find(text):
            if start not in covered and end - 1 not in covered:
                self._mention(name, start, end)
        for key, found in list(self.found.items()):
            found.mentions.sort(key=lambda span: span.start)
            if not found.mentions and found.rank > 1:
                del self.found[key]

    def _mention(self, name: str, start: int, end: int) -> None:
        found = self.found.get(name_key(name))
        if found is not None and len(found.mentions) < MAX_MENTIONS:
            found.mentions.append(Span(start, end))

    # -------------------------------------------------------------------------- definitions

    def _define(self) -> None:
        text = self.marks.text
        for found in self.found.values():
            told = next(filter(None, (definition(text, place.end) for place in found.mentions[:3])), None)
            if told is None and found.rank == 0:
                told = opening_definition(text)
            if told is not None:
                found.description = told.description
                if told.type is not None and (told.decides or found.type == "other"):
                    found.type = told.type


def _order(found: _Found) -> tuple[int, int, str]:
    first = found.mentions[0].start if found.mentions else -1
    return (0 if found.rank == 0 else 1, first if first >= 0 else 1 << 60, found.name)
