"""The structure of a card: sections under their headings, in them passages of prose, lists, tables, code and turns.

Pure. Offsets are characters of the content. Knows no claims: it says where text lies and what it lies under.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from app.ingestion.cone.phrases import is_han_text, width
from app.ingestion.cone.view import TurnView
from app.text.markdown import Block, blocks, strip_marks
from app.text.sentences import sentences

PassageKind = Literal["prose", "list", "table", "code", "turns"]

_LINE = re.compile(r"[^\r\n]+")
_BULLET = re.compile(r"([ \t>]*)(?:[-*+•]|\d{1,3}[.)])(?:[ \t]+|$)")
_INNER_MARKS = re.compile(r"^(?:#{1,6}[ \t]+|>[ \t]*|%%)+|%%$")
_SEPARATOR = re.compile(r"[\s|:\-]+$")
_ADMONITION = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*ad-")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(```|~~~)")
_PROSE_ENDS: Final = frozenset(".。！？!?：；…”")
_MAX_DEPTH: Final = 12
_LONG_LINE: Final = 3_000


@dataclass(frozen=True, slots=True)
class Line:
    """One line of prose, a list or a table; `depth` 0 is no item, 1 an item of the outermost list."""

    start: int
    end: int
    depth: int = 0
    bullet: bool = False
    code: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """What belongs together closely: a paragraph, an item with all below it, a table, a block of code, some turns."""

    kind: PassageKind
    start: int
    end: int
    lines: tuple[Line, ...] = ()
    turns: tuple[TurnView, ...] = ()
    words: float = 0.0


@dataclass(slots=True)
class Section:
    """`path`: the headings it stands under, outermost first; `level` that of its own, 0 before the first."""

    path: tuple[str, ...]
    level: int
    start: int
    end: int
    passages: list[Passage] = field(default_factory=list)


def sections(content: str, turns: Sequence[TurnView] = (), group_words: float = 110.0) -> list[Section]:
    """Sections in order, those without a text of their own among them."""
    found: list[Section] = []
    open_: dict[int, str] = {}
    current = Section((), 0, 0, 0)
    said = _Turns(turns)
    for block in blocks(content):
        if block.kind == "rule":
            continue
        if block.kind == "heading":
            found.append(current)
            open_ = {level: title for level, title in open_.items() if level < block.level}
            open_[block.level] = block.title.rstrip(":： ")
            current = Section(tuple(filter(None, open_.values())), block.level, block.start, block.end)
            continue
        current.end = block.end
        current.passages.extend(_passages(content, block, said, group_words))
    found.append(current)
    return [section for section in found if section.passages or section.level]


def _passages(content: str, block: Block, said: _Turns, group_words: float) -> Iterator[Passage]:
    if block.kind == "table":
        yield from _table_passages(content, block.start, block.end, group_words)
        return
    if block.kind == "code" and _is_code(content[block.start : block.end]):
        yield _code_passage(content, block.start, block.end, group_words)
        return
    turns = said.within(block.start, block.end)
    if not turns:
        yield from _text_passages(content, block.start, block.end, group_words)
        return
    if turns[0].start > block.start:
        yield from _text_passages(content, block.start, turns[0].start, group_words)
    yield from _turn_passages(content, turns, group_words)


def _code_passage(content: str, start: int, end: int, group_words: float) -> Passage:
    return Passage("code", start, end, words=min(group_words, width(content[start:end])))


def _table_passages(content: str, start: int, end: int, group_words: float) -> Iterator[Passage]:
    """The rows by `group_words`, each time with the header as the first line."""
    lines = [Line(*match.span()) for match in _LINE.finditer(content, start, end)]
    rows = [line for line in lines if not _SEPARATOR.match(content, line.start, line.end)]
    header = rows[:1]
    group: list[Line] = []
    total = 0.0
    for row in rows[1:] or rows:
        words = width(content[row.start : row.end])
        if group and total + words > group_words:
            yield Passage("table", group[0].start, group[-1].end, (*header, *group), words=total)
            group, total = [], 0.0
        group.append(row)
        total += words
    if group:
        yield Passage("table", group[0].start, group[-1].end, (*header, *group), words=total)


def _is_code(text: str) -> bool:
    """Fenced, or indented and not prose: what stands four spaces in, under an item, is often just its text."""
    if _FENCE.match(text):
        return not _ADMONITION.match(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    prose = sum(_BULLET.match(line) is not None or line[-1] in _PROSE_ENDS or is_han_text(line) for line in lines)
    return prose * 2 < len(lines)


def _turn_passages(content: str, turns: Sequence[TurnView], group_words: float) -> Iterator[Passage]:
    """Turns in groups of similar width; a group does not begin with the answer to the last one's question."""
    widths = [width(content[turn.start : turn.end]) for turn in turns]
    parts = max(1, round(sum(widths) / group_words))
    target = sum(widths) / parts
    group: list[TurnView] = []
    total = 0.0
    for i, (turn, words) in enumerate(zip(turns, widths, strict=True)):
        group.append(turn)
        total += words
        asks = content[turn.start : turn.end].rstrip().endswith(("?", "？"))
        if total >= target and not (asks and total < 1.5 * target) and i + 1 < len(turns):
            yield Passage("turns", group[0].start, group[-1].end, turns=tuple(group), words=total)
            group, total = [], 0.0
    if group:
        yield Passage("turns", group[0].start, group[-1].end, turns=tuple(group), words=total)


