"""Markers in an answer and what they point to. Pure."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

_GROUP = re.compile(r"[ \t]?[\[【](\d{1,3}(?:\s*[,，、;]\s*\d{1,3})*)[\]】](?!\()")
_NUMBER = re.compile(r"\d+")
_QUOTE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Citable:
    """A piece of evidence as it stands in the prompt; offsets are those of the card's content."""

    marker: str
    kind: Literal["card", "report", "memory"]
    id: uuid.UUID
    title: str
    text: str
    chunk_id: uuid.UUID | None = None
    start: int | None = None
    end: int | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Citation:
    """One source that the answer really points to."""

    marker: str
    kind: Literal["card", "report", "memory"]
    id: uuid.UUID
    quote: str
    chunk_id: uuid.UUID | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Cited:
    """An answer whose every marker points to something; `removed` counts those that did not."""

    text: str
    citations: Sequence[Citation]
    removed: int


def cite(answer: str, sources: Mapping[str, Citable]) -> Cited:
    """Drop markers that point to nothing, and list what the others point to, in order of appearance."""
    used: dict[str, Citation] = {}
    removed = 0

    def check(match: re.Match[str]) -> str:
        nonlocal removed
        numbers = _NUMBER.findall(match[1])
        known = [number for number in numbers if number in sources]
        removed += len(numbers) - len(known)
        for number in known:
            used.setdefault(number, _citation(sources[number], answer[: match.start()]))
        space = match[0][: len(match[0]) - len(match[0].lstrip())]
        return f"{space}[{', '.join(known)}]" if known else ""

    text = _GROUP.sub(check, answer)
    return Cited(text, list(used.values()), removed)


def _citation(source: Citable, before: str) -> Citation:
    """The quote is the sentence the answer took over word for word, where it did, else the whole source's start."""
    start, end, quote = source.start, source.end, source.text
    said = _last_sentence(before)
    if said and (at := source.text.find(said)) >= 0 and source.start is not None:
        start, end, quote = source.start + at, source.start + at + len(said), said
    elif len(quote) > _QUOTE_CHARS:
        quote = quote[:_QUOTE_CHARS]
        end = None if source.start is None else source.start + len(quote)
    return Citation(source.marker, source.kind, source.id, quote, source.chunk_id, start, end)


def _last_sentence(before: str) -> str:
    """What stands right before a marker, as far back as the line or the marker before it."""
    line = before.rsplit("\n", 1)[-1]
    return re.split(r"[\[【]\d[^\]】]*[\]】]", line)[-1].strip().removeprefix("- ").strip()
