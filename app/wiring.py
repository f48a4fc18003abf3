"""The fuse box: settings in, opened services out. The only place that constructs them."""

from __future__ import annotations

import asyncio
import gc
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from app.chat.afterwards import Afterwards, Titling
from app.chat.answer import Answering
from app.chat.asking import Asking
from app.chat.conversations import Conversations
from app.chat.fork import Forking
from app.chat.fork_tool import ForkTool
from app.chat.insights import Insights
from app.chat.memory_tool import MemoryTool
from app.chat.merge import Merging
from app.chat.rearrange import Rearranging
from app.chat.reflection import Reflection
from app.chat.remembering import MeasuredBackgrounds, Remembering
from app.chat.standing import Standing
from app.core.errors import ConfigurationError
from app.core.log import get
from app.db import migrate
from app.db.lease import lease
from app.db.session import Database, asyncpg_dsn
from app.doctor.examine import Doctor, Report
from app.evaluation.run import Evaluation
from app.index import space_queries
from app.index.spaces import Spaces
from app.ingestion.communities.rebuild import Communities
from app.ingestion.communities.report_llm import ChosenReports, LlmReports
from app.ingestion.communities.report_offline import OfflineReports
from app.ingestion.extract.llm import LlmExtractor
from app.ingestion.extract.llm_cache import ExtractionCache
from app.ingestion.extract.offline import OfflineExtractor
from app.ingestion.extract.stored import WorkspaceExtractor, missed, resolve_times
from app.ingestion.extract.types import Extractor
from app.ingestion.link.describing import Describing
from app.ingestion.link.judge import LlmJudge
from app.ingestion.link.resolve import Resolver
from app.ingestion.link.summary import LlmDescriber
from app.ingestion.pipeline import Pipeline
from app.ingestion.reembed import Reembedding
from app.ingestion.relink.relinking import Relinking
from app.ingestion.submit import Intake
from app.memory.edit import Editing
from app.memory.near import Reader
from app.memory.recall import Recall
from app.memory.reflect import Reflecting
from app.memory.vectors import MemoryVectors
from app.people import audit_queries as audit
from app.people import queries as people
from app.people.keys import Principal
from app.people.metering import TokenMeter
from app.providers.embedding import build as build_embedder
from app.providers.embedding import build_next
from app.providers.ports import ChatProvider, Embedder
from app.providers.registry import NAMES, OFFLINE, ChatProviders
from app.retrieval.calibrating import Calibrating
from app.retrieval.retrieve import Retriever
from app.schema import index_names
from app.settings import Settings
from app.text.segment import Segmenter
from app.text.sentences import sentences
from app.transfer.importing import Importer
from app.vault.master import keyring
from app.vault.providers import StoredProviders

log = get(__name__)

T = TypeVar("T")

COLLECTED_AFTER: Final = 10_000
"""Objects after which the collector looks for circles among the latest."""
FindProvider = Callable[[], ChatProvider | None]


