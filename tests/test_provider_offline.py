"""The offline provider: what it quotes, in which words it says so, and that it makes nothing up."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.providers.offline import OfflineChat, language
from app.providers.offline_text import quotable
from app.providers.ports import ChatRequest, Finished, Message, ProviderRefused, Source, Text, ToolSpec
from app.providers.spoken import estimate_tokens
from app.text.segment import Segmenter
from app.text.sentences import sentences

OFFLINE = OfflineChat(sentences, Segmenter().terms)
ZH_HEADER = "根据你的笔记（离线摘录，未使用大模型）："
EN_HEADER = "From your notes (extractive, no language model):"

TEA = Source(
    "1",
    "武夷岩茶",
    "# 武夷岩茶\n\n> 采访笔记\n\n- 武夷岩茶产于福建省武夷山。\n"
    "- [x] 2023 年，岩茶产量达到 **2.3 万吨**，同比增长 12%。\n"
    "- 制作工序包括萎凋、做青、杀青和烘焙。\n\n王顺明是大红袍制作技艺的传承人。他从 1979 年开始做茶。\n",
    0.9,
)
COFFEE = Source("2", "咖啡", "咖啡豆的产地主要在赤道附近。云南咖啡的产量在 2022 年是 11 万吨。", 0.5)
HIKE = Source(
    "3",
    "Hiking log",
    "## Mount Lu\n\nWe climbed Mount Lu with Anna Weber on 3 May 2021. The weather was fine.\n"
    "The trail is 14 km long and takes six hours. Did we bring enough water?\n\n"
    "| Item | Weight |\n|---|---|\n| Tent | 2 kg |\n\n```sh\nexport TENT=1\n```\n",
    0.8,
)


def say(question: str, *sources: Source, **fields: object) -> str:
    return OFFLINE.say(ChatRequest(messages=[Message("user", question)], question=question, sources=sources, **fields))


def quotes(answer: str) -> list[tuple[str, str]]:
    """(quote, marker) in order."""
    body = answer.split("\n\n", 1)[1]
    found = re.findall(r"(?:^- |(?<=\d\] ))(.+?) \[(\d+)\](?= |$)", body, re.MULTILINE | re.DOTALL)
    assert len(found) == len(re.findall(r"\[\d+\](?= |$)", body, re.MULTILINE))
    return found


# ---------------------------------------------------------------------------------------- answers


def test_a_chinese_answer():
    assert say("武夷岩茶2023年的产量是多少？", TEA, COFFEE, HIKE) == (
        f"{ZH_HEADER}\n\n- 武夷岩茶产于福建省武夷山。 [1] 2023 年，岩茶产量达到 **2.3 万吨**，同比增长 12%。 [1]"
    )


def test_an_english_answer():
    answer = say("When did we climb Mount Lu?", TEA, COFFEE, HIKE)
    assert answer.startswith(f"{EN_HEADER}\n\n- We climbed Mount Lu with Anna Weber on 3 May 2021. [3]")
    assert "[1]" not in answer
    assert "[2]" not in answer


def test_the_questions_language_frames_notes_of_the_other():
    assert say("What is 武夷岩茶 made of?", TEA).startswith(EN_HEADER)
    assert say("什么时候登上 Mount Lu？", HIKE).startswith(ZH_HEADER)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How long is the trail?", "The trail is 14 km long and takes six hours."),
        ("Who climbed Mount Lu with us?", "We climbed Mount Lu with Anna Weber on 3 May 2021."),
        ("岩茶的制作工序有哪些？", "制作工序包括萎凋、做青、杀青和烘焙。"),
        ("云南咖啡产量多少", "云南咖啡的产量在 2022 年是 11 万吨。"),
        ("大红袍的传承人是谁？", "王顺明是大红袍制作技艺的传承人。"),
        ("How heavy is the tent?", "Tent 2 kg"),
    ],
)
def test_the_right_sentence_is_quoted_and_few_others(question: str, wanted: str):
    quoted = [quote for quote, _ in quotes(say(question, TEA, COFFEE, HIKE))]
    assert wanted in quoted
    assert len(quoted) <= 2


def test_sentences_with_what_is_asked_for_are_preferred():
    said = [
        "Anna moved to Berlin with joy.",
        "Because of her work Anna moved to Berlin.",
        "Anna moved to Berlin in June 2019.",
    ]
    notes = [Source(str(n), "", text, 1.0) for n, text in enumerate(said)]
    assert quotes(say("When did Anna move to Berlin?", *notes))[0] == (said[2], "2")
    assert quotes(say("Why did Anna move to Berlin?", *notes))[0] == (said[1], "1")


def test_the_better_source_wins_a_tie():
    notes = [Source("1", "", "Anna lives in Rome.", 0.2), Source("2", "", "Anna lives in Bonn.", 0.9)]
    assert quotes(say("Where does Anna live?", *notes))[0] == ("Anna lives in Bonn.", "2")


def test_the_right_year_is_preferred():
    said = ["2021 年上半年公司固网宽带接入收入达到 220 亿元。", "2020 年上半年公司固网宽带收入达到 219 亿元。"]
    notes = [Source(str(n), "", text) for n, text in enumerate(said)]
    assert quotes(say("2020年上半年固网宽带接入收入是多少？", *notes))[0] == (said[1], "1")


def test_a_relative_date_comes_with_the_day_of_its_note():
    turn = Source("7", "Caroline (1:56 pm on 8 May, 2023)", "I went to a support group yesterday and it was powerful.")
    assert say("When did Caroline go to the support group?", turn).endswith(
        "- I went to a support group yesterday and it was powerful. [7] — Caroline (1:56 pm on 8 May, 2023)"
    )
    assert "—" not in say("What did Caroline think of the support group?", turn)


def test_no_sentence_twice():
    """C5: but one with another number is another."""
    notes = [
        Source("1", "", "The key has 5 teeth. Red."),
        Source("2", "", "The key has 6 teeth. **The key has 5 teeth!**"),
    ]
    assert quotes(say("How many teeth has the key?", *notes)) == [
        ("The key has 5 teeth.", "1"),
        ("The key has 6 teeth.", "2"),
    ]


def test_two_to_five_sentences_or_as_many_as_there_are():
    many = Source("1", "", " ".join(f"The river {name} floods the town of {name}ford." for name in "ABCDEFGHIJ"))
    assert 2 <= len(quotes(say("Which river floods which town?", many))) <= 5
    assert len(quotes(say("Where is the key?", Source("1", "", "The key is under the mat.")))) == 1


def test_every_source_is_cited_by_its_own_marker():
    sources = [Source("4", "", "The blue whale weighs 150 tons."), Source("9", "", "The blue whale eats krill.")]
    assert quotes(say("What does the blue whale eat and what does it weigh?", *sources)) == [
        ("The blue whale weighs 150 tons.", "4"),
        ("The blue whale eats krill.", "9"),
    ]


def test_footnotes_of_a_source_are_no_citations_of_ours():
    wiki = Source("1", "", "The bridge opened in 1932.[2]\nThe bridge [12] is made of steel[3] and stone.")
    assert quotes(say("When did the bridge open?", wiki))[0] == ("The bridge opened in 1932.", "1")
    answer = say("What is the bridge made of? Steel and stone?", wiki)
    assert "The bridge is made of steel and stone. [1]" in answer
    assert set(re.findall(r"\[(\d+)\]", answer)) == {"1"}


def test_it_says_when_the_notes_come_near_only():
    assert say("pgvector 怎么安装？", COFFEE, TEA).startswith("没有找到能直接回答的句子，下面是最接近的内容（离线摘录")
    assert say("Who won the 1998 world cup in curling?", HIKE).startswith("No sentence of your notes clearly answers")


@pytest.mark.parametrize("question", ["", "？？？", "the of and", "的了", "🙂", "x" * 5000, "什么是" * 800])
def test_any_question_is_answered(question: str):
    assert quotes(say(question, TEA, HIKE))


# ------------------------------------------------------------------------------------- no sources


def test_without_sources_it_greets_or_admits_and_says_what_it_can_do():
    assert say("你好").startswith("你好！我是 MindCone 的离线助手")
    assert say("Hello there").startswith("Hello! I am MindCone's offline assistant")
    assert say("What can you do?").startswith("Hello!")
    assert say("法国的首都是哪里？").startswith("手头的笔记没有提到这一点。")
    assert say("What is the capital of France?").startswith("The notes at hand do not say.")
    assert say("Hello, what is the capital of France and of Spain?").startswith("The notes at hand do not say.")
    for answer in (
        say("法国的首都是哪里？"),
        say("What is the capital of France?"),
        say("hi", Source("1", "t", " \n")),
    ):
        assert "[" not in answer


def test_sources_without_a_letter_are_no_evidence():
    assert say("What is it?", Source("1", "", "---\n***\n| |\n")) == "The notes at hand do not say."


# -------------------------------------------------------------------------------------- quotations

MARKDOWN = """---
title: x
tags: [a]
---
# Heading one

