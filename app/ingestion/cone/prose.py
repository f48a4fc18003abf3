"""Claims of prose and of lists: one per sentence, each item under what it belongs to. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from app.ingestion.cone.claim import Claim, listed, together
from app.ingestion.cone.limits import ConeLimits
from app.ingestion.cone.lookup import Lookup
from app.ingestion.cone.phrases import bounded, is_han_text, pieces, run_on, under, width
from app.ingestion.cone.reported import with_speakers
from app.ingestion.cone.sections import Line, Passage, bare, plain_line
from app.ingestion.cone.view import SentenceView
from app.text.markdown import strip_marks

_ENDS: Final = frozenset(".!?。！？…\"'”’」』)）:：;；")
_PROPERTY = re.compile(r"^([\w\- ]{1,40})::\s*")
_CALLOUT = re.compile(r"^\[!\w+\][+-]?\s*")
_HEAD_IN_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+#{1,6}[ \t]")
_ONLY_IMAGE = re.compile(r"^\s*(?:[-*+>]\s+)*(?:!\[[^\]\n]*\]\([^)\n]*\)|!\[\[[^\]\n]*\]\])(?:\{[^}\n]*\})?\s*$")
_COMPOUND = re.compile(r"(?:, (?:and|but|while|whereas)|;) (?=[A-Z])")
_DEPENDENT = re.compile(
    r"(?:I|He|She|It|They|We|You|His|Her|Its|Their|Our|This|That|These|Those|The|A|An|My|Your|There|Here)\b"
)
_LEANS = re.compile(
    r"(?:It|It's|This|That|That's|These|Those|They|They're|He|She|Such|So|But|And|Also|Otherwise)\b(?! is why\b)"
    r"|[他她它]|[这那](?![个些]?[人年天月])|该|其(?!实|他|中)|此|但|而且|所以|因此|否则|也就是"
)
_FIELD = re.compile(r"[\w\- ]{1,24}: \S")
_LEANING_WORDS: Final = 45.0
_FRAGMENT: Final = 4.0
_SHORT_ITEM: Final = 9.0
_TINY_ITEM: Final = 4.0
_MANY_ITEMS: Final = 6
_WRAPPED_CHARS: Final = 56
_COMPOUND_WORDS: Final = 14.0


def line_claims(passage: Passage, context: str, at: Lookup, limits: ConeLimits) -> Iterator[Claim]:
    """`context` stands in front of items that are under nothing nearer: an item, a line that leads in."""
    prose: list[Line] = []
    items: list[Line] = []
    introduction = ""
    for line in passage.lines:
        if line.depth:
            if prose:
                yield from _prose_claims(prose, context, at, limits)
                introduction = _introduction(prose[-1], at, limits)
                prose = []
            items.append(line)
        else:
            if items:
                yield from _item_claims(items, introduction or context, at, limits)
                items, introduction = [], ""
            prose.append(line)
    if prose:
        yield from _prose_claims(prose, context, at, limits)
    if items:
        yield from _item_claims(items, introduction or context, at, limits)


def _prose_claims(lines: Sequence[Line], context: str, at: Lookup, limits: ConeLimits) -> Iterator[Claim]:
    """Under a line that is a label ("Limits:") stands what follows it; the last one leads into the next passage."""
    group: list[Line] = []
    label = ""
    for line in lines:
        text = plain_line(at.content, line.start, line.end)
        if not is_label(text):
            group.append(line)
            continue
        yield from _paragraph(group, label or context, bool(label), at, limits)
        group, label = [], text.rstrip(":： ")
    yield from _paragraph(group, label or context, bool(label), at, limits)


def _paragraph(lines: Sequence[Line], context: str, labelled: bool, at: Lookup, limits: ConeLimits) -> Iterator[Claim]:
    """What is no full sentence says what it is under; what leans on the sentence before joins it."""
    least = _SHORT_ITEM if labelled else _FRAGMENT
    for claim in with_speakers(_leaning_joined(sentence_claims(lines, at, limits)), at):
        if is_label(claim.said) and not claim.weight:
            # It leads into what follows, which says so.
            continue
        short = width(claim.text) < least or _FIELD.match(claim.said) is not None
        yield replace(claim, text=under(context, claim.text)) if short else claim


def _leaning_joined(claims: Iterable[Claim]) -> Iterator[Claim]:
    """What points back, or ends a quote, together with what it points to."""
    last: Claim | None = None
    for claim in claims:
        points_back = last is not None and (leans(claim.said) or last.said.count("“") > last.said.count("”"))
        if last is not None and points_back and width(last.said) + width(claim.said) <= _LEANING_WORDS:
            last = together(last, claim)
            continue
        if last is not None:
            yield last
        last = claim
    if last is not None:
        yield last


def introduction(passage: Passage, at: Lookup, limits: ConeLimits) -> str:
    """The sentence at the end of a passage of prose that leads into what follows: it ends in a colon."""
    if not passage.lines or passage.lines[-1].depth:
        return ""
    return _introduction(passage.lines[-1], at, limits)


def leans(text: str) -> bool:
    """Whether it opens with a word that points back."""
    return _LEANS.match(text) is not None


def sentence_claims(lines: Sequence[Line], at: Lookup, limits: ConeLimits) -> Iterator[Claim]:
    """One claim per sentence; neighbouring fragments are one; compounds and the very long fall apart."""
    fragments: list[Claim] = []
    for claim in _sentences(lines, at):
        if width(claim.said) < _FRAGMENT:
            fragments.append(claim)
            if len(fragments) * _FRAGMENT < limits.point_words / 3:
                continue
            claim, fragments = listed(fragments), []
            yield claim
            continue
        if fragments:
            yield listed(fragments)
            fragments = []
        for half in halves(claim.said):
            for piece in pieces(half, limits.point_words):
                yield replace(claim, text=piece, said=piece)
    if fragments:
        yield listed(fragments)


def halves(text: str) -> list[str]:
    """The sides of a compound sentence where each names what it is about, else the sentence."""
    if width(text) < _COMPOUND_WORDS:
        return [text]
    for match in _COMPOUND.finditer(text):
        left, right = text[: match.start()].strip(), text[match.end() :].strip()
        if width(left) >= 6 and width(right) >= 6 and not _DEPENDENT.match(right):
            return [left + ("." if left[-1].isalnum() else ""), *halves(right)]
    return [text]


# -------------------------------------------------------------------------------------- items


def _item_claims(lines: Sequence[Line], context: str, at: Lookup, limits: ConeLimits) -> Iterator[Claim]:
    parents: list[str] = []
    tiny: list[Claim] = []
    tiny_under = ""
    many = sum(_is_tiny(line, at) for line in lines) > _MANY_ITEMS
    for i, line in enumerate(lines):
        text = plain_line(at.content, line.start, line.end)
        if line.bullet:
            del parents[line.depth - 1 :]
            above = _nearest(parents) or context
            parents += [""] * (line.depth - 1 - len(parents)) + [_as_parent(text, limits)]
        else:
            above = _nearest(parents) or context
        following = lines[i + 1] if i + 1 < len(lines) else None
        has_children = following is not None and following.bullet and following.depth > line.depth
        if has_children and line.bullet and (_is_head(line, at) or is_label(text) or width(text) < _FRAGMENT):
            # Its children say it.
            continue
        if many and not has_children and _is_tiny(line, at):
            if tiny and (tiny_under != above or sum(width(c.said) for c in tiny) > 16):
                yield _under_all(tiny, tiny_under)
                tiny = []
            tiny_under = above
            tiny += sentence_claims([line], at, limits)
            continue
        if tiny:
            yield _under_all(tiny, tiny_under)
            tiny = []
        for claim in with_speakers(_leaning_joined(sentence_claims([line], at, limits)), at):
            yield _standing(claim, above, at, limits)
    if tiny:
        yield _under_all(tiny, tiny_under)


def _standing(claim: Claim, above: str, at: Lookup, limits: ConeLimits) -> Claim:
    """Items that are short, or name nothing, say what they are under."""
    dependent = (
        width(claim.said) < _SHORT_ITEM
        or claim.said[:1].islower()
        or leans(claim.said)
        or _FIELD.match(claim.said) is not None
    )
    if not dependent and (claim.weight or at.names(claim.start, claim.end)):
        return claim
    return replace(claim, text=bounded(under(above, claim.text), limits.point_words + limits.title_words))


def _under_all(claims: list[Claim], above: str) -> Claim:
    """Items of a word or two together: each alone would say as good as nothing."""
    one = listed(claims)
    return replace(one, text=under(above, one.said))


def _nearest(parents: Sequence[str]) -> str:
    return next((parent for parent in reversed(parents) if parent), "")


def _as_parent(text: str, limits: ConeLimits) -> str:
    return bounded(text, limits.title_words).rstrip(":： ")


def _introduction(line: Line, at: Lookup, limits: ConeLimits) -> str:
    """The sentence that leads into the list below it."""
    last = at.sentences(line.start, line.end)[-1:]
    if not last:
        return ""
    text = strip_marks(at.content[last[0].start : last[0].end])
    return _as_parent(text, limits) if text.endswith((":", "：")) else ""


def _is_head(line: Line, at: Lookup) -> bool:
    return _HEAD_IN_ITEM.search(at.content, line.start, line.end) is not None


def is_label(text: str) -> bool:
    """A short line that ends in a colon: it says nothing but what follows is about."""
    return text.endswith((":", "：")) and width(text) <= _SHORT_ITEM


def _is_tiny(line: Line, at: Lookup) -> bool:
    return (
        line.bullet and line.end - line.start < 80 and width(plain_line(at.content, line.start, line.end)) < _TINY_ITEM
    )


# ---------------------------------------------------------------------------------- sentences


def _sentences(lines: Sequence[Line], at: Lookup) -> Iterator[Claim]:
    """Sentences as they stand, those that a line end cut in two joined again."""
    pending: Claim | None = None
    for line in lines:
        if _ONLY_IMAGE.match(at.content[line.start : line.end]):
            continue
        for sentence in _whole_links(at.sentences(line.start, line.end)):
            claim = _claim(sentence, at)
            if not claim.said:
                continue
            if pending is not None and _goes_on(pending, claim, at.content):
                pending = together(pending, claim, run_on(pending.said, claim.said))
                continue
            if pending is not None:
                yield pending
            pending = claim
    if pending is not None:
        yield pending


def _whole_links(sentences: Iterable[SentenceView]) -> Iterator[SentenceView]:
    """A question mark within the text of a link ends no sentence."""
    last: SentenceView | None = None
    for sentence in sentences:
        if last is not None and "](" in sentence.text and last.text.count("[") > last.text.count("]"):
            last = replace(last, end=sentence.end, text=last.text + sentence.text, times=last.times + sentence.times)
            continue
        if last is not None:
            yield last
        last = sentence
    if last is not None:
        yield last


def _claim(sentence: SentenceView, at: Lookup) -> Claim:
    said = bare(strip_marks(sentence.text, at.opens_line(sentence.start)))
    if said[:2] == "[!":
        said = _CALLOUT.sub("", said)
    property_ = _PROPERTY.match(said)
    if property_:
        said = f"{property_.group(1)}: {said[property_.end() :]}"
    return Claim(
        sentence.start,
        sentence.end,
        said,
        said,
        times=sentence.times,
        weight=at.weight(sentence.start, sentence.end),
    )


def _goes_on(one: Claim, two: Claim, content: str) -> bool:
    """Whether a line end fell into the middle of a sentence: not where the author broke the line (two spaces)."""
    between = content[one.end : two.start]
    if "\n" not in between or one.said[-1] in _ENDS or between.startswith("  "):
        return False
    line = content.rfind("\n", 0, one.end) + 1
    wrapped = one.end - line >= _WRAPPED_CHARS
    return one.said[-1] in ",，、" or (wrapped and (two.said[0].islower() or not is_han_text(one.said)))