class SpaceMismatch(ConfigurationError):
    """The stored vectors belong to another embedder than the configured one."""

    code = "space_mismatch"


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that a door may call, opened."""

    settings: Settings
    database: Database
    embedder: Embedder
    """The configured one; `spaces` knows whether search reads its space."""
    spaces: Spaces
    segmenter: Segmenter
    retriever: Retriever
    intake: Intake
    unqueued: Intake
    """Writes cards and leaves the work on them to its caller."""
    pipeline: Pipeline
    reembedding: Reembedding
    calibrating: Calibrating
    communities: Communities
    resolver: Resolver
    relinking: Relinking
    importer: Importer
    evaluation: Evaluation
    providers: ChatProviders
    stored_providers: StoredProviders
    meter: TokenMeter
    answering: Answering
    asking: Asking
    memories: Editing
    memory_vectors: MemoryVectors
    recall: Recall
    remembering: Remembering
    reflection: Reflection
    standing: Standing
    conversations: Conversations
    forking: Forking
    insights: Insights
    titling: Titling
    merging: Merging
    rearranging: Rearranging
    doctor: Callable[[bool], Awaitable[Report]]
    default_workspace: uuid.UUID


@contextmanager
def database_url(settings: Settings) -> Iterator[str]:
    """The configured database, or the embedded one, which runs for as long as somebody is in here. Blocking."""
    if settings.database_url:
        yield asyncpg_dsn(settings.database_url)
    else:
        with lease(settings.data_dir) as dsn:
            yield dsn


def migration_dsn() -> str:
    """Where plain `alembic` goes: the owner's URL, the app's, or the embedded server if it runs."""
    settings = Settings()
    configured = settings.migration_url or settings.database_url
    if configured:
        return asyncpg_dsn(configured)
    from app.db.embedded import EmbeddedPostgres

    running = EmbeddedPostgres(settings.data_dir).find_running()
    if running is None:
        raise ConfigurationError("No database: set MINDCONE_DATABASE_URL, or start `mindcone run` first.")
    return running


async def prepare_schema(settings: Settings, dsn: str) -> None:
    """Bring the schema up to date where that is ours to do, else insist that it is. Raises ConfigurationError."""
    ours = settings.migrate == "on" or (settings.migrate == "auto" and not settings.database_url)
    if ours:
        owner = asyncpg_dsn(settings.migration_url) if settings.migration_url else dsn
        found = await migrate.status(owner)
        if not found.known:
            raise migrate.UnknownSchema
        if found.pending:
            await asyncio.to_thread(migrate.upgrade, owner)
    else:
        await migrate.require_current(dsn)


@asynccontextmanager
async def open_database(settings: Settings, dsn: str, role: str) -> AsyncIterator[Database]:
    """The database alone, its schema up to date. Raises ConfigurationError, DatabaseUnavailable."""
    database = Database(dsn, settings, application_name=f"mindcone-{role}")
    try:
        await database.wait()
        await prepare_schema(settings, dsn)
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def open_services(settings: Settings, dsn: str, role: str = "api") -> AsyncIterator[Services]:
    """Everything opened in order and closed in reverse. Raises ConfigurationError, DatabaseUnavailable."""
    async with AsyncExitStack() as stack:
        segmenter = Segmenter()
        meter = TokenMeter(settings)
        # What cannot work is said before anything is opened or loaded.
        providers = ChatProviders(
            settings,
            sentences=sentences,
            terms=segmenter.terms,
            on_loopback=settings.on_loopback,
            meter=meter,
        )
        database = await stack.enter_async_context(open_database(settings, dsn, role))

        embedder = build_embedder(settings, settings.data_dir)
        following = build_next(settings, settings.data_dir)
        for one in (embedder, following):
            if one is not None:
                await one.open()
                stack.push_async_callback(one.close)
        spaces = spaces_of(embedder, following)
        await _settle_space(database, spaces)

        await asyncio.to_thread(segmenter.load)
        async with database.unit() as session:
            default = await people.ensure_default_workspace(session)

        await meter.open(database, default)
        stack.push_async_callback(meter.close)
        stored_providers = await open_stored_providers(settings, database, providers, stack)
        # Who reads cards is asked again for each group of them: a key that is stored meanwhile chooses a model.
        find_reader = model_reader(settings, providers)

        intake = Intake(settings.card_max_bytes)
        find_extractor = by_whom(find_reader, lambda reader: extractor(settings, database, reader, segmenter))
        pipeline = Pipeline(database, spaces, segmenter, settings, find_extractor)
        retriever = Retriever(database, spaces, segmenter, settings)
        calibrating = Calibrating(database, spaces, segmenter, settings)
        offline = OfflineReports()
        find_reports = by_whom(
            find_reader, lambda reader: LlmReports(reader, settings.extract_model, settings, offline)
        )
        reports = ChosenReports(find_reports, offline)
        communities = Communities(database, spaces, segmenter, reports, settings)
        said = Reader(lambda text: segmenter.terms(text).words)
        recall = Recall(database, spaces, said, settings, MeasuredBackgrounds())
        memories = Editing(database, spaces, said, settings)
        memory_vectors = MemoryVectors(database, spaces)
        remembering = Remembering(recall)
        reflects = chosen_by(providers, "memory_reflect", settings.memory_reflect_provider)
        reflecting = Reflecting(memories, recall, reflects, settings.memory_reflect_model)
        reflection = Reflection(database, reflecting, is_on=settings.memory_reflect == "on")
        answering = Answering(retriever, providers, settings)
        await answering.open()
        standing = Standing(database, providers, settings, sentences=sentences, terms=segmenter.terms)
        insights = Insights(
            database,
            spaces,
            settings,
            sentences=sentences,
            terms=segmenter.terms,
            find_provider=chosen_by(providers, "insight", settings.insight_provider),
        )
        titling = Titling(database, chosen_by(providers, "title", settings.title_provider), settings.title_model)
        forking = Forking(database, spaces, settings)
        conversations = Conversations(
            database,
            answering,
            standing,
            providers,
            settings,
            remembering,
            tools=[MemoryTool(memories), ForkTool(forking)],
            insights=insights,
            afterwards=Afterwards(remembering, insights, reflection, titling),
        )
        stack.push_async_callback(conversations.close)
        unqueued = Intake(settings.card_max_bytes, queued=False)
        # Dictionaries and models stay: the collector need not go through them again and again. What a group of cards is
        # made of goes by itself; looked through every 700 objects, it cost a twentieth of the time beside the embedder.
        gc.collect()
        gc.freeze()
        gc.set_threshold(COLLECTED_AFTER, 10, 10)
        yield Services(
            settings=settings,
            database=database,
            embedder=embedder,
            spaces=spaces,
            segmenter=segmenter,
            retriever=retriever,
            intake=intake,
            unqueued=unqueued,
            pipeline=pipeline,
            reembedding=Reembedding(database, spaces, settings, calibrating.calibrate_all, [memory_vectors]),
            calibrating=calibrating,
            communities=communities,
            resolver=Resolver(
                database,
                spaces,
                by_whom(find_reader, lambda reader: LlmJudge(reader, settings.extract_model)),
                Describing(
                    database,
                    pipeline.linker,
                    by_whom(find_reader, lambda reader: LlmDescriber(reader, settings.extract_model)),
                ),
            ),
            relinking=Relinking(database, spaces, segmenter, pipeline.linker),
            importer=Importer(database, intake.submit_many, settings),
            evaluation=Evaluation(database, unqueued, pipeline, retriever, embedder, calibrating, communities),
            providers=providers,
            stored_providers=stored_providers,
            meter=meter,
            answering=answering,
            asking=Asking(database, answering, remembering),
            memories=memories,
            memory_vectors=memory_vectors,
            recall=recall,
            remembering=remembering,
            reflection=reflection,
            standing=standing,
            conversations=conversations,
            forking=forking,
            insights=insights,
            titling=titling,
            merging=Merging(database, spaces, settings),
            rearranging=Rearranging(settings),
            doctor=examiner(database),
            default_workspace=default,
        )


async def open_stored_providers(
    settings: Settings, database: Database, providers: ChatProviders, stack: AsyncExitStack
) -> StoredProviders:
    """The providers opened with what is stored of them, until the stack is left."""
    stored = stored_providers_of(settings, database, providers)
    await stored.refresh()
    await providers.open()
    stack.push_async_callback(providers.close)
    await stored.open()
    stack.push_async_callback(stored.close)
    return stored


def stored_providers_of(settings: Settings, database: Database, providers: ChatProviders) -> StoredProviders:
    # Several machines on one database must be given one key; on a single one it may be made here.
    may_make = not (settings.database_url and settings.auth_required)
    find = partial(keyring, settings, settings.data_dir, may_make=may_make)
    return StoredProviders(database, providers, find, settings, settings, on_loopback=settings.on_loopback)


async def rotate_vault(settings: Settings, database: Database) -> int:
    """Seal all stored secrets with a fresh master key, or with the one that the settings now give first. How many there
    were. Processes that run take it up by themselves where the key is in the data directory.
    """
    providers = ChatProviders(settings, sentences=sentences, terms=Segmenter().terms)
    stored = stored_providers_of(settings, database, providers)

    async def told(session: AsyncSession, count: int) -> None:
        operator = Principal(await people.ensure_default_workspace(session), frozenset({"admin"}))
        await audit.record(session, operator, "vault.rotated", envelopes=count)

    return await stored.rotate(settings.data_dir if settings.vault_key is None else None, told)


def model_reader(settings: Settings, providers: ChatProviders) -> FindProvider:
    """The language model that reads cards at the moment; None: rules do. Raises ConfigurationError for what cannot
    work as it was set.
    """
    name = settings.extract_provider or settings.chat_provider
    if name not in providers.list_names():
        raise ConfigurationError(f"MINDCONE_EXTRACT_PROVIDER: no chat provider {name!r}, or it has no base URL.")
    if settings.extractor == "llm":
        if name == OFFLINE:
            raise ConfigurationError(
                "MINDCONE_EXTRACTOR=llm needs MINDCONE_EXTRACT_PROVIDER, or a MINDCONE_CHAT_PROVIDER."
            )
        if providers.needs_key(name) and not providers.has_key(name):
            raise ConfigurationError(f"MINDCONE_EXTRACTOR=llm: {name} needs MINDCONE_{name.upper()}_API_KEY.")
    # Who only chats with a model of his own that wants no key has not asked it to read every card.
    asked = settings.extract_provider not in (None, OFFLINE) and not providers.needs_key(name)

    def find() -> ChatProvider | None:
        chosen = settings.extractor
        if chosen == "auto":
            is_there = name in providers.list_names()
            chosen = "llm" if is_there and (asked or providers.has_key(name)) else "offline"
        return providers.get_provider(name) if chosen == "llm" else None

    return find


def by_whom(find_provider: FindProvider, make: Callable[[ChatProvider], T]) -> Callable[[], T | None]:
    """What is made over the provider that is chosen at the moment, once for each."""
    made: dict[str, T] = {}

    def find() -> T | None:
        provider = find_provider()
        if provider is None:
            return None
        if provider.name not in made:
            made[provider.name] = make(provider)
        return made[provider.name]

    return find


def chosen_by(providers: ChatProviders, purpose: str, name: str | None) -> FindProvider:
    """The provider chosen for a purpose; None: rules do it, also while that one has no address yet. Raises
    ConfigurationError for one that does not exist.
    """
    if name is None or name == OFFLINE:
        return lambda: None
    if name not in NAMES:
        raise ConfigurationError(f"MINDCONE_{purpose.upper()}_PROVIDER: there is no chat provider {name!r}.")
    return lambda: providers.get_provider(name) if name in providers.list_names() else None


def extractor(settings: Settings, database: Database, provider: ChatProvider, segmenter: Segmenter) -> Extractor:
    """Extraction by a language model; what it leaves unanswered is read by rules."""

    def make(cache: ExtractionCache, permits: asyncio.Semaphore) -> LlmExtractor:
        return LlmExtractor(
            provider,
            settings.extract_model,
            settings,
            cache,
            missed=missed,
            times=resolve_times,
            fill=OfflineExtractor(segmenter),
            permits=permits,
        )

    return WorkspaceExtractor(database, make, settings.extract_concurrency)


def examiner(database: Database) -> Callable[[bool], Awaitable[Report]]:
    """The doctor; it needs the database alone."""
    return Doctor(database, index_names).examine


def spaces_of(embedder: Embedder, following: Embedder | None) -> Spaces:
    """Raises ConfigurationError when both are one."""
    if following is None:
        return Spaces(embedder)
    if following.space.key == embedder.space.key:
        raise ConfigurationError(
            f"MINDCONE_EMBEDDER_NEXT is the same as MINDCONE_EMBEDDER, {embedder.space.key}: remove it, with what "
            "belongs to it."
        )
    return Spaces(embedder, following)


async def _settle_space(database: Database, spaces: Spaces) -> None:
    """The first embedder makes its space the current one; after that there must be an embedder for it, for vectors
    never mix.
    """
    configured = spaces.embedders[0].space.key
    async with database.unit() as session:
        current = await spaces.settle(session)
        filling = await space_queries.find_filling(session)
    if spaces.find(current.key) is None:
        raise SpaceMismatch(
            f"The stored vectors are of {current.key}, the configured embedder gives {configured}. To move to it while "
            "search goes on: set MINDCONE_EMBEDDER (and model, dimension, address) back, describe the new one by "
            "MINDCONE_EMBEDDER_NEXT, MINDCONE_EMBEDDER_NEXT_MODEL and so on, restart, and run `mindcone reembed`."
        )
    if current.key != configured:
        log.info("embedder_next_is_current", space=current.key)
    if filling is not None and spaces.find(filling.key) is None:
        # Search is served all the same; nothing is learned here.
        log.warning("filling_space_without_embedder", space=filling.key)
