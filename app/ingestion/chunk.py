"""Cuts a card into chunks: passages that stand as evidence, each within the embedder's window.

Along the Markdown structure first, then turns of a dialogue and list items, then sentences, then
wherever it must. Pure; knows neither cards nor vectors, and counts tokens with what it is given.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from app.text.cut import good_cut
from app.text.markdown import Block, blocks
from app.text.sentences import sentences

CountTokens = Callable[[str], int]

_TURN = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{1,60}\][ \t]*)?(?:[^\s:：\[\]|#>][^:：\n]{0,39})[:：](?=\s|(?<=：)|\*\*)", re.MULTILINE
)
_GUESSES: Final = 6
_SMALL: Final = 5
"""Below target / 5 a chunk is a leftover."""
_TINY_CHARS: Final = 60
_MAX_TITLE_CHARS: Final = 120


class _Break(IntEnum):
    """How good a place in front of an atom is to begin a chunk; the lower, the better."""

    HEADING = 0
    BLOCK = 1
    ITEM = 2
    SENTENCE = 3
    ANYWHERE = 4
    GLUED = 5


@dataclass(frozen=True, slots=True)
class Chunk:
    """`text` is `content[start:end]`; `heading` the headings it stands under, its own included: `Setup > Linux`."""

    start: int
    end: int
    text: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class _Atom:
    start: int
    end: int
    tokens: int
    before: _Break
    level: int = 0
    title: str = ""


def chunk(content: str, count_tokens: CountTokens, target_tokens: int = 300, max_tokens: int = 480) -> list[Chunk]:
    """Chunks in order; between them lies white space only. Blank content has none.

    About `target_tokens` each and never more than `max_tokens`, both by `count_tokens`; code and
    tables stay whole up to `max_tokens`. Short neighbours share a chunk.
    """
    cutter = _Cutter(content, count_tokens, min(target_tokens, max_tokens), max_tokens)
    atoms = list(cutter.atoms())
    headings = _Headings(atoms)
    found: list[Chunk] = []
    for group in cutter.fit(cutter.merge_tails(cutter.pack(atoms))):
        start, end = group[0].start, group[-1].end
        found.append(Chunk(start, end, content[start:end], headings.at(group)))
    return found


class _Cutter:
    """One content and its limits; each step takes the step's before it."""

    def __init__(self, content: str, count_tokens: CountTokens, target: int, limit: int) -> None:
        self.content = content
        self.count = count_tokens
        self.target = target
        self.limit = limit

    # ------------------------------------------------------------------------------ atoms

    def atoms(self) -> Iterator[_Atom]:
        """What is never cut again, in order. Only the first atom of a block knows the block's rank."""
        glued = False
        for block in blocks(self.content):
            for i, atom in enumerate(self._block_atoms(block)):
                yield replace(atom, before=_Break.GLUED) if glued and not i and block.kind != "heading" else atom
            glued = block.kind == "heading"

    def _block_atoms(self, block: Block) -> Iterator[_Atom]:
        tokens = self.count(self.content[block.start : block.end])
        if block.kind == "heading":
            yield from self._pieces(block.start, block.end, tokens, _Break.HEADING, block.level, block.title)
        elif tokens <= (self.limit if block.kind in ("code", "table") else self.target):
            yield _Atom(block.start, block.end, tokens, _Break.BLOCK)
        else:
            before = _Break.BLOCK
            for start, end, rank in self._parts(block):
                yield from self._pieces(start, end, None, before if before is _Break.BLOCK else rank)
                before = rank

    def _parts(self, block: Block) -> Iterator[tuple[int, int, _Break]]:
        """A block that is too long in its natural parts, each with the rank of the break before it."""
        if block.kind in ("code", "table"):
            for start, end in _not_tiny(_line_spans(self.content, block.start, block.end)):
                yield start, end, _Break.SENTENCE
            return
        for start, end in _not_tiny(block.items or _turns(self.content, block.start, block.end)):
            if self.count(self.content[start:end]) <= self.target:
                yield start, end, _Break.ITEM
                continue
            rank = _Break.ITEM
            for first, last in _not_tiny(sentences(self.content[start:end])):
                yield start + first, start + last, rank
                rank = _Break.SENTENCE

    def _pieces(
        self, start: int, end: int, tokens: int | None, before: _Break, level: int = 0, title: str = ""
    ) -> Iterator[_Atom]:
        """content[start:end] as one atom, or as several where it is above the limit."""
        while start < end:
            stop = end
            if tokens is None or tokens > self.limit:
                stop, tokens = self._fitting(start, end)
            if stop < end and self.content[start].isspace():
                # What is cut does not begin with its indentation, which might be all that fits.
                start, tokens = _skip_blank(self.content, start, end), None
                continue
            yield _Atom(start, stop, tokens, before, level, title)
            before, level, title, tokens = _Break.ANYWHERE, 0, "", None
            start = _skip_blank(self.content, stop, end)

    def _fitting(self, start: int, end: int) -> tuple[int, int]:
        """(stop, tokens of content[start:stop]): `end` if that fits, else a good place to cut not far below the limit.

        Looks at a few times the limit only, so that a long text without any break stays linear.
        """
        length = end - start
        fits, size = 0, min(length, 4 * self.limit)
        tokens = self.count(self.content[start : start + size])
        while tokens <= self.limit and size < length:
            fits, size = size, min(length, 2 * size)
            tokens = self.count(self.content[start : start + size])
        if tokens <= self.limit:
            return end, tokens
        for _ in range(_GUESSES):
            guess = min(max(fits + 1, size * self.limit * 19 // (tokens * 20)), size - 1)
            if guess <= fits:
                break
            guessed = self.count(self.content[start : start + guess])
            if guessed > self.limit:
                size, tokens = guess, guessed
            else:
                fits = guess
                if guessed * 10 >= self.limit * 8:
                    break
        # A count far from proportional to length: halve until it fits, or one character is left.
        size = fits or size
        while not fits and size > 1:
            size //= 2
            fits = size if self.count(self.content[start : start + size]) <= self.limit else 0
        stop = good_cut(self.content, start, start + max(1, fits))
        return stop, self.count(self.content[start:stop])

    # ---------------------------------------------------------------------------- groups

    def pack(self, atoms: Sequence[_Atom]) -> list[list[_Atom]]:
        """Atoms in chunks of about the target, cut at the best break in the second half of each."""
        sections = _section_tokens(atoms)
        groups: list[list[_Atom]] = []
        current: list[_Atom] = []
        total = 0
        for atom, section in zip(atoms, sections, strict=True):
            if atom.before is _Break.HEADING:
                if total + section > self.target and not (total <= self.target and all(a.level for a in current)):
                    cut = _before_last_headings(current)
                    groups.append(current[:cut])
                    current = current[cut:]
                    total = sum(a.tokens for a in current)
            else:
                while current and total + atom.tokens > self.target and not self._keeps(current, total, atom):
                    cut = self._best_cut(current, atom)
                    groups.append(current[:cut])
                    current = current[cut:]
                    total = sum(a.tokens for a in current)
            current.append(atom)
            total += atom.tokens
        if current:
            groups.append(current)
        return groups

    def _keeps(self, current: Sequence[_Atom], total: int, atom: _Atom) -> bool:
        """Whether `atom` joins although it exceeds the target: after bare headings, or a line that introduces it."""
        introduces = total * _SMALL <= self.target or (total <= self.target and all(a.level for a in current))
        return introduces and total + atom.tokens <= self.limit

    def _best_cut(self, current: Sequence[_Atom], atom: _Atom) -> int:
        """How many of `current` make the chunk when `atom` does not fit any more."""
        best, rank = len(current), atom.before
        size = 0
        for i, candidate in enumerate(current):
            if i and (2 * size >= self.target or atom.before is _Break.GLUED) and candidate.before < rank:
                best, rank = i, candidate.before
            size += candidate.tokens
        return best

    def merge_tails(self, groups: Sequence[list[_Atom]]) -> list[list[_Atom]]:
        """A leftover much smaller than the target goes to the chunk before it, unless it opens a section."""
        merged: list[list[_Atom]] = []
        size = 0
        for group in groups:
            tokens = sum(a.tokens for a in group)
            small = tokens * _SMALL <= self.target and group[0].before is not _Break.HEADING
            if merged and small and size + tokens <= self.limit:
                merged[-1] = merged[-1] + group
                size += tokens
            else:
                merged.append(group)
                size = tokens
        return merged

    def fit(self, groups: Sequence[list[_Atom]]) -> Iterator[list[_Atom]]:
        """The groups, halved where their real count, white space included, is above the limit."""
        for group in groups:
            tokens = self.count(self.content[group[0].start : group[-1].end]) if len(group) > 1 else 0
            if tokens <= self.limit:
                yield group
            else:
                middle = len(group) // 2
                yield from self.fit([group[:middle], group[middle:]])


class _Headings:
    """Which headings an atom stands under."""

    def __init__(self, atoms: Sequence[_Atom]) -> None:
        self._starts: list[int] = []
        self._paths: list[str] = []
        open_: dict[int, str] = {}
        for atom in atoms:
            if atom.level:
                open_ = {level: title for level, title in open_.items() if level < atom.level}
                open_[atom.level] = atom.title[:_MAX_TITLE_CHARS]
                self._starts.append(atom.start)
                self._paths.append(" > ".join(filter(None, open_.values())))

    def at(self, group: Sequence[_Atom]) -> str:
        first = next((a for a in group if not a.level), group[-1])
        i = bisect.bisect_right(self._starts, first.start) - 1
        return self._paths[i] if i >= 0 else ""


def _before_last_headings(atoms: Sequence[_Atom]) -> int:
    """How many atoms come before the headings at the end, which belong to what follows; all of them if none does."""
    for i in range(len(atoms), 0, -1):
        if not atoms[i - 1].level:
            return i
    return len(atoms)


def _section_tokens(atoms: Sequence[_Atom]) -> list[int]:
    """For each atom the tokens from it to the next heading."""
    sums = [0] * len(atoms)
    total = 0
    for i in range(len(atoms) - 1, -1, -1):
        total += atoms[i].tokens
        sums[i] = total
        if atoms[i].before is _Break.HEADING:
            total = 0
    return sums


def _not_tiny(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Neighbours joined up to a handful of words: counting tokens one word at a time would cost seconds."""
    start, end = -1, -1
    for first, last in spans:
        if start >= 0 and last - start > _TINY_CHARS:
            yield start, end
            start = -1
        if start < 0:
            start = first
        end = last
    if start >= 0:
        yield start, end


def _line_spans(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for line in content[start:end].splitlines(keepends=True):
        text = line.rstrip()
        if text:
            yield start, start + len(text)
        start += len(line)


def _turns(content: str, start: int, end: int) -> list[tuple[int, int]]:
    """The turns of a dialogue (`[time] Speaker: …`), or the whole where it is none."""
    opens = [m.start() for m in _TURN.finditer(content, start, end)]
    if len(opens) < 2 or 2 * len(opens) <= content.count("\n", start, end):
        return [(start, end)]
    edges = [start, *(at for at in opens if at > start), end]
    spans = ((a, a + len(content[a:b].rstrip())) for a, b in itertools.pairwise(edges))
    return [(a, b) for a, b in spans if a < b]


def _skip_blank(content: str, start: int, end: int) -> int:
    while start < end and content[start].isspace():
        start += 1
    return start
