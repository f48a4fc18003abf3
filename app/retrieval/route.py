"""Which level answers a question. Pure: the level asked for, else rules, else the classifier; then gates; then what the
workspace knows of what is asked; and at most one level deeper where the evidence turns out weak. The decision is data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from app.retrieval.route_classifier import Classifier, classifier
from app.retrieval.route_cues import CUES, cues
from app.retrieval.route_features import masked
from app.retrieval.route_rules import CONVERSATION, find_rule
from app.retrieval.types import Level, Route

# A mistaken chat answers without looking, a mistaken insight costs many calls of a model: they want to be surer.
_NEEDED: Final[Mapping[Level, float]] = {Level.chat: 0.55, Level.insight: 0.45}

# Cues of questions about the collection. Those of themes count where nothing tells that something in particular is
# meant: a country or a town (我国, 我市), a source (根据…, …指出), a year, things that somebody has counted.
_COLLECTION: Final = frozenset(("notes", "whole", "about_me", "summarise"))
_BROAD: Final = _COLLECTION | {"theme"}
_PARTICULAR: Final = re.compile("我[国市省县区党军院校司行方]|根据|按照|指出|0 ?年|哪(?:[两二三四五六七八九十]|0)")
_WRITER: Final = re.compile("我(?![国市省县区党军院校司行方])|咱")

# Cards of more passages than this are long.
_LONG_CARDS: Final = 2.5

KNOWN_NAME: Final = "known_name"
READS_CLAIMS: Final = "reads_claims"
READS_PASSAGES: Final = "reads_passages"
"""Gates that lead to another level than the words alone, see `fitted`."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the workspace has to offer. None: not known, so no gate. `known_entity`: the question may name something
    known. `names_known`: it does; `names_particular`: something that few cards speak of; `names_card`: something of
    that kind with a card of its own. `passages`: how many a card holds. `passages_first`: facts are found better among
    these than among claims. `conversation`: one that can answer questions about itself, whatever else there is.
    """

    cards: bool | None = None
    cone: bool | None = None
    reports: bool | None = None
    known_entity: bool | None = None
    names_known: bool | None = None
    names_particular: bool | None = None
    names_card: bool | None = None
    passages: float | None = None
    passages_first: bool = False
    conversation: bool = False


NO_FACTS: Final = Facts()


def route(query: str, explicit: Level | None, facts: Facts = NO_FACTS) -> Route:
    """The decision for one question; `gates` names what kept it from the level that its words call for."""
    if explicit is not None:
        return Route(explicit, "explicit")
    return fitted(gated(wanted(query), facts), facts, is_broad=is_broad(query))


def wanted(query: str, model: Classifier | None = None) -> Route:
    """What the words of a question call for; by default the classifier is the one that ships."""
    text = masked(query)
    if not text:
        return Route(Level.chat, "blank")
    seen = cues(text)
    if rule := find_rule(text, {CUES[place] for place in seen}):
        return Route(rule.level, rule.reason, rule.confidence)
    return by_chance(dict(zip(Level, (model or classifier()).probabilities(text, seen).tolist(), strict=True)))


def leans_on_conversation(query: str) -> bool:
    """Whether a question is about the conversation that it is part of: what was said, earlier or in another branch."""
    text = masked(query)
    rule = find_rule(text, {CUES[place] for place in cues(text)}) if text else None
    return rule is not None and rule.reason == CONVERSATION


def by_chance(chances: Mapping[Level, float]) -> Route:
    """The level that the classifier's probabilities stand for."""
    likely = sorted(chances, key=lambda level: (-chances[level], level))
    level = next(level for level in likely if chances[level] >= _NEEDED.get(level, 0.0))
    return Route(level, "classifier", round(chances[level], 3))


def gated(decision: Route, facts: Facts) -> Route:
    """The same, or what the workspace lets through of it."""
    if facts.conversation and decision.reason == CONVERSATION:
        return decision
    if facts.cards is False and decision.level is not Level.chat:
        return replace(decision, level=Level.chat, gates=[*decision.gates, "empty_workspace"])
    while (gate := _gate(decision.level, facts)) is not None:
        decision = closed(decision, gate, facts)
    return decision


