"""Where a graph is clustered: a small one in a thread, a large one in a process of its own.

Neither igraph nor leidenalg gives way to other threads: a minute of theirs would be a minute without a heartbeat.
Whoever stops waiting stops the process.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from multiprocessing.connection import Connection
from typing import Any, Final

from app.core.errors import MindConeError
from app.graph.leiden import Clustering, Earlier, Graph, cluster
from app.ingestion.communities.settings import CommunitySettings

IN_THREAD_EDGES: Final = 5_000


class ClusteringDied(MindConeError):
    """The process that clusters the graph has ended without a result; most likely there was not enough memory."""

    code = "clustering_died"


async def clustered(
    graph: Graph, settings: CommunitySettings, earlier: Earlier | None, *, in_thread_edges: int = IN_THREAD_EDGES
) -> Clustering:
    """Raises ClusteringDied."""
    known = {"max_size": settings.community_max_size, "resolution": settings.community_resolution, "earlier": earlier}
    if len(graph.edges) <= in_thread_edges:
        return await asyncio.to_thread(cluster, graph, **known)  # type: ignore[arg-type]
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_cluster, args=(sender, graph, known), name="leiden", daemon=True)
    try:
        await asyncio.to_thread(process.start)
        sender.close()  # the process has its own: when it dies, there is nobody left to wait for
        found: Clustering = await asyncio.to_thread(receiver.recv)
        return found
    except EOFError as error:
        raise ClusteringDied from error
    finally:
        if process.pid is not None:
            process.kill()
        sender.close()


def _cluster(sender: Connection, graph: Graph, known: dict[str, Any]) -> None:
    sender.send(cluster(graph, **known))
