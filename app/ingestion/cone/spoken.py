"""Claims of a dialogue: what the turns tell, each with its speaker. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal

from app.ingestion.cone.claim import Claim, together
from app.ingestion.cone.limits import ConeLimits
from app.ingestion.cone.lookup import Lookup
from app.ingestion.cone.phrases import is_han_text, is_small_talk, joined, pieces, width
from app.ingestion.cone.prose import leans
from app.ingestion.cone.sections import Passage
from app.ingestion.cone.view import TurnView
from app.text.markdown import strip_marks
from app.text.normalise import fold

_YES_NO = re.compile(r"^(?:yes|yeah|yep|no|nope|sure|of course|definitely|是|对|不|没|好)(?![a-z])", re.IGNORECASE)
_SHARING = re.compile(r"^\[?(?:shares?|shared|sends?|sent) ")
_SHORT_REPLY: Final = 8.0
_SHORT: Final = 6.0


def turn_claims(passage: Passage, at: Lookup, limits: ConeLimits) -> list[Claim]:
    """Small talk is left out where anything else is told; a short reply goes with the question it answers."""
    made: list[Claim] = []
    left: list[Claim] = []
    question: Claim | None = None
    for turn in passage.turns:
        told = list(_told(turn, at, limits))
        left += [_quoting(claim) for claim in told]
        content = [claim for claim in told if not is_small_talk(claim.said, at.speakers)]
        statements = [claim for claim in content if not _asks(claim)]
        if question is not None and question.speaker != turn.speaker:
            reply = statements[0] if statements else next((claim for claim in told if not _asks(claim)), None)
            if reply is not None and (width(reply.said) <= _SHORT_REPLY or _YES_NO.match(reply.said)):
                statements = [claim for claim in statements if claim is not reply]
                while statements and leans(statements[0].said) and width(reply.said) < limits.point_words / 2:
                    reply = together(reply, statements.pop(0))
                made.append(_answered(question, reply))
            elif question.weight:
                made.append(_asking(question))
            question = None
        made += [_quoting(claim) for claim in _packed(statements, limits.point_words / 2)]
        asked = [claim for claim in content if _asks(claim)]
        if asked:
            waiting = [*([question] if question is not None else []), *asked[:-1]]
            made += [_asking(claim) for claim in waiting if claim.weight]
            question = asked[-1]
    if question is not None and (question.weight or not made):
        made.append(_asking(question))
    return made or left[:1]


def _told(turn: TurnView, at: Lookup, limits: ConeLimits) -> Iterator[Claim]:
    """The sentences of a turn without its label."""
    label = re.compile(rf"(?:\[[^\]\n]*\]\s*)?\**{re.escape(turn.speaker)}[^:：\n]{{0,40}}[:：]\**\s*")
    for sentence in at.sentences(turn.start, turn.end):
        if sentence.end <= turn.said:
            continue
        opens = sentence.start < turn.said
        text = label.sub("", sentence.text.lstrip("- "), count=1) if opens else sentence.text
        said = strip_marks(text, False)
        if said[:1] == "[" and said[-1:] == "]":
            said = said[1:-1].strip()
        start = max(sentence.start, turn.said)
        weight = at.telling(start, sentence.end)
        for piece in pieces(said, limits.point_words):
            yield Claim(start, sentence.end, piece, piece, turn.speaker, sentence.times, weight)


def _asks(claim: Claim) -> bool:
    return claim.said.endswith(("?", "？"))


def _packed(claims: list[Claim], most: float) -> list[Claim]:
    """Sentences of a turn that are short, or lean on the one before, with it."""
    out: list[Claim] = []
    for claim in claims:
        short = width(claim.said) < _SHORT or leans(claim.said)
        if out and short and width(out[-1].said) + width(claim.said) <= most and not _SHARING.match(claim.said):
            out[-1] = together(out[-1], claim)
        else:
            out.append(claim)
    return out


def _quoting(claim: Claim) -> Claim:
    """As it is where the words name their speaker, else as what the speaker said."""
    speaker = claim.speaker or ""
    if fold(speaker) in fold(claim.said):
        return claim
    if _SHARING.match(claim.said):
        return replace(claim, text=f"{speaker} {claim.said}")
    return replace(claim, text=speech(speaker, "said", claim.said))


def _asking(claim: Claim) -> Claim:
    return replace(claim, text=speech(claim.speaker or "", "asked", claim.said))


def _answered(question: Claim, answer: Claim) -> Claim:
    """One claim of both; it is the answer's speaker who tells something."""
    return replace(
        answer,
        start=question.start,
        text=joined([_asking(question).text, _quoting(answer).text]),
        said=joined([question.said, answer.said]),
        times=question.times + answer.times,
        weight=question.weight + answer.weight,
    )


def speech(speaker: str, verb: Literal["said", "asked"], said: str) -> str:
    if is_han_text(said):
        return f"{speaker}{'问' if verb == 'asked' else '说'}：“{said}”"
    return f'{speaker} {verb}: "{said}"'
