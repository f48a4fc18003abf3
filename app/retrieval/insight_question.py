"""What a question about the collection as a whole is about, beside the collection. Pure.

"What are the main themes of my notes?" is about nothing in particular: every part of the notes is an answer. "What do
my notes say about sleep?" is about sleep.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol

Run = Sequence[tuple[str, str, int, int]]
"""Words of a stretch of Han: (word, tag, start, end)."""


class Words(Protocol):
    """What `text.segment.Segmenter` has."""

    def tagged(self, text: str) -> Sequence[Run]: ...


@dataclass(frozen=True, slots=True)
class Focus:
    """`text`: the question without what it says of the collection; where nothing is left it asks for an overview.
    `wants_people`: it asks who they are.
    """

    text: str
    wants_people: bool = False

    @property
    def is_overview(self) -> bool:
        return not self.text


# What the questions call the collection itself; of notes on notes not every one is meant so.
_COLLECTION_HAN = re.compile(
    r"(?:在|从|对|把)?(?:我们?|你|您|咱们|这个?|那个?|整个|所有|全部|这些|那些|的|一?本|部|篇){0,8}"
    r"(?:知识库|笔记本|笔记库|资料库|笔记(?!方法|法|术|软件|工具|应用|系统|体系|写作)|卡片(?!盒|笔记|法)|文档|文章|日记|仓库|小说|故事|收藏)(?:里面?|中|当中|内|上|之中)?的?"
)
_COLLECTION = re.compile(
    r"\b(?:(?:in|across|of|from|throughout|over|about|do|does|all|these|those|the|my|our|your|this|whole|entire)\s+){0,6}"
    r"(?:notes?|cards?|vault|knowledge\ base|collection|corpus|dataset|documents?|journals?|diary|story|book|novel"
    r"|texts?|garden|graph)\b(?![-])(?:\s+as\s+a\s+whole|\s+overall|\s+altogether)?",
    re.IGNORECASE,
)
_GENERIC_HAN_LIST = """
    请问 请 帮 帮我 麻烦 能否 能不能 能 可以 可 告诉 告诉我 列出 列举 给 给出 介绍 说明 总结 概括 归纳 概述 综述
    总览 概览 全览 鸟瞰 梳理 盘点 回顾 一下 整体 整体上 总体 总体上 全局 全部 所有 整个 一共 总共 大概 大致 大体
    基本 基本上 主要 核心 关键 重要 重点 突出 常见 反复 经常 频繁 最 最多 最常 最大 出现 提到 提及 主题 话题 议题
    题材 领域 方面 方向 内容 脉络 线索 主线 观点 看法 看待 态度 思想 想法 结论 要点 规律 模式 趋势 变化 演变 盲点
    盲区 缺口 不足 矛盾 冲突 洞察 洞见 启示 启发 关联 联系 关系 结构 分布 类别 分类 人物 角色 讲 讲述 谈 谈论 谈到
    讨论 关注 涉及 围绕 包括 包含 覆盖 记录 描写 写 写过 写到 写了 作者 关于 对于 对 有关 相关 之间 其中 哪些 哪几
    哪几个 哪个 哪 几个 几 什么 怎么 怎样 怎么样 怎么看 如何 为何 多少 我 我们 你 你们 您 他们 人 人们 谁 是 有 没有 在
    都 了 的 地 得 吗 呢 吧 啊 些 个 这 这些 那 那些 这个 那个 和 与 及 以及 跟 说 说了 到 里 里面 中 当中 过 上 下 从
    把 被 就 也 还 又 很 最近 近来 近 至今 目前 今年 去年 近年 近年来 近一年 一年 年 月 过去 里头 背后 体现 反映 一 二
    三 五 十 心得 经验 体会 教训 收获 感悟 反思 故事 情节 讲了"""
_GENERIC_HAN: Final = frozenset(_GENERIC_HAN_LIST.split())
_GENERIC_LIST = """
    main major overall overarching key central core common recurring frequent important significant top big biggest
    most best primary general broad global high level theme themes topic topics subject subjects area areas idea
    ideas thread threads issue issues point points thing things aspect aspects category categories cluster clusters
    trend trends pattern patterns blind spot spots gap gaps contradiction contradictions tension tensions insight
    insights takeaway takeaways conclusion conclusions lesson lessons message messages overview summary summarize
    summarise summarizing sum bird eye bird's-eye view tie ties outline describe list give tell show explain provide
    find identify discuss discussed discusses cover covered covers covering talk talks mention mentioned write wrote
    written writing say says said about across all every everything whole entire please can could would me my mine
    our your i we you it this that these those there people person persons character characters player players kind
    kinds sort type types structure connect connected connection connections relate related relationship
    relationships between among revolve focus focused focuses concern concerned deal deals dealing appear appears
    occur emerge stand out together overarchingly mainly mostly any some many much few other different various role
    roles play plays played playing keep kept come comes up again over time really actually far so do does did is
    are was were be been have has had what which who whom whose how why where when in on of for to from with by at
    as and or the a an s they them their he she his her its run runs running through bird's last past recent
    recently year years month months week weeks see sees views"""


@cache
def _generic() -> frozenset[str]:
    return frozenset(_GENERIC_LIST.split())


_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_LEFT: Final = re.compile(r"[^\W_]")
_PEOPLE: Final = re.compile(
    r"人物|角色|的人(?=有|是)|哪些人|哪几个人|什么人|谁|\b(?:who|whom|people|persons|characters)\b", re.IGNORECASE
)
_KINDS_HAN: Final = "(?:人物|人|工具|软件|应用|书籍|书|作者|作家|公司|地方|产品|网站|例子|概念)"
_KINDS: Final = "(?:people|persons|tools|apps|books|authors|companies|places|products|websites|examples|concepts)"
_KIND_OF_ANSWER: Final = re.compile(
    f"(?:哪些|哪几个|什么){_KINDS_HAN}(?:[和与及、]{_KINDS_HAN})*"
    f"|\\b(?:which|what) {_KINDS}(?:,? (?:and|or) {_KINDS}|, {_KINDS})*\\b",
    re.IGNORECASE,
)
_ON: Final = re.compile(r"关于|对于|有关|针对|围绕|\b(?:on|about|regarding|concerning)\b", re.IGNORECASE)
_SPACES: Final = re.compile(r"\s+")


def focus(query: str, words: Words) -> Focus:
    """What is left of a question."""
    text = _left(query, words)
    if text and _ON.search(query):
        # 关于减脂，提到哪些人和工具: people and tools are the kind of answer.
        text = _left(_KIND_OF_ANSWER.sub(" ", query), words) or text
    return Focus(text, wants_people=_PEOPLE.search(query) is not None)


def _left(query: str, words: Words) -> str:
    text = _COLLECTION.sub(" ", _COLLECTION_HAN.sub(" ", query, count=1), count=2)
    letters = list(text)
    for run in words.tagged(text):
        for word, _, start, end in run:
            if word in _GENERIC_HAN:
                letters[start:end] = " " * (end - start)
    text = _WORD.sub(lambda word: "" if _bare(word[0]) in _generic() else word[0], "".join(letters))
    text = _SPACES.sub(" ", re.sub(r"[?？!！。.,，、;；:：\"“”'‘’()（）]+", " ", text)).strip(" -–—·/")
    return text if _LEFT.search(text) else ""


def _bare(word: str) -> str:
    return word.lower().replace("’", "'").removesuffix("'s")
