"""What the builders of a cone may know of a card: what others found in it. Knows no finder itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.ingestion.extract.types import Span, TimeRange
from app.text.anchors import Anchor, anchors
from app.text.sentences import sentences


@dataclass(frozen=True, slots=True)
class SentenceView:
    """content[start:end] is one sentence; `text` says the same to a stranger: pronouns and speakers resolved.

    `text` may keep Markdown's marks and the speaker's label; where nothing was resolved it is the sentence itself.
    `names`: entities that a pronoun of it stands for; those that it spells out are in `CardView.names`.
    """

    start: int
    end: int
    text: str
    times: tuple[TimeRange, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn of a dialogue, its label included; what is said begins at `said`."""

    start: int
    end: int
    speaker: str
    said: int


@dataclass(frozen=True, slots=True)
class NameView:
    """An entity of the card. `salience`: the higher, the more the card is about it."""

    name: str
    mentions: tuple[Span, ...] = ()
    salience: float = 0.0


@dataclass(frozen=True, slots=True)
class CardView:
    """Sentences and turns in order, no sentence beyond its line. `title_times`: what the card's title says of time.

    `anchors` are those of the content; None: not looked for yet.
    """

    sentences: Sequence[SentenceView]
    turns: Sequence[TurnView] = ()
    names: Sequence[NameView] = ()
    title_times: tuple[TimeRange, ...] = ()
    anchors: Sequence[Anchor] | None = None


def plain_view(content: str) -> CardView:
    """The view of one who only knows where sentences end."""
    return CardView(
        [SentenceView(start, end, content[start:end]) for start, end in sentences(content)], anchors=anchors(content)
    )
