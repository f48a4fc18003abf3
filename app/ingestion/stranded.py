"""Cards that wait although no job will come for them: tried once more one by one, or told why not.

Jobs carry many cards. When every worker that tried a job has died of it, one of its cards may be the reason, and the
others are innocent: each gets a job of its own. A card whose own job ended so, or was cancelled, has failed and says
why.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from app.core.log import get
from app.db.session import Database
from app.ingestion import queries
from app.ingestion.queries import Task
from app.ingestion.written import ingest_job
from app.jobs.queue import enqueue_many

log = get(__name__)

AT_ONCE: Final = 200


async def mend_stranded(database: Database) -> int:
    """Gives how many cards were found; call it again while it finds any."""
    async with database.read() as session:
        rows = await queries.list_stranded(session, AT_ONCE)
    by_workspace: dict[uuid.UUID, list[Any]] = defaultdict(list)
    for row in rows:
        by_workspace[row["workspace_id"]].append(row)
    for workspace_id, found in by_workspace.items():
        await _mend(database, workspace_id, found)
    return len(rows)


async def _mend(database: Database, workspace_id: uuid.UUID, found: Sequence[Any]) -> None:
    rows = {Task(row["card_id"], row["text_version"]): row for row in found}
    async with database.unit() as session:
        # Locked, and looked at once more: whoever has changed one in the meantime has queued it himself.
        held = sorted(await queries.hold_waiting(session, workspace_id, list(rows)), key=lambda task: task.card_id)
        again = [task for task in held if _deserves_another(rows[task])]
        ended: dict[tuple[str, str], list[Task]] = defaultdict(list)
        for task in held:
            if not _deserves_another(rows[task]):
                ended[_told(rows[task])].append(task)
        for (code, detail), tasks in ended.items():
            await queries.set_given_up(session, workspace_id, tasks, code, detail)
        await enqueue_many(session, [ingest_job(workspace_id, [task]) for task in again])
    log.warning("stranded_cards", workspace_id=str(workspace_id), again=len(again), given_up=len(held) - len(again))


def _deserves_another(row: Any) -> bool:
    """Nobody knows what became of its job, or others were in it that may have been the reason."""
    return row["state"] in (None, "done") or (row["state"] == "failed" and row["cards"] > 1)


def _told(row: Any) -> tuple[str, str]:
    if row["state"] == "cancelled":
        return "cancelled", "The job that was to learn this card was cancelled."
    return row["error_code"] or "internal", row["error_detail"] or "The work failed unexpectedly."
