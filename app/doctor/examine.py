"""The examination: what is installed, what is missing, what must not be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from app.db import migrate
from app.db.session import Database
from app.doctor import queries
from app.doctor.stale_vectors import count_stale_vectors
from app.index.collections import Collection
from app.index.lexical import lexical_stats

MINIMAL_PGVECTOR = (0, 8, 0)


@dataclass(slots=True)
class Report:
    """`checks`: what was looked at; `problems`: what is wrong with it, by name; every count in `invariants` is
    0 in good health.
    """

    ok: bool = True
    checks: dict[str, Any] = field(default_factory=dict)
    invariants: dict[str, int] = field(default_factory=dict)

    def problem(self, name: str, value: Any) -> None:
        self.checks.setdefault("problems", {})[name] = value


class Doctor:
    """`expected_indexes` names the indexes that the tables declare."""

    def __init__(self, database: Database, expected_indexes: Callable[[], Iterable[str]]) -> None:
        self._database = database
        self._expected_indexes = expected_indexes

    async def examine(self, deep: bool) -> Report:
        """All checks; with `deep` the invariants that read whole tables, too."""
        report = Report()
        schema = await migrate.status(self._database.dsn)
        report.checks["schema"] = {"current": schema.current, "head": schema.head, "pending": list(schema.pending)}
        if schema.pending or not schema.known:
            report.problem("schema", "unknown" if not schema.known else "pending")
        async with self._database.read() as session:
            server = await queries.get_server(session)
            broken = await queries.list_broken_indexes(session)
            missing = sorted(set(self._expected_indexes()) - await queries.list_indexes(session))
            report.checks |= {"server": server, "pool": self._database.pool_status()}
            for name, names in (("invalid_indexes", broken), ("missing_indexes", missing)):
                report.checks[name] = names
                if names:
                    report.problem(name, names)
            if _version(server["pgvector"]) < MINIMAL_PGVECTOR:
                report.problem("pgvector", server["pgvector"])
            if server["connections"] > 0.9 * server["max_connections"]:
                report.problem("connections", server["connections"])
        for name, statement in (queries.DEEP if deep else queries.QUICK).items():
            async with self._database.read() as session:
                report.invariants[name] = await queries.count(session, statement)
        if deep:
            report.invariants |= await self._workspaces()
        report.ok = not report.checks.get("problems") and not any(report.invariants.values())
        return report

    async def _workspaces(self) -> dict[str, int]:
        """What is counted workspace by workspace."""
        counts = dict.fromkeys(("graph_vector_of_other_text", *_POSTINGS), 0)
        async with self._database.read() as session:
            workspaces = await queries.list_workspaces(session)
        for workspace_id in workspaces:
            counts["graph_vector_of_other_text"] += await count_stale_vectors(self._database, workspace_id)
            for collection in Collection:
                async with self._database.read() as session:
                    stats = await lexical_stats(session, workspace_id, collection)
                counts["owner_without_postings"] += stats.missing
                counts["postings_without_owner"] += stats.orphans
                counts["postings_twice"] += stats.duplicates
                counts["postings_sums"] += int(not stats.sums_agree)
        return counts


_POSTINGS = ("owner_without_postings", "postings_without_owner", "postings_twice", "postings_sums")


def _version(written: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in (written or "0").split(".") if part.isdigit())
