"""Questions that nobody asked: made from claims, to measure how far questions are from texts. Pure.

Some words of a claim that say something, in their order, put into the form of a question. They need no sense, only
the place that questions have in an embedding space: against real questions of six sets a claim itself lies up to 1.9 σ
too near to texts that it has nothing to do with, these lie within one (`bench.calibration`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Final, Literal

from app.text.normalise import is_chinese
from app.text.stopwords import ENGLISH

Script = Literal["han", "latin"]
Tagged = Callable[[str], Sequence[Sequence[tuple[str, str, int, int]]]]
"""`Segmenter.tagged`: words with their part of speech, by stretch of Han."""

_WORDS: Final = (2, 4)
_WORD: Final = re.compile(r"[A-Za-z0-9\u00c0-\u024f][\w'’.%-]*")
_SAYS_LITTLE_LIST: Final = """
    me my our your him her them am doing having would can could should may might must no yes very really just also too
    more most much many some any all both each other another such only own same than then now here oh hey hi wow yeah
    thanks thank know think like get got go going went make made said say says see one if so but up out about into over
    after before there"""
_SAYS_LITTLE: Final = ENGLISH | frozenset(_SAYS_LITTLE_LIST.split())
_SAYING_TAGS: Final = frozenset("nvatljise")
_ENGLISH_FORMS: Final = (
    "When did {a} {b}?",
    "What is the {b} of {a}?",
    "Why did {a} {b}?",
    "How did {a} {b}?",
    "Who {a} {b}?",
    "What did {a} say about {b}?",
    "Where did {a} {b}?",
)
_CHINESE_FORMS: Final = (
    "{a}的{b}是什么？",
    "{a}什么时候{b}？",
    "{a}为什么{b}？",
    "{a}{b}有多少？",
    "谁{a}{b}？",
    "{a}是怎么{b}的？",
    "{a}在哪里{b}？",
)


def script_of(text: str) -> Script:
    """Mixed text is Chinese from three characters in ten on: a Han character says what two letters and a half do."""
    return "han" if is_chinese(text) else "latin"


def pseudo_question(claim: str, tagged: Tagged, rng: random.Random) -> str | None:
    """A question about a claim, in its script; None when it says too little."""
    is_han = script_of(claim) == "han"
    words = _han_words(claim, tagged) if is_han else _latin_words(claim)
    if len(words) < _WORDS[0]:
        return None
    many = min(len(words), rng.randint(*_WORDS))
    first, *rest = (words[place] for place in sorted(rng.sample(range(len(words)), many)))
    form = rng.choice(_CHINESE_FORMS if is_han else _ENGLISH_FORMS)
    return form.format_map({"a": first, "b": ("" if is_han else " ").join(rest)})


def _latin_words(claim: str) -> list[str]:
    words = (word.rstrip(".'’-") for word in _WORD.findall(claim))
    return list(dict.fromkeys(word for word in words if len(word) > 2 and word.lower() not in _SAYS_LITTLE))


def _han_words(claim: str, tagged: Tagged) -> list[str]:
    """Latin words and numbers among them, in the order of the text."""
    found = [
        (start, word)
        for stretch in tagged(claim)
        for word, tag, start, _ in stretch
        if len(word) > 1 and tag[:1] in _SAYING_TAGS
    ]
    found += [(match.start(), match[0]) for match in _WORD.finditer(claim)]
    return list(dict.fromkeys(word for _, word in sorted(found)))


# Asked of a workspace in whose texts a script does not occur; about nothing that a note is likely to speak of.
GENERIC: Final[dict[Script, Sequence[str]]] = {
    "latin": (
        "When did the neighbour repaint the wooden gate?",
        "What is the diameter of the steel pipe?",
        "Who won the regional chess tournament?",
        "Why was the ferry delayed on Sunday?",
        "How many tickets were sold for the opera?",
        "Where did the choir rehearse before the concert?",
        "What did the referee say about the second goal?",
        "Which airline lost the violin?",
        "How long does the varnish need to dry?",
        "Who designed the railway station?",
        "What is the boiling point of nitrogen?",
        "When was the lighthouse built?",
        "Why did the glacier retreat so quickly?",
        "How is the insurance premium calculated?",
        "Where are the spare fuses kept?",
        "Which vaccine requires two doses?",
        "What did the auditors find in March?",
        "Who inherited the vineyard?",
        "How far is it from the harbour to the museum?",
        "What caused the landslide near the village?",
        "When does the tax office close?",
        "Why was the bridge painted green?",
        "How often should the filter be replaced?",
        "What is the capital of the northern province?",
        "Who translated the medieval poem?",
        "Which river floods every spring?",
        "How did the orchestra pay its debts?",
        "Where was the stolen bicycle found?",
        "What does the warranty cover?",
        "When will the satellite be launched?",
    ),
    "han": (
        "邻居什么时候重新刷了木门？",
        "这根钢管的直径是多少？",
        "谁赢得了地区象棋比赛？",
        "周日的渡轮为什么晚点？",
        "歌剧一共卖出了多少张票？",
        "合唱团演出前在哪里排练？",
        "裁判对第二个进球怎么说？",
        "哪家航空公司弄丢了小提琴？",
        "清漆需要多长时间才能干？",
        "火车站是谁设计的？",
        "氮气的沸点是多少？",
        "灯塔是哪一年建成的？",
        "冰川为什么退缩得这么快？",
        "保险费是怎么计算的？",
        "备用保险丝放在哪里？",
        "哪种疫苗需要打两针？",
        "审计人员三月份发现了什么？",
        "葡萄园由谁继承？",
        "从港口到博物馆有多远？",
        "村子附近的滑坡是什么原因造成的？",
        "税务局几点关门？",
        "那座桥为什么漆成绿色？",
        "滤芯应该多久更换一次？",
        "北方省份的省会是哪里？",
        "谁翻译了那首中世纪的诗？",
        "哪条河每年春天都会泛滥？",
        "乐团是怎么还清债务的？",
        "被偷的自行车在哪里找到的？",
        "保修包括哪些内容？",
        "卫星什么时候发射？",
    ),
}
