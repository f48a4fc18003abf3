"""What language models take, counted as it happens, written down every few seconds, and held against the day's budget.

A process that is killed loses the counts of its last seconds; an answer never waits for them. Calls outside of any
workspace belong to the default one.
"""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from app.core.clock import now
from app.core.errors import MindConeError, RateLimited
from app.core.log import get
from app.core.tenancy import find_workspace_id
from app.db.session import Database
from app.people import queries as people
from app.people import usage_queries as queries
from app.people.settings import PeopleSettings
from app.people.usage_queries import Counts, UsageKey
from app.providers.ports import Usage

log = get(__name__)

FREE: Final = "offline"
_MAX_NAME: Final = 200


class TokensSpent(RateLimited):
    """This workspace has used all the tokens that it may use today."""

    code = "token_budget_spent"


class TokenMeter:
    """The `Meter` of a process."""

    def __init__(self, settings: PeopleSettings) -> None:
        self._settings = settings
        self._database: Database | None = None
        self._default: uuid.UUID | None = None
        self._counted: dict[UsageKey, Counts] = {}
        self._day = now().date()
        self._stored: dict[uuid.UUID, int] = {}
        self._unstored: dict[uuid.UUID, int] = {}
        self._writing: asyncio.Task[None] | None = None
        self._flushing = asyncio.Lock()

    async def open(self, database: Database, default_workspace: uuid.UUID) -> None:
        self._database, self._default = database, default_workspace
        await self.flush()
        self._writing = asyncio.create_task(self._write(), name="token-meter")

    async def close(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            with suppress(asyncio.CancelledError):
                await self._writing
            self._writing = None
            await self._try_flush()

    def check(self) -> None:
        """Raises TokensSpent."""
        workspace_id, budget = find_workspace_id() or self._default, self._settings.workspace_daily_tokens
        if budget is None or workspace_id is None or self.spent_today(workspace_id) < budget:
            return
        midnight = datetime.combine(now().date() + timedelta(days=1), time(), UTC)
        raise TokensSpent(retry_after_seconds=(midnight - now()).total_seconds(), daily_tokens=budget)

    def spent_today(self, workspace_id: uuid.UUID) -> int:
        """As far as this process knows: what others spent in the last seconds is missing."""
        self._turn_day(now().date())
        return self._stored.get(workspace_id, 0) + self._unstored.get(workspace_id, 0)

    def count(self, provider: str, model: str, purpose: str, usage: Usage, *, is_failure: bool) -> None:
        workspace_id = find_workspace_id() or self._default
        if workspace_id is None:
            return
        tokens = usage.input_tokens + usage.output_tokens
        # A model's name comes from a request: one that gave nothing may not even exist.
        key = UsageKey(workspace_id, now().date(), provider, model[:_MAX_NAME] if tokens else "", purpose)
        counts = Counts(1, int(is_failure), int(usage.estimated), usage.input_tokens, usage.output_tokens)
        self._counted.setdefault(key, Counts()).add(counts)
        if provider != FREE:
            self._turn_day(key.day)
            self._unstored[workspace_id] = self._unstored.get(workspace_id, 0) + tokens

    async def flush(self) -> None:
        """Write down what was counted, and read what all processes spent today."""
        if self._database is None:
            return
        async with self._flushing:
            counted, self._counted = self._counted, {}
            try:
                async with self._database.unit() as session:
                    known = await people.list_workspace_ids(session, {key.workspace_id for key in counted})
                    await queries.add(session, {key: one for key, one in counted.items() if key.workspace_id in known})
                    spent = await queries.spent_on(session, now().date(), FREE)
            except BaseException:
                for key, counts in counted.items():
                    self._counted.setdefault(key, Counts()).add(counts)
                raise
            self._turn_day(now().date())
            self._stored = spent
            self._unstored = {}
            for key, counts in self._counted.items():  # counted while we wrote
                if key.provider != FREE and key.day == self._day:
                    tokens = counts.input_tokens + counts.output_tokens
                    self._unstored[key.workspace_id] = self._unstored.get(key.workspace_id, 0) + tokens

    async def _write(self) -> None:
        while True:
            await asyncio.sleep(self._settings.usage_flush_seconds)
            if self._counted or self._settings.workspace_daily_tokens is not None:
                await self._try_flush()

    async def _try_flush(self) -> None:
        try:
            await self.flush()
        except MindConeError as error:
            log.warning("usage_not_written", code=error.code)
        except Exception:
            log.exception("usage_not_written")

    def _turn_day(self, day: date) -> None:
        if day != self._day:
            self._day, self._stored, self._unstored = day, {}, {}
