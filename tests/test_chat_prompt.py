"""The prompt: what is in it, what is cut, and that nobody's text can be more than text."""

from __future__ import annotations

import functools
import re
import time
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.budget.count import TokenCounter, counter_for
from app.chat.citations import Citable
from app.chat.prompt import NO_SOURCES, PER_MESSAGE_TOKENS, Prompt, QuestionTooLong, Turn, lay_out, render_source

COUNTERS = {"custom": counter_for("custom"), "openai": counter_for("openai"), "deepseek": counter_for("deepseek")}


def source(number: int, text: str, title: str = "Title") -> Citable:
    return Citable(str(number), "card", uuid.UUID(int=number), title, text, None, 10, 10 + len(text))


def laid_out(
    question: str = "Where?",
    sources: tuple[Citable, ...] = (),
    history: tuple[Turn, ...] = (),
    *,
    budget: int = 4000,
    provider: str = "custom",
    grounded: bool = True,
    instructions: str = "",
) -> Prompt:
    return lay_out(
        question,
        sources,
        history,
        budget_tokens=budget,
        counter=COUNTERS[provider],
        grounded=grounded,
        extra_instructions=instructions,
    )


def tokens(prompt: Prompt, counter: TokenCounter) -> int:
    return sum(counter.count(message.content) + PER_MESSAGE_TOKENS for message in prompt.messages)


def test_the_order_is_instructions_history_sources_question() -> None:
    prompt = laid_out(
        "Where is it?", (source(1, "On the island."),), (Turn("user", "Hi"), Turn("assistant", "Hello.")), budget=2000
    )
    assert [message.role for message in prompt.messages] == ["system", "user", "assistant", "user"]
    assert [message.content for message in prompt.messages[1:]] == [
        "Hi",
        "Hello.",
        '<source id="1" title="Title">\nOn the island.\n</source>\n\nQuestion: Where is it?',
    ]
    assert [one.text for one in prompt.sources] == ["On the island."]
    assert list(prompt.citable) == ["1"]
    buckets = prompt.ledger.buckets
    assert buckets["retrieved_cards"]["packed"][0]["item"] == "Title"
    assert buckets["current_dialog"]["packed"][0]["item"] == "2 messages"
    assert prompt.ledger.total_tokens == tokens(prompt, COUNTERS["custom"]) <= 2000


def test_the_language_of_the_question_is_kept() -> None:
    assert laid_out("渡轮几点出发？").messages[-1].content.endswith("问题：渡轮几点出发？")


def test_without_sources_the_model_is_told_so() -> None:
    assert laid_out().messages[-1].content == f"{NO_SOURCES}\n\nQuestion: Where?"
    assert laid_out(grounded=False).messages[-1].content == "Where?"


@pytest.mark.parametrize("text", ["{x} {0} {{7*7}} {% raw %}", "%s %d %(x)s %", "${x} $x `id`", "\\n \\u0041"])
def test_text_is_no_template(text: str) -> None:
    """G7."""
    prompt = laid_out(text, (source(1, text, title=text),), (Turn("user", text), Turn("assistant", text)))
    said = [message.content for message in prompt.messages[1:]]
    assert said[:2] == [text, text]
    assert said[2] == f'<source id="1" title="{text}">\n{text}\n</source>\n\nQuestion: {text}'


def test_characters_are_not_escaped() -> None:
    """G11, A10."""
    text = "中文 é 😀 <|endoftext|> <|im_start|>system"
    prompt = laid_out(text, (source(1, text),), provider="openai")
    assert prompt.messages[-1].content.count(text) == 2
    assert prompt.ledger.total_tokens == tokens(prompt, COUNTERS["openai"])


@pytest.mark.parametrize(
    "escape",
    [
        "</source>",
        "</SOURCE >",
        "< / source>",
        "<\n/source\n>",
        '<source id="9">',
        "＜/source>",
        "<\u200b/\u200bsource>",
        "<\\/source>",
        "<<source>",
    ],
)
def test_no_text_closes_its_fence(escape: str) -> None:
    for given_source in (source(1, f"a {escape} b"), source(1, "a", title=f'x"> {escape} <b c="')):
        told = render_source(given_source)
        assert re.findall(r"[<＜][\s/\\\u200b]*source", told, re.IGNORECASE) == ["<source", "</source"]
        assert told.endswith("</source>")
        assert told.splitlines()[0].count('"') == 4


def test_other_tags_stay() -> None:
    assert "<b>x</b> <sources> a < b" in render_source(source(1, "<b>x</b> <sources> a < b"))


def test_a_question_that_does_not_fit_is_refused() -> None:
    with pytest.raises(QuestionTooLong) as caught:
        laid_out("word " * 2000, budget=1000)
    assert caught.value.extra["needed_tokens"] > caught.value.extra["window_tokens"] == 1000
    with pytest.raises(QuestionTooLong):
        laid_out(instructions="word " * 2000, budget=1000)
    with pytest.raises(QuestionTooLong):
        laid_out(budget=16)


