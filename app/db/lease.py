"""Who uses the embedded server: it starts with its first user, stops with its last, and is brought back meanwhile.

Every process that works on a data directory holds a shared lock while it does; the one that finds
itself alone when it leaves stops the server. While it is held, each of them looks after the server: one
that dies (killed by hand, or for want of memory) is started again by whoever sees it first.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from app.core.errors import ConfigurationError
from app.core.log import get
from app.db.embedded import EmbeddedPostgres

LOOK_SECONDS: Final = 0.5
_WAITS_SECONDS: Final = (1.0, 2.0, 5.0, 10.0, 30.0)

log = get(__name__)


@contextmanager
def lease(data_dir: Path) -> Iterator[str]:
    """The DSN of the data directory's server, running for as long as the block lasts. Blocking.

    Raises EmbeddedPostgresError.
    """
    server = EmbeddedPostgres(data_dir)
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(data_dir / "users.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
        dsn = server.ensure_running()
        with _looked_after(server):
            yield dsn
    finally:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            server.stop()
        os.close(lock)


@contextmanager
def _looked_after(server: EmbeddedPostgres) -> Iterator[None]:
    """The server is started again whenever it is gone: by a thread, for an event loop that waits for the database must
    not be what brings it back.
    """
    over = threading.Event()
    keeper = threading.Thread(target=_keep, args=(server, over), name="postgres-keeper", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()


def _keep(server: EmbeddedPostgres, over: threading.Event) -> None:
    failures = 0
    wait_seconds = LOOK_SECONDS
    while not over.wait(wait_seconds):
        wait_seconds = LOOK_SECONDS
        began = time.monotonic()
        try:
            if server.is_there():
                failures = 0
                continue
            log.error("postgres_died")
            # Never a new, empty one in the place of what was there a moment ago.
            server.ensure_running(may_make=False)
        except (ConfigurationError, OSError) as error:
            wait_seconds = _WAITS_SECONDS[min(failures, len(_WAITS_SECONDS) - 1)]
            failures += 1
            log.error("postgres_not_back", reason=str(error), next_try_in_seconds=wait_seconds)
        else:
            log.warning("postgres_is_back", after_seconds=round(time.monotonic() - began, 2))
