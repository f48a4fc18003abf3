"""The collections that search reads: chunks, and the texts of the cone and the graph."""

from __future__ import annotations

from enum import IntEnum


class Collection(IntEnum):
    """Where a document of the postings belongs. The numbers are stored."""

    chunk = 0
    episode = 1
    facet = 2
    point = 3
    entity = 4
    relation = 5
    role = 6
    """Edges: relations and roles; the others of the cone are found by the words of their points and facets."""

    @property
    def table(self) -> str:
        """Whose rows they are."""
        return _TABLES[self]


_TABLES = {
    Collection.chunk: "chunks",
    Collection.episode: "episodes",
    Collection.facet: "facets",
    Collection.point: "points",
    Collection.entity: "entities",
    Collection.relation: "relations",
    Collection.role: "roles",
}
