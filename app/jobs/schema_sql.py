"""DDL of the queue's own tables, for the migration. Our `jobs` table is in `tables.py`."""

from __future__ import annotations

from typing import Final

from app.db.sql import load

QUEUE_TABLES: Final = frozenset(
    {
        "mindcone_pgqueuer",
        "mindcone_pgqueuer_log",
        "mindcone_pgqueuer_schedules",
        "mindcone_pgqueuer_statistics",
    }
)
"""Tables that are in the database and not in `Base.metadata`; a comparison of the two leaves them out."""


def install_statements() -> list[str]:
    """Statements that create the queue in an empty schema, one by one, in order."""
    return [part.strip() for part in load("app.jobs", "queue").split("-- next\n")[1:]]


def uninstall_statements() -> list[str]:
    """Statements that drop the queue and everything in it."""
    tables = [f"DROP TABLE IF EXISTS {table}" for table in sorted(QUEUE_TABLES)]
    return [
        *tables,
        "DROP FUNCTION IF EXISTS mindcone_fn_pgqueuer_changed()",
        "DROP TYPE IF EXISTS mindcone_pgqueuer_status",
    ]
