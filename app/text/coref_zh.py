"""Third-person pronouns of Chinese text: 他 她 它 其, 该公司 and its like.

Chinese has neither gender nor number on names, so this goes by uniqueness: one fitting person near enough, or one that
the sentence before is about. Persons without a name (老板, 医生) compete; where one may be meant, nothing is said.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.text.coref_shapes import Gender, NameSpan, NameType, Resolution
from app.text.coref_words_zh import (
    FEMALE_AFTER,
    FEMALE_BEFORE,
    FEMALE_CHARACTERS,
    FEMALE_NOUNS,
    KIN,
    MALE_AFTER,
    MALE_BEFORE,
    MALE_CHARACTERS,
    MALE_NOUNS,
    OF_COMPANY,
    PERSON_NOUNS,
)

_KINDS: Final[dict[str, tuple[tuple[NameType, ...], str]]] = {
    "公司": (("organization",), ""),
    "集团": (("organization",), ""),
    "企业": (("organization",), ""),
    "机构": (("organization",), ""),
    "校": (("organization", "place", "other"), "大学|学院|中学|小学|学校"),
    "院": (("organization", "place", "other"), "医院|学院|研究院|法院"),
    "行": (("organization", "other"), "银行|行$"),
    "项目": (("event", "product", "work", "concept", "organization", "other"), "项目|工程|计划"),
    "工程": (("event", "product", "concept", "other"), "工程"),
    "计划": (("event", "product", "concept", "other"), "计划"),
    "书": (("work",), ""),
    "片": (("work",), ""),
    "剧": (("work",), ""),
    "市": (("place",), ""),
    "省": (("place",), "省$"),
    "县": (("place",), "县$"),
}
HEADS: Final = "他她它其该"
PRONOUN = re.compile(
    "(?P<he>(?<![其吉维排利无及])他(?![们人乡国日杀]|妈的))"
    "|(?P<she>她(?!们))"
    "|(?P<it>(?<!其)它(?!们))"
    f"|(?P<of>(?<![尤极何任与听土耳夫莫副])其(?={'|'.join(sorted((*KIN, *OF_COMPANY), key=len, reverse=True))}))"
    f"|(?P<the>该(?:{'|'.join(sorted(_KINDS, key=len, reverse=True))}))"
)
_KIN_NEXT = re.compile("|".join(sorted(KIN, key=len, reverse=True)))
_NOUN = re.compile("|".join(sorted({*PERSON_NOUNS, *FEMALE_NOUNS, *MALE_NOUNS}, key=len, reverse=True)))
_FEMALE_NOUNS, _MALE_NOUNS = frozenset(FEMALE_NOUNS), frozenset(MALE_NOUNS)
_CLAUSE = '，,；;：:。！？!?\n“”"「」—…（）() 、'
_NAMED = re.compile("(?:名叫|叫做|叫|是|名为|，)?$")
_DESCRIBES = re.compile("(?:是|为|成为|担任|当|做|作为|任)[^，。；]{0,12}$")
_GOVERNED = re.compile("(?:给|对|向|跟|和|与|把|被|让|叫|请|问|告诉|见|看|帮|陪|送|为|找|是|替)$")
_THINGS: Final[frozenset[NameType]] = frozenset(
    ("organization", "product", "work", "concept", "event", "place", "other")
)
_BACK: Final = 2
"""Sentences back."""
_LONG: Final = 100
_MOST: Final = 24
"""Names back: among so many nobody is meant plainly."""


@dataclass(slots=True)
class _Seen:
    start: int
    end: int
    sentence: int
    name: str | None
    """None: somebody without a name."""
    gender: Gender | None
    leads: bool
    """First of its sentence and at the beginning of a clause."""


def resolve_han(text: str, spans: Sequence[tuple[int, int]], names: Sequence[NameSpan]) -> list[Resolution]:
    return _Reader(text, spans, names).read()


class _Reader:
    def __init__(self, text: str, spans: Sequence[tuple[int, int]], names: Sequence[NameSpan]) -> None:
        self.text = text
        self.spans = spans
        self.ends = [end for _, end in spans]
        ordered = sorted(names, key=lambda n: (n.start, -n.end))
        self.names = [n for i, n in enumerate(ordered) if not i or n.start >= ordered[i - 1].end]
        self.starts = [n.start for n in self.names]
        self.genders: dict[str, Gender] = {}
        for n in self.names:
            gender = n.gender or (self._gender(n) if n.type in ("person", "other") else None)
            if gender:
                self.genders.setdefault(n.name, gender)
        self.persons = self._persons()
        self.person_starts = [p.start for p in self.persons]
        self.things = [n for n in self.names if n.type in _THINGS]
        self.thing_starts = [n.start for n in self.things]
        self.chain: dict[str, tuple[int, str | None]] = {}

    def read(self) -> list[Resolution]:
        found: list[Resolution] = []
        for match in PRONOUN.finditer(self.text):
            at = match.start()
            name: str | None
            possessive = False
            if match["he"] or match["she"]:
                gender: Gender = "male" if match["he"] else "female"
                if self._is_rhetoric(at):
                    continue
                name = self._person(at, gender, match.group())
                self.chain[match.group()] = (at, name)
                possessive = self.text.startswith("的", match.end())
            elif match["it"]:
                name = self._thing(at)
            elif match["of"]:
                possessive = True
                kin = _KIN_NEXT.match(self.text, match.end()) is not None
                name = self._person(at, None, "其") if kin else self._only(at, ("organization",), "")
            else:
                types, pattern = _KINDS[match["the"][1:]]
                name = self._only(at, types, pattern)
            if name is not None:
                found.append(Resolution(at, match.end(), match.group(), name, possessive))
        return found

    # ------------------------------------------------------------------- persons

    def _sentence(self, at: int) -> int:
        return min(bisect.bisect_right(self.ends, at), len(self.ends) - 1)

    def _persons(self) -> list[_Seen]:
        seen: list[_Seen] = []
        for n in self.names:
            if n.type == "person":
                seen.append(_Seen(n.start, n.end, self._sentence(n.start), n.name, self.genders.get(n.name), False))
        for match in _NOUN.finditer(self.text):
            start, end = match.span()
            if self._in_name(start, end) or self._introduces(start, end) or self.text[end : end + 1] in ("：", ":"):
                continue
            word = match.group()
            gender: Gender | None = "female" if word in _FEMALE_NOUNS else "male" if word in _MALE_NOUNS else None
            seen.append(_Seen(start, end, self._sentence(start), None, gender, False))
        seen.sort(key=lambda s: s.start)
        last = -1
        for s in seen:
            begins = (
                s.start == self.spans[s.sentence][0] or self.text[s.start - 1] in _CLAUSE or self._after_time(s.start)
            )
            s.leads = s.sentence != last and begins
            last = s.sentence
        return seen

    def _after_time(self, at: int) -> bool:
        start = self.spans[self._sentence(at)][0]
        return (
            at - start <= 8
            and re.fullmatch(
                "(?:今天|昨天|明天|昨晚|今晚|上周|后来|但|而|同事|演员|记者|据|除了)*", self.text[start:at]
            )
            is not None
        )

    def _in_name(self, start: int, end: int) -> bool:
        i = bisect.bisect_right(self.starts, start) - 1
        return i >= 0 and self.names[i].end > start

    def _introduces(self, start: int, end: int) -> bool:
        """Whether the noun tells what a named person is: 演员胡歌, 他是作家, 母亲叫鲁瑞."""
        i = bisect.bisect_left(self.starts, end)
        if i < len(self.starts) and self.starts[i] - end <= 2 and self.names[i].type == "person":
            between = self.text[end : self.starts[i]]
            if between in ("", "叫", "是", "名叫", "，", " "):
                return True
        before = self.text[max(0, start - 16) : start]
        if _DESCRIBES.search(before):
            return True
        j = bisect.bisect_right(self.starts, start) - 1
        return j >= 0 and self.names[j].end == start and self.names[j].type == "person"

    def _gender(self, n: NameSpan) -> Gender | None:
        name = n.name
        after = self.text[n.end : n.end + 2]
        for tail in (name[1:], after):
            if tail.endswith(FEMALE_AFTER) if tail is not after else tail.startswith(FEMALE_AFTER):
                return "female"
            if tail.endswith(MALE_AFTER) if tail is not after else tail.startswith(MALE_AFTER):
                return "male"
        before = _NAMED.sub("", self.text[max(0, n.start - 7) : n.start])
        if before.endswith(FEMALE_BEFORE):
            return "female"
        if before.endswith(MALE_BEFORE):
            return "male"
        if 2 <= len(name) <= 4:
            if any(ch in FEMALE_CHARACTERS for ch in name[1:]):
                return "female"
            if any(ch in MALE_CHARACTERS for ch in name[1:]):
                return "male"
        return None

    def _is_rhetoric(self, at: int) -> bool:
        return self.text[at + 1 : at + 3] in ("一个", "强由")

    def _person(self, at: int, gender: Gender | None, pronoun: str) -> str | None:
        sentence = self._sentence(at)
        low = bisect.bisect_left(self.person_starts, self.spans[max(0, sentence - _BACK)][0])
        high = bisect.bisect_left(self.person_starts, at)
        low = max(low, high - _MOST)
        clause = at
        if _GOVERNED.search(self.text, max(0, at - 2), at):
            # Whom the clause's subject does something to is another one: 同事给她…, 梁思成是她的丈夫.
            while clause > max(0, at - _LONG) and self.text[clause - 1] not in _CLAUSE:
                clause -= 1
        fitting = [
            p for p in self.persons[low:high] if p.end <= clause and not (gender and p.gender and p.gender != gender)
        ]
        if not fitting:
            return None
        here = [p for p in fitting if p.sentence == sentence]
        distinct = {p.name for p in fitting}
        if None not in distinct and len(distinct) == 1:
            return fitting[-1].name
        since, chained = self.chain.get(pronoun, (-1, None))
        if chained is not None and since >= self.spans[max(0, sentence - 1)][0]:
            newer = any(p.start > since and p.name != chained for p in fitting)
            if not newer:
                return chained
        if here:
            return self._about(here)
        before = [p for p in fitting if p.sentence == sentence - 1]
        return self._about(before) if before else None

    def _about(self, persons: Sequence[_Seen]) -> str | None:
        """The one person of a sentence, provided that the sentence is about that person."""
        names = {p.name for p in persons}
        if len(names) == 1 and None not in names and persons[0].leads:
            return persons[0].name
        return None

    # -------------------------------------------------------------------- things

    def _near(self, at: int, back: int) -> list[NameSpan]:
        sentence = self._sentence(at)
        low = bisect.bisect_left(self.thing_starts, self.spans[max(0, sentence - back)][0])
        high = bisect.bisect_left(self.thing_starts, at)
        low = max(low, high - _MOST)
        return self.things[low:high]

    def _thing(self, at: int) -> str | None:
        """The one thing named in this sentence and the one before, which has to open a clause there."""
        near = self._near(at, 1)
        if len({n.name for n in near}) != 1 or self.text[at - 1 : at] not in (*_CLAUSE, "但", "而", "", "让", "把"):
            return None
        first = near[0]
        start = self.spans[self._sentence(first.start)][0]
        opens = first.start == start or self.text[first.start - 1] in _CLAUSE or self.text[first.start - 1] == "叫"
        return (
            first.name
            if opens and first.type != "place" and not self.text.startswith("的", first.end + self._space(first))
            else None
        )

    def _space(self, n: NameSpan) -> int:
        return 1 if self.text[n.end : n.end + 1] == " " else 0

    def _only(self, at: int, types: Sequence[NameType], pattern: str) -> str | None:
        near = [n for n in self._near(at, 1) if n.type in types and (not pattern or re.search(pattern, n.name))]
        return near[-1].name if len({n.name for n in near}) == 1 else None
