"""Cards that a language model reads, through the product: the real wiring, jobs and rows, a model behind a socket."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.cards.drafts import NewCard
from app.core.errors import ConfigurationError
from app.ingestion.extract import prompts
from app.ingestion.extract.llm import LlmExtractor
from app.ingestion.extract.llm_cache import CacheKey, ExtractionCache
from app.ingestion.extract.llm_shapes import validate
from app.ingestion.extract.offline import OfflineExtractor
from app.ingestion.extract.stored import StoredCache, WorkspaceExtractor, _hashed
from app.ingestion.extract.types import Source, Span
from app.ingestion.link import judge
from app.ingestion.queries import Task
from app.jobs.run import run_until_idle
from app.providers.fake import FakeProvider
from app.providers.fake_script import Said
from app.providers.ports import ProviderRefused
from app.settings import Settings
from app.wiring import Services, open_services
from app.worker import enqueue_linking, handlers
from tests.api_client import API, create, execute, fetch, make_workspace
from tests.chat_client import until, with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

Body = Mapping[str, Any]
NOTHING: dict[str, Any] = {"entities": [], "relations": [], "episodes": []}

TITLE = "Staff"
TEXT = "Alice Chen joined Acme on 3 May 2024. She leads the Apollo project, which has a budget of $40,000."
JOINED = "Alice Chen joined Acme on 3 May 2024."


def fact(*names: str, section: str = "Facts", **more: Any) -> dict[str, Any]:
    """An answer with entities of these names, and points of these texts if there are any."""
    points = more.pop("points", [])
    facet = {"title": section, "description": points[0] if points else section, "points": points, "roles": []}
    entities = [{"name": name, "type": "organization"} for name in names]
    return {"entities": entities, "relations": [], "episodes": [{"title": section, "facets": [facet]}], **more}


GOOD: dict[str, Any] = {
    "entities": [
        {"name": "Alice Chen", "type": "person", "description": "Leads a project at Acme.", "aliases": []},
        {"name": "Acme", "type": "organization", "description": "A company.", "aliases": []},
    ],
    "relations": [
        {"source": "Alice Chen", "target": "Acme", "predicate": "joined", "sentence": JOINED, "confidence": 1}
    ],
    "episodes": [
        {
            "title": "Alice Chen at Acme",
            "facets": [
                {
                    "title": "Joining",
                    "description": "Alice Chen joined Acme.",
                    "points": [{"text": JOINED, "about": ["Alice Chen", "Acme"], "times": ["3 May 2024"]}],
                    "roles": [{"entity": "Acme", "role": "employer"}],
                }
            ],
        }
    ],
}
MORE: dict[str, Any] = {
    "entities": [{"name": "Apollo", "type": "concept", "description": "A project of Acme."}],
    "relations": [],
    "episodes": [
        {
            "title": "Alice Chen at Acme",
            "facets": [
                {
                    "title": "Apollo",
                    "description": "The project Apollo.",
                    "points": [{"text": "The Apollo project has a budget of $40,000.", "about": ["Apollo"]}],
                }
            ],
        }
    ],
}


class Model:
    """What the fake server says: `reads` answers passages, `gleans` what was missed, `judges` pairs of names."""

    def __init__(self, fake: FakeProvider) -> None:
        self.fake = fake
        self.passages: list[str] = []
        """Each that was read, in the order of the calls; a passage that was asked for again counts again."""
        self.gleaned: list[str] = []
        self.judged: list[list[Any]] = []
        self.reads: Callable[[str], Any] = lambda passage: NOTHING
        self.gleans: Callable[[str], Any] = lambda passage: NOTHING
        self.judges: Callable[[list[Any]], Any] = lambda pairs: "I was not to be asked."
        fake.answer = self._answer

    def _answer(self, body: Body) -> Any:
        system, user = (str(message["content"]) for message in body["messages"][:2])
        if system.startswith(judge.INSTRUCTIONS[:80]):
            pairs = json.loads(user)
            self.judged.append(pairs)
            said = self.judges(pairs)
        else:
            assert system.startswith(prompts.INSTRUCTIONS)
            found = re.search(r"<passage-(\w+)>\n(.*)\n</passage-\1>", user, re.DOTALL)
            assert found is not None
            if "your answer says nothing of them" in str(body["messages"][-1]["content"]):
                self.gleaned.append(found[2])
                said = self.gleans(found[2])
            else:
                self.passages.append(found[2])
                said = self.reads(found[2])
        return json.dumps(said, ensure_ascii=False) if isinstance(said, dict) else said

    def body(self, call: int = -1) -> Body:
        return self.fake.exchanges[call].body


def says(answer: str) -> Callable[[list[Any]], Any]:
    return lambda pairs: {
        "answers": [{"pair": n, "answer": answer, "reason": "because"} for n in range(1, len(pairs) + 1)]
    }


KNOBS: dict[str, Any] = {
    "extractor": "llm",
    "job_backoff_seconds": 0.01,
    "job_patience_seconds": 0.0,
    "breaker_failures": 1000,
    "chat_context_tokens": 32_000,
    "max_gleanings": 0,
}


@pytest.fixture
def knobs() -> dict[str, Any]:
    return {}


def knobs_are(**knobs: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("knobs", [knobs], ids=[""])


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider, knobs: dict[str, Any]) -> Settings:
    return with_model(tmp_path, fake, **{**KNOBS, **knobs})


@pytest.fixture
def model(fake: FakeProvider) -> Model:
    return Model(fake)


class Desk:
    """The default workspace (or another), its jobs done when `work` is called."""

    def __init__(self, services: Services, workspace_id: uuid.UUID | None = None) -> None:
        self.services = services
        self.id = workspace_id or services.default_workspace

    async def add(self, content: str = TEXT, title: str = TITLE) -> uuid.UUID:
        async with self.services.database.unit() as session:
            return (await self.services.intake.submit_card(session, self.id, NewCard(title, content))).id

    async def reingest(self, card_id: uuid.UUID) -> None:
        async with self.services.database.unit() as session:
            await self.services.intake.reingest_card(session, self.id, card_id)

    async def work(self, *, to_the_end: bool = False) -> None:
        """What is due; `to_the_end`: also what waits to be tried again, until it is done or has failed."""
        await run_until_idle(
            self.services.database.dsn,
            handlers(self.services),
            self.services.settings,
            wait_for_delayed=to_the_end,
            timeout_seconds=60,
        )

    async def learn(self, content: str = TEXT, title: str = TITLE) -> uuid.UUID:
        card = await self.add(content, title)
        await self.work(to_the_end=True)
        return card

    async def rows(self, statement: str, **values: Any) -> list[Any]:
        return await fetch(self.services.database, statement, w=self.id, **values)

    async def state(self, card_id: uuid.UUID) -> tuple[str, str | None]:
        ((state, code),) = await self.rows("SELECT state, error_code FROM cards WHERE id = :id", id=card_id)
        return state, code

    async def told(self, card_id: uuid.UUID) -> dict[str, Any]:
        """What a card says of its extraction."""
        ((told,),) = await self.rows("SELECT extraction FROM cards WHERE id = :id AND state = 'ready'", id=card_id)
        return dict(told)

    async def names(self) -> set[str]:
        return {name for (name,) in await self.rows("SELECT name FROM entities WHERE workspace_id = :w")}

    async def points(self) -> list[str]:
        return [
            text for (text,) in await self.rows("SELECT text FROM points WHERE workspace_id = :w ORDER BY start, id")
        ]

    async def quoted(self, table: str) -> list[tuple[str, str]]:
        """(what a row says, the stretch of its card's text that its offsets give)."""
        name = "name" if table == "mentions" else "text"
        rows = await self.rows(
            f'SELECT t.{name}, substr(c.content, t.start + 1, t."end" - t.start) FROM {table} t JOIN cards c '
            "ON c.workspace_id = t.workspace_id AND c.id = t.card_id WHERE t.workspace_id = :w AND t.start IS NOT NULL "
            "ORDER BY t.start, 1"
        )
        return [(said, shown) for said, shown in rows]


@pytest.fixture
def desk(services: Services) -> Desk:
    return Desk(services)


def passages(*subjects: str) -> str:
    """A text of which each subject is a call of its own, where calls take 100 tokens."""
    filler = "This sentence says nothing that anybody would want to know about the subject of it. " * 5
    return "\n\n".join(f"{subject} is here. {filler}" for subject in subjects)


def by_subject(**answers: Any) -> Callable[[str], Any]:
    """The answer for the subject with which a passage begins; by default it is the entity."""

    def answer(passage: str) -> Any:
        subject = passage.split(" is here.")[0].strip()
        return answers.get(subject, fact(subject))

    return answer


def first_words(model: Model) -> list[str]:
    return [passage.split(" is here.")[0].strip() for passage in model.passages]


# --------------------------------------------------------------------------------------------- rows


@knobs_are(max_gleanings=1)
async def test_a_card_in_rows_with_places_out(desk: Desk, model: Model, client: httpx.AsyncClient) -> None:
    model.reads, model.gleans = lambda _: GOOD, lambda _: MORE
    card = await desk.learn()
    assert (model.passages, model.gleaned) == ([TEXT], [TEXT])
    assert await desk.rows("SELECT name, type, description FROM entities WHERE workspace_id = :w ORDER BY name") == [
        ("Acme", "organization", "A company."),
        ("Alice Chen", "person", "Leads a project at Acme."),
        ("Apollo", "concept", "A project of Acme."),
    ]
    assert await desk.quoted("mentions") == [("Alice Chen",) * 2, ("Acme",) * 2, ("Apollo",) * 2]
    assert await desk.quoted("relations") == [(JOINED, JOINED)]
    assert await desk.rows(
        "SELECT s.name, r.predicate, t.name FROM relations r JOIN entities s ON s.id = r.source_id "
        "JOIN entities t ON t.id = r.target_id WHERE r.workspace_id = :w"
    ) == [("Alice Chen", "joined", "Acme")]
    assert await desk.rows("SELECT title FROM episodes WHERE workspace_id = :w") == [("Alice Chen at Acme",)]
    assert await desk.rows("SELECT title FROM facets WHERE workspace_id = :w ORDER BY ordinal") == [
        ("Joining",),
        ("Apollo",),
    ]
    assert await desk.points() == [JOINED, "The Apollo project has a budget of $40,000."]
    ((start, end),) = await desk.rows(
        "SELECT lower(happened)::date::text, upper(happened)::date::text FROM points WHERE text = :text", text=JOINED
    )
    assert (start, end) == ("2024-05-03", "2024-05-04")
    shown = (await client.get(f"{API}/cards/{card}")).json()["ingestion"]
    assert shown == {
        "state": "ready",
        "step": None,
        "progress": None,
        "error": None,
        "attempts": 1,
        "extraction": {
            "by": f"llm/{prompts.prompt_version()}/custom/default",
            "entities": 3,
            "relations": 1,
            "episodes": 1,
            "facets": 2,
            "points": 2,
            "dropped": {},
            "added": {},
        },
    }


@pytest.mark.parametrize("empty", [NOTHING, GOOD], ids=["nothing", "half"])
async def test_what_the_model_left_out_comes_back_in_the_cards_own_words(
    desk: Desk, model: Model, client: httpx.AsyncClient, empty: Any
) -> None:
    model.reads = lambda _: empty
    card = await desk.learn()
    points = " ".join(await desk.points())
    assert all(anchor in points for anchor in ("3 May 2024", "Apollo", "$40,000"))
    # A cone that the rules made of all the text lacks nothing; one of the model's does.
    added = (await client.get(f"{API}/cards/{card}")).json()["ingestion"]["extraction"]["added"]
    assert added.get("money", 0) == (1 if empty is GOOD else 0)


@knobs_are(max_gleanings=1)
async def test_gleaning_costs_nothing_when_nothing_is_missed_and_never_loses_the_first_pass(
    desk: Desk, model: Model
) -> None:
    model.reads, model.gleans = lambda _: GOOD, lambda _: Said("", "503")
    await desk.learn(JOINED)
    assert (len(model.passages), len(model.gleaned)) == (1, 0)
    card = await desk.learn()
    assert (len(model.passages), len(model.gleaned)) == (2, 1)
    assert await desk.state(card) == ("ready", None)
    assert await desk.names() == {"Alice Chen", "Acme"}
    assert (await desk.told(card))["dropped"] == {"gleaning_failed": 1}


async def test_a_card_that_was_never_learned_says_nothing_of_it(client: httpx.AsyncClient) -> None:
    assert (await create(client, title="a", content="b"))["ingestion"]["extraction"] is None


async def test_chinese_stays_chinese(desk: Desk, model: Model) -> None:
    """B8, B13: the prompt carries the rule, full-width JSON is read, and the rows are in the language of the note."""
    text = "张三去年加入了星火科技，负责启明项目。该项目的预算是四十万元。"
    model.reads = lambda _: (
        "｛“entities”：［｛“name”：“张三”，“type”：“人物”，“description”：“负责启明项目”｝，｛“name”：“星火科技”｝］，"
        "“relations”：［｛“source”：“张三”，“target”：“星火科技”，“predicate”：“加入”，“sentence”：“张三加入了星火科技”｝］，"
        "“episodes”：［｛“title”：“同事”，“facets”：［｛“title”：“工作”，“description”：“张三的工作”，"
        "“points”：［“启明项目的预算是四十万元。”］｝］｝］｝"
    )
    await desk.learn(text, "同事")
    asked = "\n".join(str(message["content"]) for message in model.body()["messages"])
    assert "文本是中文时，所有内容都用中文书写" in asked
    assert "请用中文回答" in asked
    assert text.encode() in model.fake.exchanges[-1].raw
    assert await desk.rows("SELECT predicate, text FROM relations WHERE workspace_id = :w") == [
        ("加入", "张三加入了星火科技")
    ]
    kept = [*await desk.names(), *await desk.points()]
    assert {"张三", "星火科技", "启明项目的预算是四十万元。"} <= set(kept)
    assert [text for text in kept if re.search("[A-Za-z]", text)] == []


async def test_nul_and_control_characters_never_reach_a_row(desk: Desk, model: Model) -> None:
    """A7, A13: escaped and raw, in every field."""
    bad = "\x00\x07\ud800"
    answer = {
        "entities": [
            {"name": f"Alice{bad} Chen", "type": "person", "description": f"Leads{bad} a project."},
            "Acme\x00",
        ],
        "relations": [
            {"source": f"{bad}Alice Chen", "target": "Acme", "predicate": f"joined{bad}", "sentence": JOINED + bad}
        ],
        "episodes": [
            {
                "title": f"Work{bad}",
                "facets": [{"title": f"A{bad}", "description": f"B{bad}", "points": [JOINED + bad]}],
            }
        ],
    }
    escaped = json.dumps(answer)
    raw = json.dumps({**answer, "note": "|"}).replace("\\ud800", "").replace("\\u0000", "").replace("\\u0007", "\x07\n")
    for said in (escaped, raw):
        model.reads = lambda _, said=said: said  # type: ignore[misc]
        await execute(desk.services.database, "DELETE FROM cards WHERE workspace_id = :w", w=desk.id)
        await execute(desk.services.database, "DELETE FROM extraction_cache WHERE workspace_id = :w", w=desk.id)
        card = await desk.learn()
        assert await desk.state(card) == ("ready", None)
        assert await desk.names() == {"Alice Chen", "Acme"}
        ((predicate, sentence),) = await desk.rows("SELECT predicate, text FROM relations WHERE workspace_id = :w")
        assert (predicate, sentence) == ("joined", JOINED)
        assert (await desk.points())[0] == JOINED
    assert len(model.passages) == 2


def test_words_in_capitals_are_names_and_pronouns_are_none() -> None:
    names = ["WHO", "US", "IT", "US", "it", "Who", "I", "她", "我们"]
    assert [entity.name for entity in validate({"entities": names}).entities] == ["WHO", "US", "IT", "US"]


async def test_text_that_the_rules_fail_on_keeps_what_the_model_found(
    desk: Desk, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(OfflineExtractor, "completed", broken)
    model.reads = lambda _: GOOD
    card = await desk.learn()
    assert await desk.state(card) == ("ready", None)
    assert await desk.names() == {"Alice Chen", "Acme"}


# ----------------------------------------------------------------------------------- out of order


@knobs_are(
    extract_group_tokens=100,
    chunk_target_tokens=100,
    extract_concurrency=1,
    job_patience_seconds=3600,
    job_backoff_seconds=4.0,  # not to be tried again before it was looked at
)
async def test_a_card_waits_for_a_model_that_is_down_and_pays_for_nothing_twice(
    desk: Desk, model: Model, client: httpx.AsyncClient
) -> None:
    """F1, F2."""
    model.reads = by_subject(Bob=Said("", "503"))
    card = await desk.add(passages("Alice", "Bob", "Carl"))
    await desk.work()
    assert first_words(model) == ["Alice", "Bob"]
    shown = (await client.get(f"{API}/cards/{card}")).json()["ingestion"]
    assert (shown["state"], shown["error"]["code"], shown["extraction"]) == ("queued", "provider_down", None)
    assert await desk.names() == set()
    model.passages.clear()
    model.reads = by_subject()
    await desk.work(to_the_end=True)
    assert first_words(model) == ["Bob", "Carl"]
    assert await desk.state(card) == ("ready", None)
    assert await desk.names() == {"Alice", "Bob", "Carl"}


async def test_after_the_last_attempt_rules_read_the_card_and_a_model_may_later(desk: Desk, model: Model) -> None:
    model.reads = lambda _: Said("", "503")
    card = await desk.learn()
    assert len(model.passages) == 5
    told = await desk.told(card)
    assert told["dropped"]["model_unavailable"] == 1
    assert "Alice Chen" in await desk.names()
    assert any("$40,000" in point for point in await desk.points())
    model.reads = lambda _: fact("Apollo")
    await desk.reingest(card)
    await desk.work(to_the_end=True)
    assert len(model.passages) == 6
    assert await desk.names() == {"Apollo"}
    assert "model_unavailable" not in (await desk.told(card))["dropped"]


@knobs_are(extract_group_tokens=100, chunk_target_tokens=100, extract_concurrency=1)
async def test_a_passage_that_the_model_refuses_is_read_by_rules_alone(desk: Desk, model: Model) -> None:
    """F2: one bad chunk does not spoil the others."""
    model.reads = by_subject(**{"Bob Stone": Said("", "400")})
    card = await desk.learn(passages("Alice", "Bob Stone", "Carl"))
    assert [first_words(model).count(name) for name in ("Alice", "Bob Stone", "Carl")] == [1, 5, 1]
    told = await desk.told(card)
    assert (told["dropped"]["passage_filled"], told["dropped"]["model_unavailable"]) == (1, 1)
    assert {"Alice", "Bob Stone", "Carl"} <= await desk.names()
    assert all(said == shown for said, shown in await desk.quoted("mentions"))


async def test_cards_that_were_read_do_not_wait_for_one_that_was_not(desk: Desk, model: Model) -> None:
    """A5: many cards of one job."""
    model.reads = by_subject(Bob=Said("", "503"))
    async with desk.services.database.unit() as session:
        written = await desk.services.intake.submit_many(
            session, desk.id, [NewCard(name, f"{name} is here.") for name in ("Alice", "Bob", "Carl")]
        )
    assert await desk.rows("SELECT count(*) FROM jobs WHERE workspace_id = :w AND kind = 'ingest'") == [(1,)]
    await execute(desk.services.database, "UPDATE jobs SET max_attempts = 2")
    desk.services.settings.job_backoff_seconds = 3600.0
    desk.services.settings.job_backoff_max_seconds = 3600.0
    await desk.work()
    states = [await desk.state(one.id) for one in written if one.id is not None]
    assert states == [("ready", None), ("queued", "provider_down"), ("ready", None)]


@knobs_are(extract_group_tokens=100, chunk_target_tokens=100, extract_concurrency=1)
async def test_garbled_answers_for_one_passage_are_filled_by_rules(desk: Desk, model: Model) -> None:
    """G1, G4, F2: asked for once more, then left."""
    model.reads = by_subject(**{"Bob Stone": "I cannot do that."})
    card = await desk.learn(passages("Alice", "Bob Stone", "Carl"))
    assert first_words(model) == ["Alice", "Bob Stone", "Bob Stone", "Carl"]
    assert (await desk.told(card))["dropped"] == {"passage_filled": 1}
    assert {"Alice", "Bob Stone", "Carl"} <= await desk.names()
    assert all(said == shown for said, shown in await desk.quoted("mentions"))
    assert any(point.startswith("Bob Stone is here") for point in await desk.points())


@knobs_are(provider_retries=2)
async def test_a_short_retry_after_is_waited_for(desk: Desk, model: Model) -> None:
    """F1, F4: a rate limit is no failure of the card."""
    model.reads = lambda _: Said("", "429,retry-after-ms=10") if len(model.passages) == 1 else GOOD
    card = await desk.learn()
    assert len(model.passages) == 2
    assert await desk.rows("SELECT attempts FROM cards WHERE id = :id", id=card) == [(1,)]
    assert await desk.names() == {"Alice Chen", "Acme"}


@knobs_are(provider_retries=2, job_patience_seconds=3600)
async def test_a_long_retry_after_is_waited_for_by_the_job(desk: Desk, model: Model) -> None:
    """F1, F4, E16: nothing is held meanwhile, and no attempt is used up."""
    model.reads = lambda _: Said("", "429,retry-after=600")
    card = await desk.add()
    await desk.work()
    assert len(model.passages) == 1
    assert await desk.state(card) == ("queued", "provider_busy")
    ((attempts, waits),) = await desk.rows(
        "SELECT attempts, extract(epoch FROM available_at - now())::int FROM jobs WHERE workspace_id = :w"
    )
    assert attempts == 0
    assert 570 < waits <= 750


# ----------------------------------------------------------------------------------------- paid once


async def test_a_text_is_paid_for_once_by_each_workspace(desk: Desk, model: Model) -> None:
    """L10: nothing that one workspace paid for is another's."""
    model.reads = lambda _: GOOD
    card = await desk.learn()
    await desk.reingest(card)
    await desk.work()
    await desk.learn()
    assert len(model.passages) == 1
    assert await desk.rows("SELECT count(*) FROM points WHERE workspace_id = :w AND text = :t", t=JOINED) == [(2,)]
    other = Desk(desk.services, await make_workspace(desk.services, "other"))
    await other.learn()
    assert len(model.passages) == 2
    assert await other.names() == await desk.names() == {"Alice Chen", "Acme"}
    assert await other.rows("SELECT count(*) FROM extraction_cache WHERE workspace_id = :w") == [(1,)]


@knobs_are(worker_concurrency=10)
async def test_ten_equal_cards_at_once_are_one_call(desk: Desk, model: Model) -> None:
    """E7."""
    model.reads = lambda _: GOOD
    cards = await asyncio.gather(*(desk.add() for _ in range(10)))
    assert await desk.rows("SELECT count(*) FROM jobs WHERE workspace_id = :w AND kind = 'ingest'") == [(10,)]
    await desk.work(to_the_end=True)
    assert len(model.passages) == 1
    assert [await desk.state(card) for card in cards] == [("ready", None)] * 10
    assert await desk.names() == {"Alice Chen", "Acme"}


async def test_who_posts_his_own_extraction_pays_for_none(desk: Desk, model: Model, client: httpx.AsyncClient) -> None:
    episode = {"title": "Staff", "facets": [{"title": "Joining", "description": JOINED}]}
    items = [{"card": {"title": TITLE, "content": TEXT, "external_id": "a"}, **episode}]
    assert (await client.post(f"{API}/episodes", json={"items": items})).status_code == 200
    await desk.work(to_the_end=True)
    assert await desk.rows("SELECT state FROM cards WHERE workspace_id = :w") == [("ready",)]
    assert JOINED in await desk.points()
    assert model.fake.asked() == 0


# ----------------------------------------------------------------------------------------- two names


async def two_names(desk: Desk, model: Model) -> None:
    """One pair that rules leave open."""
    full, short = "World Health Organization", "WHO"
    model.reads = lambda passage: fact(full if full in passage else short)
    await desk.learn(f"The {full} met in Geneva.", "One")
    await desk.add(f"The {short} met in Geneva.", "Other")


async def pairs(desk: Desk) -> list[tuple[str, str | None]]:
    return [tuple(row) for row in await desk.rows("SELECT state, decided_by FROM entity_pairs WHERE workspace_id = :w")]


async def groups(desk: Desk) -> int:
    ((found,),) = await desk.rows(
        "SELECT count(DISTINCT coalesce(merged_into, id)) FROM entities WHERE workspace_id = :w "
        "AND name IN ('World Health Organization', 'WHO')"
    )
    return int(found)


@pytest.mark.parametrize(
    ("said", "state", "count", "calls"),
    [
        (says("same"), ("merged", "llm"), 1, 1),
        (says("different"), ("apart", "llm"), 2, 1),
        (says("unsure"), ("waiting", "llm"), 2, 1),
        (lambda pairs: "I cannot tell.", ("waiting", "llm"), 2, 2),
    ],
    ids=["same", "different", "unsure", "unreadable"],
)
async def test_a_model_is_asked_about_pairs_that_rules_leave_open(
    desk: Desk, model: Model, said: Any, state: Any, count: int, calls: int
) -> None:
    model.judges = said
    await two_names(desk, model)
    await desk.work(to_the_end=True)
    assert await pairs(desk) == [state]
    assert await groups(desk) == count
    assert len(model.judged) == calls
    assert {side["name"] for pair in model.judged[0] for side in (pair["one"], pair["other"])} == {
        "World Health Organization",
        "WHO",
    }
    # Nobody is asked about the same pair again.
    await desk.learn("The WHO met in Rome.", "Third")
    assert len(model.judged) == calls


async def test_pairs_wait_for_a_judge_that_is_down_and_their_cards_do_not(desk: Desk, model: Model) -> None:
    model.judges = lambda pairs: Said("", "503")
    await two_names(desk, model)
    await desk.work(to_the_end=True)
    assert await desk.rows("SELECT DISTINCT state FROM cards WHERE workspace_id = :w") == [("ready",)]
    assert await desk.rows(
        "SELECT state, error_code FROM jobs WHERE workspace_id = :w AND kind = 'link' AND state <> 'done'"
    ) == [("failed", "provider_down")]
    assert await pairs(desk) == [("waiting", None)]
    model.judges, model.reads = says("same"), lambda _: fact("Rhea")
    await desk.learn("Rhea was in Rome.", "Third")
    assert await pairs(desk) == [("merged", "llm")]


async def test_pairs_are_asked_about_again_without_a_new_card(desk: Desk, model: Model) -> None:
    model.judges = lambda pairs: Said("", "503")
    await two_names(desk, model)
    await desk.work(to_the_end=True)
    asked = len(model.judged)
    assert await pairs(desk) == [("waiting", None)]
    # Not all the while: it has failed just now.
    assert await desk.services.resolver.enqueue_due() == 0
    await execute(
        desk.services.database, "UPDATE jobs SET finished_at = now() - interval '11 minutes' WHERE kind = 'link'"
    )
    await enqueue_linking(desk.services)
    assert await desk.services.resolver.enqueue_due() == 0
    model.judges = says("same")
    await desk.work(to_the_end=True)
    assert (await pairs(desk), len(model.judged)) == ([("merged", "llm")], asked + 1)
    # And then what is told of the two is put together.
    assert await desk.services.resolver.enqueue_due(0.0) == 1
    await desk.work(to_the_end=True)
    assert await desk.services.resolver.enqueue_due(0.0) == 0
    assert len(model.judged) == asked + 1


@pytest.mark.parametrize(("decision", "opposite", "count"), [("apart", "same", 2), ("merge", "different", 1)])
async def test_a_persons_word_is_final(
    desk: Desk, model: Model, client: httpx.AsyncClient, decision: str, opposite: str, count: int
) -> None:
    model.judges = says("unsure")
    await two_names(desk, model)
    await desk.work(to_the_end=True)
    ((pair,),) = await desk.rows("SELECT id FROM entity_pairs WHERE workspace_id = :w")
    answer = await client.post(f"{API}/graph/candidates/{pair}", json={"decision": decision})
    assert answer.status_code == 200, answer.text
    model.judges = says(opposite)
    await desk.learn("The WHO and the World Health Organization met in Rome.", "Third")
    for card in await desk.rows("SELECT id FROM cards WHERE workspace_id = :w"):
        await desk.reingest(card[0])
    await desk.work(to_the_end=True)
    assert await groups(desk) == count
    assert {by for _, by in await pairs(desk)} <= {"user"}
    assert [
        by
        for (by,) in await desk.rows(
            "SELECT decided_by FROM entity_decisions WHERE workspace_id = :w AND outcome IN ('merged', 'apart')"
        )
    ] == ["user"]


# ------------------------------------------------------------------------------- several processes


def slowly(answer: Any, seconds: float = 1.0) -> Said:
    return Said(json.dumps(answer), f"slow,seconds={seconds}")


async def both_learn(desk: Desk, cards: int, settings: Settings, dsn: str) -> list[uuid.UUID]:
    """So many cards of one text, half of them learned by another process: nothing is shared but the database."""
    added = [await desk.add() for _ in range(cards)]
    await execute(desk.services.database, "UPDATE jobs SET state = 'done'")
    async with open_services(settings, dsn, role="worker") as others:
        pipelines = (desk.services.pipeline, others.pipeline)
        await asyncio.gather(
            *(pipeline.ingest(desk.id, [Task(card, 1) for card in added[n::2]]) for n, pipeline in enumerate(pipelines))
        )
    return added


@knobs_are(max_gleanings=1)
async def test_ten_equal_cards_in_two_processes_are_extracted_once(
    desk: Desk, model: Model, settings: Settings, database_dsn: str
) -> None:
    """E7."""
    model.reads, model.gleans = lambda _: slowly(GOOD), lambda _: slowly(MORE)
    cards = await both_learn(desk, 10, settings, database_dsn)
    assert (len(model.passages), len(model.gleaned)) == (1, 1)
    assert [await desk.state(card) for card in cards] == [("ready", None)] * 10
    assert len({json.dumps(await desk.told(card)) for card in cards}) == 1
    assert await desk.rows("SELECT 1 FROM extraction_claims") == []


async def test_a_text_that_one_process_could_not_have_read_is_read_by_the_other(
    desk: Desk, model: Model, settings: Settings, database_dsn: str
) -> None:
    model.reads = lambda _: Said("", "400") if len(model.passages) == 1 else GOOD
    await desk.add()
    await execute(desk.services.database, "UPDATE jobs SET state = 'done'")
    ((card,),) = await desk.rows("SELECT id FROM cards WHERE workspace_id = :w")
    with pytest.raises(ProviderRefused):
        await desk.services.pipeline.ingest(desk.id, [Task(card, 1)])
    assert await desk.rows("SELECT 1 FROM extraction_claims") == []
    async with open_services(settings, database_dsn, role="worker") as others:
        await others.pipeline.ingest(desk.id, [Task(card, 1)])
    assert (len(model.passages), await desk.state(card)) == (2, ("ready", None))


async def test_who_is_asking_holds_no_connection_and_who_died_keeps_nothing(
    desk: Desk, model: Model, fake: FakeProvider
) -> None:
    model.reads = lambda _: slowly(GOOD, 0.3)
    cache = StoredCache(desk.services.database, desk.id, claim_seconds=1.5)
    find, made = desk.services.pipeline._find_extractor, []

    def short(cache_: ExtractionCache, permits: asyncio.Semaphore) -> LlmExtractor:
        extractor = find()
        assert isinstance(extractor, WorkspaceExtractor)
        made.append(extractor._make(cache, permits))
        return made[-1]

    desk.services.pipeline._find_extractor = lambda: WorkspaceExtractor(desk.services.database, short, 4)
    await desk.add()
    await execute(desk.services.database, "UPDATE jobs SET state = 'done'")
    ((card,),) = await desk.rows("SELECT id FROM cards WHERE workspace_id = :w")
    key = CacheKey("a", "b", "c")
    async with cache.claim(key) as mine, cache.claim(key) as again:
        assert (mine, again) == (True, False)
    learning = asyncio.create_task(desk.services.pipeline.ingest(desk.id, [Task(card, 1)]))
    await fake.wait_for_request()
    held = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in trans%'"
    assert await desk.rows(held) == [(0,)]
    await learning
    # Somebody has had it, and died: it is taken over when his time is up, not before.
    await execute(desk.services.database, "DELETE FROM extraction_cache")
    left = "INSERT INTO extraction_claims (workspace_id, key, holder, until) SELECT :w, key, gen_random_uuid(), "
    keys = [_hashed(made[0]._key(group)) for group in made[0]._passages(_source(card))]
    for end in ("now() - interval '1 s'", "now() + interval '0.4 s'"):
        await execute(desk.services.database, "DELETE FROM extraction_cache")
        await execute(
            desk.services.database, left + end + " FROM unnest(cast(:keys AS uuid[])) AS key", w=desk.id, keys=keys
        )
        asked = len(model.passages)
        await execute(desk.services.database, "UPDATE cards SET state = 'queued'")
        await desk.services.pipeline.ingest(desk.id, [Task(card, 1)])
        assert len(model.passages) == asked + 1
    assert await desk.rows("SELECT 1 FROM extraction_claims") == []


def _source(card: uuid.UUID) -> Source:
    return Source(card, TITLE, TEXT, datetime(2024, 1, 1, tzinfo=UTC), chunks=[Span(0, len(TEXT))])


# ----------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"extractor": "llm", "chat_provider": "offline"}, "MINDCONE_EXTRACT_PROVIDER"),
        ({"extractor": "llm", "chat_provider": "openai"}, "MINDCONE_OPENAI_API_KEY"),
        ({"extractor": "auto", "extract_provider": "opnai"}, "'opnai'"),
    ],
    ids=["no provider", "no key", "misspelt"],
)
async def test_a_reader_that_cannot_be_is_said_at_the_start(
    database_dsn: str, settings: Settings, complaint: str
) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        async with open_services(settings, database_dsn):
            pass


