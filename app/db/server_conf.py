"""How the embedded PostgreSQL is set. Knows nothing of where its files are, or of how it is started."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import psutil

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_LEAST_BUFFERS_MB, _MOST_BUFFERS_MB = 128, 1024
_SHARE_OF_MEMORY = 24


def server_settings(shared_buffers_mb: int, maintenance_work_mem_mb: int) -> dict[str, str | int | float]:
    """Of memory, log and planner, by the names of postgresql.conf."""
    return {
        "max_connections": 100,
        "shared_buffers": f"{shared_buffers_mb}MB",
        "dynamic_shared_memory_type": _dynamic_shared_memory_type(maintenance_work_mem_mb),
        "maintenance_work_mem": f"{maintenance_work_mem_mb}MB",
        "max_parallel_maintenance_workers": 2,
        # A vector that goes into an index changes some fourteen pages here and there, and the first change of each
        # after a checkpoint logs it whole. Compressing these took a third of the time that learning costs the server.
        "wal_compression": "off",
        "max_wal_size": "4GB",
        "checkpoint_timeout": "15min",
        "random_page_cost": 1.1,
        "jit": "off",
        "timezone": "UTC",
        "lc_messages": "C",
        # One file per hour of the day, each emptied when its hour comes round again.
        "logging_collector": "on",
        "log_directory": "log",
        "log_filename": "server-%H.log",
        "log_rotation_age": "60min",
        "log_rotation_size": 0,
        "log_truncate_on_rotation": "on",
        "log_timezone": "UTC",
        "log_line_prefix": "%m [%p] ",
        "log_min_messages": "warning",
        "log_checkpoints": "off",
        "log_error_verbosity": "terse",  # the details would quote people's text
    }


def usual_shared_buffers_mb() -> int:
    """A small share of what this machine, or container, has: the rest serves as the files' cache, and the model."""
    memory = int(psutil.virtual_memory().total)
    with suppress(OSError, ValueError):  # no such file, or "max"
        memory = min(memory, int(_CGROUP_LIMIT.read_text()))
    return min(max(memory // 2**20 // _SHARE_OF_MEMORY, _LEAST_BUFFERS_MB), _MOST_BUFFERS_MB)


def _dynamic_shared_memory_type(needed_mb: int) -> str:
    """POSIX segments live in /dev/shm, of which a container often has 64 MB; System V segments know no such bound."""
    if sys.platform != "linux":
        return "posix"
    try:
        room = os.statvfs("/dev/shm")  # noqa: S108
    except OSError:
        return "sysv"
    return "posix" if room.f_blocks * room.f_frsize >= 2 * needed_mb * 2**20 else "sysv"
