"""What a community is called: the names that it turns around, the fewest that say it. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from app.ingestion.communities.report import Member
from app.ingestion.cone.phrases import width
from app.text.normalise import HAN, fold

TITLE_NAMES: Final = 3
_MAX_NAME_WORDS: Final = 8.0
# How well names of a type say what something is about: a country or a publisher is named everywhere.
_TELLING: Final = {"place": 0.45, "organization": 0.7, "person": 0.9}
_JUNK = re.compile(
    r"^(?:[\W\d_]+|[a-z0-9]{1,2}|https?|www\b.*|[\d\W]+[年月日号]?|.*\.(?:js|py|edn|css|json|md|png|html|exe|sh))$",
    re.IGNORECASE,
)
_HAN = re.compile(f"[{HAN}]")
_PUBLISHER = re.compile(r"出版社$|出版集团$|书店$|\b(?:Press|Publishing|Publishers|Books)$")
# Where a name begins in the middle of a sentence: "Whereat Scrooge", "Here Scrooge".
_NO_BEGINNING = re.compile(
    r"^(?:Here|There|Where\w*|When\w*|Then|Now|But|And|Or|If|So|As|Although|Though|While|Because|Since|After|Before|Once|Even"
    r"|Still|Yet|Thus|Hence|Perhaps|Master|Old|Young|Dear|Poor|Uncle|Good-?morning|Mr|Mrs|Miss|Ms)\b\.? "
)
_FURNITURE_LIST = """
    contents intro introduction toc tocs moc readme index home note notes todo tip tips faq misc others overview summary
    reference references links link tag tags page pages title description example examples test untitled template
    templates chapter section part book author publisher
    目录 索引 标签 笔记 模板 附录 前言 序言 作者 简介 参考 链接 其他 其它 概述 总结 待办 参考资料 内容简介 小知识点
    问题 时候 东西 事情 内容 方法 方面 部分 情况 他人 自己 人们 大家 指人 出版社 世界 时间 生活 工作"""
_FURNITURE: Final = frozenset(map(fold, _FURNITURE_LIST.split()))


def ranked(members: Sequence[Member], cards_of: Mapping[UUID, int]) -> list[tuple[Member, float]]:
    """Members by how well their names say what the community is about, 1 for the best. `cards_of`: in how many cards
    of the community something is said of them.
    """
    most = max((member.pagerank for member in members), default=0.0) or 1.0
    scored = [(member, _worth(member, most, cards_of.get(member.id, 0))) for member in members]
    scored.sort(key=lambda pair: (-pair[1], pair[0].id))
    top = scored[0][1] if scored else 1.0
    return [(member, score / (top or 1.0)) for member, score in scored]


def chosen(best: Sequence[tuple[Member, float]], most: int, least_share: float = 0.25) -> list[str]:
    """Up to `most` names, none of which says another again."""
    names: list[str] = []
    for member, score in best:
        if len(names) == most or (names and score < least_share):
            break
        if not any(_say_the_same(member.name, other) for other in names):
            names.append(member.name)
    return names


def title_of(names: Sequence[str], *, han: bool) -> str:
    """`A、B、C`, or `A, B and C`, as far as they are short together."""
    kept = list(names[:1])
    for name in names[1:]:
        if sum(map(width, kept)) + width(name) <= 2 * _MAX_NAME_WORDS:
            kept.append(name)
    return listed(kept, han=han)


def listed(names: Sequence[str], *, han: bool) -> str:
    if han or len(names) < 2:
        return "、".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _worth(member: Member, most: float, cards: int) -> float:
    """Central, spoken of in many cards, and short: a note that links to everything is a hub, and names nothing."""
    words = width(member.name)
    shape = 1.0 if words <= 4 else max(0.15, 1.0 - 0.15 * (words - 4))
    if is_junk(member.name):
        shape *= 0.05
    elif _PUBLISHER.search(member.name) or _NO_BEGINNING.match(member.name) or _repeats(member.name):
        shape *= 0.2
    spread = 1.0 + math.log1p(cards)
    return math.sqrt(member.pagerank / most) * spread * shape * _TELLING.get(member.type, 1.0)


def _repeats(name: str) -> bool:
    words = fold(name).split()
    return len(words) > 1 and len(set(words)) < len(words)


def is_junk(name: str) -> bool:
    """Whether a name says nothing of what something is about."""
    return _JUNK.match(name.strip()) is not None or fold(name.strip()) in _FURNITURE


def _say_the_same(one: str, two: str) -> bool:
    """Whether one is in the other, or they share most of their letters."""
    first, second = (fold(name).replace(" ", "") for name in (one, two))
    if first in second or second in first:
        return True
    if _HAN.search(first) and _HAN.search(second):
        shared = set(first) & set(second)
        return len(shared) * 3 >= 2 * min(len(set(first)), len(set(second)))
    common = set(fold(one).split()) & set(fold(two).split())
    return len(common) * 2 > min(len(fold(one).split()), len(fold(two).split()))