def _text_passages(content: str, start: int, end: int, group_words: float) -> Iterator[Passage]:
    """Prose and lists in passages, fenced code apart."""
    lines: list[Line] = []
    for read in _read_lines(content, start, end):
        if read.code:
            yield from _grouped(content, lines, group_words)
            lines = []
            yield _code_passage(content, read.start, read.end, group_words)
        else:
            lines += _parts(content, read)
    yield from _grouped(content, lines, group_words)


def _read_lines(content: str, start: int, end: int) -> Iterator[Line]:
    """The lines that say something, each with its depth in the list; a fenced block is one line of code."""
    fence: tuple[str, int] | None = None
    admonished = False
    depths: list[int] = []
    for match in _LINE.finditer(content, start, end):
        first, last = match.span()
        mark = _FENCE.match(content, first, last)
        if fence is not None:
            if mark and mark.group(1) == fence[0]:
                yield Line(fence[1], last, code=True)
                fence = None
        elif mark and (admonished or _ADMONITION.match(content, first, last)):
            admonished = not admonished
        elif mark:
            fence = mark.group(1), first
        elif bullet := _BULLET.match(content, first, last):
            indent = _indent(bullet.group(1))
            while depths and depths[-1] >= indent:
                depths.pop()
            if len(depths) < _MAX_DEPTH:
                depths.append(indent)
            yield Line(first, last, len(depths), True)
        elif content[first:last].strip(" \t>"):
            # Below an item all lines of its block go on with it.
            yield Line(first, last, len(depths))
    if fence is not None:
        yield Line(fence[1], end, code=True)


def _parts(content: str, line: Line) -> Iterator[Line]:
    """A line that is a whole chapter in several, cut where sentences end."""
    if line.end - line.start <= _LONG_LINE:
        yield line
        return
    start = line.start
    for _, last in sentences(content[line.start : line.end]):
        if line.start + last - start >= _LONG_LINE // 2:
            yield Line(start, line.start + last, line.depth, line.bullet and start == line.start)
            start = line.start + last
    if start < line.end:
        yield Line(start, line.end, line.depth, line.bullet and start == line.start)


def _grouped(content: str, lines: list[Line], group_words: float) -> Iterator[Passage]:
    """Lines in passages of about `group_words`: a list is cut between its outermost items, prose behind a sentence."""
    group: list[Line] = []
    total = 0.0
    for line in lines:
        words = width(content[line.start : line.end])
        if group and total + words > group_words and _opens(content, group[-1], line):
            yield _passage(group, total)
            group, total = [], 0.0
        group.append(line)
        total += words
    if group:
        yield _passage(group, total)


def _opens(content: str, last: Line, line: Line) -> bool:
    if line.depth:
        return line.bullet and line.depth == 1
    return content[last.end - 1] in _PROSE_ENDS


def _passage(lines: list[Line], words: float) -> Passage:
    kind: PassageKind = "list" if any(line.bullet for line in lines) else "prose"
    return Passage(kind, lines[0].start, lines[-1].end, tuple(lines), words=words)


def _indent(lead: str) -> int:
    return sum(4 if ch == "\t" else 1 for ch in lead if ch in " \t")


class _Turns:
    """The card's turns by place."""

    def __init__(self, turns: Sequence[TurnView]) -> None:
        self._turns = sorted(turns, key=lambda t: t.start)
        self._starts = [turn.start for turn in self._turns]

    def within(self, start: int, end: int) -> list[TurnView]:
        first = bisect.bisect_left(self._starts, start)
        return self._turns[first : bisect.bisect_left(self._starts, end)]


def plain_line(content: str, start: int, end: int) -> str:
    """A line without its marks."""
    return bare(strip_marks(content[start:end]))


def bare(text: str) -> str:
    """`text` without the marks that a list item may have within its own: "# Title", "> quoted"."""
    return _INNER_MARKS.sub("", text)
