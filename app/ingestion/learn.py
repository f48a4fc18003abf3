"""The pure part of learning a group of cards, all of it in one go in a thread: chunks, extraction, rows."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.cards.links import links_in
from app.index.rows import CardRows
from app.ingestion.derive import Derived, derive
from app.ingestion.extract.types import Extraction, Source, Span, known_type
from app.ingestion.posted import Claims, Posted, with_posted
from app.ingestion.prepare import prepare
from app.ingestion.queries import CardText
from app.text.gazetteer import candidate_keys
from app.text.segment import Segmenter


@dataclass(frozen=True, slots=True)
class Chunked:
    """A card with its chunks; what the extractor reads is `source`. `keys`: names that the text may hold."""

    card: CardText
    rows: CardRows
    source: Source
    keys: frozenset[str]

    def knowing(self, names: Mapping[str, Sequence[tuple[str, str]]]) -> Chunked:
        """The same, with those of these names (by key) that its text may hold."""
        known = [(name, known_type(kind)) for key in sorted(self.keys & names.keys()) for name, kind in names[key]]
        return replace(self, source=replace(self.source, known=known)) if known else self


@dataclass(frozen=True, slots=True)
class Learned:
    """All derived rows of one card."""

    card: CardText
    rows: CardRows
    derived: Derived

    @property
    def card_id(self) -> uuid.UUID:
        return self.card.card_id

    @property
    def texts(self) -> dict[uuid.UUID, str]:
        """Every text to embed but those of entities, by hash."""
        return {**self.rows.texts, **self.derived.embed}

    @property
    def counts(self) -> dict[str, int]:
        """How much was found, as the card says it."""
        cone = self.derived.cone
        return {
            "entities": len(self.derived.extraction.entities),
            "relations": len(cone.relations),
            "episodes": len(cone.episodes),
            "facets": len(cone.facets),
            "points": len(cone.points),
        }


@dataclass(frozen=True, slots=True)
class Before:
    """What was there before: extractions that callers posted, by card; and the episodes that cards already tell, by
    card and title key, because an episode of ours that is told under the same title stays the same one.
    """

    posted: Mapping[uuid.UUID, Sequence[Posted]]
    episodes: Mapping[tuple[uuid.UUID, str], uuid.UUID]


Failures = list[tuple[CardText, Exception]]


def chunk_all(
    workspace_id: uuid.UUID,
    cards: Sequence[CardText],
    segmenter: Segmenter,
    count_tokens: Callable[[str], int],
    target_tokens: int,
    max_tokens: int,
    *,
    with_keys: bool,
) -> tuple[list[Chunked], Failures]:
    """What cannot be cut is told apart; the others of the group can."""
    chunked: list[Chunked] = []
    failed: Failures = []
    for card in cards:
        try:
            rows = prepare(
                card.card_id,
                card.text_version,
                card.title,
                card.content,
                segmenter,
                count_tokens,
                target_tokens,
                max_tokens,
            )
        except Exception as error:
            failed.append((card, error))
            continue
        chunked.append(read_from(workspace_id, card, rows, segmenter if with_keys else None))
    return chunked, failed


def read_from(workspace_id: uuid.UUID, card: CardText, rows: CardRows, segmenter: Segmenter | None) -> Chunked:
    """What an extractor reads of a card with these chunks; without a segmenter no keys of names are looked for."""
    source = Source(
        card.card_id,
        card.title,
        card.content,
        card.created_at,
        chunks=[Span(chunk.start, chunk.end) for chunk in rows.chunks],
        tags=card.tags,
        workspace_id=workspace_id,
        links=[link.target for link in links_in(card.content)],
    )
    keys = set() if segmenter is None else candidate_keys(f"{card.title}\n{card.content}", segmenter)
    return Chunked(card, rows, source, frozenset(keys))


def derive_all(
    chunked: Sequence[Chunked],
    extractions: Mapping[uuid.UUID, Extraction],
    before: Before,
    segmenter: Segmenter,
    claims: Claims,
) -> tuple[list[Learned], Failures]:
    """Rows of every card, from our own extraction, its caller's, or both; `claims` reads what callers left whole."""
    learned: list[Learned] = []
    failed: Failures = []
    for one in chunked:
        try:
            card_id = one.card.card_id
            given = before.posted.get(card_id, ())
            extraction = extractions.get(card_id, Extraction())
            if given:
                extraction = with_posted(one.source, given, extraction, claims)
            promised = {number: item.id for number, item in enumerate(given)}
            kept = {title: episode for (card, title), episode in before.episodes.items() if card == card_id}
            derived = derive(
                one.source, extraction, one.rows.chunks, segmenter, promised, kept, dated=one.card.is_dated
            )
        except Exception as error:
            failed.append((one.card, error))
            continue
        learned.append(Learned(one.card, one.rows, derived))
    return learned, failed
