"""Speech that prose reports: who says what stands behind a semicolon, or goes on in quotes. Pure.

"Ada said that it rained; nobody came." is two claims, and nothing in the second one tells whose word it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from app.ingestion.cone.claim import Claim
from app.ingestion.cone.lookup import Lookup
from app.ingestion.cone.phrases import is_han_text, width

# What stands between the beginning of a sentence and whoever speaks in it: a time, "Then".
_FURTHEST: Final = 48
_SAYS = re.compile(
    r"(?: (?:also|then|later|further|again|once|just|has|had))* "
    r"(?:sa(?:id|ys)|stat(?:ed|es)|repl(?:ied|ies)|ask(?:ed|s)|add(?:ed|s)|not(?:ed|es)|comment(?:ed|s)"
    r"|respond(?:ed|s)|explain(?:ed|s)|mention(?:ed|s)|told|tells|remark(?:ed|s)|conclud(?:ed|es)|continued|continues"
    r"|confirm(?:ed|s)|agree[ds]|answer(?:ed|s)|suggest(?:ed|s)|wrote|writes|express(?:ed|es)|recall(?:ed|s)"
    r"|report(?:ed|s)|announce[ds]|reveal(?:ed|s)|emphasi[sz]e[ds]|admit(?:ted|s)|acknowledge[ds]|wondered|wonders"
    r"|exclaim(?:ed|s)|thank(?:ed|s)|congratulate[ds]|describe[ds]|encourage[ds]|believe[ds]|argue[ds]|claim(?:ed|s)|insist(?:ed|s)|warn(?:ed|s)|promise[ds]|share[ds])\b"
    r"|\s*[:：]"
    r"|(?:也|又|还|则|接着|随后|补充)?(?:说|表示|指出|认为|提到|回答|回应|补充|强调|解释|建议|询问|问|坦言|透露|分享)"
)
_CLAUSE = re.compile(r"[;；]\s*")
_LEAST_WORDS: Final = 3.0


def with_speakers(claims: Iterable[Claim], at: Lookup) -> Iterator[Claim]:
    """Claims in their order: what somebody is reported to say by clauses, and each of them with the name."""
    who, is_open, last = "", False, Claim(-1, -1, "", "")
    for claim in claims:
        names = at.names(claim.start, claim.end)
        speakers = _speakers(claim.said, names)
        speaker = _first(speakers)
        # In quotes; or of a long sentence, or of one that ends in a semicolon, the next piece.
        goes_on = bool(who) and not speaker
        goes_on = goes_on and (is_open or claim.start == last.start or last.said.endswith((";", "；")))
        who = who if goes_on else speaker
        is_open = _stays_open(claim.said, goes_on and is_open)
        if not who:
            yield claim
            # Who begins to speak at the end of a sentence goes on in the next one.
            who = speakers[-1][1] if speakers and is_open else ""
        else:
            for place, clause in enumerate(clauses(claim.said)):
                speakers = _speakers(clause, names)
                named = _first(speakers)
                who = named or who
                clear = named or clause.startswith(who) or (place == 0 and not goes_on)
                yield replace(claim, text=clause if clear else _said_by(who, clause), said=clause)
                who = speakers[-1][1] if speakers else who
        last = claim


def _speakers(said: str, names: Iterable[str]) -> list[tuple[int, str]]:
    """Where these say something, in order."""
    found = []
    for name in names:
        at = said.find(name)
        while at >= 0:
            end = at + len(name)
            before = said[max(at - 1, 0) : at]
            if _SAYS.match(said, end) and not (before.isascii() and before.isalnum()):
                found.append((at, name))
            at = said.find(name, end)
    return sorted(found)


def _first(speakers: Sequence[tuple[int, str]]) -> str:
    """Who speaks from the beginning."""
    return speakers[0][1] if speakers and speakers[0][0] <= _FURTHEST else ""


def clauses(said: str) -> list[str]:
    """Parts between semicolons, each of some words; what is shorter stays with the one before."""
    parts: list[str] = []
    start = 0
    for match in _CLAUSE.finditer(said):
        left, right = said[start : match.start()], said[match.end() :]
        if min(width(left), width(right)) >= _LEAST_WORDS:
            parts.append(left.strip())
            start = match.end()
    return [*parts, said[start:].strip()]


def _stays_open(said: str, is_open: bool) -> bool:
    """Whether a quote goes on behind it."""
    straight = said.count('"') % 2 == 1
    return is_open != straight or said.count("“") > said.count("”")


def _said_by(who: str, clause: str) -> str:
    return f"{who}：{clause}" if is_han_text(clause) else f"{who}: {clause}"
