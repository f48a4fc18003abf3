"""It, its and "the company" in English text, only where one named thing fits and nothing else may be meant.

Takes "it" at the head of a sentence whose predecessor speaks of one named thing as its subject; the "it" of weather
and of "it is clear that" stands for nothing.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from typing import Final

from app.text.coref_shapes import NameSpan, NameType, Resolution

PRONOUN = re.compile(
    r"\b(?:(?P<it>[Ii]t)|(?P<its>[Ii]ts)"
    r"|(?P<the>[Tt]h(?:e|is) (?P<kind>company|firm|startup|city|town|village|book|novel|film|movie|album)))\b(?!['’-])"
)
_KINDS: Final[dict[str, NameType]] = {
    "company": "organization",
    "firm": "organization",
    "startup": "organization",
    "city": "place",
    "town": "place",
    "village": "place",
    "book": "work",
    "novel": "work",
    "film": "work",
    "movie": "work",
    "album": "work",
}
_EMPTY = re.compile(
    r"[Ii]t (?:(?:is|was|will|would|has been|may|might|can|could|must|should)\b"
    r"(?! (?:an?|the|also|written|based|used|now|still|built|released|founded|owned|made|developed|run)\b)"
    r"|(?:seems?|seemed|appears?|appeared|turns?|turned|rains?|rained|snows?|snowed|takes|took|depends?|happens|happened|looks|"
    r"looked|follows|matters|hurts|helps|feels|felt|sounds|pays|makes|made|got|gets|goes|went|worked|works)\b)"
)
_VERB = re.compile(
    r" (?:\([^)\n]{1,40}\) )?(?:(?:also|now|just|still|only|recently|finally) )?"
    r"(?:is|was|has|had|does|did|can|will|[a-z]{2,}(?:ed|s)|kept|ran|grew|got|came|won|lost|sold|built|began|went|made)\b"
)
# A thing without a name that "it" may stand for as well.
_RIVAL = re.compile(r"\b(?:an?|another|new|this|that|my|our|his|her|their) [a-z]|\bthe [a-z]")
_THINGS = frozenset(("organization", "product", "work", "concept", "event", "place", "other"))


def resolve_things(text: str, spans: Sequence[tuple[int, int]], names: Sequence[NameSpan]) -> list[Resolution]:
    found: list[Resolution] = []
    things = sorted((n for n in names if n.type in _THINGS), key=lambda n: n.start)
    if not things:
        return found
    starts = [n.start for n in things]
    ends = [end for _, end in spans]
    for match in PRONOUN.finditer(text):
        at = match.start()
        sentence = min(bisect.bisect_right(ends, at), len(ends) - 1)
        begin = spans[sentence][0]
        back = spans[max(0, sentence - 1)]
        near = things[bisect.bisect_left(starts, back[0]) : bisect.bisect_left(starts, at)]
        name: str | None = None
        if match["the"]:
            fitting = {n.name for n in near if n.type == _KINDS[match["kind"]]}
            name = fitting.pop() if len(fitting) == 1 else None
        elif at == begin and sentence and len({n.name for n in near}) == 1:
            first = near[0]
            opens = first.start == back[0] or text[back[0] : first.start] in ("The ", "the ")
            if opens and _VERB.match(text, first.end) and not (match["it"] and _EMPTY.match(text, at)):
                rest = text[first.end : back[1]]
                name = first.name if first.type != "place" and not _RIVAL.search(rest) else None
        if name is not None:
            found.append(Resolution(at, match.end(), match.group(), name, match["its"] is not None))
    return found
