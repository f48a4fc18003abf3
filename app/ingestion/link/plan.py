"""Layer 1 for a group of cards: which names of theirs mean an entity that is there, and which are new. Pure.

Inside the group too: equal names of several cards are one newcomer. What people have said goes before everything:
an entity for a name in one card, and who is not who.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.core.ids import new_id
from app.graph.entity_queries import EntityNameRow, StoredEntity, Word
from app.graph.kinds import OTHER, compatible, kind_of
from app.index.rows import text_hash
from app.ingestion.extract.types import EntityDraft
from app.ingestion.link.context import contradict
from app.ingestion.link.decide import Named, answers_to
from app.ingestion.link.describe import best
from app.ingestion.link.shapes import shape
from app.ingestion.prepare import Counted
from app.ingestion.texts import entity_text
from app.text.normalise import fold

Place = tuple[uuid.UUID, str]
"""A name in a card, as the draft has it."""
Drafts = Mapping[uuid.UUID, Sequence[EntityDraft]]
Names = Mapping[uuid.UUID, Sequence[tuple[str, Named]]]
"""What cards name, read: every name as the draft has it, once per card."""

MOST_ALIASES = 12


@dataclass(slots=True)
class Known:
    """What the workspace has under the names of a group of cards."""

    entities: list[StoredEntity] = field(default_factory=list)
    places: dict[tuple[uuid.UUID, str], uuid.UUID] = field(default_factory=dict)
    words: list[Word] = field(default_factory=list)
    names: Names = field(default_factory=dict)
    by_key: dict[str, list[StoredEntity]] = field(init=False, compare=False)
    by_id: dict[uuid.UUID, StoredEntity] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self.by_id = {entity.id: entity for entity in self.entities}
        self.by_key = {}
        for entity in self.entities:
            for name in entity.names:
                self.by_key.setdefault(name.key, []).append(entity)

    def said(self, one: tuple[str, str], other: tuple[str, str]) -> str | None:
        """A person's last word on two (key, kind): `merged`, or `apart`; None where nobody said anything."""
        for word in self.words:
            left, right = (word.left_key, word.left_kind), (word.right_key, word.right_kind)
            if (_same(left, one) and _same(right, other)) or (_same(left, other) and _same(right, one)):
                return "merged" if word.outcome == "merged" else "apart"
        return None

    def is_survivor(self, key: str, other: str) -> bool:
        """Whether a person has merged the other name into this one."""
        return any(word.outcome == "merged" and (word.right_key, word.left_key) == (key, other) for word in self.words)