@pytest.mark.parametrize(
    ("knobs", "reader"),
    [
        ({"extractor": "auto", "chat_api_key": "sk-x"}, "model"),
        ({"extractor": "auto"}, "rules"),
        ({"extractor": "auto", "extract_provider": "custom"}, "model"),
        ({"extractor": "auto", "chat_provider": "offline"}, "rules"),
        ({"extractor": "llm", "chat_provider": "offline", "extract_provider": "custom"}, "model"),
        ({"extractor": "offline", "chat_api_key": "sk-x"}, "rules"),
        ({"extractor": "off", "chat_api_key": "sk-x"}, "nobody"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(str(part) for part in value.values()),
)
async def test_who_reads(desk: Desk, model: Model, reader: str) -> None:
    """F10."""
    model.reads = lambda _: fact("Apollo")
    card = await desk.learn()
    assert await desk.state(card) == ("ready", None)
    assert model.fake.asked() == (reader == "model")
    names = await desk.names()
    assert {"model": names == {"Apollo"}, "rules": "Alice Chen" in names, "nobody": names == set()}[reader]
    chunks = await desk.rows("SELECT count(*) FROM chunks WHERE workspace_id = :w")
    episodes = await desk.rows("SELECT count(*) FROM episodes WHERE workspace_id = :w")
    assert (chunks, episodes) == ([(1,)], [(0 if reader == "nobody" else 1,)])


@knobs_are(extractor="auto", vault_poll_seconds=0.05)
async def test_a_key_that_is_stored_chooses_who_reads_without_a_restart(
    desk: Desk, model: Model, client: httpx.AsyncClient, settings: Settings, database_dsn: str
) -> None:
    """One process stores it, another one, which runs already, reads cards; and back."""
    model.reads = lambda _: fact("Apollo")
    async with open_services(settings, database_dsn) as worker:

        async def learned(title: str) -> str:
            card_id = await desk.add(TEXT, title)
            await run_until_idle(database_dsn, handlers(worker), settings)
            return str((await desk.told(card_id))["by"]).partition("/")[0]

        async def has_key(wanted: bool) -> None:
            async def seen() -> bool:
                return worker.providers.has_key("custom") is wanted

            await until(seen)

        assert await learned("First") != "llm"
        assert model.passages == []
        stored = await client.put(f"{API}/providers/custom", json={"api_key": "sk-test-0123456789"})
        assert stored.status_code == 200, stored.text
        await has_key(True)
        assert await learned("Second") == "llm"
        assert len(model.passages) == 1
        assert model.fake.exchanges[0].headers["authorization"] == "Bearer sk-test-0123456789"
        assert (await client.delete(f"{API}/providers/custom")).status_code == 204
        await has_key(False)
        assert await learned("Third") != "llm"
        assert len(model.passages) == 1


@knobs_are(extract_model="reader-1", extract_answer_tokens=777, max_gleanings=2)
async def test_model_answer_and_gleanings_are_as_set(desk: Desk, model: Model) -> None:
    """F10."""
    model.reads = lambda _: fact("Alice Chen")
    model.gleans = lambda _: fact("Acme") if len(model.gleaned) == 1 else fact("Apollo")
    await desk.learn()
    assert [exchange.model for exchange in model.fake.exchanges] == ["reader-1"] * 3
    assert [exchange.body["max_tokens"] for exchange in model.fake.exchanges] == [777] * 3
    assert await desk.names() == {"Alice Chen", "Acme", "Apollo"}


@pytest.mark.parametrize(
    ("knobs", "calls", "most"),
    [
        ({"chunk_target_tokens": 100, "extract_group_tokens": 100, "extract_concurrency": 2}, 6, 2),
        ({"chunk_target_tokens": 100, "extract_group_tokens": 100, "extract_concurrency": 6}, 6, 6),
        ({"chunk_target_tokens": 100, "extract_group_tokens": 2000, "extract_concurrency": 6}, 1, 1),
    ],
    ids=["two at a time", "all at once", "one passage"],
)
async def test_size_and_number_of_calls_are_as_set(desk: Desk, model: Model, calls: int, most: int) -> None:
    """F10."""
    open_calls: list[int] = []

    def answered(passage: str) -> Any:
        open_calls.append(sum(not exchange.ended.is_set() for exchange in model.fake.exchanges))
        return fact("Alice")

    card = await desk.add(passages(*(f"Alice {n}" for n in range(6))))
    model.reads = lambda _: Said("", "slow,seconds=60")
    stuck = asyncio.create_task(desk.work())
    async with asyncio.timeout(30):
        await model.fake.wait_for_request(most)
    assert len(model.passages) == most
    stuck.cancel()
    with suppress(asyncio.CancelledError):
        await stuck
    model.passages.clear()
    model.reads = answered
    await desk.work(to_the_end=True)
    assert await desk.state(card) == ("ready", None)
    assert len(model.passages) == calls
    assert max(open_calls) <= most
