"""Under which text each thing is found by vector. Whoever writes, re-embeds or compares goes through here. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def episode_text(title: str, summary: str) -> str:
    return f"{title}\n{summary}".strip()


def facet_title_text(title: str) -> str:
    return title


def facet_description_text(description: str) -> str:
    return description


def facet_edge_text(title: str, description: str) -> str:
    """Episode – facet."""
    return f"{title}: {description}"


def point_text(text: str) -> str:
    return text


def point_edge_text(facet_title: str, text: str) -> str:
    """Facet – point."""
    return f"{facet_title} → {text}"


def entity_text(name: str, aliases: Sequence[str], description: str) -> str:
    """`name (alias, alias): description`, without what is not there."""
    known = f"{name} ({', '.join(aliases)})" if aliases else name
    return f"{known}: {description}" if description else known


def relation_text(text: str) -> str:
    return text


def role_text(name: str, role: str) -> str:
    """Entity – episode or facet."""
    return f"{name} | {role}"
