"""How cards become searchable, and what happens when something comes in between."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from app.cards.drafts import NewCard
from app.db.session import Database
from app.index import queries as index
from app.index import space_queries
from app.index.lexical import lexical_stats
from app.index.rows import text_hash
from app.index.spaces import Spaces
from app.ingestion.embed import Embedding
from app.ingestion.link.linker import Linker, PlanOutdated
from app.ingestion.pipeline import Pipeline
from app.ingestion.posting import CardRef, EpisodePost, post_episodes
from app.ingestion.prepare import prepare
from app.ingestion.windows import windows
from app.providers.embedding.e5 import E5Embedder
from app.providers.ports import DimensionMismatch, Embeddings, ProviderDown
from app.settings import Settings
from app.text.segment import Segmenter
from app.wiring import SpaceMismatch, open_services
from tests.search_library import Library, Scattered

pytest_plugins = ("tests.search_library",)

TWELVE = " ".join(f"This is sentence number {n} of the note, which says something new." for n in range(12))


class Failing(Scattered):
    """Does not answer the calls whose numbers (from 1) are in `failing`."""

    def __init__(self, *failing: int) -> None:
        super().__init__()
        self.failing = set(failing)
        self.asked = 0

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        self.asked += 1
        if self.asked in self.failing:
            raise ProviderDown("The embedder is down.")
        return await super().passages(texts)


class Slow(Scattered):
    """Says that it is embedding, and goes on when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.started = asyncio.Event()
        self.go_on = asyncio.Event()

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        self.started.set()
        await self.go_on.wait()
        return await super().passages(texts)


class Call(NamedTuple):
    texts: Sequence[str]
    go_on: asyncio.Future[None]


