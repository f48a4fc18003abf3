"""Are these two one entity? The decision of layers 0 to 2, for one pair. Pure.

Layer 1: the same key, or a name that a text gives as another one. Layer 2: what the names themselves say, and the
cosine of name and description where the space's scale allows it. Guards go before both; what is neither
certain nor out of the question is a candidate, for a person or for layer 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from app.graph.kinds import OTHER, kind_of, type_of
from app.ingestion.link import evidence, guards
from app.ingestion.link.context import contradict, spells_out, stated_names
from app.ingestion.link.shapes import Shape, shape
from app.ingestion.link.thresholds import Thresholds
from app.text.normalise import name_key


class Outcome(StrEnum):
    merge = "merged"
    ask = "candidate"
    apart = "apart"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`layer` is what decided: exact, alias, name, vector; `reason` says more. `score` 0…1 where there is one."""

    outcome: Outcome
    layer: str
    reason: str
    score: float


@dataclass(slots=True)
class Named:
    """An entity as a decision sees it. `aliases`: names that texts or people gave it."""

    name: str
    type: str = OTHER
    description: str = ""
    aliases: tuple[str, ...] = ()
    shape: Shape = field(init=False)
    kind: str = field(init=False)
    keys: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.type = type_of(self.type)
        self.kind = kind_of(self.type)
        self.shape = shape(self.name)
        self.name = self.shape.name
        self.keys = frozenset(name_key(alias) for alias in self.other_names())

    @property
    def key(self) -> str:
        return self.shape.key

    def other_names(self) -> Iterator[str]:
        """Names that it also answers to: given, in brackets, and stated by its description."""
        mine = self.shape
        given = [*self.aliases, mine.inside, *stated_names(self.description)]
        if mine.is_acronym:
            given.append(spells_out(mine.name, self.description))
        for name in dict.fromkeys(given):
            other = shape(name) if name else mine
            # 管道(golang) is not golang, whoever says so.
            if other.key and other.key not in (mine.key, mine.qualifier) and answers_to(mine, other):
                yield other.name


def answers_to(name: Shape, alias: Shape) -> bool:
    """Whether this can be another name of it: a letter, a whole sentence or another version cannot."""
    return 2 <= len(alias.key) <= 80 and guards.alias(name, alias) is None


def decide(a: Named, b: Named, cosine: float | None, thresholds: Thresholds) -> Verdict:
    """`cosine` of their texts, where it is known."""
    score = 0.0 if cosine is None else cosine
    guard = guards.kinds(a.kind, b.kind) or guards.common_noun(a.shape, a.type, b.shape, b.type)
    if guard is not None:
        return Verdict(Outcome.apart, "guard", guard, score)
    if "person" in (a.kind, b.kind) and _same_name(a, b) and contradict(a.shape.name, a.description, b.description):
        return Verdict(Outcome.apart, "guard", "context", score)
    if a.key == b.key and a.shape.qualifier == b.shape.qualifier:
        return Verdict(Outcome.merge, "exact", "key", 1.0)
    if a.key in b.keys or b.key in a.keys:
        return Verdict(Outcome.merge, "alias", "stated", 1.0)
    guard = guards.names(a.shape, b.shape, "person" in (a.kind, b.kind))
    if guard is not None:
        return Verdict(Outcome.apart, "guard", guard, score)
    found = evidence.between(a.shape, a.type, b.shape, b.type)
    if found is not None and found.strength == "sure":
        return Verdict(Outcome.merge, "name", found.reason, score)
    # Two people can both be called 李总.
    if found is None and a.keys & b.keys and not ("person" in (a.kind, b.kind) and a.shape.has_han == b.shape.has_han):
        found = evidence.Evidence("alias", "hint")
    if found is not None:
        return Verdict(Outcome.ask, "name", found.reason, score)
    return _by_vector(a, b, score, thresholds)


def _by_vector(a: Named, b: Named, score: float, thresholds: Thresholds) -> Verdict:
    across = a.shape.has_han != b.shape.has_han
    guard = guards.prefix(a.shape, b.shape)
    if guard is None and not across:
        # Two people of two names are two people, and so are two places.
        guard = guards.shared_part(a.shape, b.shape) or ("proper" if {a.kind, b.kind} & {"person", "place"} else None)
    if guard is None and thresholds.only_asks and not (a.description and b.description):
        guard = "bare"
    if guard is not None:
        return Verdict(Outcome.apart, "guard", guard, score)
    if score >= thresholds.merge:
        return Verdict(Outcome.merge, "vector", "cosine", score)
    if score >= (thresholds.ask_across if across else thresholds.ask):
        return Verdict(Outcome.ask, "vector", "cosine", score)
    return Verdict(Outcome.apart, "vector", "far", score)


def _same_name(a: Named, b: Named) -> bool:
    return a.shape.plain == b.shape.plain
