"""The collections that search reads: chunks, and the texts of the cone and the graph.

By words a collection is a table (`Collection`); by vectors it is one text of the table's rows (`TextKind`).
Names the tables, and knows nothing of what is in them.
"""

from __future__ import annotations

from enum import Enum, IntEnum


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
    report = 7
    """Of communities."""

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
    Collection.report: "reports",
}


class TextKind(Enum):
    """Texts that are compared with each other by vector: (whose, table of the vectors, their `role` there)."""

    chunk = (Collection.chunk, "windows", None)
    """By its windows, which have no role."""
    episode = (Collection.episode, "episode_vectors", 0)
    facet_title = (Collection.facet, "facet_vectors", 0)
    facet_description = (Collection.facet, "facet_vectors", 1)
    facet_edge = (Collection.facet, "facet_vectors", 2)
    point = (Collection.point, "point_vectors", 0)
    point_edge = (Collection.point, "point_vectors", 2)
    entity = (Collection.entity, "entity_vectors", 0)
    relation = (Collection.relation, "relation_vectors", 0)
    role = (Collection.role, "role_vectors", 0)

    def __init__(self, collection: Collection, vectors: str, vector_role: int | None) -> None:
        self.collection = collection
        self.vectors = vectors
        self.vector_role = vector_role

    def index_name(self, space_id: int) -> str:
        """Of the HNSW index over these texts in one embedding space."""
        role = "" if self.vector_role is None else f"_{self.vector_role}"
        return f"ix_{self.vectors}_hnsw_{int(space_id)}{role}"

    @property
    def is_asked(self) -> bool:
        """Whether questions look for the nearest of all of these texts. Of the others only those are compared that a
        question has reached by other ways, and all of them when distances are calibrated.
        """
        return self in _ASKED

    @property
    def is_indexed(self) -> bool:
        """Whether these texts get a vector index where there are many. Every text that is put into one costs as much
        as a tenth of its embedding.
        """
        return self in _ASKED or self is TextKind.entity

    def share(self, windows: int) -> int:
        """How many of these texts may be compared one by one where so many windows may: a question that is compared
        with the texts of the graph is so with nine kinds of them at once.
        """
        return windows if self is TextKind.chunk else -(-windows // 6)


_ASKED = frozenset({TextKind.chunk, TextKind.facet_description, TextKind.point_edge, TextKind.relation})
