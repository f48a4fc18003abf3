"""What an entity is or does in a facet, in the card's own words: the text of the edge between the two. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.ingestion.cone.claim import Claim
from app.ingestion.cone.limits import ConeLimits
from app.ingestion.cone.phrases import bounded, clauses, width
from app.ingestion.cone.view import NameView
from app.ingestion.extract.types import RoleDraft
from app.text.normalise import name_key

_READ_CLAIMS: Final = 4
_SAYS: Final = 4.0


@dataclass(frozen=True, slots=True)
class _Seen:
    count: int
    first: int
    salience: float


def roles(
    facets: Sequence[Sequence[Claim]], names: Sequence[NameView], title: str, limits: ConeLimits
) -> tuple[RoleDraft, ...]:
    """Per facet its most salient entities; for the episode those of its title and of several facets, same words."""
    salience = {name.name: name.salience for name in names}
    in_title = {name.name for name in names if name_key(name.name) and name_key(name.name) in name_key(title)}
    found: list[RoleDraft] = []
    for number, claims in enumerate(facets):
        seen: dict[str, list[Claim]] = {}
        for claim in claims:
            for name in claim.names if claim.quotable else ():
                seen.setdefault(name, []).append(claim)
        ranked = sorted(seen, key=lambda n: (n not in in_title, -len(seen[n]), -salience.get(n, 0.0), seen[n][0].start))
        words = sum(width(claim.said) for claim in claims)
        most = min(limits.max_roles, 1 + int(words / limits.words_per_role))
        for name in ranked[:most]:
            text = role(name, seen[name], limits.role_words)
            if text:
                found.append(RoleDraft(name, text, number))
    return (*found, *_of_episode(found, in_title, len(facets)))


def role(name: str, claims: Sequence[Claim], words: float) -> str:
    """The shortest clause of up to `words` that says something about `name`, first where it is the subject."""
    candidates = [
        text
        for claim in claims[:_READ_CLAIMS]
        for text in _around(name, claim.text if claim.speaker else claim.said, words)
    ]
    telling = [
        text for text in candidates if width(text) - width(name) >= _SAYS / 2 and name_key(text) != name_key(name)
    ]
    return min(telling, key=lambda text: (not text.startswith(name), width(text) < _SAYS, width(text)), default="")


def _around(name: str, text: str, words: float) -> list[str]:
    """The text where it is short, else the clauses about `name`, each with what follows it up to `words`."""
    if width(text) <= words:
        return [text]
    parts = clauses(text)
    for i, part in enumerate(parts):
        if name in part:
            taken = part
            for following in parts[i + 1 :]:
                if width(taken) >= _SAYS + width(name) or width(taken) + width(following) > words:
                    break
                taken = text[text.find(part) : text.find(following, text.find(part)) + len(following)]
            return [bounded(taken, words)]
    return [bounded(text, words)]


def _of_episode(found: Sequence[RoleDraft], in_title: set[str], facets: int) -> list[RoleDraft]:
    if facets < 2:
        return []
    by_name: dict[str, list[RoleDraft]] = {}
    for each in found:
        by_name.setdefault(each.entity, []).append(each)
    return [
        RoleDraft(name, min(given, key=lambda r: len(r.role)).role)
        for name, given in by_name.items()
        if len(given) > 1 or name in in_title
    ]