def _same(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return one[0] == other[0] and compatible(one[1], other[1])


@dataclass(slots=True)
class Newcomer:
    """An entity that is not there yet. `rivals`: entities that its name could also mean."""

    id: uuid.UUID
    name: str
    key: str
    type: str
    sense: int = 0
    drafts: list[Named] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    rivals: set[uuid.UUID] = field(default_factory=set)
    homonyms: set[uuid.UUID] = field(default_factory=set)
    description: str = ""
    names: tuple[EntityNameRow, ...] = ()
    named: Named = field(init=False, repr=False)

    @property
    def kind(self) -> str:
        return kind_of(self.type)

    @property
    def aliases(self) -> tuple[str, ...]:
        return tuple(row.name for row in self.names if row.key != self.key)

    @property
    def text(self) -> str:
        return entity_text(self.name, self.aliases, self.description)

    def close(self) -> None:
        """All drafts are there."""
        self.description = best(draft.description for draft in self.drafts)
        self.names = _names(self.name, self.key, self.drafts, (), {})
        self.named = Named(self.name, self.type, self.description, self.aliases)


@dataclass(slots=True)
class Changed:
    """An entity that is there and learns something."""

    before: StoredEntity
    after: StoredEntity


@dataclass(slots=True)
class Plan:
    """Made from `known`. `texts`: what needs a vector, by hash. `given`: the entity of every name of every card, an old
    or a new one.
    """

    known: Known
    given: dict[Place, uuid.UUID] = field(default_factory=dict)
    newcomers: list[Newcomer] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    joined: dict[uuid.UUID, list[Named]] = field(default_factory=dict)
    texts: dict[uuid.UUID, str] = field(default_factory=dict)
    counted: dict[tuple[str, str], Counted] = field(default_factory=dict)
    """What the postings say of each of them, by text and kind."""


def read(drafts: Drafts) -> Names:
    """Names that are blank are left out."""
    return {
        card: [
            (draft.name, named)
            for draft in _once(entities)
            if (named := Named(draft.name, draft.type, draft.description, draft.aliases)).key
        ]
        for card, entities in drafts.items()
    }


def _once(drafts: Iterable[EntityDraft]) -> Iterable[EntityDraft]:
    """The first of each name."""
    found: dict[str, EntityDraft] = {}
    for draft in drafts:
        found.setdefault(draft.name, draft)
    return found.values()


def keys_of(names: Names) -> set[str]:
    """Every key under which these names could be known."""
    found = (key for card in names.values() for _, named in card for key in (named.key, *named.keys))
    return {key for key in found if key}


def make(known: Known) -> Plan:
    return _Planner(known).run()


class _Planner:
    def __init__(self, known: Known) -> None:
        self.known = known
        self.plan = Plan(known)
        self.new_by_key: dict[str, list[Newcomer]] = {}
        self.senses: Counter[tuple[str, str]] = Counter()
        for entity in known.entities:
            at = (entity.key, entity.kind)
            self.senses[at] = max(self.senses[at], entity.sense + 1)

    def run(self) -> Plan:
        waiting = self._own_names(list(self._items()))
        # What is typed first, so that a name of unknown type finds it; then by name, so that order is no accident.
        waiting.sort(key=lambda item: (item[2].type == OTHER, item[2].key, item[0]))
        for card, name, named in waiting:
            self._other_names(card, name, named)
        for new in self.plan.newcomers:
            new.close()
        self.plan.newcomers.sort(key=lambda new: (not new.aliases, -len(new.places), new.key, new.kind))
        for new in self.plan.newcomers:
            self._embed(new.text)
        self._changes()
        return self.plan

    def _items(self) -> Iterator[tuple[uuid.UUID, str, Named]]:
        for card in sorted(self.known.names):
            for name, named in self.known.names[card]:
                yield card, name, named

    # -------------------------------------------------------------------------------- layer 1

    def _own_names(self, items: Iterable[tuple[uuid.UUID, str, Named]]) -> list[tuple[uuid.UUID, str, Named]]:
        """Names that a person has placed, and entities that are called so; gives what is left."""
        left = []
        for card, name, named in items:
            placed = self.known.by_id.get(self.known.places.get((card, named.key), uuid.UUID(int=0)))
            found = placed or self._one_of(
                named, [e for e in self.known.by_key.get(named.key, ()) if e.key == named.key]
            )
            if found is None:
                left.append((card, name, named))
            else:
                self._join(card, name, named, found)
        return left

    def _other_names(self, card: uuid.UUID, name: str, named: Named) -> None:
        """Aliases, then newcomers of the same name."""
        mine = (named.key, named.kind)
        answering = [
            entity
            for entity in self.known.by_key.get(named.key, ())
            if entity.key != named.key
            and compatible(entity.kind, named.kind)
            and self.known.said(mine, (entity.key, entity.kind)) != "apart"
            and not _contradict(named, entity)
        ]
        roots = {entity.root for entity in answering}
        if len(roots) > 1:
            # The one that this card speaks of anyway.
            here = {entity_id for (at, _), entity_id in self.plan.given.items() if at == card}
            answering = [entity for entity in answering if entity.id in here or entity.root in here] or answering
            rivals, roots = roots, {entity.root for entity in answering}
        else:
            rivals = set()
        if len(roots) == 1:
            self._join(card, name, named, answering[0])
            return
        self._newcomer(card, name, named).rivals |= rivals

    def _one_of(self, named: Named, entities: Sequence[StoredEntity]) -> StoredEntity | None:
        """The entity of this name that is meant, among homonyms the one whose description is nearest."""
        fitting = [
            entity for entity in entities if compatible(entity.kind, named.kind) and not _contradict(named, entity)
        ]
        if not fitting:
            return None
        words = _words(named.description)
        return max(
            fitting,
            key=lambda entity: (
                entity.kind == named.kind,
                len(words & _words(entity.description)),
                -entity.sense,
                -entity.doc,
            ),
        )

    def _join(self, card: uuid.UUID, name: str, named: Named, entity: StoredEntity) -> None:
        self.plan.given[card, name] = entity.id
        self.plan.joined.setdefault(entity.id, []).append(named)

    def _newcomer(self, card: uuid.UUID, name: str, named: Named) -> Newcomer:
        same = [
            new
            for new in self.new_by_key.get(named.key, ())
            if compatible(new.kind, named.kind)
            and not any(contradict(named.name, named.description, other.description) for other in new.drafts)
        ]
        here = [new for new in same if any(at == card for at, _ in new.places)]
        new = next(iter(here or same), None)
        if new is None:
            new = Newcomer(new_id(), named.shape.name, named.key, named.type)
            new.sense = self.senses[named.key, new.kind]
            self.senses[named.key, new.kind] += 1
            others = [e.id for e in self.known.by_key.get(named.key, ()) if e.key == named.key and e.kind == named.kind]
            others += [o.id for o in self.new_by_key.get(named.key, ()) if o.kind == new.kind]
            new.homonyms.update(others)
            self.new_by_key.setdefault(named.key, []).append(new)
            self.plan.newcomers.append(new)
        new.drafts.append(named)
        new.places.append((card, name))
        self.plan.given[card, name] = new.id
        return new

    # ---------------------------------------------------------------------- what is there learns

    def _changes(self) -> None:
        for entity_id, drafts in self.plan.joined.items():
            before = self.known.by_id[entity_id]
            if before.is_edited:
                continue
            after = self._learned(before, drafts)
            if after != before:
                self.plan.changed.append(Changed(before, after))
                self._embed(entity_text(after.name, after.aliases, after.description))

    def _learned(self, before: StoredEntity, drafts: Sequence[Named]) -> StoredEntity:
        type_, kind, sense = before.type, before.kind, before.sense
        typed = Counter(draft.type for draft in drafts if draft.type != OTHER)
        if typed and (before.type == OTHER or (before.is_ours and before.type not in typed)):
            wanted = typed.most_common(1)[0][0]
            if compatible(before.kind, kind_of(wanted)):
                type_, kind = wanted, kind_of(wanted)
        if kind != before.kind:
            sense = self.senses[before.key, kind]
            self.senses[before.key, kind] += 1
        # What only these cards said, they say anew; what others said as well, stays.
        told = best(draft.description for draft in drafts)
        description = told if before.is_ours else before.description or told
        kept = tuple(row for row in before.names if row.origin != "text" or not before.is_ours)
        names = _names(before.name, before.key, drafts, kept, self._taken(before))
        return replace(before, type=type_, kind=kind, sense=sense, description=description, names=names)

    def _taken(self, entity: StoredEntity) -> dict[str, str]:
        """Keys that a person has said are somebody else."""
        return {
            word.left_key if word.right_key == entity.key else word.right_key: word.outcome
            for word in self.known.words
            if word.outcome != "merged" and entity.key in (word.left_key, word.right_key)
        }

    def _embed(self, text: str) -> None:
        self.plan.texts[text_hash(text)] = text


def _names(
    name: str, key: str, drafts: Iterable[Named], kept: Iterable[EntityNameRow], taken: Mapping[str, str]
) -> tuple[EntityNameRow, ...]:
    """The entity's own name, those it has, and those that the drafts use and give; by key."""
    found = {row.key: row for row in kept}
    own = shape(name)
    for draft in drafts:
        # A name that the text uses for it is one, whatever it looks like.
        if draft.key not in taken:
            found.setdefault(draft.key, EntityNameRow(draft.key, draft.shape.name))
        for alias in draft.other_names():
            other = shape(alias)
            if len(found) < MOST_ALIASES and other.key not in taken and answers_to(own, other):
                found.setdefault(other.key, EntityNameRow(other.key, other.name))
    # However a draft spells it, its own name is the entity's: what is embedded goes by that.
    found[key] = replace(found[key], name=name) if key in found else EntityNameRow(key, name)
    return tuple(found[at] for at in sorted(found))


def _contradict(named: Named, entity: StoredEntity) -> bool:
    if "person" not in (named.kind, entity.kind):
        return named.kind != OTHER and entity.kind != OTHER and named.kind != entity.kind
    return contradict(entity.name, named.description, entity.description)


def _words(text: str) -> set[str]:
    folded = fold(text)
    return {*folded.split(), *(folded[i : i + 2] for i in range(len(folded) - 1) if not folded[i].isascii())}
