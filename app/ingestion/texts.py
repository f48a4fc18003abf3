"""The texts that stand for the owners of vectors: what is embedded for an episode, a facet, a claim, an entity.

Whoever writes a vector takes its text from here, when a card is learned as when a space is filled anew: equal texts
share a hash and a vector. Pure; the order of what comes in (aliases) does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.text.normalise import is_han

MOST_ALIASES: Final = 12
"""More names than this say nothing new about an entity."""


def episode_text(title: str, summary: str) -> str:
    return _joined(title, "\n", summary)


def facet_title_text(title: str) -> str:
    return title.strip()


def facet_description_text(description: str) -> str:
    return description.strip()


def facet_edge_text(title: str, description: str) -> str:
    """Episode–facet; the description alone where it says the title itself."""
    return description.strip() if _says(description, title) else _joined(title, ": ", description)


def point_text(text: str) -> str:
    """The bare claim."""
    return text.strip()


def point_edge_text(facet_title: str, text: str) -> str:
    """Facet–point: the claim in its context; the claim alone where it says the facet's title itself."""
    return text.strip() if _says(text, facet_title) else _joined(facet_title, " → ", text)


def entity_text(name: str, aliases: Iterable[str] = (), description: str = "") -> str:
    """`name (alias, alias): description`; of the aliases the shortest, each once and never the name itself."""
    name = name.strip()
    others = sorted({alias.strip() for alias in aliases} - {name, ""}, key=lambda alias: (len(alias), alias))
    known_as = f"{name} ({', '.join(others[:MOST_ALIASES])})" if others else name
    return _joined(known_as, ": ", description)


def relation_text(text: str) -> str:
    """Entity–entity: the sentence."""
    return text.strip()


def role_text(name: str, role: str) -> str:
    """Episode–entity or facet–entity."""
    return _joined(name, " | ", role)


def report_texts(title: str, summary: str, findings: Iterable[str]) -> list[str]:
    """A community's report: the title with the summary, then every finding by itself."""
    return [_joined(title, ": ", summary), *(finding.strip() for finding in findings)]


def _says(text: str, title: str) -> bool:
    """Whether a text has a title word for word."""
    text, title = text.casefold(), title.strip().casefold()
    at = text.find(title) if title else -1
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(title) : at + len(title) + 1]
        if is_han(title[0]) or not (before.isalnum() or after.isalnum()):
            return True
        at = text.find(title, at + 1)
    return False


def _joined(left: str, between: str, right: str) -> str:
    left, right = left.strip(), right.strip()
    return f"{left}{between}{right}" if left and right else left or right
