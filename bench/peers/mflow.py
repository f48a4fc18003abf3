"""M-FLOW (the package mflow-ai) beside MindCone: its own graph (Kuzu), vectors (LanceDB) and Bundle Search, no model.

M-FLOW lets a language model write episodes, facets, points and entities. Here they are what the document's `given`
holds, made into M-FLOW's own nodes with its own texts on the edges, and stored by the function that its pipeline stores
with; what its pipeline does before that is left out. Runs in an environment of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bench.peers.talk import DEPTH, DIMENSION, Document, Embedder, Kind, Question, folder, serve

TYPE: Final = "topic"


class Engine:
    """What M-FLOW takes for an embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.kind: Kind = "passage"

    async def embed_text(self, text: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = (await self._embedder(text, self.kind)).tolist()
        return vectors

    def get_vector_size(self) -> int:
        return DIMENSION

    def get_batch_size(self) -> int:
        return 36


class MFlow:
    def __init__(self, embedder: Embedder) -> None:
        home = folder()
        os.environ |= {f"MFLOW_{name}_ROOT_DIRECTORY": str(home / name.lower()) for name in ("DATA", "SYSTEM", "LOGS")}
        os.environ |= {"MFLOW_CACHE_ROOT_DIRECTORY": str(home / "cache"), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        (home / "system" / "databases").mkdir(parents=True)
        from m_flow.adapters.vector import create_vector_engine

        self._engine = Engine(embedder)
        create_vector_engine.get_embedding_engine = lambda: self._engine
        self._documents: dict[str, str] = {}

    async def index(self, documents: Sequence[Document]) -> None:
        from m_flow.core.domain.models import MemorySpace
        from m_flow.core.domain.utils.generate_node_id import generate_node_id
        from m_flow.storage import persist_memory_nodes

        space = MemorySpace(id=generate_node_id("MemorySpace:Episodic"), name="Episodic")
        nodes, edges = [], []
        for document in documents:
            for number, told in enumerate(document["given"]["episodes"]):
                episode, between = _episode(f"{document['id']}#{number}", document, told, space)
                self._documents[str(episode.id)] = document["id"]
                nodes.append(episode)
                edges += between
        await persist_memory_nodes(nodes, custom_edges=edges)

    async def ask(self, mode: str, question: Question) -> Sequence[str]:
        from m_flow.retrieval.episodic import EpisodicConfig, episodic_bundle_search

        self._engine.kind = "query"
        found = await episodic_bundle_search(question["text"], config=EpisodicConfig(top_k=DEPTH))
        ends = [str(node.id) for edge in found for node in (edge.node1, edge.node2)]
        return [self._documents[end] for end in ends if end in self._documents]


def _episode(key: str, document: Document, told: Mapping[str, Any], space: Any) -> tuple[Any, list[Any]]:
    """The node with all below it, and the edges from facets to entities."""
    from m_flow.core import Edge
    from m_flow.core.domain.models import Entity, Episode, Facet, FacetPoint
    from m_flow.core.domain.utils.generate_node_id import generate_node_id
    from m_flow.memory.episodic import edge_text_generators as texts

    when: dict[str, Any] = {"created_at": document["at_ms"]} if document["at_ms"] else {}
    if told["happened"]:
        start, end = told["happened"]
        when |= {"mentioned_time_start_ms": start, "mentioned_time_end_ms": end, "mentioned_time_confidence": 1.0}
    common = {"memory_spaces": [space], **when}
    described = {one["name"]: one["description"] or " ".join(one["said"]) for one in document["given"]["entities"]}
    roles = {(one["facet"], one["entity"]): one["role"] for one in told["roles"]}
    entities: dict[str, Any] = {}

    def entity(name: str) -> Any:
        if name not in entities:
            entities[name] = Entity(
                id=generate_node_id(f"Entity:{key}:{name}"),
                name=name,
                description=described.get(name) or name,
                canonical_name=name.lower().replace(" ", ""),
                memory_type="episodic",
                **common,
            )
        return entities[name]

    facets, between = [], []
    for number, section in enumerate(told["facets"]):
        title = section["title"] or told["title"]
        points = []
        for place, point in enumerate(section["points"]):
            text = texts.make_has_point_edge_text(TYPE, title, point["text"])
            node = FacetPoint(
                id=generate_node_id(f"FacetPoint:{key}:{number}:{place}"),
                name=point["text"],
                search_text=point["text"],
                **common,
            )
            points.append((Edge(relationship_type="has_point", edge_text=text), node))
        facet = Facet(
            id=generate_node_id(f"Facet:{key}:{number}"),
            name=title,
            facet_type=TYPE,
            search_text=title,
            description=section["description"],
            anchor_text=section["description"],
            has_point=points or None,
            **common,
        )
        text = texts.make_has_facet_edge_text(TYPE, title, section["description"])
        facets.append((Edge(relationship_type="has_facet", edge_text=text), facet))
        for name in dict.fromkeys(name for point in section["points"] for name in point["entities"]):
            role = roles.get((number, name)) or described.get(name) or ""
            text = texts.make_facet_involves_entity_edge_text(name, role, title)
            told_of = {"relationship_name": "involves_entity", "edge_text": text}
            between.append((str(facet.id), str(entity(name).id), "involves_entity", told_of))
    for one in told["roles"]:
        entity(one["entity"])
    involved = [
        (
            Edge(
                relationship_type="involves_entity",
                edge_text=texts.make_involves_entity_edge_text(node, roles.get((None, name)) or ""),
            ),
            node,
        )
        for name, node in entities.items()
    ]
    episode = Episode(
        id=generate_node_id(f"Episode:{key}"),
        name=told["title"] or document["title"],
        summary=told["summary"],
        has_facet=facets or None,
        involves_entity=involved or None,
        memory_type="episodic",
        **common,
    )
    return episode, between


if __name__ == "__main__":
    serve(MFlow)
