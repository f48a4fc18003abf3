"""One answer out of several passes, one extraction out of several passages. Pure.

What is the same by its key is one; what is said first stays, what comes later fills the gaps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from app.ingestion.extract.llm_shapes import Answer, Claim, Focus, Section
from app.ingestion.extract.types import (
    EntityDraft,
    EpisodeDraft,
    Extraction,
    FacetDraft,
    PointDraft,
    RelationDraft,
    RoleDraft,
    Span,
)
from app.text.normalise import fold, name_key

_MAX_DESCRIPTION: Final = 2000


# ---------------------------------------------------------------------------------------- passes


def merge(first: Answer, more: Answer) -> Answer:
    """Both passes over one passage. `first` itself where `more` has nothing new, but for the counts."""
    entities, names = merge_entities((*first.entities, *more.entities))
    relations = merge_relations((*first.relations, *more.relations), names)
    return Answer(
        entities,
        relations,
        _merge_episodes(first.episodes, more.episodes),
        first.dropped + more.dropped,
        first.cut and more.cut,
    )


def size(answer: Answer) -> tuple[int, ...]:
    """What merging can only make larger; equal before and after: the pass brought nothing."""
    sections = [section for episode in answer.episodes for section in episode.sections]
    return (
        len(answer.entities),
        sum(len(entity.aliases) for entity in answer.entities),
        len(answer.relations),
        len(sections),
        sum(len(section.claims) for section in sections),
    )


def _merge_episodes(first: Sequence[Focus], more: Sequence[Focus]) -> tuple[Focus, ...]:
    """A section goes to the section of its title wherever that is, else to the episode of its title, else to the last
    one: passes over one passage have one focus more often than a model names it alike. Claims are never repeated.
    """
    episodes = [list(focus.sections) for focus in first]
    titles = [focus.title for focus in first]
    said = {_key(claim.text) for sections in episodes for section in sections for claim in section.claims}
    for focus in more:
        for section in focus.sections:
            fresh = _fresh(section.claims, said)
            home = _find_section(episodes, section.title)
            if home is not None:
                sections, at = home
                sections[at] = _joined(sections[at], section, fresh)
            elif fresh or not (section.claims or not section.description):
                new = replace(section, claims=fresh)
                if episodes:
                    named = next((n for n, title in enumerate(titles) if _key(title) == _key(focus.title)), -1)
                    episodes[named].append(new)
                else:
                    episodes.append([new])
                    titles.append(focus.title)
    return tuple(Focus(title, tuple(sections)) for title, sections in zip(titles, episodes, strict=True))


def _fresh(claims: Iterable[Claim], said: set[str]) -> tuple[Claim, ...]:
    fresh = []
    for claim in claims:
        key = _key(claim.text)
        if key not in said:
            said.add(key)
            fresh.append(claim)
    return tuple(fresh)


def _find_section(episodes: list[list[Section]], title: str) -> tuple[list[Section], int] | None:
    key = _key(title)
    for sections in episodes:
        for at, section in enumerate(sections):
            if _key(section.title) == key:
                return sections, at
    return None


def _joined(section: Section, other: Section, fresh: tuple[Claim, ...]) -> Section:
    known = {_key(entity) for entity, _ in section.roles}
    roles = tuple(role for role in other.roles if _key(role[0]) not in known)
    description = section.description
    if fresh and _key(other.description) not in _key(description):
        description = f"{description} {other.description}"[:_MAX_DESCRIPTION]
    return replace(section, description=description, claims=section.claims + fresh, roles=section.roles + roles)


# ------------------------------------------------------------------------------------- passages


def join(parts: Sequence[Extraction]) -> Extraction:
    """Extractions of the passages of one card, in their order, as one. Names are unique in it, and every reference
    is one of them; consecutive episodes of one title are one episode.
    """
    entities, names = merge_entities([entity for part in parts for entity in part.entities])
    relations = merge_relations([relation for part in parts for relation in part.relations], names)
    episodes: list[EpisodeDraft] = []
    for part in parts:
        for episode in part.episodes:
            episode = _renamed(episode, names)
            if episodes and _same_episode(episodes[-1], episode):
                episodes[-1] = _continued(episodes[-1], episode)
            else:
                episodes.append(episode)
    dropped = sum((part.dropped for part in parts), Counter[str]())
    return Extraction(entities, relations, tuple(episodes), dropped)


def shifted(extraction: Extraction, by: int) -> Extraction:
    """`extraction` of a text that begins at `by` in a longer one, with the longer one's offsets."""

    def moved(offset: int | None) -> int | None:
        return None if offset is None else offset + by

    entities = tuple(
        replace(e, mentions=tuple(Span(m.start + by, m.end + by) for m in e.mentions)) for e in extraction.entities
    )
    relations = tuple(replace(r, start=moved(r.start), end=moved(r.end)) for r in extraction.relations)
    episodes = tuple(
        replace(
            episode,
            facets=tuple(
                replace(
                    facet,
                    start=moved(facet.start),
                    end=moved(facet.end),
                    points=tuple(replace(p, start=moved(p.start), end=moved(p.end)) for p in facet.points),
                )
                for facet in episode.facets
            ),
        )
        for episode in extraction.episodes
    )
    return Extraction(entities, relations, episodes, extraction.dropped)


