"""From a passage to its claims, whatever its kind. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.ingestion.cone.claim import Claim
from app.ingestion.cone.laidout import code_claim, row_claims
from app.ingestion.cone.limits import ConeLimits
from app.ingestion.cone.lookup import Lookup
from app.ingestion.cone.phrases import says_something
from app.ingestion.cone.prose import line_claims
from app.ingestion.cone.sections import Passage
from app.ingestion.cone.spoken import turn_claims


def passage_claims(passage: Passage, context: str, at: Lookup, limits: ConeLimits) -> list[Claim]:
    """`context` stands in front of what does not stand alone: the heading, else the card's title."""
    made: Iterable[Claim]
    match passage.kind:
        case "code":
            made = code_claim(passage, context, at)
        case "table":
            made = row_claims(passage, at, limits)
        case "turns":
            made = turn_claims(passage, at, limits)
        case _:
            made = line_claims(passage, context, at, limits)
    found: dict[str, Claim] = {}
    for claim in made:
        if says_something(claim.text):
            found.setdefault(claim.text, replace(claim, names=at.names(claim.start, claim.end)))
    return list(found.values())
