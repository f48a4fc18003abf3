"""A long conversation on three branches whose server and database are killed again and again: nothing lost, nothing
twice, no lie.

    python -m bench.chaos.conversation [--turns 60] [--kills 50] [--seed 1] [--data-dir DIR] [--light]

A real instance with the sample vault. Turns go round three branches: answered offline from the notes, by a model that
chats, and by one that calls tools (`memory_edit`, `create_fork`). In most turns something is killed (SIGKILL), mostly
while the answer is being streamed, else at a random moment: the server, with its worker or without, which is then
started again; or the first process of the database, or one of its backends, from which the product must come back by
itself. What was not stored is said again. At the end memories are aged by
their dates, archived by the product's own pass, restored, and told again. Then everything that a client was told is
compared with what is in the database. `--kills 0` is the same session in peace.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import statistics
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import psutil

from app.core import loop
from app.core.clock import now
from app.db.embedded import EmbeddedPostgres
from app.db.session import Database
from app.db.settings import DatabaseSettings
from app.memory import decay
from app.memory import queries as memories
from app.providers.fake import FakeProvider
from app.providers.fake_script import Said
from bench.chaos import embeddings
from bench.chaos.instance import Instance, running, verdict

API: Final = "/api/v1"
QUIET: Final = {
    "MINDCONE_SAMPLE": "on",
    "MINDCONE_TURN_STALE_SECONDS": "10",
    "MINDCONE_TURN_BEAT_SECONDS": "0.1",
    "MINDCONE_WORKER_HEARTBEAT_SECONDS": "3",
    "MINDCONE_WORKER_POLL_SECONDS": "1",
    "MINDCONE_PROVIDER_RETRIES": "0",
}
TOPICS: Final = {
    "main": ("the roastery", "The roaster heats to {n} degrees before the beans of lot {n} go in."),
    "costs": ("the costs of the roastery", "Lot {n} of the roastery costs {n} euros because the beans are rare."),
    "risks": ("the risks of the roastery", "The roaster does not heat to {n} degrees when the gas of lot {n} is low."),
}
NOTES: Final = (
    "When does the roastery roast?",
    "What grows in the garden?",
    "Which books did I read?",
    "厨房里有什么菜谱？",
)
FACTS: Final = (
    "The user drinks espresso without sugar every morning.",
    "Marta delivers the green beans on Thursdays.",
    "The spare key of the roastery hangs behind the clock.",
    "用户对花生过敏，吃饭时要提醒。",
    "The landlord of the shop is called Jensen and lives in Kiel.",
    "The dog of the user is a grey whippet.",
    "The tax office wants the papers in the third week of May.",
    "用户的女儿在汉堡学小提琴。",
    "The old grinder squeaks when the weather is damp.",
    "The user prefers trains to planes for business trips.",
    "Invoices are signed with a fountain pen and blue ink.",
    "Sundays belong to the family and to sailing on the fjord.",
)
RISKS: Final = "What can go wrong"
SETTLE_SECONDS: Final = 90.0
BACK_SECONDS: Final = 120.0
VICTIMS: Final = {"server": 0.5, "postmaster": 0.25, "backend": 0.25}
MID_STREAM: Final = 0.8


def number_of(text: str) -> int:
    """Which turn a question is, as it says itself."""
    return int(text.rpartition("#")[2].split()[0].rstrip(".。?")) if "#" in text else 0


def asked_in(body: Mapping[str, Any]) -> str:
    """The question of a request: what the user said last, without what was found for it."""
    said = [one["content"] for one in body["messages"] if one["role"] == "user"]
    return str(said[-1]).rpartition("\n")[2] if said else ""


def answer_to(question: str) -> str:
    topic = next((name for name in TOPICS if f"[{name}]" in question), "main")
    return TOPICS[topic][1].format(n=100 + number_of(question))


def model(rng: random.Random) -> Any:
    """A model that takes its time in the middle of an answer, and calls the tool that the question names."""

    def answer(body: Mapping[str, Any]) -> Said:
        question = asked_in(body)
        pause = f"stall,after={rng.randint(2, 4)},seconds={rng.uniform(0.3, 0.9):.2f}"
        n = number_of(question)
        if body["messages"][-1]["role"] != "tool" and body.get("tools"):
            if "remember" in question:
                fact = FACTS[n % len(FACTS)]
                note = {"action": "create", "slug": f"fact-{n}", "title": fact[:30], "body": fact, "importance": 0.3}
                return Said("I note it.", pause, [("memory_edit", json.dumps(note))])
            if "branch off" in question:
                wish = {"label": RISKS, "profile": "challenge"}
                return Said("I open a branch.", pause, [("create_fork", json.dumps(wish))])
        return Said(answer_to(question), pause)

    return answer


def whole_answers(question: str) -> set[str]:
    """All that a complete answer of the model can be."""
    said = answer_to(question)
    return {said, f"I note it.\n\n{said}", f"I open a branch.\n\n{said}"}


@dataclass
class Session:
    """The client's side: what it said, and what it was told."""

    instance: Instance
    client: httpx.AsyncClient
    rng: random.Random
    kills_wanted: int
    conversation: str = ""
    branches: dict[str, str] = field(default_factory=dict)
    started: dict[str, str] = field(default_factory=dict)
    """Message id of the question → its text."""
    finished: dict[str, str] = field(default_factory=dict)
    """Message id of the answer → its text, as it was told to be complete."""
    heard: dict[str, str] = field(default_factory=dict)
    forks: Counter[str] = field(default_factory=Counter)
    proposed: Mapping[str, Any] | None = None
    kills: Counter[str] = field(default_factory=Counter)
    """By victim."""
    mid_stream: int = 0
    """Kills while an answer had begun and had not ended."""
    back_seconds: list[float] = field(default_factory=list)
    """How long the product took to come back by itself."""
    telling: asyncio.Event = field(default_factory=asyncio.Event)
    turns: int = 0
    broken: int = 0
    down: int = 0

    # ------------------------------------------------------------------------------- the server's deaths

    async def kill(self) -> None:
        """Something, and everything works again when this returns."""
        victim = self.rng.choices(tuple(VICTIMS), tuple(VICTIMS.values()))[0]
        if victim == "server":
            await self._kill_server()
        elif not self._kill_database(victim):
            victim = "nothing"
        self.kills[victim] += 1

    def _kill_database(self, victim: str) -> bool:
        """Its first process, or any that serves somebody."""
        lines = (self.instance.data_dir / "postgres" / "postmaster.pid").read_text().splitlines()
        first = psutil.Process(int(lines[0]))
        serving = [one for one in first.children() if "[local]" in " ".join(one.cmdline())]
        chosen = first if victim == "postmaster" else self.rng.choice(serving or [None])
        if chosen is not None:
            chosen.send_signal(signal.SIGKILL)
        return chosen is not None

    async def until_back(self) -> None:
        """Nobody helps: the same process answers again, from its database."""
        began = time.perf_counter()
        async with asyncio.timeout(BACK_SECONDS):
            while True:
                with suppress(httpx.HTTPError):
                    if (await self.client.get("/health/ready")).status_code == 200:
                        break
                await asyncio.sleep(0.05)
        self.back_seconds.append(time.perf_counter() - began)

    async def _kill_server(self) -> None:
        process = psutil.Process(self.instance.pid)
        if self.rng.random() < 0.5:
            for child in process.children():
                with suppress(psutil.Error):
                    if "worker" in child.cmdline():
                        child.send_signal(signal.SIGKILL)
        process.send_signal(signal.SIGKILL)
        await self.instance.died()

    async def revive(self) -> None:
        began = time.perf_counter()
        await self.instance.start()
        self.down += 1
        self.client.base_url = httpx.URL(self.instance.url)
        print(f"  {self.kills.total()} kills: up again after {time.perf_counter() - began:.1f} s", flush=True)

    # ------------------------------------------------------------------------------------------- turns

    async def say(self, branch: str, content: str, **more: Any) -> bool:
        """One turn, during which something may die; whether its end was heard. Said again until it is stored."""
        while True:
            dies = self.kills.total() < self.kills_wanted and self.rng.random() < 0.9
            self.telling.clear()
            asking = asyncio.create_task(self._ask(branch, content, **more))
            if not dies:
                return await asking
            if self.rng.random() < MID_STREAM:
                begun = asyncio.create_task(self.telling.wait())
                await asyncio.wait({asking, begun}, return_when=asyncio.FIRST_COMPLETED)
                begun.cancel()
                await asyncio.sleep(self.rng.uniform(0.0, 0.25))
            else:
                await asyncio.wait({asking}, timeout=self.rng.uniform(0.0, 0.8))
            self.mid_stream += self.telling.is_set() and not asking.done()
            killed = self.kills["server"]
            await self.kill()
            if self.kills["server"] > killed:
                ended = await asking
                await self.revive()
            else:
                ended = await asking
                await self.until_back()
            if ended or await self._is_stored(content):
                return ended

    async def _ask(self, branch: str, content: str, **more: Any) -> bool:
        body = {"content": content, "stream": True} | more
        if branch in self.branches:
            body["branch_id"] = self.branches[branch]
        ids: dict[str, str] = {}
        try:
            async with self.client.stream("POST", f"{API}/conversations/{self.conversation}/turns", json=body) as told:
                told.raise_for_status()
                name = ""
                async for line in told.aiter_lines():
                    key, _, value = line.partition(": ")
                    if key == "event":
                        name = value
                    elif key == "data":
                        data = json.loads(value)
                        if name == "started":
                            ids = data
                            self.started[ids["user_message_id"]] = content
                        elif name == "token":
                            self.heard[ids["message_id"]] = self.heard.get(ids["message_id"], "") + data["text"]
                            self.telling.set()
                        elif name == "tool" and data["name"] == "create_fork":
                            self._note_fork(data)
                        elif name == "finished" and data["status"] == "complete":
                            self.finished[ids["message_id"]] = data["answer"]
                            return True
        except httpx.HTTPError:
            self.broken += 1
        return False

    def _note_fork(self, call: Mapping[str, Any]) -> None:
        data = call["data"]
        if data.get("outcome") == "proposed":
            self.proposed = data
        self.forks[f"model: {data.get('condition') or data.get('outcome') or call['state']}"] += 1

    async def _is_stored(self, content: str) -> bool:
        rows = await self.instance.sql("SELECT 1 FROM messages WHERE role = 'user' AND content = $1", content)
        return bool(rows)

    async def fork(self, message_id: str, label: str, **more: Any) -> str | None:
        body = {"from_message_id": message_id, "profile": "deep_dive", "label": label} | more
        made = await self.client.post(f"{API}/conversations/{self.conversation}/branches", json=body)
        told = made.json()
        self.forks[f"user: {told.get('condition', 'created')}"] += 1
        return str(told["id"]) if made.status_code == 201 else None

    async def last_message(self, branch: str) -> str:
        rows = await self.instance.sql(
            "SELECT id FROM messages WHERE branch_id = $1::uuid ORDER BY ordinal DESC LIMIT 1", self.branches[branch]
        )
        return str(rows[0]["id"])

    async def find_branch(self, label: str) -> str | None:
        rows = await self.instance.sql("SELECT id FROM branches WHERE label = $1", label)
        return str(rows[0]["id"]) if rows else None


