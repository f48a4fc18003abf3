"""The provider that needs no model: it quotes the best sentences of the evidence and says so.

Deterministic, in the question's language, honest about being extractive. Proposes no tools and writes no JSON.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from typing import Final, Literal

from app.providers.offline_pick import Quote, Terms, answer, asks_when, digest, has_date
from app.providers.offline_reports import Fits, longest, tell
from app.providers.offline_text import Splitter, without_markers
from app.providers.ports import (
    Capabilities,
    ChatEvent,
    ChatRequest,
    Finished,
    ProviderRefused,
    Source,
    StopReason,
    Text,
    Usage,
)
from app.providers.spoken import estimate_prompt_tokens, estimate_tokens

Language = Literal["zh", "en"]

_WORDS: Final[dict[Language, dict[str, str]]] = {
    "zh": {
        "answer": "根据你的笔记（离线摘录，未使用大模型）：",
        "nearest": "没有找到能直接回答的句子，下面是最接近的内容（离线摘录，未使用大模型）：",
        "nothing": "手头的笔记没有提到这一点。",
        "told": "在这次对话里（离线摘录，未使用大模型）：",
        "said_in": "（{where}）",
        "hello": "你好！",
        "able": (
            "我是 MindCone 的离线助手，没有接入大模型，所以不会自由发挥。我可以：\n\n"
            "- 在你的笔记里检索，摘录最相关的原句并标明出处；\n"
            "- 把笔记或对话压缩成要点；\n"
            "- 给对话起标题。\n\n"
            "试试问一个笔记里写过的问题。需要对话和推理时，请在设置中接入一个模型"
            "（OpenAI、DeepSeek、Moonshot、通义千问、Ollama 等）。"
        ),
        "summary": "要点（离线摘录，未使用大模型）：",
        "topic": "话题：",
        "open": "待回答：",
        "title": "新对话",
    },
    "en": {
        "answer": "From your notes (extractive, no language model):",
        "nearest": "No sentence of your notes clearly answers this. The closest ones (extractive, no language model):",
        "nothing": "The notes at hand do not say.",
        "told": "From this conversation (extractive, no language model):",
        "said_in": " ({where})",
        "hello": "Hello!",
        "able": (
            "I am MindCone's offline assistant. No language model is connected, so I make nothing up. I can:\n\n"
            "- search your notes and quote the sentences that fit best, each with its source;\n"
            "- condense notes or a conversation to their main points;\n"
            "- give a conversation its title.\n\n"
            "Ask something that your notes speak of. For conversation and reasoning, connect a model in the settings "
            "(OpenAI, DeepSeek, Moonshot, Qwen, Ollama and others)."
        ),
        "summary": "Main points (extractive, no language model):",
        "topic": "Topic: ",
        "open": "Still open: ",
        "title": "New conversation",
    },
}
_CONTEXT_TOKENS: Final = 1_000_000
_SUMMARY_TOKENS: Final = 500
_SUMMARY_SENTENCES: Final = 8
_TOLD_SENTENCES: Final = 6
_MIN_LINES: Final = 4
_TITLE_CHARS: Final = 60
_TITLE_HAN_CHARS: Final = 30

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]+")
_WIDE = r"\u3000-\u9fff\uff00-\uffef"
_PIECE = re.compile(rf"\s*(?:[{_WIDE}]{{1,2}}|[^\s{_WIDE}]+)|\s+")
_CLOSERS: Final = (".", "!", "?", "。", "！", "？", "；", "…", "”", '"')
_GREETING = re.compile(
    r"""\W*(?:(?:hi|hello|hey|good\ (?:morning|evening|afternoon)|thanks?|thank\ you|help|how\ are\ you
    |(?:who|what)\ are\ you|what\ can\ you\ do)\b
    |你好|您好|嗨|早上好|晚上好|谢谢|多谢|再见|在吗|帮助|你是谁|你(?:能|会|可以)(?:做|干)?什么).{0,20}$""",
    re.VERBOSE | re.IGNORECASE,
)
_POLITE = re.compile(
    r"""(?:please|can\ you|could\ you|would\ you|tell\ me|i(?:'d|\ would)\ like\ to\ know
    |请问一?下?|请你?|麻烦你?|帮我|告诉我|我想(?:知道|问|了解)一?下?)[\s,，:：]*""",
    re.VERBOSE | re.IGNORECASE,
)
_ASKS = re.compile(r"(?:how|what|why|when|where|who|which|is|are|do|does|did|can|should)\b")
_MARKUP = re.compile(r"[*_`#>~|]+|!?\[\[|\]\]")


class OfflineChat:
    """A `ChatProvider`. `sentences` and `terms` are the text floor's; they run in a thread of their own."""

    name: Final = "offline"
    default_model: Final = "extractive"

    def __init__(self, sentences: Splitter, terms: Terms) -> None:
        self._sentences = sentences
        self._terms = terms

    def capabilities(self, model: str | None = None) -> Capabilities:
        return Capabilities(context_window=_CONTEXT_TOKENS)

    async def open(self) -> None:
        return None

    async def close(self) -> None:
        return None

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        """As the port says. Raises ProviderRefused for JSON and for extraction, which need a model."""
        if request.json_schema is not None or request.purpose == "extract":
            raise ProviderRefused("The offline provider writes no JSON.")
        text = await asyncio.to_thread(self.say, request)
        reason: StopReason = "stop"
        said = ""
        # Counted piece by piece only where it is too long: each count goes through all that was said.
        most = None if _fits(request)(text) else request.max_tokens
        for piece in _PIECE.findall(text):
            if most is not None and estimate_tokens(said + piece) > most:
                reason = "length"
                break
            said += piece
            yield Text(piece)
            await asyncio.sleep(0)
        input_tokens = estimate_prompt_tokens(request.messages)
        yield Finished(reason, Usage(input_tokens, estimate_tokens(said), estimated=True))

    def say(self, request: ChatRequest) -> str:
        """The whole text for a request. Pure; may take tens of milliseconds."""
        if request.purpose == "summarise":
            return self._summary(request)
        question = request.question or _last_of_user(request)
        if request.purpose == "title":
            return self._title(question)
        if request.told and (said := self._told(question, request.told)):
            return said
        return self._answer(question, request.sources, _fits(request))

    def _told(self, question: str, told: Sequence[Source]) -> str:
        """From what was said in the conversation, each sentence with where; what it came to, where the question has
        no word of it.
        """
        words = _WORDS[language(question)]
        picked = answer(question, told, self._sentences, self._terms)
        quotes = picked.quotes if picked.is_answer else digest(told, self._sentences, self._terms, _TOLD_SENTENCES)
        lines = [f"- {without_markers(quote.sentence.text)}{_said_in(words, quote.source)}" for quote in quotes]
        return words["told"] + "\n\n" + "\n".join(lines) if lines else ""

    def _answer(self, question: str, sources: Sequence[Source], fits: Fits) -> str:
        words = _WORDS[language(question)]
        if not any(source.text.strip() for source in sources):
            opening = words["hello"] if _GREETING.match(question) or not question.strip() else words["nothing"]
            return f"{opening} {words['able']}" if words is _WORDS["en"] else opening + words["able"]
        if reports := [source for source in sources if source.kind == "report"]:
            return tell(reports, language(question), fits)
        picked = answer(question, sources, self._sentences, self._terms)
        if not picked.quotes:
            return words["nothing"]
        wants_date = asks_when(question)
        lines = ["- " + " ".join(_cited(quote, wants_date) for quote in run) for run in _runs(picked.quotes)]
        opening = words["answer" if picked.is_answer else "nearest"]
        return longest(("\n".join((opening, "", *lines[:number])) for number in range(len(lines), 0, -1)), fits)

    def _summary(self, request: ChatRequest) -> str:
        spoken = [m for m in request.messages if m.role != "system" and m.content.strip()]
        sources = request.sources or [Source(f"m{n}", "", m.content) for n, m in enumerate(spoken)]
        words = _WORDS[language("\n".join(source.text for source in sources))]
        quotes = digest(sources, self._sentences, self._terms, _SUMMARY_SENTENCES)
        lines = [words["summary"], ""]
        if request.sources:
            lines += [f"- {_cited(quote)}" for quote in quotes]
        else:
            texts = [quote.sentence.text for quote in quotes]
            said = [text for text in texts if not text.endswith(("?", "？"))]
            if len(spoken) > 1:
                lines.append(f"- {words['topic']}{self._title(spoken[0].content)}")
            lines += [f"- {text}" for text in said or texts]
            if len(spoken) > 1 and spoken[-1].role == "user":
                lines.append(f"- {words['open']}{self._title(spoken[-1].content)}")
        budget_tokens = request.max_tokens or _SUMMARY_TOKENS
        while len(lines) > _MIN_LINES and estimate_tokens("\n".join(lines)) > budget_tokens:
            del lines[-2]  # topic and open question stay
        return "\n".join(lines)

    def _title(self, question: str) -> str:
        """The first sentence without markup and politeness, at most 60 characters."""
        lines = [" ".join(_MARKUP.sub(" ", line).split()) for line in question.splitlines()]
        line = next((line for line in lines if line), "")
        spans = self._sentences(line)
        title = line[: spans[0][1]] if spans else ""
        title = _POLITE.sub("", title).strip(" ,，。.!！?？:：;；")
        if not title:
            return _WORDS[language(question)]["title"]
        limit = _TITLE_HAN_CHARS if language(title) == "zh" else _TITLE_CHARS
        if len(title) > limit:
            cut = title[: limit - 1]
            space = cut.rfind(" ")
            title = (cut[:space] if space > limit // 2 else cut).rstrip(" ,，、:：") + "…"
        return title[0].upper() + title[1:] if _ASKS.match(title) else title


def _fits(request: ChatRequest) -> Fits:
    most = request.max_tokens
    return lambda text: most is None or estimate_tokens(text) <= most


def language(text: str) -> Language:
    """Chinese where Han characters outnumber the other words; at a tie, unless it asks in English."""
    han, latin = len(_HAN.findall(text)), len(_LATIN_WORD.findall(text))
    if han == latin:
        return "zh" if han and not _ASKS.match(text.lower()) else "en"
    return "zh" if han > latin else "en"


def without_frame(text: str) -> str:
    """What the offline provider quoted in an answer of its own, without what it said around it; other text as it is.
    Nothing of an answer that repeated what was said before.
    """
    if text.lstrip().startswith(tuple(words["told"] for words in _WORDS.values())):
        return ""
    for words in _WORDS.values():
        text = text.replace(words["able"], "")
    lines = text.splitlines()
    quoted = [line for line in lines if line.strip() not in _FRAMES]
    # Where a title stood behind a quotation, it is no part of it.
    return "\n".join(_TITLED.sub("", line) if len(quoted) < len(lines) else line for line in quoted).strip()


_TITLED: Final = re.compile(r"\s+— [^\n]*$")
_FRAMES: Final = frozenset(
    words[name].strip()
    for words in _WORDS.values()
    for name in ("answer", "nearest", "nothing", "hello", "told", "summary")
)


def _runs(quotes: Sequence[Quote]) -> list[list[Quote]]:
    """Sentences that follow each other in their source belong together; items and table rows stand alone."""
    runs: list[list[Quote]] = []
    for quote in quotes:
        last = runs[-1][-1] if runs else None
        if (
            last
            and last.source is quote.source
            and last.sentence.position + 1 == quote.sentence.position
            and last.sentence.text.endswith(_CLOSERS)
        ):
            runs[-1].append(quote)
        else:
            runs.append([quote])
    return runs


def _said_in(words: dict[str, str], source: Source) -> str:
    return words["said_in"].format(where=source.title) if source.title else ""


def _cited(quote: Quote, wants_date: bool = False) -> str:
    said = without_markers(quote.sentence.text)
    if not quote.source.marker:
        # What another branch found can be told and not pointed to.
        return said + _said_in(_WORDS[language(said)], quote.source)
    cited = f"{said} [{quote.source.marker}]"
    # "Yesterday" needs the day on which it was said.
    return f"{cited} — {quote.source.title}" if wants_date and has_date(quote.source.title) else cited


def _last_of_user(request: ChatRequest) -> str:
    return next((m.content for m in reversed(request.messages) if m.role == "user"), "")
