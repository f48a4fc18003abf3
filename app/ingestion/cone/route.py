"""Whether new material joins an episode of another card, or opens one of its own. Pure; it finds no candidates itself.

Joining wants the same focus (near in meaning, about the same entities) and continuity (near in time, or one series in
one place). In doubt a new episode: two that could be one cost a little, one that should be two loses its focus.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from app.ingestion.cone.split import split_episode
from app.ingestion.extract.types import TimeRange
from app.text.anchors import anchors
from app.text.normalise import fold, name_key

__all__ = ["Candidate", "Material", "RouteLimits", "Routed", "route", "split_episode"]

Reason = Literal["joined", "no candidate", "other numbers", "too far", "other entities", "no continuity", "full"]
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_SERIES = re.compile(
    r"[\s\-_–—:：(（]*(?:part|pt|chapter|session|episode|vol|no|day|week|第)?[\s.#]*(?:\d+|[ivx]+|[一二三四五六七八九十]+)"
    r"[章节部集篇次天周]?[\s)）]*$|[\s\-_–—:：(（]*[上中下续][篇集]?[)）]?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Material:
    """What an episode is about. `entities`: ids or keys, comparable between two; `path`: where its card came from."""

    title: str
    summary: str
    entities: frozenset[str]
    happened: TimeRange | None = None
    path: str | None = None
    facets: int = 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """An episode that is there; `z`: how near the summaries are, in standard deviations of unrelated pairs."""

    id: uuid.UUID
    material: Material
    z: float


@dataclass(frozen=True, slots=True)
class RouteLimits:
    min_z: float = 3.0
    min_z_of_series: float = 2.0
    """Enough for two parts of one series in one folder."""
    min_shared: int = 2
    min_share: float = 0.5
    """Shared entities as a share of the smaller set."""
    max_gap_days: float = 3.0
    max_facets: int = 18


@dataclass(frozen=True, slots=True)
class Routed:
    """`episode` None: a new one. `reason` is that of the nearest candidate."""

    episode: uuid.UUID | None
    reason: Reason
    z: float = 0.0


def route(new: Material, candidates: Iterable[Candidate], limits: RouteLimits | None = None) -> Routed:
    """The nearest candidate that may be joined, ties by id."""
    limits = limits or RouteLimits()
    first: Routed | None = None
    for candidate in sorted(candidates, key=lambda c: (-c.z, c.id)):
        reason = _judge(new, candidate, limits)
        if reason == "joined":
            return Routed(candidate.id, reason, candidate.z)
        first = first or Routed(None, reason, candidate.z)
    return first or Routed(None, "no candidate")


def _judge(new: Material, candidate: Candidate, limits: RouteLimits) -> Reason:
    old = candidate.material
    series = _is_series(new, old)
    if not series and _numbers(new.title) != _numbers(old.title):
        return "other numbers"
    if candidate.z < (limits.min_z_of_series if series else limits.min_z):
        return "too far"
    shared = len(new.entities & old.entities)
    smaller = min(len(new.entities), len(old.entities))
    if shared < min(limits.min_shared, max(1, smaller)) or shared < limits.min_share * smaller:
        return "other entities"
    if not _continues(new, old, series, limits):
        return "no continuity"
    if new.facets + old.facets > limits.max_facets:
        return "full"
    return "joined"


def _continues(new: Material, old: Material, series: bool, limits: RouteLimits) -> bool:
    """By time where both have one; else by being parts of one series, or the same title in the same folder."""
    if new.happened is not None and old.happened is not None:
        gap = max(new.happened.start, old.happened.start) - min(new.happened.end, old.happened.end)
        return gap.total_seconds() <= limits.max_gap_days * 86_400
    same_title = bool(name_key(new.title)) and name_key(new.title) == name_key(old.title)
    return _same_folder(new, old) and (series or same_title)


def _same_folder(new: Material, old: Material) -> bool:
    if new.path is None or old.path is None:
        return False
    return new.path.rpartition("/")[0] == old.path.rpartition("/")[0]


def _is_series(new: Material, old: Material) -> bool:
    """`Plan, part 1` and `Plan, part 2` in one folder; days of a journal and versions of a product are none."""
    if not _same_folder(new, old) or _has_date(new.title) or _has_date(old.title):
        return False
    one, two = _SERIES.sub("", fold(new.title)), _SERIES.sub("", fold(old.title))
    marked = any(_MARKED.search(fold(title)) for title in (new.title, old.title))
    return marked and len(name_key(one)) > 1 and name_key(one) == name_key(two)


_MARKED = re.compile(
    r"(?:part|pt|chapter|session|episode|vol|day|week)[\s.#]*\w+[)）]?$|第.{1,3}[章节部集篇次]$|[上中下续][篇集]?[)）]?$"
)


def _has_date(title: str) -> bool:
    return any(anchor.kind == "date" for anchor in anchors(title))


def _numbers(title: str) -> tuple[str, ...]:
    return tuple(sorted(_NUMBER.findall(fold(title))))
