"""Who uses the embedded server: it starts with its first user and stops with its last.

Every process that works on a data directory holds a shared lock while it does; the one that finds
itself alone when it leaves stops the server.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.db.embedded import EmbeddedPostgres


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
        yield server.ensure_running()
    finally:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            server.stop()
        os.close(lock)