def merge_entities(found: Iterable[EntityDraft]) -> tuple[tuple[EntityDraft, ...], Mapping[str, str]]:
    """One entity per key, and the map from keys of names to the name that stays."""
    merged: dict[str, EntityDraft] = {}
    for entity in found:
        key = name_key(entity.name)
        merged[key] = _one(merged[key], entity) if key in merged else entity
    return tuple(merged.values()), {key: entity.name for key, entity in merged.items()}


def _one(known: EntityDraft, other: EntityDraft) -> EntityDraft:
    """The first type that is known stays: two things of one name in one card cannot be told apart by it."""
    spellings = {known.name: None} | dict.fromkeys((*known.aliases, other.name, *other.aliases))
    mentions = known.mentions
    if other.mentions != mentions:
        mentions = tuple(sorted({*mentions, *other.mentions}, key=lambda span: (span.start, span.end)))
    return EntityDraft(
        known.name,
        known.type if known.type != "other" else other.type,
        known.description or other.description,
        tuple(spellings)[1:],
        mentions,
    )


def merge_relations(found: Iterable[RelationDraft], names: Mapping[str, str]) -> tuple[RelationDraft, ...]:
    """One relation per ends, predicate and sentence; the surest of equals, at the first place."""
    merged: dict[tuple[str, str, str, str], RelationDraft] = {}
    for relation in found:
        source, target = _named(relation.source, names), _named(relation.target, names)
        key = (source, target, _key(relation.predicate), _key(relation.text))
        known = merged.get(key)
        if known is None:
            merged[key] = replace(relation, source=source, target=target)
        elif relation.confidence > known.confidence:
            merged[key] = replace(known, confidence=relation.confidence)
    return tuple(merged.values())


def _renamed(episode: EpisodeDraft, names: Mapping[str, str]) -> EpisodeDraft:
    return replace(
        episode,
        facets=tuple(
            replace(facet, points=tuple(_renamed_point(point, names) for point in facet.points))
            for facet in episode.facets
        ),
        roles=tuple(replace(role, entity=_named(role.entity, names)) for role in episode.roles),
    )


def _renamed_point(point: PointDraft, names: Mapping[str, str]) -> PointDraft:
    return replace(point, entities=tuple(dict.fromkeys(_named(name, names) for name in point.entities)))


def _named(name: str, names: Mapping[str, str]) -> str:
    return names.get(name_key(name), name)


def _same_episode(one: EpisodeDraft, other: EpisodeDraft) -> bool:
    return one.external_id == other.external_id and name_key(one.title) == name_key(other.title)


def _continued(episode: EpisodeDraft, more: EpisodeDraft) -> EpisodeDraft:
    shift = len(episode.facets)
    known = {(role.entity, role.facet) for role in episode.roles}
    moved = (RoleDraft(r.entity, r.role, None if r.facet is None else r.facet + shift) for r in more.roles)
    facets: tuple[FacetDraft, ...] = episode.facets + more.facets
    return replace(
        episode,
        summary="\n".join(filter(None, (episode.summary, more.summary))),
        facets=facets,
        roles=episode.roles + tuple(role for role in moved if (role.entity, role.facet) not in known),
        happened=episode.happened or more.happened,
    )


def _key(text: str) -> str:
    return fold(" ".join(text.split())).strip(" .。!！;；")
