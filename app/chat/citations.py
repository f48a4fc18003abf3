"""Markers in an answer and what they point to, checked while the answer is being said. Pure.

Knows how models write markers and where brackets are something else: in code, in links, in numbers.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from app.text.sentences import sentences

Kind = Literal["card", "report", "memory"]

QUOTE_CHARS: Final = 300
# A shorter stretch (four Han characters, ten letters) is found in a source by chance.
_QUOTE_MIN_BYTES: Final = 10

_NUMBER = r"\^?[1-9]\d{0,2}"
_NUMBERS = rf"{_NUMBER}(?:[ \t]*[,，、;；][ \t]*{_NUMBER})*"
_MARKER = re.compile(rf"([ \t]?)(?:\[\[({_NUMBERS})\]\]|[\[【［]({_NUMBERS})[\]】］])(?!\()")
# What may still become a marker, or be found to be a link, with the characters that are to come.
_OPEN = re.compile(r"[ \t]?(?:[\[【［]{1,2}[\^\d \t,，、;；]{0,40}[\]】］]{0,2})?")
_STOP = re.compile(r"\n|`+|~+|[ \t]?[\[【［]|[ \t]\Z")
_LINE_START = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?")
# Nobody takes over more than this word for word.
_SAID_CHARS: Final = 2000
# How far apart the two ends of a code span may be.
_CODE_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Citable:
    """A piece of evidence as it stands in the prompt: `content[start:end] == text` for a card's content;
    `text[slice(*focus)]` is what matched best. `rests_on`: markers of the sources that a report draws on;
    `is_theme`: it tells what the report is about, not what it says to a question.
    """

    marker: str
    kind: Kind
    id: uuid.UUID
    title: str
    text: str
    chunk_id: uuid.UUID | None = None
    start: int | None = None
    end: int | None = None
    score: float = 0.0
    focus: tuple[int, int] | None = None
    rests_on: tuple[str, ...] = ()
    is_theme: bool = False


@dataclass(frozen=True, slots=True)
class Citation:
    """One source that the answer points to: `content[start:end] == quote` where there are offsets."""

    marker: str
    kind: Kind
    id: uuid.UUID
    quote: str
    chunk_id: uuid.UUID | None = None
    start: int | None = None
    end: int | None = None


class Citer:
    """Reads an answer piece by piece and lets through what can be shown: markers in one spelling, `[1]` or `[1, 2]`,
    and none that point to nothing; those are counted in `removed`.

    What might turn out to be a marker waits for the next piece; `close` releases the rest.
    """

    def __init__(self, sources: Mapping[str, Citable]) -> None:
        self._sources = sources
        self._shown: list[str] = []
        self._used: dict[str, Citation] = {}
        self._held = ""
        self._line = ""
        self._said = ""
        self._fence = ""
        self._is_opening = False
        self.removed = 0

    @property
    def text(self) -> str:
        """All that was let through so far."""
        return "".join(self._shown)

    @property
    def citations(self) -> list[Citation]:
        """One for each source that was pointed to, in order of appearance."""
        return list(self._used.values())

    def feed(self, piece: str) -> str:
        """What can be shown after this piece of the answer; may be empty."""
        self._held += piece
        return self._release(is_last=False)

    def close(self) -> str:
        """The rest, after the last piece."""
        return self._release(is_last=True)

    def _release(self, *, is_last: bool) -> str:
        shown: list[str] = []
        at = 0
        while at < len(self._held):
            stop = _STOP.search(self._held, at)
            text = self._held[at : stop.start() if stop else None]
            shown.append(self._note(text))
            at += len(text)
            if stop is None:
                break
            if stop[0] == "\n":
                self._end_line()
                shown.append("\n")
                at += 1
            elif self._fence:
                shown.append(self._note(stop[0]))
                at = stop.end()
            elif stop[0][0] in "`~":
                end = self._code_end(stop, is_last=is_last)
                if end is None:
                    break
                shown.append(self._note(self._held[at:end]))
                at = end
            elif not is_last and _OPEN.fullmatch(self._held, at):
                break
            elif marker := _MARKER.match(self._held, at):
                shown.append(self._check(marker))
                at = marker.end()
            else:
                shown.append(self._note(stop[0]))
                at = stop.end()
        self._held = self._held[at:]
        told = "".join(shown)
        if told:
            self._shown.append(told)
        return told

    def _code_end(self, run: re.Match[str], *, is_last: bool) -> int | None:
        """Where the code that begins with this run of backticks or tildes ends: behind its closing run on the same
        line, else behind the run itself, which then opens a block or is plain text. None: not known yet.
        """
        held, mark = self._held, run[0]
        if run.end() == len(held) and not is_last:
            return None
        if mark[0] == "`":
            line = held[run.end() : run.end() + _CODE_CHARS].partition("\n")[0]
            for other in re.finditer("`+", line):
                if other[0] == mark:
                    end = run.end() + other.end()
                    return end if end < len(held) or is_last else None
            if run.end() + len(line) == len(held) and len(line) < _CODE_CHARS and not is_last:
                return None
        if len(mark) >= 3 and _LINE_START.fullmatch(self._line):
            self._fence, self._is_opening = mark, True
        return run.end()

    def _end_line(self) -> None:
        line = self._line.strip(" \t>")
        if self._fence and not self._is_opening and line.startswith(self._fence) and not line.strip(self._fence[0]):
            self._fence = ""
        self._line = self._said = ""
        self._is_opening = False

    def _check(self, marker: re.Match[str]) -> str:
        numbers = re.findall(r"\d+", marker[2] or marker[3])
        known = [number for number in dict.fromkeys(numbers) if number in self._sources]
        self.removed += sum(number not in self._sources for number in numbers)
        for number in known:
            self._used.setdefault(number, _citation(self._sources[number], self._said))
        self._note(marker[0])
        self._said = ""
        return f"{marker[1]}[{', '.join(known)}]" if known else ""

    def _note(self, text: str) -> str:
        self._line = (self._line + text)[:_CODE_CHARS]
        self._said = (self._said + text)[-_SAID_CHARS:]
        return text


def without_markers(answer: str) -> str:
    """An answer of the past, whose sources are no longer at hand."""
    citer = Citer({})
    citer.feed(answer)
    citer.close()
    return citer.text


def _citation(source: Citable, said: str) -> Citation:
    """The quote is what the answer took over word for word before the marker, where it did: all of it or its last
    sentence. Else it is what matched the question best, or the beginning of the source.
    """
    start, end = _taken(source.text, said) or _best(source)
    base = source.start
    return Citation(
        marker=source.marker,
        kind=source.kind,
        id=source.id,
        quote=source.text[start:end],
        chunk_id=source.chunk_id,
        start=None if base is None else base + start,
        end=None if base is None else base + end,
    )


def _best(source: Citable) -> tuple[int, int]:
    start, end = source.focus or (0, len(source.text))
    end = min(end, len(source.text))
    if not 0 <= start < end:
        start, end = 0, len(source.text)
    return start, min(end, start + QUOTE_CHARS)


def _taken(text: str, said: str) -> tuple[int, int] | None:
    said = said[_end(_LINE_START.match(said)) :].strip()
    last = [said[start:end] for start, end in sentences(said)[-1:]]
    for stretch in dict.fromkeys([said, *last]):
        if len(stretch.encode()) < _QUOTE_MIN_BYTES:
            continue
        # Line ends may have become spaces on the way.
        found = re.search(r"\s+".join(map(re.escape, stretch.split())), text)
        if found:
            return found.span()
    return None


def _end(match: re.Match[str] | None) -> int:
    return match.end() if match else 0
