"""For which workspace the running task works: known to whoever meters it, without being handed through every call.

It is no authority: queries take their workspace from their caller, never from here. Tasks that a task starts work for
the same one.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_WORKSPACE: ContextVar[uuid.UUID | None] = ContextVar("mindcone_workspace", default=None)


def find_workspace_id() -> uuid.UUID | None:
    return _WORKSPACE.get()


def work_for(workspace_id: uuid.UUID) -> None:
    """From here to the end of the running task or request."""
    _WORKSPACE.set(workspace_id)


@contextmanager
def working_for(workspace_id: uuid.UUID) -> Iterator[None]:
    token = _WORKSPACE.set(workspace_id)
    try:
        yield
    finally:
        _WORKSPACE.reset(token)
