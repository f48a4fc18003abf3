"""Reports without a model: the central names, the strongest sentences that join them, and what they rest on.

Deterministic: the same rows make the same report. Every sentence is one of the notes.
"""

from __future__ import annotations

import asyncio
import math
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from app.ingestion.communities.report import (
    MAX_FINDINGS,
    MAX_MEMBERS,
    MAX_STATEMENTS,
    MIN_FINDINGS,
    Finding,
    Member,
    Place,
    Report,
    ReportInput,
    Statement,
)
from app.ingestion.communities.report_sentences import as_sentence, overlap, reads_well, shingles
from app.ingestion.communities.report_title import TITLE_NAMES, chosen, is_junk, listed, ranked, title_of
from app.text.normalise import fold, han_share

Language = Literal["zh", "en"]

VERSION: Final = "offline/1"
OFFLINE: Final = "offline"
_CLOSED = re.compile(r"[.!?。！？…][\"'”’」』)）]*$")
_NEXT_NAME = re.compile(r"、|, | and ")
_SUMMARY_SENTENCES: Final = 2
_SUMMARY_NAMES: Final = 7
_BRANCHES: Final = 6
_SAME: Final = 0.55
"""Sentences that share more than this say the same."""
_NAMED: Final = 40
"""So many of the best names are looked for in sentences."""
_HAN_LANGUAGE: Final = 0.25
_AGAIN: Final = 0.55
"""What a name, and _SAME_CARD what a card is worth once a finding speaks of it."""
_SAME_CARD: Final = 0.7
_SUBJECT: Final = 1.35
"""What a sentence is worth that begins with a central name: it tells what that is, or does."""
_SUBJECT_CHARS: Final = 60
_MIN_WORTH: Final = 0.1
"""Of the best sentence's; below it a report rather has fewer findings than the least number."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    names: frozenset[uuid.UUID]
    worth: float
    shingles: frozenset[str]
    finding: Finding


class OfflineReports:
    """A `ReportBuilder` that asks nobody."""

    version: Final = VERSION

    async def build(self, given: ReportInput) -> Report:
        return await asyncio.to_thread(build_report, given)


def build_report(given: ReportInput) -> Report:
    """The extractive report. Some milliseconds for the largest input. Pure."""
    members = given.members[:MAX_MEMBERS]
    statements = given.statements[:MAX_STATEMENTS]
    language = language_of(given)
    cards_of = _cards_of(statements)
    best = ranked(members, cards_of)
    candidates = _candidates(given, statements, best)
    findings = _picked(candidates, _how_many(given))
    names = chosen(best, _SUMMARY_NAMES)
    rating = rate(given)
    return Report(
        title=title_of(names[:TITLE_NAMES], han=language == "zh") or _untitled(language),
        summary=_summary(names, findings, given, language),
        rating=rating,
        rating_reason=_reason(given, language),
        findings=tuple(candidate.finding for candidate in findings),
        language=language,
    )


def language_of(given: ReportInput) -> Language:
    """That of most of its text."""
    text = "\n".join(statement.text for statement in given.statements[:100])
    text = text or "\n".join(member.name for member in given.members[:100])
    return "zh" if han_share(text) > _HAN_LANGUAGE else "en"


def rate(given: ReportInput) -> float:
    """0…10: how much of the notes is in it. Ten times the cards are three points more, ten times the statements one."""
    cards = max(given.cards, len({statement.card_id for statement in given.statements}))
    return round(min(10.0, 0.9 * math.log2(1 + cards) + 0.35 * math.log2(1 + given.relations)), 1)


def _reason(given: ReportInput, language: Language) -> str:
    cards = max(given.cards, len({statement.card_id for statement in given.statements}))
    if language == "zh":
        return f"{cards} 张卡片里有 {given.relations} 条陈述，把 {given.size} 个名称联系在一起。"
    statements = "statement" if given.relations == 1 else "statements"
    of_cards = "card" if cards == 1 else "cards"
    return f"{given.relations} {statements} in {cards} {of_cards} join {given.size} names."


def _untitled(language: Language) -> str:
    return "未命名" if language == "zh" else "Untitled"


def _cards_of(statements: Sequence[Statement]) -> dict[uuid.UUID, int]:
    cards: dict[uuid.UUID, set[uuid.UUID]] = defaultdict(set)
    for statement in statements:
        cards[statement.source_id].add(statement.card_id)
        cards[statement.target_id].add(statement.card_id)
    return {entity: len(of) for entity, of in cards.items()}


def _how_many(given: ReportInput) -> int:
    return min(MAX_FINDINGS, MIN_FINDINGS + given.relations // 5)


def _candidates(
    given: ReportInput, statements: Sequence[Statement], best: Sequence[tuple[Member, float]]
) -> list[_Candidate]:
    worth = {member.id: score for member, score in best}
    spelled = {
        fold(member.name): member.id for member, _ in best[:_NAMED] if len(member.name) > 1 and not is_junk(member.name)
    }
    found: list[_Candidate] = []
    by_text: dict[str, int] = {}
    for statement in statements:
        sentence = as_sentence(statement.text)
        quality = reads_well(statement.text, sentence)
        if quality <= 0:
            continue
        names = _named(sentence, spelled) | {statement.source_id, statement.target_id}
        score = quality * (0.5 + _mass(names, worth)) * (1.0 + 0.15 * math.log2(max(statement.evidence, 1)))
        if _opens_with(sentence, spelled):
            score *= _SUBJECT
        finding = Finding(
            sentence,
            tuple(sorted(names)),
            (statement.id,),
            (statement.card_id,),
            (Place(statement.card_id, statement.chunk_id, statement.start, statement.end),),
        )
        # One sentence that joins several names is several statements.
        place = by_text.get(sentence)
        if place is not None:
            found[place] = _joined(found[place], names, score, finding)
            continue
        by_text[sentence] = len(found)
        found.append(_Candidate(sentence, frozenset(names), score, shingles(sentence), finding))
    for child in given.children:
        for finding in child.report.findings:
            if finding.text in by_text:
                continue
            by_text[finding.text] = len(found)
            names = _named(finding.text, spelled) | set(finding.entity_ids)
            score = reads_well(finding.text, finding.text) * (0.5 + _mass(names, worth))
            found.append(_Candidate(finding.text, frozenset(names), score, shingles(finding.text), finding))
    return found


def _joined(known: _Candidate, names: set[uuid.UUID], score: float, finding: Finding) -> _Candidate:
    both = known.finding
    return _Candidate(
        known.text,
        known.names | names,
        max(known.worth, score) * 1.05,
        known.shingles,
        Finding(
            both.text,
            tuple(sorted({*both.entity_ids, *finding.entity_ids})),
            tuple(dict.fromkeys((*both.relation_ids, *finding.relation_ids))),
            tuple(dict.fromkeys((*both.card_ids, *finding.card_ids))),
            tuple(dict.fromkeys((*both.places, *finding.places))),
        ),
    )


def _opens_with(sentence: str, spelled: Mapping[str, uuid.UUID]) -> bool:
    """Whether one of the best names is what it is about."""
    start = fold(sentence[:_SUBJECT_CHARS]).lstrip("《「“\"'‘（( ")
    return any(start.startswith(name) for name in spelled)


def _named(sentence: str, spelled: Mapping[str, uuid.UUID]) -> set[uuid.UUID]:
    folded = fold(sentence)
    return {entity for name, entity in spelled.items() if name in folded}


def _mass(names: set[uuid.UUID], worth: Mapping[uuid.UUID, float]) -> float:
    """What the names of a sentence are worth: the third one adds less than the first."""
    scores = sorted((worth.get(name, 0.0) for name in names), reverse=True)
    return math.fsum(score / (place + 1) for place, score in enumerate(scores[:5]))


def _picked(candidates: Sequence[_Candidate], most: int) -> list[_Candidate]:
    """Best first; what was spoken of counts less, and nothing is said twice."""
    left = list(candidates)
    picked: list[_Candidate] = []
    names: Counter[uuid.UUID] = Counter()
    cards: Counter[uuid.UUID] = Counter()
    first = 0.0

    def worth(one: _Candidate) -> float:
        told = min((names[name] for name in one.names), default=0)
        again = sum(names[name] for name in one.names) / (len(one.names) or 1)
        of_card = max((cards[card] for card in one.finding.card_ids), default=0)
        return float(one.worth * _AGAIN ** min(told + again, 4) * _SAME_CARD ** min(of_card, 4))

    while left and len(picked) < most:
        best = max(left, key=worth)
        value = worth(best)
        first = first or value
        if len(picked) >= MIN_FINDINGS and value < _MIN_WORTH * first:
            break
        left.remove(best)
        if any(overlap(best.shingles, other.shingles) > _SAME for other in picked):
            continue
        picked.append(best)
        names.update(best.names)
        cards.update(best.finding.card_ids)
    return picked


def _summary(names: Sequence[str], findings: Sequence[_Candidate], given: ReportInput, language: Language) -> str:
    """What the title does not say: the two best sentences, the further names, the parts."""
    han = language == "zh"
    parts = [_closed(one.text, han) for one in findings[:_SUMMARY_SENTENCES]]
    if further := list(names[TITLE_NAMES:]):
        parts.append(f"另涉及{listed(further, han=True)}。" if han else f"Also {listed(further, han=False)}.")
    branches = list(dict.fromkeys(_first_name(child.report) for child in given.children[:_BRANCHES]))
    if len(branches) > 1:
        parts.append(f"分为{'、'.join(branches)}。" if han else f"Parts: {', '.join(branches)}.")
    return _run_on(parts)


def _first_name(report: Report) -> str:
    """Titles of ours begin with what matters most."""
    return _NEXT_NAME.split(report.title)[0] if report.generated_by == OFFLINE else report.title


def _closed(sentence: str, han: bool) -> str:
    return sentence if _CLOSED.search(sentence) else f"{sentence}{'。' if han else '.'}"


def _run_on(parts: Sequence[str]) -> str:
    """Sentences in a row: a space between them where the script has one."""
    out = ""
    for part in parts:
        wide = out and (out[-1] in "。！？…”」』" and part[:1] > "\u2e7f")
        out = f"{out}{'' if not out or wide else ' '}{part}"
    return out
