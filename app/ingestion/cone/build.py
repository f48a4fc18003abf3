"""From a card to its cone without a model: episodes, their facets, the facets' points.

Pure and extractive: every word is the card's own. What is in the text (sentences, turns, entities, times) comes as a
`CardView`; this file decides what belongs together and what it is called.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.ingestion.cone.claim import Claim
from app.ingestion.cone.claims import passage_claims
from app.ingestion.cone.dates import is_day
from app.ingestion.cone.limits import DEFAULT_LIMITS, ConeLimits
from app.ingestion.cone.lookup import Lookup
from app.ingestion.cone.phrases import bounded, is_small_talk, joined, lead, says_something, width
from app.ingestion.cone.prose import introduction, leans
from app.ingestion.cone.roles import roles
from app.ingestion.cone.sections import Passage, Section, sections
from app.ingestion.cone.split import PATH, hull, split_episode, summary_of
from app.ingestion.cone.view import CardView
from app.ingestion.extract.types import EpisodeDraft, FacetDraft, PointDraft, Source, TimeRange
from app.ingestion.windows import body_start
from app.text.anchors import anchors
from app.text.markdown import plain
from app.text.normalise import name_key


@dataclass(frozen=True, slots=True)
class _Part:
    """A facet in the making."""

    title: str
    path: tuple[str, ...]
    start: int
    end: int
    claims: tuple[Claim, ...]


def build_episodes(source: Source, view: CardView, limits: ConeLimits = DEFAULT_LIMITS) -> list[EpisodeDraft]:
    """In the order of the text. None for a card whose text says nothing; a short card is one episode of one facet."""
    if not says_something(source.content):
        return []
    at = Lookup(source.content, view, anchors(source.content) if view.anchors is None else view.anchors)
    parts = _parts(source, view, at, limits)
    if not parts:
        parts = [_rest(source, limits)]
    episodes: list[EpisodeDraft] = []
    for date, group in _by_date(parts):
        title = _join(source.title.strip(), date) if date else _title(source, parts)
        episodes += split_episode(_episode(title, group, view, at, limits), limits.max_facets, limits.summary_words)
    return episodes


def _episode(title: str, parts: Sequence[_Part], view: CardView, at: Lookup, limits: ConeLimits) -> EpisodeDraft:
    facets = tuple(_facet(part, limits) for part in parts)
    return EpisodeDraft(
        title=title,
        summary=summary_of(facets, limits.summary_words, title),
        facets=facets,
        roles=roles([part.claims for part in parts], view.names, title, limits),
        happened=_happened(parts, view, at),
    )


def _facet(part: _Part, limits: ConeLimits) -> FacetDraft:
    points = tuple(
        PointDraft(claim.text, claim.start, claim.end, claim.names, claim.times, claim.speaker) for claim in part.claims
    )
    return FacetDraft(part.title, describe(part.claims, limits.description_words), points, part.start, part.end)


def describe(claims: Sequence[Claim], words: float) -> str:
    """The leading claim and those with the most anchors, in the order of the text, up to `words`."""
    texts = [claim.text if claim.speaker else claim.said for claim in claims]
    widths = [width(text) for text in texts]
    chosen: set[int] = {0}
    room = words - widths[0]
    for i in sorted(range(1, len(claims)), key=lambda i: (-claims[i].weight, i)):
        if widths[i] <= room:
            chosen.add(i)
            room -= widths[i]
    return bounded(joined([texts[i] for i in sorted(chosen)]), words)


# ------------------------------------------------------------------------------------- facets


def _parts(source: Source, view: CardView, at: Lookup, limits: ConeLimits) -> list[_Part]:
    skip = body_start(source.title, source.content)
    title = source.title.strip()
    taken: set[str] = set()
    found: list[_Part] = []
    divided = _sections(source.content, view, skip, limits)
    for section in divided:
        path = section.path[1:] if section.path and name_key(section.path[0]) == name_key(title) else section.path
        base = bounded(title, limits.title_words)
        for heading in path if sum(map(width, path)) <= limits.title_words else path[-1:]:
            base = _join(base, bounded(heading, limits.title_words))
        groups = _groups(section, limits)
        introduced = ""
        for group in groups:
            context = _context(title, path, limits)
            claims: list[Claim] = []
            for passage in group:
                claims += passage_claims(passage, introduced or context, at, limits)
                introduced = introduction(passage, at, limits)
            if not claims:
                continue
            alone = len(groups) == 1
            name = base if alone and base else _named(base, _phrase(claims, limits))
            unique = _unique(name, taken)
            found.append(_Part(unique, path, group[0].start, group[-1].end, tuple(claims)))
    return found


def _sections(content: str, view: CardView, skip: int, limits: ConeLimits) -> list[Section]:
    """Sections that have a text, without a first line that only repeats the card's title."""
    found = sections(content, view.turns, limits.group_words)
    for section in found:
        if section.start < skip:
            section.passages = [kept for p in section.passages if (kept := _behind(p, skip)) is not None]
    return [section for section in found if section.passages]


