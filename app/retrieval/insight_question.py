"""What a question about the collection as a whole is about, beside the collection. Pure.

"What are the main themes of my notes?" is about nothing in particular: every part of the notes is an answer. "What do
my notes say about sleep?" is about sleep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol


class TermsLike(Protocol):
    @property
    def words(self) -> Sequence[str]: ...


Terms = Callable[[str], TermsLike]


@dataclass(frozen=True, slots=True)
class Focus:
    """`text`: the question without what it says of the collection; where nothing is left it asks for an overview."""

    text: str

    @property
    def is_overview(self) -> bool:
        return not self.text


# What the questions call the collection itself; of notes on note-taking only the first one is meant so.
_COLLECTION = re.compile(
    r"(?:在|从|对|把)?(?:我们?|你|您|咱们|这个?|那个?|整个|所有|全部|这些|那些|的|一?本|部|篇)*"
    r"(?:知识库|笔记本|笔记库|资料库|笔记|卡片|文档|文章|日记|仓库|小说|故事|收藏)(?:里面?|中|当中|内|上|之中)?的?"
    r"|\b(?:(?:in|across|of|from|throughout|over|about|do|does|all|these|those|the|my|our|your|this|whole|entire|of)\s+)*"
    r"(?:notes?|cards?|vault|knowledge\ base|collection|corpus|dataset|documents?|journals?|diary|story|book|novel"
    r"|texts?|garden|graph)\b(?:\s+as\s+a\s+whole|\s+overall|\s+altogether)?",
    re.IGNORECASE,
)
_GENERIC_HAN = re.compile(
    r"请问|请你?|帮我?|麻烦|能否|能不能|可以|告诉我?|列出|列举|给出?|介绍|说明|总结|概括|归纳|概述|综述|总览|概览|全览|鸟瞰|梳理|盘点|回顾"
    r"|一下|整体上?|总体上?|全局|全部|所有|一共|总共|大概|大致|大体|基本上?|主要|核心|关键|重要|重点|突出|常见|反复|经常|频繁|最|出现|提到|提及"
    r"|主题|话题|议题|题材|领域|方面|方向|内容|脉络|线索|主线|观点|看法|思想|结论|要点|规律|模式|趋势|变化|演变|盲点|盲区|缺口|不足|矛盾|冲突"
    r"|洞察|洞见|启示|启发|关联|联系|关系|结构|分布|类别|分类|人物|角色|讲述?|谈论?|讨论|关注|涉及|围绕|包括|包含|覆盖|记录|描写|写"
    r"|(?:最近|近|过去|这)[一两三几\d]*(?:年|个?月|周|天)来?|最近|近来|至今|目前|关于|对于|有关|对|之间|其中|哪些|哪几[个种类]?|哪个|什么|怎么样?|怎样|如何|多少|几[个种类]|[我你您]们?|是|有|在|都|了|的|吗|呢|吧|啊|些|个|和|与|及|以及|说|到|里|中|过"
)
_GENERIC_LIST = """
    main major overall overarching key central core common recurring frequent important significant top big
    biggest most best primary general broad global high level theme themes topic topics subject subjects area
    areas idea ideas thread threads issue issues point points thing things aspect aspects category categories
    cluster clusters trend trends pattern patterns blind spot spots gap gaps contradiction contradictions
    tension tensions insight insights takeaway takeaways conclusion conclusions lesson lessons message messages
    overview summary summarize summarise summarizing sum bird eye view outline describe list give tell show
    explain provide find identify discuss discussed discusses cover covered covers covering talk talks mention
    mentioned write wrote written writing say says said about across all every everything whole entire please
    can could would me my mine our your i we you it this that these those there people person persons character
    characters player players kind kinds sort type types structure connect connected connection connections
    relate related relationship relationships between among revolve focus focused focuses concern concerned deal
    deals dealing appear appears occur emerge stand out together overarchingly mainly mostly any some many much
    few other different various note notes card cards collection keep kept come comes up again over time really
    actually far so do does did is are was were be been have has had what which who whom whose how why where
    when in on of for to from with by at as and or the a an s they them their he she his her its run runs
    running through bird's eye last past recent recently year years month months week weeks"""


@cache
def _generic() -> frozenset[str]:
    return frozenset(_GENERIC_LIST.split())


_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_LEFT: Final = re.compile(r"[^\W_]")
_SPACES: Final = re.compile(r"\s+")


def focus(query: str, terms: Terms | None = None) -> Focus:
    """What is left of a question; with `terms`, nothing is left where what is left has no word of its own."""
    text = _COLLECTION.sub(" ", query, count=1)
    text = _GENERIC_HAN.sub(" ", text)
    text = _WORD.sub(lambda word: "" if word[0].lower().removesuffix("'s") in _generic() else word[0], text)
    text = _SPACES.sub(" ", re.sub(r"[?？!！。.,，、;；:：\"“”'‘’()（）]+", " ", text)).strip(" -–—·/")
    if not _LEFT.search(text) or (terms is not None and not terms(text).words):
        return Focus("")
    return Focus(text)
