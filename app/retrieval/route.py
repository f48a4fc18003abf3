"""Which level answers a question. Pure: the level asked for, else rules, else the classifier; then gates; and at most
one level deeper where the evidence turns out weak. The decision is data.
"""

from __future__ import annotations

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
# Where a level is closed, the one that answers in its place; each has one below it that is never closed.
_INSTEAD: Final = {Level.insight: Level.search, Level.context: Level.search, Level.explore: Level.search}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the workspace has to offer. None: not known, so no gate. `conversation`: one that can answer questions about
    itself, whatever else there is.
    """

    cards: bool | None = None
    cone: bool | None = None
    reports: bool | None = None
    known_entity: bool | None = None
    conversation: bool = False


NO_FACTS: Final = Facts()


def route(query: str, explicit: Level | None, facts: Facts = NO_FACTS) -> Route:
    """The decision for one question; `gates` names what kept it from the level that its words call for."""
    if explicit is not None:
        return Route(explicit, "explicit")
    return gated(wanted(query), facts)


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
        decision = replace(decision, level=_INSTEAD[decision.level], gates=[*decision.gates, gate])
    return decision


def escalate(decision: Route, evidence_weak: bool, facts: Facts = NO_FACTS) -> Route:
    """One level deeper, to the next that is open, where the evidence is weak. Once; never from a level that somebody
    asked for, and never where nothing was looked for.
    """
    if not evidence_weak or decision.escalated_from is not None or decision.reason == "explicit":
        return decision
    if decision.level is Level.chat or (facts.conversation and decision.reason == CONVERSATION):
        return decision
    for deeper in Level:
        if deeper > decision.level and _gate(deeper, facts) is None and not _was_closed(deeper, decision):
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
