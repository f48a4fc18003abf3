"""The entities of a card by rules: what its title, links, tags, headings and text name. No model, no network.

Deterministic. Knows nothing of other cards except the names that `Source.known` brings.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from app.ingestion.extract.types import EntityDraft, EntityType, Source, Span
from app.text.names import guess_type, spots_in
from app.text.names_en import find_compounds
from app.text.names_marks import Marks, read_marks
from app.text.names_match import MAX_NAME_CHARS, NameMatcher
from app.text.names_words import (
    COMMON_LATIN,
    CONCEPT_NOUNS,
    DEMONYMS,
    EVENT_NOUNS,
    FUNCTION,
    MONTHS,
    NOT_ACRONYMS,
    ORGANIZATION_NOUNS,
    PERSON_NOUNS,
    PLACE_NOUNS,
    PLACES,
    PRODUCT_NOUNS,
    TEMPLATE,
    WEEKDAYS,
    WORK_NOUNS,
    is_ordinary,
)
from app.text.names_zh_words import GENERIC, GRAMMAR, SURNAMES
from app.text.normalise import HAN, clean, is_han, name_key
from app.text.segment import Segmenter

MAX_ENTITIES: Final = 400
MAX_MENTIONS: Final = 2_000
MAX_DESCRIPTION: Final = 200
MAX_ALIASES: Final = 8

_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(r"[^\W_]")
_LEAD = re.compile(r"^[^\w《“\"'(（.$&<@#]+|^[_\s]+")
_SPACES = re.compile(r"\s+")
_DATE = re.compile(
    r"\d{4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2}日?)?(?:[ T_-].{0,20})?$|\d{1,2}[-/.]\d{1,2}(?:[-/.]\d{2,4})?$|\d{4}年?$"
    r"|\d{1,2}月(?:\d{1,2}日)?$|\d{4}-?W\d{1,2}$|\d{4}-?Q\d$"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}$"
    r"|第.{1,6}[章节回集篇讲课]$",
    re.I,
)
_DOMAIN = re.compile(r"\w\.(?:com|cn|net|org|io|me|app|dev|info|co)(?:/|$)", re.I)
_CITED = re.compile(r"\bet al\b|\bopens?\b.*\bwindow\b|[饰译著编摄绘]$|缩写|意思", re.I)
_CLAUSES = re.compile(r"[:：，]|\bor\b")
_LATIN_WORD = re.compile(r"[A-Za-z]{2}")
_AND = re.compile(r"&|[与和及]|\band\b")
# What stands in brackets behind a name explains it as often as it says it again: （内含物价）, （轻量级标记语言）.
_SAYS_WHAT = re.compile(r"(?:内含|包含|不?含|包括|包|不|已|未|需|仅|只|共|约|可|如|例|见|用|由|在|从|被)")
_KIND_OF_THING = re.compile(r"(?:语言|工具|软件|插件|平台|系统|框架|网站|公司|组织|机构|模型|项目|游戏|作者|创始人)$")
_CLOCK = re.compile(r"\d{1,2}:\d{2}\s*(?:am|pm)?\b", re.I)
_ARTICLE = re.compile(r"The ([A-Z0-9][^,()]{2,60})$")
_FILE = re.compile(r"\S+\.(?:md|txt|pdf|docx?|html?|png|jpe?g)$", re.I)
_CLAUSE_MARK = re.compile(r"[。！？!?；;…]|[,，].*[,，]|\. ")
# The dot of "M. Ward", "Dr. No", "St. Louis", "Warner Bros. Pictures" ends no sentence.
_ABBREVIATED = re.compile(
    r"\b([A-Z][a-z]{0,2}|[A-Z][a-z]*[b-df-hj-np-tv-z]{3,}|Inc|Corp|Bros|Prof|Vols?|Nos?|Pts?|vs)\. "
)
_TITLE_AUTHOR = re.compile(f"^(.{{1,60}}?)[-－—]([{HAN}]{{2,4}}|[{HAN}]{{1,8}}(?:[·•][{HAN}]{{1,12}})+)$")
_PARENTHESIS = re.compile(r"[\]*_》」\ufffc]{0,3}[ \t]{0,2}[(（]([^()（）\n]{1,120})[)）]")
_PART = re.compile(r"[,，;；、/]\s*")
_CALLED = re.compile(
    r"^(?:简称|缩写为?|英文名?为?|又称|又名|也称|也叫|亦称|全称|原名|别名|俗称|英语|英文|abbreviated(?: as| to)?|"
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
_IS_EN = re.compile(
    r"\.?\s*(?:[(（][^()（）\n]{0,160}[)）])?,?\s*(?:is|was|are|were)\s+"
    r"((?:an?|the|one of(?: the)?)\s+[^\n.!?;。]{3,400})",
)
_APPOSITION = re.compile(r",\s+((?:an?|the)\s+[a-z][^\n,.!?;:()]{3,120})(?=[,.;])")
_FIRST_WORDS = re.compile(r"^(?![ \t]*#)[ \t]*[^\W_]", re.MULTILINE)
_IS_ZH = re.compile(
    r"\s*[”」》]?(?:[（(][^()（）\n]{0,120}[)）])?[，,]?\s*(?:是指|指的是|就是|是|即|指)([^\n。！？；]{2,300})"
)
_HEAD_STOP = re.compile(
    r"\b(?:of|in|who|which|that|by|for|from|with|at|on|and|to|located|published|written|based|known|used|born)\b|[,.;()]"
)
_NOT_ZH_HEAD = re.compile(r"^(?:不|因为|由于|为了|否|如何|怎|什么|我|你|他|她|这|那|在|可以|要)")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-.][A-Za-z0-9]+)*$")
_DISAMBIGUATED = re.compile(r"^(.{2,80}?)\s*[(（]([^()（）]{1,60})[)）]$")

_ZH_HEADS: Final[tuple[tuple[str, EntityType], ...]] = (
    ("家 员 人 者 手 师 教授 帝 王 后 作家 诗人 歌手 演员 导演 将领 皇帝 总统 学者", "person"),
    ("城市 国家 县 市 镇 省 区 村 岛屿 河流 山脉 湖泊 首都 地区 岛 山 河 湖 街道 车站", "place"),
    (
        "公司 集团 企业 大学 学院 组织 机构 银行 球队 乐队 乐团 俱乐部 政党 学校 出版社 团体 协会 平台公司",
        "organization",
    ),
    ("电影 小说 书 专辑 歌曲 单曲 剧 电视剧 动画 漫画 游戏 杂志 论文 著作 节目 纪录片", "work"),
    ("战争 战役 运动 比赛 赛事 节日 事件 会议 奥运会 灾害", "event"),
    ("软件 工具 插件 框架 语言 数据库 系统 浏览器 应用 平台 手机 产品 编辑器 app App APP 服务", "product"),
    ("方法 理论 概念 现象 原则 模型 算法 疾病 效应 协议 思维 学科 技术 过程 能力 技巧 定律 学说 技能", "concept"),
)
_EN_HEADS: Final[tuple[tuple[frozenset[str], EntityType], ...]] = (
    (PERSON_NOUNS, "person"),
    (WORK_NOUNS, "work"),
    (ORGANIZATION_NOUNS, "organization"),
    (PLACE_NOUNS, "place"),
    (EVENT_NOUNS, "event"),
    (PRODUCT_NOUNS, "product"),
    (CONCEPT_NOUNS, "concept"),
)


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
        if not _is_subject(name):
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
            if _is_heading_name(part.strip()):
                self._add(part.strip(), 1)
        split = _DISAMBIGUATED.match(name)
        if split and not split[2].strip().isdigit():
            found.aliases[split[1]] = None
            inner = split[2].strip()
            # 管道(golang) says which one is meant; 皮质醇(Cortisol) and 知识图谱(knowledge graph) say it again.
            if _is_other_name(split[1], inner) and not (inner.islower() and " " not in inner):
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
            name = _linked_name(link.name)
            if not _is_name(name, marked=True):
                continue
            found = self._add(name, 1)
            if found is None:
                continue
            found.shown.append(Span(link.start, link.end))
            if link.alias and _is_alias(link.alias, name):
                found.aliases.setdefault(link.alias)
        for target in self.source.links:
            name = _linked_name(target.removesuffix(".md"))
            if _is_name(name, marked=True) and not _FILE.match(name):
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
        if not _is_name(name, marked=True) or all(w in TEMPLATE for w in _words(name)):
            return None
        return self._add(name.replace("_", " ") if name.islower() else name, 1)

    def _headings(self) -> None:
        for match in _HEADING.finditer(self.marks.text):
            name = bare_name(match[2].strip("*_ ：:"))
            if _is_heading_name(name):
                self._add(name, 2)

    def _known(self) -> None:
        matcher = NameMatcher((name, name) for name, _ in self.known.values())
        for name in {name for name, _, _ in matcher.find(self.marks.text)}:
            if _is_name(name, marked=True):
                self._add(name, 2, self.known[name_key(name)][1])

    def _text(self) -> None:
        text = self.marks.text
        names = {f.name.lower() for f in self.found.values()} | {
            a.lower() for f in self.found.values() for a in f.aliases
        }
        for spot in spots_in(self.marks, self.segmenter, names):
            name = text[spot.start : spot.end].strip(" *_-–—·.,'’“”\"")
            if _is_name(name):
                self._add(name, 3, spot.type)
        for match in _LABELLED.finditer(text):
            for name in _PART.split(match[1])[:12]:
                if 2 <= len(name.strip()) <= 30 and _is_name(name.strip()):
                    self._add(name.strip(), 3, "person")
        labels = Counter(match[1].strip() for match in _SPEAKER.finditer(text))
        for name, count in labels.items():
            words = name.split()
            if guess_type(name) == "person" or (
                count > 1 and len(words) < 4 and _is_name(name) and not any(is_ordinary(w.lower()) for w in words)
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
        ends = {end: (name, start) for name, start, end in matcher.find(text) if not _ends_a_word(text, start)}
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
            if (called and len(name) < 60) or (_is_name(name) and _is_other_name(owner.name, name)):
                self._same(owner.name, name)

    def _same(self, name: str, other: str) -> None:
        owner, twin = self.found.get(name_key(name)), self.found.get(name_key(other))
        if owner is None or owner is twin or (twin is not None and twin.rank < owner.rank) or not _may_be_alias(other):
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
        shared = set(_words(first[0])) & set(_words(title.name))
        if any(not is_ordinary(word) for word in shared) and _IS_EN.match(self.marks.text, at + first[2]):
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
            for place in found.mentions[:3]:
                if self._defined(found, text, place.end):
                    break
            if found.rank == 0 and not found.description:
                self._defined_by_pronoun(found, text)

    def _defined(self, found: _Found, text: str, end: int) -> bool:
        match = _IS_EN.match(text, end)
        if match is not None:
            found.description = _shortened(match[1])
            found.type = _defined_type(match[1]) or found.type
            return True
        match = _APPOSITION.match(text, end)
        if match is not None:
            kind = _defined_type(match[1])
            if kind is not None:
                found.description = _shortened(match[1])
                found.type = found.type if found.type != "other" else kind
                return True
        match = _IS_ZH.match(text, end)
        if match is not None and not _NOT_ZH_HEAD.match(match[1]):
            found.description = _shortened(match[1])
            found.type = found.type if found.type != "other" else _defined_type_zh(match[1]) or "other"
            return True
        return False

    def _defined_by_pronoun(self, found: _Found, text: str) -> None:
        match = _OPENING.match(text)
        if match is not None:
            found.description = _shortened(match[1])
            found.type = _defined_type(match[1]) or found.type


_OPENING = re.compile(r"\s*(?:It|He|She|This)\s+(?:is|was)\s+((?:an?|the)\s+[^\n.!?;]{3,400})")


def _order(found: _Found) -> tuple[int, int, str]:
    first = found.mentions[0].start if found.mentions else -1
    return (0 if found.rank == 0 else 1, first if first >= 0 else 1 << 60, found.name)


def _linked_name(target: str) -> str:
    """A path of several folders is how Obsidian tells two files of one name apart; "TCP/IP" is a name."""
    return bare_name(target.rpartition("/")[2] if target.count("/") > 1 else target)


def bare_name(name: str) -> str:
    """A name without the emoji or bullet that its writer puts in front: "📚金字塔原理"."""
    bare = _LEAD.sub("", html.unescape(name)).strip()
    bare = re.sub(r"[^\w)）》”\"'.+#!?！？%]+$", "", bare)
    return bare if _WORD.search(bare) else name.strip()


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name.lower())


def _is_subject(name: str) -> bool:
    """Whether a title names something: no date, no template word, no sentence."""
    if not _is_name(name, marked=True) or _CLOCK.search(name) or _FILE.match(name):
        return False
    if _CLAUSE_MARK.search(_ABBREVIATED.sub(r"\1 ", name)) and not _is_exclaimed(name):
        return False
    words = _words(name)
    if all(w in TEMPLATE or w.isdigit() for w in words):
        return False
    return len(_HAN.findall(name)) <= 30 and len(name.split()) <= 12


def _is_exclaimed(name: str) -> bool:
    """Panic! at the Disco, Mamma Mia!, Who Framed Roger Rabbit?: names, for they are written like names."""
    words = name.split()
    if _HAN.search(name) or len(words) > 6 or any(c in name for c in ";…") or ". " in _ABBREVIATED.sub(r"\1 ", name):
        return False
    return all(word[0].isupper() or word[0].isdigit() or word in FUNCTION for word in words if word[0].isalnum())


def _is_heading_name(name: str) -> bool:
    """Whether a heading is a noun phrase that names a thing of its own."""
    if not _is_name(name) or _CLAUSE_MARK.search(name) or any(c in name for c in "：:，,、=→"):
        return False
    words = _words(name)
    if any(w in TEMPLATE for w in words) or words[0].isdigit():
        return False
    if _HAN.search(name):
        return 3 <= len(name) <= 10 and not any(c in GRAMMAR for c in name if is_han(c)) and name not in GENERIC
    latin = name.split()
    if not 1 <= len(latin) <= 4 or any(w.lower() in FUNCTION for w in latin) or not latin[0][0].isupper():
        return False
    # One common word heads a section; two or more make a term, unless the first is a verb: "Getting Started".
    if all(is_ordinary(w) for w in words):
        return len(latin) > 1 and not latin[0].endswith("ing") and not latin[-1].endswith(("ed", "ing", "ly"))
    return True


def _is_name(name: str, marked: bool = False) -> bool:
    """`marked`: its writer said that it is one, by a link, a tag or a title."""
    if len(name) < 2 or len(name) > MAX_NAME_CHARS or not _WORD.search(name) or _DATE.match(name):
        return False
    if all(c.isdigit() or not c.isalnum() for c in name) or "\ufffc" in name or "://" in name or "{{" in name:
        return False
    low = name.lower()
    if low in MONTHS or low in WEEKDAYS or low in NOT_ACRONYMS or name in GENERIC:
        return False
    # The WHO is not "who".
    if low in FUNCTION and not (name.isupper() and len(name) > 2):
        return False
    if marked:
        return low not in TEMPLATE
    if low in DEMONYMS and not name[0].isupper():
        return False
    return not (len(name) == 1 and not is_han(name))


def _is_alias(alias: str, name: str) -> bool:
    """ "[[Barack Obama|he]]" teaches no other name of him, "[[the flywheel|all beginnings are hard]]" none of it:
    what a link shows is another name only where it shares something with the first, or says it in another script.
    """
    if name_key(alias) == name_key(name) or not _is_name(alias) or len(alias) > 40 or _CLAUSE_MARK.search(alias):
        return False
    if alias in name.split() or not _may_be_alias(alias):
        return False
    in_han, named_in_han = bool(_HAN.search(alias)), bool(_HAN.search(name))
    if in_han == named_in_han:
        # The first half of "pictures: hosted or local" is what one sentence is about.
        if not _is_akin(alias, name) or (alias in name and _CLAUSES.search(name)):
            return False
        # 基础代谢估算 is not 基础代谢率: what stands last says what it is.
        if in_han and alias not in name and name not in alias and alias[-2:] != name[-2:]:
            return False
    elif in_han and _LATIN_WORD.search(alias):
        # "slides学习笔记教程" is about the thing that the link names.
        return False
    return in_han or any(c.isupper() for c in alias)


def _ends_a_word(text: str, start: int) -> bool:
    """Whether a Han name is the end of a longer compound."""
    before = text[start - 1] if start else ""
    return bool(before) and is_han(before) and is_han(text[start]) and before not in GRAMMAR


def _may_be_alias(other: str) -> bool:
    """No phrase, no web address, no citation, no credit."""
    if _DOMAIN.search(other) or _CITED.search(other):
        return False
    return not _HAN.search(other) or (len(other) <= 12 and not any(c in GRAMMAR for c in other))


def _is_akin(one: str, two: str) -> bool:
    """Whether two names of one script share a word of their own, two Han characters in a row, or initials."""
    if is_acronym_of(one, two) or is_acronym_of(two, one):
        return True
    if _HAN.search(one):
        return any(one[i : i + 2] in two for i in range(len(one) - 1))
    words = {word.lower() for word in _words(two)}
    return any(word.lower() in words and not is_ordinary(word) for word in _words(one))


def _is_other_name(name: str, inside: str) -> bool:
    """Whether what stands in brackets behind a name is the same in letters or in another script."""
    if len(inside) > 60 or any(c.isdigit() for c in inside[:1]) or not _may_be_alias(inside):
        return False
    han_name, han_inside = bool(_HAN.search(name)), bool(_HAN.search(inside))
    if han_name != han_inside:
        if _SAYS_WHAT.match(inside) or (_KIND_OF_THING.search(inside) and not name.isupper()):
            return False
        # 克鲁格效应 (Kruger and Dunning) are those who found it.
        if han_name and _AND.search(inside) and not _AND.search(name):
            return False
        return (han_inside is False and inside[:1].isalpha()) or (han_inside and len(inside) <= 12)
    if han_name:
        return False
    return is_acronym_of(inside, name) or is_acronym_of(name, inside)


def is_acronym_of(short: str, long: str) -> bool:
    """WHO of World Health Organization: its letters are the first ones of the words, small words left out or not."""
    letters = [c.lower() for c in short if c.isalnum()]
    if not 2 <= len(letters) <= 8 or sum(c.isupper() for c in short) < 2:
        return False
    words = re.findall(r"[^\W_]+", long)
    heads = [w[0].lower() for w in words]
    strong = [w[0].lower() for w in words if w.lower() not in FUNCTION]
    return len(words) > 1 and letters in (heads, strong)


def _defined_type(clause: str) -> EntityType | None:
    """Of "an American writer of children's literature": the noun in front of what explains it."""
    stop = _HEAD_STOP.search(clause, 2)
    words = re.findall(r"[a-z-]+", (clause[: stop.start()] if stop else clause)[:120].lower())
    for word in reversed(words[-3:]):
        for nouns, kind in _EN_HEADS:
            if word in nouns or word.removesuffix("s") in nouns:
                return kind
    return None


def _defined_type_zh(clause: str) -> EntityType | None:
    head = re.split(r"[，,（(]", clause)[0]
    for endings, kind in _ZH_HEADS:
        if any(head.endswith(ending) for ending in endings.split()):
            return kind
    return None


def _shortened(clause: str) -> str:
    clause = _SPACES.sub(" ", clause.replace("\ufffc", "").replace("**", "")).strip(" ,，")
    if len(clause) <= MAX_DESCRIPTION:
        return clause
    cut = clause[: MAX_DESCRIPTION - 1]
    at = max(cut.rfind(mark) for mark in (", ", "，", "、", " "))
    return cut[: at if at > MAX_DESCRIPTION // 2 else len(cut)].rstrip(" ,，、") + "…"