def _behind(passage: Passage, skip: int) -> Passage | None:
    if passage.end <= skip:
        return None
    if passage.start >= skip:
        return passage
    return replace(passage, lines=tuple(line for line in passage.lines if line.start >= skip))


def _groups(section: Section, limits: ConeLimits) -> list[list[Passage]]:
    """The passages of a section by facet: all of them, or such as are about `group_words` together."""
    total = sum(passage.words for passage in section.passages)
    if total <= limits.facet_words:
        return [section.passages]
    target = total / max(1, round(total / limits.group_words))
    groups: list[list[Passage]] = []
    size = 0.0
    for passage in section.passages:
        if groups and size + passage.words / 2 <= target:
            groups[-1].append(passage)
        else:
            groups.append([passage])
            size = 0.0
        size += passage.words
    return groups


def _phrase(claims: Sequence[Claim], limits: ConeLimits) -> str:
    """How a facet without a heading of its own is called: the first words of what it says first, or most."""
    spoken = [claim for claim in claims if claim.speaker]
    if spoken:
        first = max(spoken, key=lambda claim: claim.weight)
    else:
        first = next((claim for claim in claims if claim.quotable and not leans(claim.said)), claims[0])
    said = lead(first.said, limits.phrase_words)
    if is_small_talk(said):
        said = bounded(first.said, limits.phrase_words)
    return f"{first.speaker}: {said}" if first.speaker and first.speaker not in said else said


def _rest(source: Source, limits: ConeLimits) -> _Part:
    """A text of headings or pictures only still says something."""
    said = bounded(" ".join(plain(source.content).split()), limits.point_words)
    said = said if says_something(said) else bounded(" ".join(source.content.split()), limits.point_words)
    start = len(source.content) - len(source.content.lstrip())
    claim = Claim(start, len(source.content.rstrip()), said, said)
    return _Part(source.title.strip() or lead(said, limits.phrase_words), (), claim.start, claim.end, (claim,))


# ------------------------------------------------------------------------------ titles, dates


def _title(source: Source, parts: Sequence[_Part]) -> str:
    return source.title.strip() or (parts[0].path[0] if parts[0].path else parts[0].title)


def _context(title: str, path: Sequence[str], limits: ConeLimits) -> str:
    """What stands in front of a claim that says too little: title and heading; of a long pair a telling heading."""
    if not path:
        return bounded(title, limits.title_words)
    both = _join(title, path[-1])
    if width(both) <= limits.context_words:
        return both
    return path[-1] if width(path[-1]) >= limits.context_words / 3 else bounded(both, limits.title_words)


def _join(base: str, heading: str) -> str:
    return f"{base}{PATH}{heading}" if base and heading else base or heading


def _named(base: str, phrase: str) -> str:
    if not base or name_key(phrase).startswith(name_key(base)):
        return phrase
    return f"{base}: {phrase}"


def _unique(title: str, taken: set[str]) -> str:
    number, unique = 1, title
    while unique.casefold() in taken:
        number += 1
        unique = f"{title} ({number})"
    taken.add(unique.casefold())
    return unique


def _by_date(parts: Sequence[_Part]) -> list[tuple[str, list[_Part]]]:
    """A journal, whose headings are dates, by its days; else all together under no date."""
    dates = {heading for heading in {heading for part in parts for heading in part.path} if is_day(heading)}
    days = [next((heading for heading in part.path if heading in dates), "") for part in parts]
    if len(set(filter(None, days))) < 2:
        return [("", list(parts))]
    pairs = zip(days, parts, strict=True)
    return [(day, [part for _, part in group]) for day, group in itertools.groupby(pairs, key=lambda pair: pair[0])]


def _happened(parts: Sequence[_Part], view: CardView, at: Lookup) -> TimeRange | None:
    """What title or date heading says, else what the claims agree on."""
    if view.title_times:
        return hull(view.title_times)
    for part in parts:
        if any(is_day(heading) for heading in part.path):
            line = at.content.rfind("\n", 0, part.start) + 1
            times = [t for s in at.sentences(max(0, line - 400), part.start) for t in s.times]
            if times:
                return times[-1]
    return hull([time for part in parts for claim in part.claims for time in claim.times])