class Gated(Scattered):
    """Answers each call with this word in it when it may."""

    def __init__(self, word: str = "") -> None:
        super().__init__()
        self.word = word
        self.waiting: asyncio.Queue[Call] = asyncio.Queue()

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        if any(self.word in text for text in texts):
            call = Call(texts, asyncio.get_running_loop().create_future())
            self.waiting.put_nowait(call)
            await call.go_on
        return await super().passages(texts)

    async def let_pass(self, until: asyncio.Task[Any]) -> None:
        """Every call, as it comes, until this is done."""
        while not until.done():
            call = asyncio.create_task(self.waiting.get())
            await asyncio.wait({call, until}, return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                call.result().go_on.set_result(None)
            else:
                call.cancel()


class Wrong(Scattered):
    """Gives vectors of another shape than its space has."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.less_rows, self.columns = rows, columns

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        return Embeddings(np.ones((len(texts) - self.less_rows, self.columns), np.float32))


class LateFailing(Slow):
    """Answers the first call at once, and fails the second one when it may."""

    asked = 0

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        self.asked += 1
        if self.asked == 1:
            return await Scattered.passages(self, texts)
        await super().passages(texts)
        raise ProviderDown("The embedder is down.")


async def derived(library: Library) -> Any:
    """Everything that search reads, without the ids that differ from run to run."""
    return [
        await library.rows(
            'SELECT c.title, ch.ordinal, ch.start, ch."end", ch.text, ch.words, ch.grams, ch.terms::text, w.ordinal, '
            'w.start, w."end", w.text_hash, w.dense::text FROM cards c '
            "JOIN chunks ch ON ch.workspace_id = c.workspace_id AND ch.card_id = c.id "
            "JOIN windows w ON w.workspace_id = c.workspace_id AND w.chunk_id = ch.id WHERE c.workspace_id = :w "
            "ORDER BY c.title, ch.ordinal, w.ordinal"
        ),
        await library.rows("SELECT title, state, error_code FROM cards WHERE workspace_id = :w ORDER BY title"),
        await library.count("staged_vectors"),
    ]


async def in_order(library: Library) -> None:
    async with library.database.read() as session:
        stats = await lexical_stats(session, library.id)
    assert stats.in_order, stats


# ------------------------------------------------------------------------------------- any text


@pytest.mark.parametrize("content", ["野", "猫在睡觉。", "7", "ok", "🍅", "-", "C++"])
async def test_short_texts_are_accepted(library: Library, content: str) -> None:
    """B14, H11."""
    card = await library.add(None, content)
    assert (await library.learn()).ready == 1
    assert await library.state(card) == ("ready", None)
    assert await library.count("windows") == 1
    hit = (await library.search(content)).hits[0]
    assert (hit.card.id, hit.evidence[0].text) == (card, content)


async def test_a_card_of_white_space_is_ready_and_holds_nothing_up(plain: Library) -> None:
    """F11."""
    blank = await plain.add("Only a title", " \n\t\u3000\n ")
    after = await plain.add("After", "The next card.")
    outcome = await plain.learn()
    assert (outcome.ready, outcome.failed) == (2, {})
    assert [await plain.state(card) for card in (blank, after)] == [("ready", None)] * 2
    assert await plain.by_words("title") == {"Only a title"}


UNBROKEN = {
    "Han without punctuation": "这是一段没有标点的很长的文字" * 400,
    "Latin without spaces": "abcdefghij" * 1500,
    "words without full stops": "word " * 4000,
    "emoji": "👩‍💻🇨🇳❤️" * 800,
    "code": "```python\n" + "result = compute(alpha, beta)[0]['key'] ** 2\n" * 300 + "```",
    "table": "| a | b |\n|---|---|\n" + "| 单元格 cell | 12,345.67 |\n" * 400,
    "digits": "3141592653589793" * 500,
    "Thai": "ภาษาไทยไม่มีช่องว่าง" * 300,
    "one line": ("A sentence. 一句话。" * 700),
}


@pytest.mark.parametrize("name", UNBROKEN)
@pytest.mark.parametrize("title", ["T", "长标题" * 40])
async def test_nothing_is_longer_than_the_model_takes(
    e5: E5Embedder, segmenter: Segmenter, name: str, title: str
) -> None:
    """B10: chunks and windows in the model's own tokens, every character of the text in a chunk."""
    content = UNBROKEN[name]
    card = prepare(uuid.uuid4(), 1, title, content, segmenter, e5.count_tokens, 300, e5.max_tokens - 32)
    assert max(e5.count_tokens(chunk.text) for chunk in card.chunks) <= e5.max_tokens
    covered = set()
    for chunk in card.chunks:
        assert content[chunk.start : chunk.end] == chunk.text
        assert chunk.windows
        covered.update(range(chunk.start, chunk.end))
    assert [c for at, c in enumerate(content) if at not in covered and not c.isspace()] == []
    longest = sorted(card.texts.values(), key=e5.count_tokens)[-3:]
    assert (await e5.passages(longest)).truncated == frozenset()


# ------------------------------------------------------------------------------------ what is paid for


async def test_equal_texts_are_embedded_once(plain: Library, scattered: Scattered) -> None:
    await plain.add_many([NewCard("Same", "The same words. And some more words.") for _ in range(5)])
    outcome = await plain.learn()
    assert outcome.ready == 5
    assert len(scattered.embedded) == len(set(scattered.embedded)) == outcome.embedded
    before = len(scattered.embedded)
    await plain.add("Same", "The same words. And some more words.")
    assert (await plain.learn()).embedded == 0
    assert len(scattered.embedded) == before
    assert await plain.count("windows") == 6 * before


async def test_an_edit_embeds_only_what_is_new(plain: Library, scattered: Scattered) -> None:
    card = await plain.add("Note", TWELVE)
    await plain.learn()
    first = len(scattered.embedded)
    await plain.change(card, content=TWELVE.replace("number 11 of", "number eleven of"))
    outcome = await plain.learn()
    assert outcome.texts == first
    assert outcome.embedded == len(scattered.embedded) - first == 1


async def test_other_workspaces_pay_for_themselves(database: Database, segmenter: Segmenter, plain: Library) -> None:
    """L10: whether somebody else has the same text cannot be told from the work it makes."""
    other = await Library(database, Scattered(), segmenter, slug="other").open()
    for library in (plain, other):
        await library.add("Same", "The same words.")
    assert [(await library.learn()).embedded for library in (plain, other)] == [1, 1]


@pytest.mark.parametrize(("calls", "failing", "kept"), [(1, 1, 0), (1, 2, 3), (1, 4, 9), (2, 1, 3), (8, 2, 8)])
async def test_a_retry_goes_on_where_the_embedder_failed(
    database: Database, segmenter: Segmenter, calls: int, failing: int, kept: int
) -> None:
    """F1, F2: no text is embedded twice, and the card says why it waits. Calls that are under way are not given up."""
    embedder = Failing(failing)
    library = await Library(database, embedder, segmenter, embed_batch=3, embed_calls=calls).open()
    card = await library.add("Note", TWELVE)
    with pytest.raises(ProviderDown):
        await library.learn()
    assert await library.state(card) == ("queued", "provider_down")
    assert await library.count("staged_vectors") == kept
    assert await library.count("chunks") == 0
    outcome = await library.learn()
    assert outcome.ready == 1
    assert len(embedder.embedded) == len(set(embedder.embedded)) == outcome.texts
    assert await library.state(card) == ("ready", None)
    assert await library.count("staged_vectors") == 0


async def test_the_last_attempt_leaves_a_failed_card_that_can_be_tried_again(
    database: Database, segmenter: Segmenter
) -> None:
    library = await Library(database, Failing(1), segmenter).open()
    card = await library.add("Note", TWELVE)
    with pytest.raises(ProviderDown):
        await library.learn(last_attempt=True)
    assert await library.state(card) == ("failed", "provider_down")
    async with database.unit() as session:
        await library.intake.reingest_card(session, library.id, card)
    assert (await library.learn()).ready == 1


async def test_one_unreadable_card_fails_alone(plain: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """A4, A5."""
    cut = prepare

    def prepared(card_id: uuid.UUID, version: int, title: str, *rest: Any) -> Any:
        if title == "Bad":
            raise RecursionError
        return cut(card_id, version, title, *rest)

    monkeypatch.setattr("app.ingestion.learn.prepare", prepared)
    cards = await plain.add_many([NewCard("Good", "One."), NewCard("Bad", "Two."), NewCard("Better", "Three.")])
    outcome = await plain.learn()
    assert (outcome.ready, outcome.failed) == (2, {cards[1]: "unreadable_content"})
    assert [await plain.state(card) for card in cards] == [
        ("ready", None),
        ("failed", "unreadable_content"),
        ("ready", None),
    ]


# ------------------------------------------------------------------------------------------- fences


async def test_work_on_an_old_version_writes_nothing(database: Database, segmenter: Segmenter) -> None:
    embedder = Slow()
    library = await Library(database, embedder, segmenter).open()
    card = await library.add("Note", "The kettle boils.")
    await library.add("Other", "Another note.")
    working = asyncio.create_task(library.learn())
    await embedder.started.wait()
    await library.change(card, content="The samovar sings.")
    embedder.go_on.set()
    assert (await working).ready == 1
    assert await library.state(card) == ("queued", None)
    assert await library.by_words("kettle") == set()
    assert (await library.learn()).ready == 1
    assert await library.by_words("samovar") == {"Note"}
    await in_order(library)


async def test_vectors_of_a_card_that_somebody_else_has_learned_meanwhile_are_not_kept(
    database: Database, segmenter: Segmenter
) -> None:
    """A worker that was given up for dead leaves nothing behind when its embedder fails."""
    embedder = LateFailing()
    library = await Library(database, embedder, segmenter, embed_batch=1).open()
    card = await library.add("Note", TWELVE)
    tasks = await library.tasks()
    working = asyncio.create_task(library.pipeline.ingest(library.id, tasks))
    await embedder.started.wait()
    other = Library(database, Scattered(), segmenter)
    assert (await other.pipeline.ingest(library.id, tasks)).ready == 1
    embedder.go_on.set()
    with pytest.raises(ProviderDown):
        await working
    assert await library.state(card) == ("ready", None)
    assert await library.count("staged_vectors") == 0


async def test_a_date_that_changes_while_it_is_read_is_read_again(database: Database, segmenter: Segmenter) -> None:
    """The text has the same version all the time."""
    embedder = Slow()
    library = await Library(database, embedder, segmenter, extractor="offline").open()
    before, after = datetime(2020, 5, 8, tzinfo=UTC), datetime(2023, 5, 8, tzinfo=UTC)
    card = await library.add("Note", "Ann closed the bridge yesterday.", created_at=before)
    working = asyncio.create_task(library.learn())
    await embedder.started.wait()
    await library.change(card, created_at=after)
    embedder.go_on.set()
    assert (await working).ready == 0
    assert await library.state(card) == ("queued", None)
    assert (await library.learn()).ready == 1
    times = await library.rows("SELECT lower(happened) FROM points WHERE workspace_id = :w AND happened IS NOT NULL")
    assert times == [(datetime(2023, 5, 7, tzinfo=UTC),)]


async def test_an_episode_that_is_posted_while_its_card_is_read_is_the_only_one(
    database: Database, segmenter: Segmenter
) -> None:
    embedder = Slow()
    library = await Library(database, embedder, segmenter, extractor="offline").open()
    card = await library.add("Note", "Ann closed the bridge.")
    working = asyncio.create_task(library.learn())
    await embedder.started.wait()
    body = {"title": "The bridge", "facets": [{"title": "Closed", "points": [{"text": "Ann closed the bridge."}]}]}
    async with database.unit() as session:
        (posted,) = await post_episodes(
            session, library.id, library.intake, [EpisodePost(CardRef(id=card), None, True, body)], queued=False
        )
    embedder.go_on.set()
    assert (await working).ready == 0
    assert (await library.learn()).ready == 1
    assert await library.rows("SELECT id, title FROM episodes WHERE workspace_id = :w") == [
        (posted.episode_id, "The bridge")
    ]


@pytest.mark.parametrize("how", ["trash", "remove"])
async def test_work_on_a_card_that_is_taken_away_writes_nothing(
    database: Database, segmenter: Segmenter, how: str
) -> None:
    embedder = Slow()
    library = await Library(database, embedder, segmenter, embed_batch=1).open()
    card = await library.add("Note", TWELVE)
    working = asyncio.create_task(library.learn())
    await embedder.started.wait()
    async with database.unit() as session:
        if how == "trash":
            await library.intake.trash_card(session, library.id, card)
        else:
            await library.intake.remove_card(session, library.id, card)
    embedder.go_on.set()
    assert (await working).ready == 0
    for table in ("chunks", "windows", "lex_recent"):
        assert await library.count(table) == 0, table


async def test_two_workers_on_one_card_write_it_once(database: Database, segmenter: Segmenter) -> None:
    library = await Library(database, Scattered(), segmenter).open()
    await library.add("Note", TWELVE)
    tasks = await library.tasks()
    await asyncio.gather(*(library.pipeline.ingest(library.id, tasks) for _ in range(4)))
    alone = await Library(database, Scattered(), segmenter, slug="alone").open()
    await alone.add("Note", TWELVE)
    await alone.learn()
    assert await derived(library) == await derived(alone)
    await in_order(library)


@pytest.mark.parametrize("batch", [1, 4])
async def test_interrupted_work_ends_in_the_same_rows(database: Database, segmenter: Segmenter, batch: int) -> None:
    cards = [NewCard(f"Note {n}", f"{n}. {TWELVE}") for n in range(3)]
    embedder = Slow()
    library = await Library(database, embedder, segmenter, embed_batch=batch).open()
    await library.add_many(cards)
    working = asyncio.create_task(library.learn())
    await embedder.started.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert {row[0] for row in await library.rows("SELECT error_code FROM cards WHERE workspace_id = :w")} == {
        "interrupted"
    }
    embedder.go_on.set()
    assert (await library.learn()).ready == 3
    undisturbed = await Library(database, Scattered(), segmenter, slug="undisturbed", embed_batch=batch).open()
    await undisturbed.add_many(cards)
    await undisturbed.learn()
    assert await derived(library) == await derived(undisturbed)


async def test_work_of_a_killed_worker_is_done_again(plain: Library) -> None:
    """Whoever was killed could not hand back: the cards are still being worked on."""
    cards = await plain.add_many([NewCard(f"Note {n}", TWELVE) for n in range(3)])
    tasks = await plain.tasks()
    await plain.execute("UPDATE cards SET state = 'working', step = 'embed', progress = 0.5 WHERE workspace_id = :w")
    assert (await plain.pipeline.ingest(plain.id, tasks)).ready == 3
    assert (await plain.pipeline.ingest(plain.id, tasks)).ready == 0
    assert [await plain.state(card) for card in cards] == [("ready", None)] * 3
    await in_order(plain)


# ------------------------------------------------------------------------------------------ spaces


@pytest.mark.parametrize(
    ("less", "columns"), [(0, 8), (0, 17), (1, 16), (-1, 16)], ids=["short", "long", "few", "many"]
)
async def test_vectors_of_a_wrong_shape_are_not_written(
    database: Database, segmenter: Segmenter, less: int, columns: int
) -> None:
    """H10, H1: said of the card, and nothing of it is stored."""
    library = await Library(database, Wrong(less, columns), segmenter).open()
    card = await library.add("Note", TWELVE)
    with pytest.raises(DimensionMismatch):
        await library.learn(last_attempt=True)
    assert await library.state(card) == ("failed", "dimension_mismatch")
    for table in ("chunks", "windows", "staged_vectors", "lex_recent"):
        assert await library.count(table) == 0, table


async def test_vectors_of_another_space_are_not_taken_for_known(database: Database, segmenter: Segmenter) -> None:
    """H7: what is known of a text is known in one space."""
    first = await Library(database, Scattered(16), segmenter).open()
    await first.add("Note", "The same words.")
    await first.learn()
    wider = Scattered(24)
    async with database.unit() as session:
        await space_queries.set_current(session, await index.ensure_space(session, wider.space))
    pipeline = Pipeline(database, Spaces(wider), segmenter, first.settings)
    await first.add("Again", "The same words.")
    await first.execute("UPDATE cards SET title = 'Note' WHERE workspace_id = :w")
    await pipeline.ingest(first.id, await first.tasks())
    assert wider.embedded == ["Note\nThe same words."]
    sizes = await first.rows("SELECT vector_dims(dense::vector) FROM windows WHERE workspace_id = :w ORDER BY 1")
    assert sizes == [(16,), (24,)]


async def test_another_embedder_than_that_of_the_stored_vectors_is_refused(
    database: Database, database_dsn: str, segmenter: Segmenter, run_dir: Path, e5: E5Embedder
) -> None:
    """H1, H2: at the start, naming both, before anything is written."""
    library = await Library(database, Scattered(), segmenter).open()
    settings = Settings(data_dir=run_dir / "embedder", database_url=database_dsn)
    with pytest.raises(SpaceMismatch, match=f"{library.embedder.space.key}.*{e5.space.key}"):
        async with open_services(settings, database_dsn):
            pass
    assert await library.rows("SELECT key FROM embedding_spaces WHERE is_current") == [(library.embedder.space.key,)]


async def test_windows_are_found_by_the_hash_of_what_was_embedded(plain: Library, scattered: Scattered) -> None:
    await plain.add("Note", TWELVE)
    await plain.learn()
    stored = {row[0] for row in await plain.rows("SELECT text_hash FROM windows WHERE workspace_id = :w")}
    assert stored == {text_hash(one) for one in scattered.embedded}
    assert scattered.embedded == [window.text for window in windows("Note", TWELVE)]


async def test_a_note_is_kept_when_it_cannot_be_embedded_and_says_so(database: Database, segmenter: Segmenter) -> None:
    """N8"""

    class Away(Scattered):
        async def passages(self, texts: Sequence[str]) -> Embeddings:
            raise ProviderDown

    library = await Library(database, Away(), segmenter).open()
    card = await library.add("Insight", "worth keeping")
    with pytest.raises(ProviderDown):
        await library.learn()
    state = "SELECT state, error_code, content FROM cards WHERE id = :card"
    assert await library.rows(state, card=card) == [("queued", "provider_down", "worth keeping")]
    library.pipeline = Library(database, Scattered(), segmenter).pipeline
    await library.learn()
    assert await library.rows(state, card=card) == [("ready", None, "worth keeping")]


async def test_chunks_are_numbered_in_the_order_of_the_text(plain: Library) -> None:
    """E19"""
    await plain.add("Long", "\n\n".join(f"## Part {n}\n\n" + f"Sentence {n} goes on. " * 60 for n in range(12)))
    await plain.learn()
    starts = await plain.rows('SELECT start, "end" FROM chunks WHERE workspace_id = :w ORDER BY ordinal')
    assert len(starts) > 5
    assert starts == sorted(starts)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(starts))


async def test_large_groups_of_a_workspace_are_embedded_one_after_the_other(database: Database) -> None:
    """An import is found bit by bit; side by side, all of it would be ready at the end. A small note need not wait, nor
    do other workspaces.
    """
    embedding = Embedding(database, Settings(embed_batch=4))
    mine, other = uuid.uuid4(), uuid.uuid4()

    async def next_turn() -> None:
        async with embedding.turn(mine, 9):
            pass

    async with embedding.turn(mine, 9) as turn:
        waiting = asyncio.create_task(next_turn())
        async with embedding.turn(mine, 8), embedding.turn(other, 9):
            await asyncio.sleep(0)
        assert not waiting.done()
        await turn.aclose()
        await waiting


async def test_a_group_that_is_linked_anew_does_not_wait_for_its_turn_again(
    database: Database, segmenter: Segmenter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its vectors are made; while it waited, others would change what it counts on once more."""
    embedder = Gated("second")
    library = await Library(database, embedder, segmenter, embed_batch=1).open()
    for text in ("first", "second"):
        await library.add(text, TWELVE.replace("note", text))
    one, other = await library.tasks()
    write, beside, held = Linker.write, [], []

    async def outdated_once(self: Linker, *args: Any, **kwargs: Any) -> Any:
        if not beside:
            beside.append(asyncio.create_task(library.pipeline.ingest(library.id, [other])))
            held.append(await embedder.waiting.get())
            raise PlanOutdated
        return await write(self, *args, **kwargs)

    monkeypatch.setattr(Linker, "write", outdated_once)
    assert (await library.pipeline.ingest(library.id, [one])).ready == 1
    assert not beside[0].done()
    held[0].go_on.set_result(None)
    await embedder.let_pass(until=beside[0])
    assert beside[0].result().ready == 1
