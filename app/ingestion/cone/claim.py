"""A claim: one statement that a stranger understands without the rest, and where the card makes it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.ingestion.cone.phrases import is_han_text, joined
from app.ingestion.extract.types import TimeRange


@dataclass(frozen=True, slots=True)
class Claim:
    """content[start:end] says `text`; `said` is the same without what was set around it; `weight` counts anchors."""

    start: int
    end: int
    text: str
    said: str
    speaker: str | None = None
    times: tuple[TimeRange, ...] = ()
    weight: int = 0
    names: tuple[str, ...] = ()
    quotable: bool = True
    """Whether it is in the card's words."""


def together(one: Claim, two: Claim, said: str = "") -> Claim:
    """Two neighbours as one, in the words of both."""
    said = said or joined([one.said, two.said])
    return replace(one, end=two.end, text=said, said=said, times=one.times + two.times, weight=one.weight + two.weight)


def listed(claims: Sequence[Claim], head: str = "") -> Claim:
    """Fragments as one claim, `head` in front."""
    first = claims[0]
    if len(claims) == 1:
        return first
    mark = "；" if is_han_text(first.said) else "; "
    said = mark.join(c.said.rstrip("。；;") for c in claims)
    return replace(
        first,
        end=claims[-1].end,
        text=head + said,
        said=said,
        times=tuple(time for c in claims for time in c.times),
        weight=sum(c.weight for c in claims),
    )
