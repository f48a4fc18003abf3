"""What a name is, where a text says so: "… is a city in …", "…, a poet, …", ……是一种……. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from app.ingestion.extract.types import EntityType
from app.text.names_words import (
    CONCEPT_NOUNS,
    EVENT_NOUNS,
    ORGANIZATION_NOUNS,
    PERSON_NOUNS,
    PLACE_NOUNS,
    PRODUCT_NOUNS,
    WORK_NOUNS,
)

MAX_DESCRIPTION: Final = 200
_SPACES = re.compile(r"\s+")
_IS_EN = re.compile(
    r"\.?\s*(?:[(（][^()（）\n]{0,160}[)）])?,?\s*(?:is|was|are|were)\s+"
    r"((?:an?|the|one of(?: the)?)\s+[^\n.!?;。]{3,400})",
)
_APPOSITION = re.compile(r",\s+((?:an?|the)\s+[a-z][^\n,.!?;:()]{3,120})(?=[,.;])")
_IS_ZH = re.compile(
    r"\s*[”」》]?(?:[（(][^()（）\n]{0,120}[)）])?[，,]?\s*(?:是指|指的是|就是|是|即|指)([^\n。！？；]{2,300})"
)
_HEAD_STOP = re.compile(
    r"\b(?:of|in|who|which|that|by|for|from|with|at|on|and|to|located|published|written|based|known|used|born)\b|[,.;()]"
)
_NOT_ZH_HEAD = re.compile(r"^(?:不|因为|由于|为了|否|如何|怎|什么|我|你|他|她|这|那|在|可以|要)")
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
_OPENING = re.compile(r"\s*(?:It|He|She|This)\s+(?:is|was)\s+((?:an?|the)\s+[^\n.!?;]{3,400})")


@dataclass(frozen=True, slots=True)
class Definition:
    """`type` is what the clause says that it is; `decides`: whatever else was thought of it."""

    description: str
    type: EntityType | None
    decides: bool = False


def is_defined(text: str, end: int) -> bool:
    """Whether a name that ends here is told what it is: "… was a footballer"."""
    return _IS_EN.match(text, end) is not None


def definition(text: str, end: int) -> Definition | None:
    """What stands behind a name that ends here, where that says what it is."""
    match = _IS_EN.match(text, end)
    if match is not None:
        return Definition(_shortened(match[1]), _defined_type(match[1]), decides=True)
    match = _APPOSITION.match(text, end)
    if match is not None and (kind := _defined_type(match[1])) is not None:
        return Definition(_shortened(match[1]), kind)
    match = _IS_ZH.match(text, end)
    if match is not None and not _NOT_ZH_HEAD.match(match[1]):
        return Definition(_shortened(match[1]), _defined_type_zh(match[1]))
    return None


def opening_definition(text: str) -> Definition | None:
    """What a text that begins "It is …" says of its subject."""
    match = _OPENING.match(text)
    return None if match is None else Definition(_shortened(match[1]), _defined_type(match[1]), decides=True)


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