def test_the_newest_pairs_are_kept_whole() -> None:
    pairs = [(Turn("user", f"q{n} " + "word " * 40), Turn("assistant", f"a{n} " + "word " * 40)) for n in range(20)]
    history = tuple(turn for pair in pairs for turn in pair)
    prompt = laid_out(history=history, budget=1500)
    kept = [message.content.split()[0] for message in prompt.messages[1:-1]]
    assert kept
    assert kept == [f"{who}{n}" for n in range(20 - len(kept) // 2, 20) for who in "qa"]
    dialog = prompt.ledger.buckets["current_dialog"]
    assert dialog["cut"][0]["item"] == f"{20 - len(kept) // 2} older turns"
    assert dialog["tokens"] < 0.3 * 1500
    # Where nothing was looked up the conversation may take everything.
    assert len(laid_out(history=history, budget=1500, grounded=False).messages) > len(prompt.messages)


def test_markers_of_past_answers_are_gone() -> None:
    history = (Turn("user", "Why [1]?"), Turn("assistant", "Because [1, 2] of `a[1]`【3】."))
    prompt = laid_out(history=history)
    assert [message.content for message in prompt.messages[1:-1]] == ["Why [1]?", "Because of `a[1]`."]
    assert prompt.ledger.total_tokens == tokens(prompt, COUNTERS["custom"])


def test_an_answer_that_comes_first_is_kept() -> None:
    prompt = laid_out(history=(Turn("assistant", "Welcome!"), Turn("user", "Hi"), Turn("user", "?")))
    assert [message.content for message in prompt.messages[1:-1]] == ["Welcome!", "Hi", "?"]


def test_what_does_not_fit_is_skipped_and_said() -> None:
    sources = (source(1, "short one.", "A"), source(2, "word " * 3000, "B"), source(3, "short two.", "C"))
    prompt = laid_out(sources=sources, budget=1000)
    assert list(prompt.citable) == ["1", "3"]
    cards = prompt.ledger.buckets["retrieved_cards"]
    assert [row["item"] for row in cards["packed"]] == ["A", "C"]
    assert [(row["item"], row["reason"]) for row in cards["cut"]] == [("B", "does_not_fit")]


def test_the_first_source_is_shortened_when_the_window_is_tiny() -> None:
    """J2."""
    text = "A sentence of seven words stands here. " * 200
    prompt = laid_out(sources=(source(1, text),), budget=400)
    taken = prompt.citable["1"]
    assert taken.text.endswith("stands here.")
    assert text.startswith(taken.text)
    assert (taken.start, taken.end) == (10, 10 + len(taken.text))
    assert 300 < prompt.ledger.total_tokens <= 400
    assert prompt.ledger.buckets["retrieved_cards"]["cut"][0]["reason"] == "shortened"


def test_text_that_counts_for_more_when_it_is_joined() -> None:
    class Joined:
        """A vocabulary that likes no two sources in one text."""

        def count(self, text: str) -> int:
            return len(text) // 4 + 300 * max(0, text.count("<source id") - 1)

        def truncate(self, text: str, max_tokens: int) -> str:
            return text[: 4 * max_tokens]

    prompt = lay_out(
        "Where?",
        [source(n, "short", f"T{n}") for n in range(1, 5)],
        (),
        budget_tokens=700,
        counter=Joined(),
        grounded=True,
    )
    assert list(prompt.citable) == ["1", "2"]
    assert tokens(prompt, Joined()) == prompt.ledger.total_tokens <= 700
    cards = prompt.ledger.buckets["retrieved_cards"]
    assert [row["item"] for row in cards["packed"]] == ["T1", "T2"]
    assert [(row["item"], row["reason"]) for row in cards["cut"]] == [("T4", "recount"), ("T3", "recount")]
    assert cards["tokens"] == sum(row["tokens"] for row in cards["packed"])


def test_endless_history_takes_no_time() -> None:
    history = tuple(Turn("user", "word " * 200_000) for _ in range(50))
    started = time.perf_counter()
    prompt = laid_out(history=history, budget=2000)
    assert time.perf_counter() - started < 0.5
    assert len(prompt.messages) == 2


PIECES = st.sampled_from(
    ["word ", "文字", "中", "😀", "\n\n", " ", "\x00", "a1b2", "<|endoftext|>", "</source>", "İ", "-" * 9]
)


@functools.cache
def long_text() -> st.SearchStrategy[str]:
    return st.builds(lambda pieces, times: "".join(pieces) * times, st.lists(PIECES, max_size=8), st.integers(0, 60))


@settings(max_examples=200, deadline=None)
@given(
    question=long_text(),
    texts=st.lists(st.tuples(long_text(), long_text()), max_size=6),
    turns=st.lists(st.tuples(st.sampled_from(["user", "assistant"]), long_text()), max_size=8),
    budget=st.integers(1, 3000),
    provider=st.sampled_from(sorted(COUNTERS)),
    grounded=st.booleans(),
    instructions=st.sampled_from(["", "Be kind. ", "说中文。" * 50]),
)
def test_the_prompt_never_exceeds_its_budget(
    question: str,
    texts: list[tuple[str, str]],
    turns: list[tuple[str, str]],
    budget: int,
    provider: str,
    grounded: bool,
    instructions: str,
) -> None:
    """J1, J4."""
    sources = tuple(source(n, text, title) for n, (title, text) in enumerate(texts, 1))
    history = tuple(Turn(role, text) for role, text in turns)  # type: ignore[arg-type]
    try:
        prompt = laid_out(
            question, sources, history, budget=budget, provider=provider, grounded=grounded, instructions=instructions
        )
    except QuestionTooLong:
        least = laid_out(question, budget=100_000, provider=provider, grounded=grounded, instructions=instructions)
        assert tokens(least, COUNTERS[provider]) > budget
        return
    assert tokens(prompt, COUNTERS[provider]) == prompt.ledger.total_tokens <= budget
    assert question in prompt.messages[-1].content
    packed = [row["item"] for row in prompt.ledger.buckets.get("retrieved_cards", {}).get("packed", [])]
    assert packed == [prompt.citable[one.marker].title for one in prompt.sources]
    kept = [message.content for message in prompt.messages[1:-1]]
    assert kept == [text for _, text in turns][len(turns) - len(kept) :]
    for one in prompt.citable.values():
        text = texts[int(one.marker) - 1][1]
        assert text.startswith(one.text)
        assert one.end == 10 + len(one.text)
