"""How large the parts of a cone may become. Widths are in words; two Han characters count as one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConeLimits:
    max_facets: int = 18
    """Facets in an episode; a larger one is split along them."""
    facet_words: float = 220.0
    """A section above this becomes several facets."""
    group_words: float = 110.0
    """Passages, list items and turns share a facet up to about this, once a section has several."""
    point_words: float = 60.0
    description_words: float = 60.0
    summary_words: float = 150.0
    title_words: float = 16.0
    context_words: float = 10.0
    phrase_words: float = 8.0
    role_words: float = 25.0
    max_roles: int = 8
    """Roles per facet."""
    words_per_role: float = 30.0
    """A short facet has fewer: one for so many words."""


DEFAULT_LIMITS = ConeLimits()