up:: [[elsewhere]]
![image](a.jpg)
https://example.org/x
#tag #other

Intro with **bold** and a [link](https://a.example/b_(c)). Second *one*!
Some text that is hard-wrapped at a width of
seventy characters goes on here. Next.

> [!note] Callout text here.
> - nested item。又一句？
1. first step
2) second step
* [ ] todo item ^block-1
+ **All bold. Two sentences.**

| 列一 | 列二 |
|:--|--:|
| 收入 | 29% |

~~~python
print("x")  # code
~~~
## 结尾 ##
最后一句[^3]
"""


def test_marks_are_stripped_and_the_rest_is_verbatim():
    assert [s.text for s in quotable(MARKDOWN, sentences)] == [
        "Intro with **bold** and a [link](https://a.example/b_(c)).",
        "Second *one*!",
        "Some text that is hard-wrapped at a width of\nseventy characters goes on here.",
        "Next.",
        "Callout text here.",
        "nested item。",
        "又一句？",
        "first step",
        "second step",
        "todo item",
        "All bold.",
        "Two sentences.",
        "列一 列二",
        "收入 29%",
        'print("x")  # code',
        "最后一句",
    ]


def test_sentences_know_their_heading():
    headings = {s.text: s.heading for s in quotable(MARKDOWN, sentences)}
    assert headings["Next."] == "Heading one"
    assert headings["最后一句"] == "结尾"


def test_headings_are_quoted_where_there_is_nothing_else():
    assert [s.text for s in quotable("# One\n\n## Two ##\n", sentences)] == ["One", "Two"]


def test_a_rule_at_the_start_is_no_frontmatter():
    assert [s.text for s in quotable("---\nA sentence.\n---\nMore.", sentences)] == ["A sentence.", "More."]


@given(st.text(alphabet="ab。！? \n-#>*|`[]()~^1.，：\t你好", max_size=200))
def test_quotes_can_be_found_in_their_source(text: str):
    for sentence in quotable(text, sentences):
        assert len(sentence.text) <= 400
        if sentence.kind != "table":
            assert sentence.text in text


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_text_is_survived(text: str, question: str):
    assert say(question, Source("1", question, text))


def test_long_sentences_are_quoted_in_part_where_a_clause_ends():
    long = "，".join(f"第{n}个五年计划完成了第{n}号水库的建设" for n in range(60)) + "。"
    quoted = [s.text for s in quotable(long, sentences)]
    assert "".join(quoted) == long
    assert all(len(text) <= 400 and text.endswith(("，", "。")) for text in quoted)
    assert "第42号水库" in say("第42号水库是哪个计划建的？", Source("1", "", long))


HOSTILE = [
    "a" + " " * 200_000 + "b",
    "![" * 50_000,
    "https://" * 20_000 + " x",
    "- " * 80_000 + "x",
    "|--|" + " " * 99_999 + "x",
    "# " + " " * 50_000 + "#" * 50_000 + "x",
    " ^a" * 50_000,
    "[1]" * 50_000,
    "the fox jumps over the dog, again and again and\n" * 5000,
    "| row | value |\n" * 9000,
    "".join(f"| row {n} | value {n} |\n" for n in range(4000)),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_takes_more_than_linear_time(text: str):
    began = time.process_time()
    say("what is the value of a row?", Source("1", "t", text))
    assert time.process_time() - began < 3


# ------------------------------------------------------------------------------ summaries and titles


def conversation(*texts: str) -> list[Message]:
    roles = ("user", "assistant")
    return [Message("system", "Be brief.")] + [Message(roles[n % 2], text) for n, text in enumerate(texts)]


def test_a_conversation_is_condensed():
    messages = conversation(
        "HNSW 索引怎么调参？",
        "HNSW 有三个参数：m、ef_construction 和 ef_search。ef_search 越大召回率越高，但是查询越慢。" + "闲话。" * 3,
        "带过滤条件时召回率会下降吗？",
        "会下降。迭代扫描可以在过滤后继续扫描，直到召回率足够。",
        "那分区表怎么办？",
    )
    summary = OFFLINE.say(ChatRequest(messages=messages, purpose="summarise"))
    assert summary.startswith("要点（离线摘录，未使用大模型）：\n\n- 话题：HNSW 索引怎么调参\n")
    assert summary.endswith("\n- 待回答：那分区表怎么办")
    assert "迭代扫描可以在过滤后继续扫描，直到召回率足够。" in summary
    assert "Be brief" not in summary


def test_a_summary_keeps_to_its_budget():
    text = " ".join(f"Team {n} built the bridge number {n} over the river with {n} workers." for n in range(300))
    for max_tokens in (60, 200, 500):
        request = ChatRequest(messages=[Message("user", text)], purpose="summarise", max_tokens=max_tokens)
        summary = OFFLINE.say(request)
        assert estimate_tokens(summary) <= max_tokens
        assert summary.startswith("Main points (extractive, no language model):\n\n- Team")


def test_sources_are_condensed_with_their_markers_and_in_their_order():
    summary = OFFLINE.say(ChatRequest(messages=[], purpose="summarise", sources=[TEA, COFFEE]))
    markers = re.findall(r"\[(\d)\]$", summary, re.MULTILINE)
    assert markers == sorted(markers)
    assert set(markers) == {"1", "2"}


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("请问一下，pgvector 的 HNSW 索引怎么调参？带过滤条件呢？", "pgvector 的 HNSW 索引怎么调参"),
        ("please tell me how do I tune it?", "How do I tune it"),
        ("how does **recall** depend on ef_search?", "How does recall depend on ef search"),
        ("# Title\n\nbody", "Title"),
        ("", "New conversation"),
        ("？！", "New conversation"),
        ("word " * 40, "word " * 10 + "word…"),
        ("长" * 100, "长" * 29 + "…"),
    ],
)
def test_titles(question: str, title: str):
    made = OFFLINE.say(ChatRequest(messages=[], question=question, purpose="title"))
    assert made == title
    assert len(made) <= 60
    assert "\n" not in made


# ----------------------------------------------------------------------------------------- the port


async def test_it_streams_in_small_pieces():
    request = ChatRequest(messages=[Message("user", "岩茶的产量？")], sources=[TEA])
    events = [event async for event in OFFLINE.stream(request)]
    *texts, last = events
    assert all(isinstance(event, Text) and 0 < len(event.text) <= 30 for event in texts)
    assert len(texts) > 20
    assert "".join(event.text for event in texts) == OFFLINE.say(request)
    assert isinstance(last, Finished)
    assert last.reason == "stop"
    assert last.usage.estimated
    assert last.usage.output_tokens == estimate_tokens(OFFLINE.say(request))


async def test_the_token_limit_is_a_stop_reason():
    request = ChatRequest(messages=[], question="岩茶的产量？", sources=[TEA], max_tokens=25)
    *texts, last = [event async for event in OFFLINE.stream(request)]
    said = "".join(event.text for event in texts)
    assert OFFLINE.say(request).startswith(said)
    assert 15 < estimate_tokens(said) <= 25
    assert last.reason == "length"


def reports(is_theme: bool) -> list[Source]:
    return [
        Source(
            f"{n}",
            f"Theme number {n}",
            f"What the notes say of subject {n} is told here in one sentence of some length, number {n}.",
            kind="report",
            is_theme=is_theme,
        )
        for n in range(1, 13)
    ]


@pytest.mark.parametrize("max_tokens", [200, 250, 300])
@pytest.mark.parametrize("is_theme", [True, False])
async def test_what_reports_say_is_told_by_the_limit_and_not_by_half(is_theme: bool, max_tokens: int):
    """The last themes of an overview are named alone, so that none is missing; points without room are left out."""
    told = reports(is_theme)
    request = ChatRequest(messages=[], question="What are the themes?", sources=told, max_tokens=max_tokens)
    *texts, last = [event async for event in OFFLINE.stream(request)]
    said = "".join(event.text for event in texts)
    assert last.reason == "stop"
    assert max_tokens * 0.6 < estimate_tokens(said) <= max_tokens
    in_full = [one for one in told if f"{one.text} [{one.marker}]" in said]
    assert 1 < len(in_full) < len(told)
    assert in_full == told[: len(in_full)]
    named = [one for one in told if f"{one.title} [{one.marker}]" in said]
    assert named == (told[len(in_full) :] if is_theme else [])


async def test_sentences_are_told_whole_as_long_as_there_is_room():
    sources = [
        Source(
            f"{n}", f"Note {n}", f"The yield of the rock tea in year {n} was {n} kg per mu, after much rain in spring."
        )
        for n in range(1, 6)
    ]
    whole = OFFLINE.say(ChatRequest(messages=[], question="What was the yield of the rock tea?", sources=sources))
    *lines, last_line = whole.split("\n")
    limit = estimate_tokens(whole) - 5
    request = ChatRequest(
        messages=[], question="What was the yield of the rock tea?", sources=sources, max_tokens=limit
    )
    *texts, last = [event async for event in OFFLINE.stream(request)]
    assert last_line.startswith("- ")
    assert "".join(event.text for event in texts) == "\n".join(lines)
    assert last.reason == "stop"


@pytest.mark.parametrize("fields", [{"json_schema": {"type": "object"}}, {"purpose": "extract"}])
async def test_it_writes_no_json(fields: dict[str, object]):
    with pytest.raises(ProviderRefused):
        await anext(OFFLINE.stream(ChatRequest(messages=[], question="x", **fields)))


async def test_it_proposes_no_tools():
    request = ChatRequest(messages=[], question="产量？", sources=[TEA], tools=[ToolSpec("t", "", {})])
    events = [event async for event in OFFLINE.stream(request)]
    assert events[-1].tool_calls == ()
    assert not OFFLINE.capabilities().tools
    assert not OFFLINE.capabilities().json_schema


async def test_the_loop_is_free_while_it_reads():
    """E17: a heavy request in its thread, and a task beside it that is never kept waiting."""
    big = [Source(str(n), "t", TEA.text * 60) for n in range(40)]
    loop = asyncio.get_running_loop()
    answer = asyncio.ensure_future(anext(OFFLINE.stream(ChatRequest(messages=[], question="产量？", sources=big))))
    longest, turns = 0.0, 0
    while not answer.done():
        before = loop.time()
        await asyncio.sleep(0)
        longest, turns = max(longest, loop.time() - before), turns + 1
    assert (await answer).text
    assert turns > 10
    assert longest < 0.2


def test_the_same_answer_in_every_process():
    code = (
        "from tests.test_provider_offline import *\n"
        "print(say('When did we climb Mount Lu in 2021 and how long is the trail?', TEA, COFFEE, HIKE))\n"
        "print(OFFLINE.say(ChatRequest(messages=[], purpose='summarise', sources=[HIKE, TEA, COFFEE])))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert "3 May 2021" in said.pop()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pgvector 怎么用", "zh"),
        ("What is 禅宗?", "en"),
        ("用 LLM 做 RAG", "zh"),
        ("LLM 做 RAG 吗", "zh"),
        ("what is 禅", "en"),
        ("is 禅 a 宗", "en"),
        ("", "en"),
        ("123", "en"),
    ],
)
def test_language(text: str, expected: str):
    assert language(text) == expected


def test_what_the_vectors_found_is_quoted_in_whatever_language():
    """A question shares no word with the sentence that answers it; retrieval says where it matched."""
    text = "The roastery opens at nine. The charge temperature went down to 188 degrees. Parking is free."
    start = text.index("The charge")
    focused = Source("1", "Log", text, 1.0, (start, text.index(" Parking")))
    said = quotes(say("入豆温度后来改成多少度？", focused))
    assert said[0] == ("The charge temperature went down to 188 degrees.", "1")