async def talk(session: Session, turns: int) -> None:
    """The script: forks that are refused and allowed for their reasons, then turns round the branches."""
    made = (await session.client.post(f"{API}/conversations", json={"title": "The roastery"})).raise_for_status().json()
    session.conversation = made["id"]
    (first,) = await session.instance.sql("SELECT id FROM branches WHERE conversation_id = $1::uuid", made["id"])
    session.branches["main"] = str(first["id"])
    for n in range(1, turns + 1):
        names = list(session.branches)
        branch = names[n % len(names)]
        await session.say(branch, *_turn(branch, n), **_how(branch, n))
        session.turns = n
        if n == 2:
            at = await session.last_message("main")
            session.branches["costs"] = await session.fork(at, "Costs of the roastery") or ""
            await session.fork(at, "Another thing")  # too early in this branch
        if n == 4:
            # Six messages in the first branch are not yet there; a person may insist, a cap may not be passed.
            await session.fork(await session.last_message("main"), "Too early")
        if session.proposed is not None and "risks" not in session.branches:
            # Where the model's wish may have been somebody else's, the user makes of it what was proposed.
            wish = session.proposed
            await session.fork(wish["from_message_id"], wish["label"], profile=wish["profile"])
        if "risks" not in session.branches and (found := await session.find_branch(RISKS)):
            session.branches["risks"] = found
        if n >= turns // 2 and not session.forks["user: label"]:
            # A sibling's label; until there are messages enough it is refused for these.
            await session.fork(await session.last_message("main"), "costs of the ROASTERY")


