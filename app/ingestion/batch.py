"""Many cards in one unit of work: few statements for all, one outcome for each."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from app.cards import queries
from app.cards.drafts import CardFields, NewCard, as_patch, complete, patched
from app.cards.tables import Card
from app.core.clock import now
from app.core.errors import Conflict, Invalid, MindConeError
from app.core.ids import new_id
from app.ingestion.written import ExternalIdTaken, assign, follow_up, within_limit

Outcome = Literal["created", "updated", "unchanged", "rejected"]


class DuplicateInBody(Conflict):
    """An earlier item of this body has the same external_id."""

    code = "duplicate_in_body"


class Unstorable(Invalid):
    """The database cannot store a value of this card."""

    code = "unstorable_value"


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of one card of many."""

    outcome: Outcome
    id: uuid.UUID | None = None
    error: MindConeError | None = None


def rejected(error: MindConeError) -> Submitted:
    return Submitted("rejected", error=error)


def drafted(items: Mapping[int, NewCard], limit_bytes: int) -> dict[int, CardFields | MindConeError]:
    """Each item as a new card, or why it is none. Titles are looked for in the text: work for a thread."""
    drafts: dict[int, CardFields | MindConeError] = {}
    for index, item in items.items():
        try:
            drafts[index] = within_limit(complete(item, now()), limit_bytes)
        except MindConeError as error:
            drafts[index] = error
    return drafts


@dataclass(slots=True)
class Batch:
    """Items by their place in the caller's list. An item whose draft is an error may still be a good change
    to a card that is there.
    """

    session: AsyncSession
    workspace_id: uuid.UUID
    items: Mapping[int, NewCard]
    drafts: Mapping[int, CardFields | MindConeError]
    limit_bytes: int
    queued: bool
    outcomes: dict[int, Submitted] = field(default_factory=dict)
    won: set[str] = field(default_factory=set)
    created: list[Card] = field(default_factory=list)
    changed: list[Card] = field(default_factory=list)

    async def write(self) -> dict[int, Submitted]:
        """What is known is locked in the order of its ids, what is new inserted in the order of its external ids:
        two batches never wait for each other.
        """
        waiting: Sequence[int] = sorted(self.items, key=lambda index: (self.items[index].external_id or "", index))
        # Twice is enough: what a concurrent writer inserted in between is there, and locked, the second time.
        for _ in range(2):
            waiting = await self._pass(waiting)
        self.outcomes |= {index: rejected(ExternalIdTaken()) for index in waiting}
        await follow_up(self.session, self.workspace_id, self.created, self.changed, queued=self.queued)
        return self.outcomes

    async def _pass(self, waiting: Sequence[int]) -> Sequence[int]:
        """Change what is known, insert the rest; gives the items that somebody else has just inserted."""
        names = [name for index in waiting if (name := self.items[index].external_id) is not None]
        known: dict[str | None, Card] = {}
        if names:
            found = await queries.list_by_external_id(self.session, self.workspace_id, names, lock=True)
            known = {card.external_id: card for card in found}
        fresh: dict[uuid.UUID, int] = {}
        for index in waiting:
            if self._is_new(index, known.get(self.items[index].external_id)):
                fresh[new_id()] = index
        if not fresh:
            return ()
        if names:
            await queries.release_external_ids(self.session, self.workspace_id, names)
        fields = {
            card_id: draft for card_id, index in fresh.items() if isinstance(draft := self.drafts[index], CardFields)
        }
        for card in await queries.insert_cards(self.session, self.workspace_id, fields, now()):
            self.created.append(card)
            self.outcomes[fresh.pop(card.id)] = Submitted("created", card.id)
        self.won -= {self.items[index].external_id or "" for index in fresh.values()}
        return list(fresh.values())

    def _is_new(self, index: int, card: Card | None) -> bool:
        """Whether the item is to be inserted; for all others the outcome is settled here."""
        item, draft = self.items[index], self.drafts[index]
        if item.external_id in self.won:
            self.outcomes[index] = rejected(DuplicateInBody())
            return False
        if card is not None:
            try:
                before = queries.fields_of(card)
                fields = within_limit(patched(before, as_patch(item, before), card.added_at), self.limit_bytes)
            except MindConeError as error:
                self.outcomes[index] = rejected(error)
                return False
            is_changed = assign(card, fields)
            if is_changed:
                self.changed.append(card)
            self.outcomes[index] = Submitted("updated" if is_changed else "unchanged", card.id)
        elif isinstance(draft, MindConeError):
            self.outcomes[index] = rejected(draft)
            return False
        if item.external_id is not None:
            self.won.add(item.external_id)
        return card is None
