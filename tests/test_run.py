"""The product as its user meets it: real processes, a data directory, signals (M8, M10, F10)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

ROOT = Path(__file__).resolve().parents[1]
DEADLINE_SECONDS = 180.0


class Instance:
    """One `mindcone run` on a data directory of its own."""

    def __init__(self, data_dir: Path, **variables: str) -> None:
        self.data_dir = data_dir
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MINDCONE_")},
            "PYTHONPATH": str(ROOT),
            "MINDCONE_DATA_DIR": str(data_dir),
            "MINDCONE_PORT": "0",
            **variables,
        }
        self.log = data_dir.parent / f"{data_dir.name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def start(self) -> None:
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app.cli", "run"], cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        found = self.until(lambda: re.search(r"running at (http://\S+)", self.said()))
        self.url = found[1]

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def until(self, look: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not (found := look()):
            assert self.process is None or self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.05)
        return found

    def get(self, path: str) -> Any:
        return httpx.get(self.url + path, timeout=20).raise_for_status().json()

    def post(self, path: str, body: Any) -> Any:
        return httpx.post(self.url + path, json=body, timeout=20).raise_for_status().json()

    def ready(self, cards: int) -> bool:
        states = self.get("/api/v1/ingestion")
        return bool(states["ready"] == cards and not states["queued"] + states["working"])

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "app.cli", *words],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
        )

    def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def kill(self) -> None:
        """kill -9 of everything: server, worker, database."""
        assert self.process is not None
        family = [self.process.pid, *(child.pid for child in psutil.Process(self.process.pid).children(recursive=True))]
        family += [p.pid for p in self.postgres()]
        for pid in family:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait(timeout=20)

    def postgres(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            try:
                if process.name() == "postgres" and Path(process.cwd()) == (self.data_dir / "postgres").resolve():
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def worker(self) -> psutil.Process:
        assert self.process is not None
        (worker,) = (child for child in psutil.Process(self.process.pid).children() if "worker" in child.cmdline())
        return worker


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Started once, with the sample; tests of this file may stop it, and leave it running."""
    made = Instance(tmp_path_factory.mktemp("run") / "data", MINDCONE_WORKER_HEARTBEAT_SECONDS="3")
    made.start()
    yield made
    if made.process is not None and made.process.poll() is None:
        made.kill()


def test_the_first_start_brings_notes_that_can_be_asked(instance: Instance) -> None:
    instance.until(lambda: "curl -s http" in instance.said())
    assert "Sample vault: 43 notes" in instance.said()
    assert instance.ready(43)
    answer = instance.post("/api/v1/ask", {"query": "现在启明合作社的水洗豆多少钱一公斤？"})
    assert answer["status"] == "complete"
    cards = {hit["card"]["id"] for hit in answer["hits"]}
    assert answer["citations"]
    assert {citation["id"] for citation in answer["citations"]} <= cards
    for citation in answer["citations"]:
        content = instance.get(f"/api/v1/cards/{citation['id']}")["content"]
        assert content[citation["start"] : citation["end"]] == citation["quote"]


def test_a_second_run_on_the_same_directory_is_refused(instance: Instance) -> None:
    second = instance.command("run")
    assert second.returncode == 1
    assert "data_directory_busy" in second.stderr
    assert instance.get("/health/ready")["status"] == "ok"


def test_a_taken_port_is_named(instance: Instance, tmp_path: Path) -> None:
    port = instance.url.rpartition(":")[2]
    refused = Instance(tmp_path / "data", MINDCONE_PORT=port).command("run")
    assert refused.returncode == 1
    assert "port_taken" in refused.stderr
    assert not (tmp_path / "data").exists()


def test_commands_attach_to_the_running_instance(instance: Instance) -> None:
    instance.until(lambda: instance.ready(43))
    found = json.loads(instance.command("search", "roasting temperature", "--json").stdout)
    assert found["hits"]
    assert found["hits"] == instance.post("/api/v1/search", {"query": "roasting temperature", "limit": 5})["hits"]
    health = instance.command("doctor", "--deep", "--json")
    report = json.loads(health.stdout)
    assert {name: count for name, count in report["invariants"].items() if count} == {}
    assert health.returncode == 0, report["checks"]
    token = instance.command("keys", "create", "phone", "--scope", "read").stdout.strip()
    allowed = httpx.get(f"{instance.url}/api/v1/cards", headers={"Authorization": f"Bearer {token}"}, timeout=20)
    assert allowed.status_code == 200
    refused = httpx.post(
        f"{instance.url}/api/v1/cards",
        json={"content": "not with this key"},
        headers={"Authorization": f"Bearer {token}"},
        timeout=20,
    )
    assert refused.status_code == 403