def _turn(branch: str, n: int) -> tuple[str]:
    topic = TOPICS[branch][0]
    if branch == "main" and n >= 6 and n % 2 == 0 and n < 30:
        return (f"[{branch}] Please branch off into the risks, #{n}",)
    if n <= 3 or n % 5 == 3:
        return (f"[{branch}] Please remember this, #{n}",)
    if n % 5 == 1 and branch != "main":
        return (f"{NOTES[n // 5 % len(NOTES)]} #{n}",)
    return (f"[{branch}] What about {topic}, #{n}",)


def _how(branch: str, n: int) -> dict[str, str]:
    if branch == "main" and n >= 6 and n % 2 == 0 and n < 30:
        return {"level": "chat"}
    if n % 5 == 1 and n > 3 and branch != "main":
        return {"level": "search", "provider": "offline"}
    # In the first branch nothing of the notes is before the model when it writes.
    return {"level": "chat"}


# ------------------------------------------------------------------------------------------ memories in time


async def age(session: Session) -> dict[str, Any]:
    """The user takes what was proposed; a hundred days pass over half of the memories; the archive pass; one is
    restored.
    """
    proposals = (await session.client.get(f"{API}/memories/proposals?limit=200")).json()["items"]
    accepted = 0
    for proposal in proposals:
        answer = await session.client.post(f"{API}/memories/proposals/{proposal['id']}", json={"decision": "accept"})
        accepted += answer.status_code == 200
    rows = await session.instance.sql("SELECT slug FROM memories WHERE status = 'active' ORDER BY slug")
    slugs = [row["slug"] for row in rows]
    old = slugs[: (len(slugs) + 1) // 2]
    await session.instance.sql(
        "UPDATE memories SET created_at = created_at - interval '100 days', last_used_at = last_used_at - interval "
        "'100 days' WHERE slug = ANY($1::text[])",
        old,
    )
    shown = [(await session.client.get(f"{API}/memories/{slug}")).json() for slug in old]
    dsn = EmbeddedPostgres(session.instance.data_dir).find_running()
    assert dsn is not None
    database = Database(dsn, DatabaseSettings(), application_name="chaos")
    try:
        async with database.unit() as unit:
            rate = decay.rate_per_day("efold")
            archived = await memories.archive_faded(
                unit, now(), rate, decay.ARCHIVE_BELOW, int(decay.ARCHIVE_AFTER_DAYS)
            )
    finally:
        await database.close()
    restored = None
    if old:
        answer = await session.client.post(f"{API}/memories/{old[0]}/restore")
        restored = answer.json().get("status")
    return {
        "proposed": len(proposals),
        "accepted": accepted,
        "memories": len(slugs),
        "aged": len(old),
        "faded": sum(one["decayed"] < decay.ARCHIVE_BELOW for one in shown),
        "archived": archived,
        "restored": restored,
        "versions": len((await session.client.get(f"{API}/memories/{old[0]}/versions")).json()["items"]) if old else 0,
    }


# ----------------------------------------------------------------------------------------------- the truth


async def settle(session: Session) -> None:
    """Until no answer is being said and no job waits."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline:
        (row,) = await session.instance.sql(
            "SELECT (SELECT count(*) FROM messages WHERE status = 'streaming') AS streaming,"
            " (SELECT count(*) FROM jobs WHERE state IN ('queued', 'working') AND kind IN ('insights', 'reflect'))"
            " AS jobs"
        )
        if not row["streaming"] and not row["jobs"]:
            return
        await asyncio.sleep(0.5)


async def examine(session: Session, aged: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    sql = session.instance.sql
    wrong: list[str] = []
    rows = {str(row["id"]): row for row in await sql("SELECT * FROM messages ORDER BY created_at, ordinal")}
    asked = Counter(row["content"] for row in rows.values() if row["role"] == "user")
    wrong += [f"said {times} times: {text}" for text, times in asked.items() if times > 1]
    wrong += [
        f"lost question {text}" for one, text in session.started.items() if rows.get(one, {}).get("content") != text
    ]
    for one, text in session.finished.items():
        row = rows.get(one)
        if row is None or row["status"] != "complete" or row["content"] != text:
            wrong.append(f"told complete, and is not: {one} {row and row['status']}")
    places = Counter((row["branch_id"], row["ordinal"]) for row in rows.values())
    wrong += [f"two messages at {place}" for place, times in places.items() if times > 1]
    statuses: Counter[str] = Counter()
    over = []
    for one, row in rows.items():
        if row["role"] == "user":
            continue
        statuses[row["status"]] += 1
        question = rows[str(row["parent_id"])]["content"]
        if row["status"] == "streaming":
            wrong.append(f"still streaming: {one}")
        if (
            row["status"] == "complete"
            and row["provider"] != "offline"
            and row["content"] not in whole_answers(question)
        ):
            wrong.append(f"complete, and cut: {row['content']!r} to {question!r}")
        if row["status"] == "complete" and not row["content"]:
            wrong.append(f"complete, and empty: {one}")
        if row["ledger"]:
            ledger = json.loads(row["ledger"]) if isinstance(row["ledger"], str) else row["ledger"]
            most = max(ledger["rounds"] or [ledger["total_tokens"]])
            if most + ledger["margin_tokens"] > ledger["window_tokens"]:
                over.append(one)
        wrong += await _true_calls(session, row)
    wrong += [f"prompt over its budget: {one}" for one in over]
    twice = await sql(
        "SELECT text, count(*) FROM branch_insights GROUP BY workspace_id, branch_id, text HAVING count(*) > 1"
    )
    wrong += [f"insight twice: {row['text']}" for row in twice]
    unkept = await sql(
        "SELECT d.message_id FROM insight_deliveries d LEFT JOIN messages m ON m.workspace_id = d.workspace_id AND "
        "m.id = d.message_id WHERE m.status IS DISTINCT FROM 'complete'"
    )
    wrong += [f"delivered in an answer that did not complete: {row['message_id']}" for row in unkept]
    insights = await sql(
        "SELECT (SELECT count(*) FROM branch_insights) AS made, (SELECT count(*) FROM insight_links) AS links,"
        " (SELECT count(*) FROM insight_deliveries) AS delivered, (SELECT count(*) FROM branch_insights WHERE is_echo)"
        " AS echoes"
    )
    relations = await sql("SELECT relation, count(*) AS n FROM insight_links GROUP BY 1 ORDER BY 1")
    failed = await sql("SELECT kind, error_code FROM jobs WHERE state = 'failed'")
    wrong += [f"job failed: {dict(row)}" for row in failed]
    code, said = await session.instance.command("doctor", "--deep", "--json")
    report = json.loads(said) if said.strip().startswith("{") else {"ok": False}
    if code or not report["ok"]:
        wrong.append(f"doctor --deep: {said[:1500]}")
    wrong += _unmet(session, insights[0], aged)
    figures = {
        "turns": session.turns,
        "kills": dict(sorted(session.kills.items())),
        "kills_mid_stream": session.mid_stream,
        "back_by_itself_seconds": {
            "median": round(statistics.median(session.back_seconds), 2),
            "longest": round(max(session.back_seconds), 2),
        }
        if session.back_seconds
        else None,
        "streams_broken": session.broken,
        "questions": len(session.started),
        "answers": dict(statuses),
        "told_complete": len(session.finished),
        "branches": len(session.branches),
        "forks": dict(sorted(session.forks.items())),
        "insights": dict(insights[0]) | {row["relation"]: row["n"] for row in relations},
        "memory": dict(aged),
        "doctor": report["ok"],
    }
    return wrong, figures


async def _true_calls(session: Session, row: Any) -> list[str]:
    """What a message says was done, was done."""
    calls = json.loads(row["tool_calls"]) if isinstance(row["tool_calls"], str) else row["tool_calls"] or []
    wrong = []
    for call in calls:
        data = call["data"]
        if call["state"] == "done" and data.get("outcome") == "created":
            table, column, value = (
                ("branches", "id", data["branch_id"]) if "branch_id" in data else ("memories", "slug", data["slug"])
            )
            statement = f"SELECT count(*) AS n FROM {table} WHERE {column}::text = $1"
            (found,) = await session.instance.sql(statement, value)
            if found["n"] != 1:
                wrong.append(f"{call['name']} is said to be done: {value} is there {found['n']} times")
    return wrong


def _unmet(session: Session, insights: Any, aged: Mapping[str, Any]) -> list[str]:
    """What the script is for must have happened."""
    if session.turns < 40:
        return []
    wanted = {
        "three branches": len(session.branches) == 3,
        "a fork refused for too few messages": session.forks["user: branch_messages"] > 0,
        "a fork refused for its label": session.forks["user: label"] > 0,
        "insights": insights["made"] > 0,
        "insights delivered": insights["delivered"] > 0,
        "memories": aged["memories"] > 0,
        "memories faded and archived": 0 < aged["archived"] == aged["faded"],
        "a memory restored": aged["restored"] == "active",
    }
    return [f"did not happen: {name}" for name, happened in wanted.items() if not happened]


async def run(turns: int, kills: int, seed: int, data_dir: Path | None, **environment: str) -> list[str]:
    """What was violated."""
    rng = random.Random(seed)
    started = time.perf_counter()
    async with FakeProvider(answer=model(rng)) as provider:
        chosen = {"MINDCONE_CHAT_PROVIDER": "custom", "MINDCONE_CHAT_BASE_URL": provider.base_url}
        async with (
            running(data_dir, **QUIET, **environment, **chosen) as instance,
            httpx.AsyncClient(base_url=instance.url, timeout=60) as client,
        ):
            await instance.until_learned(client, 300)
            session = Session(instance, client, rng, kills)
            await talk(session, turns)
            session.kills_wanted = 0
            await settle(session)
            # In peace, each branch is told what the others have found.
            for n, branch in enumerate(session.branches, turns + 1):
                await session.say(branch, f"[{branch}] What about {TOPICS[branch][0]} now, #{n}", level="chat")
            await settle(session)
            aged = await age(session)
            wrong, figures = await examine(session, aged)
            if "Traceback" in instance.log:
                wrong.append(f"the log has a traceback:\n{instance.log[-3000:]}")
    figures["seconds"] = round(time.perf_counter() - started)
    print(json.dumps(figures, ensure_ascii=False, indent=1))
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--light", action="store_true", help="a small embedder behind a socket, not the bundled one")
    arguments = parser.parse_args()

    async def work() -> list[str]:
        wanted = (arguments.turns, arguments.kills, arguments.seed, arguments.data_dir)
        if not arguments.light:
            return await run(*wanted)
        async with embeddings.serving() as environment:
            return await run(*wanted, **environment)

    verdict(loop.run(work()))


if __name__ == "__main__":
    main()
