"""A real `mindcone run` for the chaos scripts: started, watched and stopped from outside, as its users would."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from app.db.embedded import EmbeddedPostgres

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120.0


class Instance:
    """`environment` is that of `mindcone run`; commands beside it want the same."""

    def __init__(self, data_dir: Path, environment: Mapping[str, str]) -> None:
        self.data_dir = data_dir
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MINDCONE_")},
            "PYTHONPATH": str(ROOT),
            "MINDCONE_DATA_DIR": str(data_dir),
            "MINDCONE_PORT": "0",
            "MINDCONE_SAMPLE": "off",
            "MINDCONE_LOG_LEVEL": "WARNING",
            **environment,
        }
        self.url = ""
        self.log = ""
        self._begun = 0
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._running = asyncio.Event()

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "app.cli",
            "run",
            env=self.environment,
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        self._reading = asyncio.create_task(self._read(self._process))
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._running.wait()
        except TimeoutError:
            raise RuntimeError(f"mindcone run did not start:\n{self.log}") from None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            self.log += line.decode(errors="replace")
            if found := re.search(r"running at (http://\S+)", self.log[self._begun :]):
                self.url = found[1]
                self._running.set()

    async def died(self) -> None:
        """Wait for a process that was killed; `start` may then be called again."""
        assert self._process is not None
        await self._process.wait()
        if self._reading is not None:
            # Children of the dead may hold its output open.
            self._reading.cancel()
        self._running.clear()
        self._begun = len(self.log)

    async def stop(self) -> int:
        assert self._process is not None
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        code = await self._process.wait()
        if self._reading is not None:
            await self._reading
        return code

    async def command(self, *words: str) -> tuple[int, str]:
        """Exit code and output of a `mindcone` command beside the running instance."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "app.cli",
            *words,
            env=self.environment,
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate()
        return process.returncode or 0, out.decode()

    async def sql(self, statement: str, *arguments: object) -> list[Any]:
        """Rows, past the product: what really is in the database."""
        dsn = EmbeddedPostgres(self.data_dir).find_running()
        assert dsn is not None
        connection = await asyncpg.connect(dsn, server_settings={"application_name": "chaos"})
        try:
            rows: list[Any] = await connection.fetch(statement, *arguments)
            return rows
        finally:
            await connection.close()

    async def until_learned(self, client: httpx.AsyncClient, seconds: float) -> None:
        async with asyncio.timeout(seconds):
            while True:
                states = (await client.get("/api/v1/ingestion")).raise_for_status().json()
                if not states["queued"] + states["working"]:
                    return
                await asyncio.sleep(0.5)


@asynccontextmanager
async def running(data_dir: Path | None = None, **environment: str) -> AsyncIterator[Instance]:
    """An instance on `data_dir`, or on a directory that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="mindcone-chaos-") as made:
        instance = Instance((data_dir or Path(made) / "data").absolute(), environment)
        try:
            await instance.start()
            yield instance
        finally:
            await instance.stop()


def verdict(violations: list[str]) -> None:
    """Exit code 1 and the reasons, or a word that all is well."""
    for violation in violations:
        print("VIOLATION:", violation)
    if violations:
        raise SystemExit(1)
    print("ok")
