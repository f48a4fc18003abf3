"""Claims of what is laid out rather than written: the rows of a table, a block of code. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.ingestion.cone.claim import Claim
from app.ingestion.cone.limits import ConeLimits
from app.ingestion.cone.lookup import Lookup
from app.ingestion.cone.phrases import bounded, is_han_text, pieces, under
from app.ingestion.cone.sections import Passage
from app.text.markdown import strip_marks

_CELL = re.compile(r"(?<!\\)\|(?![^\[\]\n]{0,200}\]\])")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(?:`{3,}|~{3,})[ \t]*([\w+#.-]*)")
_KEYWORD_LIST = """
    def class import from return self none true false for while with async await const let var function public private
    static void int str string bool float new this print the and not else elif try except raise pass lambda yield end
    then echo sudo null type struct func package use mut impl pub fn export default char long double final select where
    insert into values update set delete create table"""
_KEYWORDS: Final = frozenset(_KEYWORD_LIST.split())
_MAX_IDENTIFIERS: Final = 12
_READ_CHARS: Final = 20_000


def row_claims(passage: Passage, at: Lookup, limits: ConeLimits) -> Iterator[Claim]:
    """`header: value; …` for each row below the first line; a table of one line is its header."""
    header = _cells(at.content[passage.lines[0].start : passage.lines[0].end]) if passage.lines[1:] else []
    for row in passage.lines[1:] or passage.lines:
        cells = _cells(at.content[row.start : row.end])
        if not any(cells) or cells == header:
            continue
        han = is_han_text("".join(cells))
        named = [(header[i] if i < len(header) else "", cell) for i, cell in enumerate(cells) if cell]
        text = ("；" if han else "; ").join(f"{h}{'：' if han else ': '}{cell}" if h else cell for h, cell in named)
        times = tuple(time for sentence in at.sentences(row.start, row.end) for time in sentence.times)
        for piece in pieces(text, limits.point_words):
            yield Claim(row.start, row.end, piece, piece, times=times, weight=at.weight(row.start, row.end))


def _cells(line: str) -> list[str]:
    return [strip_marks(cell, False) for cell in _CELL.split(line.strip().strip("|"))]


def code_claim(passage: Passage, context: str, at: Lookup) -> Iterator[Claim]:
    """The language and the identifiers, not the code."""
    fence = _FENCE.match(at.content, passage.start, passage.end)
    language = fence.group(1) if fence else ""
    body = at.content[fence.end() if fence else passage.start : min(passage.end, passage.start + _READ_CHARS)]
    names: dict[str, None] = {}
    for match in _IDENTIFIER.finditer(body):
        if match.group().lower() not in _KEYWORDS:
            names[match.group()] = None
            if len(names) == _MAX_IDENTIFIERS:
                break
    shown = ", ".join(names) or bounded(" ".join(body.strip(" `~\r\n").split()), 20)
    if not shown:
        return
    kind = f"{language} {'代码' if is_han_text(context) else 'code'}".strip()
    said = under(kind, shown)
    yield Claim(
        passage.start,
        passage.end,
        under(context, said),
        said,
        weight=at.weight(passage.start, passage.end),
        quotable=False,
    )
