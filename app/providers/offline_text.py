"""Sentences that can be quoted: what a Markdown text says, without the marks around it.

Pure. A quote is a piece of the text as it stands, so that it can be found there again; only the marks
at its edges and the bars of table rows are gone. Knows nothing of questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Splitter = Callable[[str], Sequence[tuple[int, int]]]
"""Text to the spans (start, end) of its sentences; a line end is always a boundary."""

MAX_QUOTE_CHARS: Final = 400

Kind = Literal["prose", "table", "code", "heading"]

# All of these see stripped lines. None may take more than linear time: notes are written by anyone.
_FENCE = re.compile(r"`{3,}|~{3,}")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
# Rules, table separators, link definitions, properties (key:: value), and lines of nothing but images, links or tags.
_NOISE = re.compile(
    r"""(?:[-*_=]\s*){3,}$
    | \|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-+:?\s*)?$
    | \[[^\]]+\]:\s*\S+
    | [\w-]+::(?:\s|$)
    | (?:>\s*)*(?:[-*+]\s+)?
      (?:(?:!?\[\[[^\]]*\]\]|!\[[^\]]*\]\([^)]*\)|<[^>]*>|(?:\#[^\s\#]+|https?://\S+)(?=\s|$))\s*)+$""",
    re.VERBOSE,
)
_LEAD = re.compile(
    r"\s*(?:>\s*)*(?:\[![\w-]+\][+-]?\s*)?(?:(?:[-*+•]|\d{1,3}[.)])\s+|\d{1,2}、)?(?:\[[ xX]\]\s+)?(?:📌\s*)?"
)
_TRAIL = re.compile(r"(?:\s\^[A-Za-z0-9-]{1,40}|\[\^?[A-Z]?\d{1,3}\])$")
_MARKER = re.compile(r"\[\^?[A-Z]?\d{1,3}\](?!\()")
_LINK_ONLY = re.compile(r"\[[^\]]*\]\([^()\s]*\)\W*$")
_FRONTMATTER = re.compile(r"\A---\n(?:[\w-][\w -]*:.*\n|[ \t-].*\n)+---[ \t]*\n")
_PAIRED = ("**", "__", "==", "~~", "%%")
_CLAUSE_END = re.compile(r"[；;](?!\d)|[，,、](?!\d)|\s[—–-]\s")
_SENTENCE_ENDS: Final = frozenset('.!?。！？:：;；…"”’）)]|')
_LETTER = re.compile(r"[^\W_]")
_WRAPPED_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Sentence:
    """A quotable sentence; `position` counts from 0 in its text, `heading` is the one above it."""

    text: str
    position: int
    heading: str
    kind: Kind


def quotable(text: str, split: Splitter) -> list[Sentence]:
    """The sentences of `text` in order. Headings are quoted only where there is nothing else."""
    found: list[Sentence] = []
    headings: list[Sentence] = []
    heading = ""
    for kind, block in _blocks(text):
        if kind == "heading":
            heading = block[:MAX_QUOTE_CHARS]
            headings.append(Sentence(heading, len(headings), "", kind))
            continue
        for piece in _split(block, split) if kind == "prose" else _clauses(block):
            quote = _trim(piece) if kind == "prose" else piece.strip()
            if _LETTER.search(quote):
                found.append(Sentence(quote, len(found), heading, kind))
    return found or headings


def is_link(text: str) -> bool:
    """Whether a quote is a link and nothing else."""
    return _LINK_ONLY.match(text) is not None


def has_marker(text: str) -> bool:
    """Whether a quote holds something that reads like a citation of ours, such as a footnote's `[2]`."""
    return _MARKER.search(text) is not None


def without_markers(text: str) -> str:
    return re.sub(r"\s?" + _MARKER.pattern, "", text)


def _blocks(text: str) -> Iterator[tuple[Kind, str]]:
    """Lines by kind, with hard-wrapped lines of prose put together (their line ends stay)."""
    fence = ""
    prose: list[str] = []
    for raw in _FRONTMATTER.sub("", text).splitlines():
        line = raw.strip()
        mark = _FENCE.match(line)
        if prose and (not line or mark or fence or not _continues(prose[-1], raw)):
            yield "prose", "\n".join(prose)
            prose.clear()
        if mark and (not fence or line.startswith(fence)):
            fence = "" if fence else mark.group()
        elif fence:
            if line:
                yield "code", line
        elif line and not _NOISE.match(line):
            heading = _HEADING.match(line)
            if heading:
                yield "heading", heading.group(1).rstrip("#").rstrip()
            elif line.startswith("|"):
                yield "table", " ".join(cell for cell in map(str.strip, line.split("|")) if cell)
            elif prose:
                prose.append(raw)
            else:
                prose.append(raw[_end(_LEAD.match(raw)) :])
    if prose:
        yield "prose", "\n".join(prose)


def _continues(previous: str, line: str) -> bool:
    """Whether `line` goes on with the sentence that the line before broke off at its end."""
    return len(previous) >= _WRAPPED_CHARS and previous.rstrip()[-1:] not in _SENTENCE_ENDS and line[:1].islower()


def _split(block: str, split: Splitter) -> Iterator[str]:
    for start, end in split(block.replace("\n", " ")):
        if end - start <= MAX_QUOTE_CHARS:
            yield block[start:end]
        else:
            yield from _clauses(block[start:end])


def _clauses(sentence: str) -> Iterator[str]:
    """A sentence that is too long, in pieces that end where a clause does, or else at a space or anywhere."""
    start = 0
    while len(sentence) - start > MAX_QUOTE_CHARS:
        ends = [m.end() for m in _CLAUSE_END.finditer(sentence, start, start + MAX_QUOTE_CHARS)]
        end = ends[-1] if ends else sentence.rfind(" ", start, start + MAX_QUOTE_CHARS)
        end = end if end > start else start + MAX_QUOTE_CHARS
        yield sentence[start:end]
        start = end
    yield sentence[start:]


def _trim(piece: str) -> str:
    piece = piece[_end(_LEAD.match(piece)) :].rstrip()
    while trail := _TRAIL.search(piece, max(0, len(piece) - 50)):
        piece = piece[: trail.start()].rstrip()
    for mark in _PAIRED:
        if piece.count(mark) % 2:  # its partner is in another sentence
            piece = piece.removeprefix(mark).removesuffix(mark)
        elif piece.startswith(mark) and piece.endswith(mark) and piece.count(mark) == 2:
            piece = piece[len(mark) : -len(mark)]
    return piece.strip()


def _end(match: re.Match[str] | None) -> int:
    return match.end() if match else 0
