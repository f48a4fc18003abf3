"""Connections, sessions and the unit of work: the one place that commits.

Knows PostgreSQL and asyncpg; knows no table.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from pgvector.asyncpg import register_vector
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine

from app.core.errors import ConfigurationError, Unavailable
from app.core.log import get
from app.db.settings import DatabaseSettings

log = get(__name__)

# Where a session keeps what `raw` has found.
_RAW = "raw"

# SQLSTATEs of a server that is going away, starting, or full.
_GONE = ("57P01", "57P02", "57P03", "53300", "08000", "08001", "08003", "08004", "08006")

# asyncpg's state machine says InternalClientError when the server hangs up between two of its steps.
_BROKEN = ConnectionError | asyncpg.ConnectionDoesNotExistError | asyncpg.InternalClientError


class PoolExhausted(Unavailable):
    """All database connections are busy; try again in a moment."""

    code = "pool_exhausted"


class DatabaseUnavailable(Unavailable):
    """The database does not answer at the moment."""

    code = "database_unavailable"


def asyncpg_dsn(url: str) -> str:
    """Any of the usual spellings of a PostgreSQL URL, as asyncpg reads it.

    Raises ConfigurationError when it is not a PostgreSQL URL.
    """
    scheme, sep, rest = url.partition("://")
    if not sep or scheme not in {"postgres", "postgresql", "postgresql+asyncpg", "postgresql+psycopg"}:
        raise ConfigurationError("MINDCONE_DATABASE_URL must look like postgresql://user:password@host/database")
    return f"postgresql://{rest}"


class Database:
    """A pool of connections to one database, and the units of work on it."""

    def __init__(self, url: str, settings: DatabaseSettings, application_name: str = "mindcone") -> None:
        self.dsn = asyncpg_dsn(url)
        self._settings = settings
        self._server_settings = {
            "application_name": application_name,
            "statement_timeout": _milliseconds(settings.database_statement_timeout_seconds),
            "lock_timeout": _milliseconds(settings.database_lock_timeout_seconds),
            "idle_in_transaction_session_timeout": _milliseconds(settings.database_idle_in_transaction_seconds),
            # An abandoned request must not leave its query running on a pooled backend.
            "client_connection_check_interval": "500",
            # Compiling a statement of a few milliseconds takes longer than running it.
            "jit": "off",
            "timezone": "UTC",
        }
        self.engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=self.connect,
            # An error's text ends up in logs; people's notes must not.
            hide_parameters=True,
            pool_size=settings.database_pool_size,
            max_overflow=settings.database_pool_overflow,
            pool_timeout=settings.database_pool_timeout_seconds,
            pool_pre_ping=False,
            pool_recycle=1800,
        )
        # A connection the server closed is found out by the error itself; then the whole pool is renewed.
        event.listen(self.engine.sync_engine, "handle_error", _forget_dead_connections)
        self._sessions = async_sessionmaker(self.engine, expire_on_commit=False)

    async def connect(self, *, as_owner: bool = False) -> Any:
        """A new asyncpg connection outside of the pool, with the pool's own server settings; `as_owner` of the schema,
        where that is another role. Raises DatabaseUnavailable, and as asyncpg does.
        """
        owner = self._settings.migration_url if as_owner else None
        dsn = asyncpg_dsn(owner) if owner else self.dsn
        try:
            connection = await asyncpg.connect(dsn, server_settings=self._server_settings, timeout=10)
        except OSError as error:
            # Refused, too late, or a socket that is no more: the server that is started again makes a new one.
            raise DatabaseUnavailable from error
        try:
            await register_vector(connection)
        except ValueError:
            # The extension comes with the first migration.
            log.debug("vector_type_missing")
        except BaseException:
            # Whoever asked for it may go away in the meantime; nobody else would close it.
            connection.terminate()
            raise
        return connection

    async def wait(self) -> None:
        """Return when the database accepts connections.

        Raises DatabaseUnavailable after `database_start_timeout_seconds`.
        """
        deadline = asyncio.get_running_loop().time() + self._settings.database_start_timeout_seconds
        while True:
            try:
                connection = await asyncpg.connect(self.dsn, timeout=5)
                await connection.close()
                return
            except (OSError, asyncpg.CannotConnectNowError, asyncpg.TooManyConnectionsError, TimeoutError) as error:
                if asyncio.get_running_loop().time() > deadline:
                    raise DatabaseUnavailable("The database did not accept connections in time.") from error
            except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError) as error:
                raise ConfigurationError("The database refuses the configured user, password or name.") from error
            await asyncio.sleep(0.25)

    @asynccontextmanager
    async def unit(self) -> AsyncIterator[AsyncSession]:
        """One unit of work: commits when the block ends, rolls back when it raises.

        Raises PoolExhausted, DatabaseUnavailable.
        """
        with _translated():
            async with self._sessions() as session, session.begin():
                yield session

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncSession]:
        """A session for reading; nothing it does is kept. Raises as `unit`."""
        with _translated():
            async with self._sessions() as session:
                yield session

    def pool_status(self) -> dict[str, int]:
        """Connections by state: `size`, `in_use`, `overflow`."""
        pool: Any = self.engine.sync_engine.pool
        return {"size": pool.size(), "in_use": pool.checkedout(), "overflow": max(pool.overflow(), 0)}

    async def close(self) -> None:
        await self.engine.dispose()


async def raw(session: AsyncSession) -> Any:
    """The asyncpg connection under a session, inside the session's transaction.

    For bulk writes (COPY), vectors and hot retrieval statements, where the ORM only costs.
    """
    transaction = session.sync_session.get_transaction()
    known = session.info.get(_RAW)
    # Asking SQLAlchemy takes longer than some statements; within one transaction it is the same connection.
    if known is not None and transaction is known[0] and transaction.is_active and known[1]._transaction is not None:
        return known[2]
    connection = await session.connection()
    fairy = await connection.get_raw_connection()
    adapted: Any = fairy.dbapi_connection
    if adapted._transaction is None:
        # SQLAlchemy begins with its own first statement, and only then; ours must be in the same transaction. Not by
        # the adapter's own method: whoever is interrupted in it leaves a transaction to the connection's next user.
        await session.execute(text("SELECT"))
    session.info[_RAW] = session.sync_session.get_transaction(), adapted, fairy.driver_connection
    return fairy.driver_connection


def _milliseconds(seconds: float) -> str:
    return str(int(seconds * 1000))


def _forget_dead_connections(context: Any) -> None:
    if isinstance(context.original_exception, _BROKEN):
        context.is_disconnect = True


class _translated:  # noqa: N801  (reads as a word at its two call sites)
    """Turns failures of the connection into errors that say nothing about the server."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        if isinstance(error, PoolTimeout):
            raise PoolExhausted from error
        if is_connection_failure(error):
            raise DatabaseUnavailable from error


def is_connection_failure(error: BaseException) -> bool:
    """Whether this error means that the database is away, rather than that the statement is wrong."""
    if isinstance(error, DBAPIError):
        state = getattr(error.orig, "sqlstate", None)
        return bool(error.connection_invalidated) or state in _GONE or isinstance(error, InterfaceError)
    if isinstance(error, asyncpg.PostgresError):
        return error.sqlstate in _GONE
    return isinstance(error, OperationalError | asyncpg.InterfaceError | _BROKEN)