def closed(decision: Route, gate: str, facts: Facts) -> Route:
    """What answers in place of a level that is closed: claims where no name leads into the graph, else level search,
    which never is.
    """
    level = Level.context if decision.level is Level.explore and _has_claims(facts) else Level.search
    return replace(decision, level=level, gates=[*decision.gates, gate])


def may_be_fitted(decision: Route) -> bool:
    """Whether the workspace has a say: where the classifier guessed the level from the form of the question."""
    return decision.reason == "classifier"


def fitted(decision: Route, facts: Facts, *, is_broad: bool = True) -> Route:
    """The same, or the level at which this workspace answers such a question best.

    The form of a question tells a theme from a fact, but not where the fact lies. A question that names something in
    particular begins at the cards that speak of it: what else it asks for is often in one that these lead to. One that
    does not looks for a claim in the middle of some text, which level context compares claim by claim and level search
    by passages. So does one that finds names in long cards alone, where to have found the card is not to have found the
    place. Where facts are found by passages, only a name with a card of its own leads to more than these. And one that
    names anything known does not ask about the collection as a whole, nor, where facts are found by passages, does one
    that is not `is_broad`; and it is no small talk: answered without the notes, a fact is lost. Measured by
    `bench.regret`.
    """
    if not may_be_fitted(decision):
        return decision
    if decision.level is Level.chat:
        return _led(decision, Level.search, KNOWN_NAME) if facts.names_known else decision
    if decision.level is Level.insight and not facts.names_known and (is_broad or not facts.passages_first):
        return decision
    are_long = facts.passages is not None and facts.passages > _LONG_CARDS
    if facts.names_card or (facts.names_particular and not are_long and not facts.passages_first):
        return _led(decision, Level.explore, KNOWN_NAME)
    if _has_claims(facts) and (decision.level is not Level.explore or are_long):
        return _led(decision, Level.context, READS_CLAIMS)
    if facts.passages_first and decision.level in (Level.context, Level.insight):
        return _led(decision, Level.search, READS_PASSAGES)
    return decision


def is_broad(query: str) -> bool:
    """Whether a question speaks of the collection, of what goes through many notes, or of who wrote them."""
    text = masked(query)
    broad = _COLLECTION if _PARTICULAR.search(text) else _BROAD
    return _WRITER.search(text) is not None or bool(broad & {CUES[place] for place in cues(text)})


def _has_claims(facts: Facts) -> bool:
    return bool(facts.cone) and not facts.passages_first


def _led(decision: Route, level: Level, gate: str) -> Route:
    return decision if decision.level is level else replace(decision, level=level, gates=[*decision.gates, gate])


def escalate(decision: Route, evidence_weak: bool, facts: Facts = NO_FACTS) -> Route:
    """One level deeper, to the next that is open, where the evidence is weak. Once; never from a level that somebody
    asked for, and never where nothing was looked for; nor to the whole collection for a fact that no claim tells.
    """
    if not evidence_weak or decision.escalated_from is not None or decision.reason == "explicit":
        return decision
    if decision.level is Level.chat or (facts.conversation and decision.reason == CONVERSATION):
        return decision
    fact = {KNOWN_NAME, READS_CLAIMS, READS_PASSAGES} & set(decision.gates)
    deepest = Level.context if fact else Level.insight
    for deeper in Level:
        if decision.level < deeper <= deepest and _gate(deeper, facts) is None and not _was_closed(deeper, decision):
            return replace(decision, level=deeper, escalated_from=decision.level)
    return decision


def _gate(level: Level, facts: Facts) -> str | None:
    if level is Level.insight and facts.reports is False:
        return "no_reports"
    if level is Level.context and facts.cone is False:
        return "no_cone"
    if level is Level.explore and facts.known_entity is False:
        return "no_known_entity"
    return None


def _was_closed(level: Level, decision: Route) -> bool:
    gates = {Level.insight: "no_reports", Level.context: "no_cone", Level.explore: "no_known_entity"}
    return gates[level] in decision.gates
