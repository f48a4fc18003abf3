"""An episode that has grown beyond one focus becomes several, along its facets. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from app.ingestion.cone.phrases import bounded, is_han_text, width
from app.ingestion.extract.types import EpisodeDraft, FacetDraft, RoleDraft, TimeRange

PATH = " > "
_WIDEST_DAYS = 62


def split_episode(episode: EpisodeDraft, most: int, summary_words: float) -> list[EpisodeDraft]:
    """Itself up to `most` facets, else by the highest headings that tell its facets apart, else evenly, in order.

    Every part has the roles of its facets; roles of the episode as a whole go where the entity has one.
    """
    if len(episode.facets) <= most:
        return [episode]
    groups = _groups([facet.title for facet in episode.facets], 0, len(episode.facets), most)
    parts: list[EpisodeDraft] = []
    taken: set[str] = set()
    for number, (first, last) in enumerate(groups, 1):
        facets = episode.facets[first:last]
        parts.append(
            replace(
                episode,
                title=_unique(_part_title(episode.title, facets, number, len(groups)), taken),
                summary=summary_of(facets, summary_words, episode.title),
                facets=facets,
                roles=_roles(episode.roles, first, last),
                happened=hull([time for facet in facets for point in facet.points for time in point.times])
                or episode.happened,
                external_id=f"{episode.external_id}/{number}" if episode.external_id else None,
            )
        )
    return parts


def summary_of(facets: Sequence[FacetDraft], words: float, title: str = "") -> str:
    """Its sections joined, "title: description" each, the episode's title said once at most.

    Where that is too long, each has the same share.
    """
    lines = [
        _section(_label(facet.title, title) if i else facet.title, facet.description) for i, facet in enumerate(facets)
    ]
    if sum(map(width, lines)) > words:
        share = words / len(lines)
        spare = sum(max(0.0, share - width(line)) for line in lines)
        wide = sum(width(line) > share for line in lines)
        lines = [bounded(line, share + spare / max(1, wide)) for line in lines]
    return "\n".join(filter(None, lines))


def hull(times: Sequence[TimeRange]) -> TimeRange | None:
    """What covers all of them, when that is short enough to say when something happened."""
    if not times:
        return None
    start, end = min(time.start for time in times), max(time.end for time in times)
    if (end - start).days > _WIDEST_DAYS and len(times) > 1:
        return None
    return TimeRange(start, end, times[0].text)


def _label(facet: str, episode: str) -> str:
    return (facet.removeprefix(episode).lstrip(" >:：") if episode else facet) or facet


def _section(title: str, description: str) -> str:
    if not description or title == description:
        return title
    return f"{title}：{description}" if is_han_text(title) else f"{title}: {description}"


def _groups(titles: Sequence[str], first: int, last: int, most: int) -> list[tuple[int, int]]:
    """Spans of facets, none above `most`."""
    if last - first <= most:
        return [(first, last)]
    paths = [titles[i].split(PATH) for i in range(first, last)]
    for depth in range(1, max(map(len, paths))):
        cuts = [0, *(i for i in range(1, len(paths)) if paths[i][:depth] != paths[i - 1][:depth]), len(paths)]
        if len(cuts) > 2 and (len(cuts) - 1) * 2 <= len(paths):
            spans = [span for a, b in itertools.pairwise(cuts) for span in _groups(titles, first + a, first + b, most)]
            return _packed(spans, most)
    parts = -(-(last - first) // most)
    edges = [first + (last - first) * i // parts for i in range(parts + 1)]
    return list(itertools.pairwise(edges))


def _packed(spans: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Neighbours together while they fit in half an episode."""
    packed: list[tuple[int, int]] = []
    for first, last in spans:
        if packed and last - packed[-1][0] <= most // 2:
            packed[-1] = (packed[-1][0], last)
        else:
            packed.append((first, last))
    return packed


def _part_title(title: str, facets: Sequence[FacetDraft], number: int, parts: int) -> str:
    paths = [facet.title.split(PATH) for facet in facets]
    common = paths[0]
    for path in paths[1:]:
        common = [a for a, b in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(common, path, strict=False))]
    label = PATH.join(common)
    if label and label != title:
        return label if label.startswith(title) else f"{title}{PATH}{label}"
    return f"{title} ({number}/{parts})"


def _unique(title: str, taken: set[str]) -> str:
    number, unique = 1, title
    while unique in taken:
        number += 1
        unique = f"{title} ({number})"
    taken.add(unique)
    return unique


def _roles(roles: Sequence[RoleDraft], first: int, last: int) -> tuple[RoleDraft, ...]:
    kept = [replace(r, facet=r.facet - first) for r in roles if r.facet is not None and first <= r.facet < last]
    here = {role.entity for role in kept}
    return (*kept, *(role for role in roles if role.facet is None and role.entity in here))
