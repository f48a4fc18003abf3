"""What becomes of a job whose handler has ended: done, again later, or failed. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.core.errors import MindConeError, RateLimited, Unavailable
from app.jobs.settings import JobSettings
from app.providers.ports import ProviderBusy, ProviderDown, ProviderTimeout
from app.text.normalise import clean

_LONGEST_RETRY_AFTER_SECONDS = 3600.0
_DETAIL_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Outcome:
    """`counted`: whether the attempt counts. `busy`: the fault is with someone who will come back."""

    state: Literal["done", "queued", "failed"]
    delay_seconds: float = 0.0
    counted: bool = True
    busy: bool = False
    code: str | None = None
    detail: str | None = None


DONE = Outcome("done")
HANDED_BACK = Outcome("queued", counted=False)


def judge(
    error: BaseException,
    *,
    attempt: int,
    max_attempts: int,
    busy_seconds: float,
    settings: JobSettings,
    jitter: float,
) -> Outcome:
    """What to do after `error` ended attempt number `attempt` (from 1).

    `busy_seconds`: how long this job has already been waiting for somebody who is busy or away.
    `jitter` in 0..1 spreads the waits, so that jobs that failed together do not come back together.
    """
    leaves = list(_leaves(error))
    # Of several failures the one that waiting will not cure speaks for the job.
    told = next((leaf for leaf in leaves if not _is_busy(leaf)), leaves[0])
    code, detail = _describe(told)
    busy = _is_busy(told)
    counted = not busy or busy_seconds >= settings.job_patience_seconds
    asked = max((_retry_after(leaf) for leaf in leaves), default=0.0)
    if counted:
        wait = settings.job_backoff_seconds * 2.0 ** min(attempt - 1, 30)
    else:
        # A quarter of the time waited so far: grows without a counter, and never lags far behind.
        wait = max(settings.job_backoff_seconds, busy_seconds / 4)
    wait = min(wait, settings.job_backoff_max_seconds) * (0.75 + 0.5 * jitter)
    # Jitter only adds to what was asked for: nobody comes back too early.
    delay = max(wait, asked * (1 + 0.25 * jitter))
    permanent = any(getattr(leaf, "permanent", False) for leaf in leaves)
    parked = permanent or (counted and attempt >= max_attempts)
    return Outcome("failed" if parked else "queued", delay, counted, busy, code, detail)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _is_busy(error: BaseException) -> bool:
    # A timeout may be the job's own fault (a prompt too long), so it counts.
    if isinstance(error, ProviderTimeout):
        return False
    return isinstance(error, RateLimited | Unavailable | ProviderBusy | ProviderDown)


def _retry_after(error: BaseException) -> float:
    seconds = getattr(error, "retry_after_seconds", None)
    if not isinstance(seconds, int | float) or math.isnan(seconds):
        return 0.0
    return min(max(float(seconds), 0.0), _LONGEST_RETRY_AFTER_SECONDS)


def _describe(error: BaseException) -> tuple[str, str]:
    if isinstance(error, MindConeError):
        return error.code, clean(error.detail)[:_DETAIL_CHARACTERS]
    # The text of a foreign error may hold SQL, hosts or somebody's note, and its class is our own affair:
    # both are for the log.
    return "internal", "The job failed unexpectedly."