def test_a_killed_worker_is_replaced_and_nothing_is_lost(instance: Instance) -> None:
    before = instance.worker()
    for number in range(5):
        instance.post("/api/v1/cards", {"title": f"Kept {number}", "content": f"worker note number {number}"})
    before.kill()
    instance.until(lambda: instance.ready(48))
    assert instance.worker().pid != before.pid


def test_sigterm_ends_everything_and_the_next_start_knows_it_all(instance: Instance) -> None:
    """M8"""
    assert instance.stop() == 0
    assert instance.postgres() == []
    instance.start()
    assert instance.get("/api/v1/cards?limit=200")["next_cursor"] is None
    assert len(instance.get("/api/v1/cards?limit=200")["items"]) == 48
    assert "Sample vault" not in instance.said()


def test_after_kill_9_of_everything_it_starts_again(instance: Instance) -> None:
    made = instance.post("/api/v1/cards", {"title": "Last words", "content": "acknowledged before the end"})
    instance.kill()
    instance.start()
    assert instance.get(f"/api/v1/cards/{made['id']}")["content"] == "acknowledged before the end"
    instance.until(lambda: instance.ready(49))
    assert instance.post("/api/v1/search", {"query": "Last words"})["hits"][0]["card"]["id"] == made["id"]


@pytest.mark.parametrize("victim", ["postmaster", "backend"])
def test_a_killed_database_comes_back_by_itself(instance: Instance, victim: str) -> None:
    """kill -9 of the server's first process, or of one that serves us: neither API nor worker is restarted."""
    assert instance.process is not None
    worker, begun = instance.worker().pid, len(instance.said())
    earlier = instance.post("/api/v1/cards", {"title": "Before", "content": f"acknowledged before the {victim} died"})
    family = instance.postgres()
    first = next(one for one in family if one.ppid() not in {other.pid for other in family})
    dies = first if victim == "postmaster" else next(one for one in family if "[local]" in " ".join(one.cmdline()))
    dies.kill()

    def write() -> httpx.Response | None:
        body = {"title": "After", "content": f"written when the {victim} had died"}
        answer = httpx.post(f"{instance.url}/api/v1/cards", json=body, timeout=20)
        assert answer.status_code in (201, 503), answer.text
        assert answer.status_code == 201 or answer.headers["retry-after"]
        return answer if answer.status_code == 201 else None

    made = instance.until(write).json()
    for card in (earlier, made):
        instance.until(lambda: instance.get(f"/api/v1/cards/{card['id']}")["ingestion"]["state"] == "ready")  # noqa: B023
    assert instance.worker().pid == worker
    told = instance.said()[begun:]
    assert "Traceback" not in told
    assert ("postgres_died" in told, "postgres_is_back" in told) == ((victim == "postmaster"),) * 2
    assert instance.post("/api/v1/search", {"query": f"acknowledged before the {victim} died"})["hits"]


def test_it_starts_and_answers_where_no_name_resolves(instance: Instance) -> None:
    """M10: nothing is fetched at start or on the first question."""
    assert instance.stop() == 0
    instance.environment["http_proxy"] = instance.environment["https_proxy"] = "http://127.0.0.1:9"
    instance.environment["HF_HUB_OFFLINE"] = "1"
    instance.start()
    assert instance.post("/api/v1/ask", {"query": "What is in my notes about sleep?"})["citations"]


def test_a_misspelt_setting_is_named(tmp_path: Path) -> None:
    """F10"""
    told = Instance(tmp_path / "data", MINDCONE_CHAT_PROVIDR="openai").command("db", "sql")
    assert told.returncode == 0
    assert "MINDCONE_CHAT_PROVIDR" in told.stderr


def test_doors_are_not_left_open(tmp_path: Path) -> None:
    refused = Instance(tmp_path / "data", MINDCONE_AUTH="off", MINDCONE_HOST="0.0.0.0").command("run")
    assert refused.returncode == 1
    assert "configuration" in refused.stderr
    assert not (tmp_path / "data").exists()


def test_every_setting_has_an_effect() -> None:
    """F10: a field that no code reads would be a lie."""
    from app.providers.settings import _OF_NEXT
    from app.settings import Settings

    # Read under the names that they have once the next embedder is the embedder.
    of_next = {name.replace("embedder", "embedder_next", 1) for name in _OF_NEXT}
    code = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py") if path.name != "chat_settings.py"
    )
    unread = [
        name
        for name in Settings.model_fields
        if name not in of_next
        and not re.search(rf"\.{name}\b", code)
        and not re.search(r"_(?:base_url|api_key)$", name)
    ]
    assert unread == []
