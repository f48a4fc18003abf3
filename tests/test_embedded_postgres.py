"""The embedded PostgreSQL, with real servers and real kills."""

from __future__ import annotations

import asyncio
import fcntl
import inspect
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import asyncpg
import psutil
import pytest
import structlog

from app.db import embedded, server_conf
from app.db.embedded import DataDirectoryBusy, EmbeddedPostgres, EmbeddedPostgresError
from app.db.lease import lease

ROOT = Path(__file__).parents[1]
PRELUDE = """
import sys
from pathlib import Path
from app.db.embedded import EmbeddedPostgres
postgres = EmbeddedPostgres(Path(sys.argv[1]), shared_buffers_mb=16)
"""


class Other:
    """Another process of ours on the same data directory; it says what it prints and goes on when told."""

    def __init__(self, code: str, data_dir: Path) -> None:
        command = [sys.executable, "-c", PRELUDE + code, str(data_dir)]
        self.process = subprocess.Popen(
            command, cwd=ROOT, text=True, start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def says(self, word: str) -> None:
        """Returns when the process has printed a line with this word."""
        assert self.process.stdout
        for line in self.process.stdout:
            if word in line:
                return
        raise AssertionError(f"ended without saying {word}")

    def go(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> tuple[int, str]:
        """Exit code and the rest of what it said."""
        out, _ = self.process.communicate(timeout=60)
        return self.process.returncode, out


async def until(condition: Callable[[], object | Awaitable[object]], seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while True:
            met = condition()
            if await met if inspect.isawaitable(met) else met:
                return
            await asyncio.sleep(0.005)


def lives(process: psutil.Process) -> bool:
    return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)


def kill(*processes: psutil.Process) -> None:
    for process in processes:
        process.kill()


def postmaster(data_dir: Path) -> psutil.Process:
    return psutil.Process(int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0]))


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.rglob("*")}


def socket_directory(data_dir: Path) -> Path:
    return Path((data_dir / "postgres.socket-dir").read_text())


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def fetch(dsn: str, query: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A stopped data directory, as the first start made it. From here on without fsync, which spares a busy disk."""
    data_dir = tmp_path_factory.mktemp("made") / "data"
    postgres = EmbeddedPostgres(data_dir, shared_buffers_mb=16)
    postgres.ensure_running()
    postgres.stop()
    with (data_dir / "postgres" / "postgresql.auto.conf").open("a") as conf:
        conf.write("fsync = off\n")
    yield data_dir
    shutil.rmtree(data_dir)


@pytest.fixture
def postgres(made: Path) -> Iterator[EmbeddedPostgres]:
    """That data directory with its server stopped, before the test and after."""
    postgres = EmbeddedPostgres(made, shared_buffers_mb=16)
    yield postgres
    postgres.stop(grace_seconds=10)


async def test_a_new_cluster_is_what_the_schema_needs(postgres: EmbeddedPostgres) -> None:
    dsn = postgres.ensure_running()

    assert await fetch(dsn, "SELECT current_database() || ' ' || current_user") == "mindcone postgres"
    locale = "SELECT array[pg_encoding_to_char(encoding), datlocprovider::text, datlocale] FROM pg_database"
    assert await fetch(dsn, f"{locale} WHERE datname = 'mindcone'") == ["UTF8", "b", "C.UTF-8"]
    assert await fetch(dsn, "SHOW data_checksums") == "on"
    assert await fetch(dsn, "SHOW jit") == "off"
    await fetch(dsn, "CREATE EXTENSION vector")
    assert await fetch(dsn, "SELECT '[3,4]'::vector <-> '[0,0]'") == 5.0


async def test_no_other_user_can_come_in(postgres: EmbeddedPostgres) -> None:
    dsn = postgres.ensure_running()
    cluster = postgres.data_dir / "postgres"
    socket = cluster / ".s.PGSQL.5432"

    assert dsn == f"postgresql://postgres@/mindcone?host={cluster}&port=5432"
    assert await fetch(dsn, "SHOW listen_addresses") == ""
    sockets = postmaster(postgres.data_dir).net_connections("all")
    assert [(each.family.name, each.laddr) for each in sockets if each.laddr] == [("AF_UNIX", str(socket))]
    private = (cluster, socket, postgres.data_dir / "postgres.lock", postgres.data_dir / "postgres.alive")
    assert [path.stat().st_mode & 0o077 for path in private] == [0, 0, 0, 0]
    assert postgres.data_dir.stat().st_mode & 0o777 == 0o700
    methods = "SELECT array_agg(DISTINCT type || ' ' || auth_method ORDER BY type || ' ' || auth_method)"
    assert await fetch(dsn, f"{methods} FROM pg_hba_file_rules") == ["host reject", "local trust"]


def test_the_server_belongs_to_whoever_started_it(postgres: EmbeddedPostgres) -> None:
    """Root starts it in a namespace in which root is 65534: PostgreSQL sees no root, and no file changes hands."""
    postgres.ensure_running()
    server = postmaster(postgres.data_dir)

    assert server.uids().effective == os.geteuid()
    assert {path.lstat().st_uid for path in postgres.data_dir.rglob("*")} == {os.geteuid()}
    if os.geteuid() == 0:
        assert Path(f"/proc/{server.pid}/uid_map").read_text().split() == ["65534", "0", "1"]


async def test_a_restart_is_quick_and_keeps_what_was_written(postgres: EmbeddedPostgres) -> None:
    assert postgres.find_running() is None
    dsn = postgres.ensure_running()
    await fetch(dsn, "CREATE TABLE kept AS SELECT '锥'::text AS word")
    server = postmaster(postgres.data_dir)
    assert postgres.ensure_running() == postgres.find_running() == dsn
    assert postmaster(postgres.data_dir) == server

    postgres.stop()
    assert postgres.find_running() is None
    assert not lives(server)
    postgres.stop()

    began = time.monotonic()
    assert postgres.ensure_running() == dsn
    assert time.monotonic() - began < 5
    assert await fetch(dsn, "SELECT word FROM kept") == "锥"


async def test_two_first_starts_at_once_make_one_cluster(tmp_path: Path) -> None:
    """E4: two processes start together on an empty directory."""
    data_dir = tmp_path / "data"
    both = [Other("print('here', flush=True); input(); print(postgres.ensure_running())", data_dir) for _ in range(2)]
    try:
        for other in both:
            other.says("here")
        for other in both:
            other.go()
        (one, said), (two, also_said) = [other.end() for other in both]

        assert (one, two) == (0, 0)
        assert said.splitlines()[-1] == also_said.splitlines()[-1]
        assert await fetch(said.splitlines()[-1], "SELECT 1") == 1
        assert (said + also_said).count("postgres_cluster_made") == 1
        assert not list(data_dir.glob("postgres.init-*"))
    finally:
        EmbeddedPostgres(data_dir).stop()
        shutil.rmtree(data_dir)


async def test_the_server_outlives_its_starter_and_is_used_again(postgres: EmbeddedPostgres) -> None:
    starter = Other("postgres.ensure_running(); print('up', flush=True); input()", postgres.data_dir)
    starter.says("up")
    server = postmaster(postgres.data_dir)

    starter.process.kill()
    starter.end()

    assert await fetch(postgres.ensure_running(), "SELECT 1") == 1
    assert postmaster(postgres.data_dir) == server


async def test_ctrl_c_in_the_terminal_does_not_reach_the_server(postgres: EmbeddedPostgres) -> None:
    # What a shell starts in the background inherits that the signal is ignored.
    hears = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    starter = Other(hears + "postgres.ensure_running(); print('up', flush=True); input()", postgres.data_dir)
    starter.says("up")
    server = postmaster(postgres.data_dir)
    assert server.pid != os.getsid(starter.process.pid) != os.getsid(server.pid)

    os.killpg(starter.process.pid, signal.SIGINT)

    assert starter.end()[0] == -signal.SIGINT
    dsn = postgres.find_running()
    assert dsn is not None
    assert await fetch(dsn, "SELECT 1") == 1


@pytest.mark.parametrize("everything", [False, True])
async def test_a_killed_server_starts_again(
    postgres: EmbeddedPostgres, everything: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M: kill -9, with an open transaction, and a backend that computes and so does not notice that it is alone."""
    monkeypatch.setattr(embedded, "_ORPHANS_MAY_LIVE_SECONDS", 0.1)
    dsn = postgres.ensure_running()
    await fetch(dsn, "DROP TABLE IF EXISTS written")
    await fetch(dsn, "CREATE TABLE written AS SELECT 42 AS answer")
    writing = await asyncpg.connect(dsn)
    await writing.execute("BEGIN; UPDATE written SET answer = 0")
    computing = await asyncpg.connect(dsn)
    endless = asyncio.create_task(computing.execute("SELECT count(*) FROM generate_series(1, 1e12) AS endless"))
    busy = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%endless' AND wait_event IS NULL"
    await until(lambda: fetch(dsn, busy))
    server = postmaster(postgres.data_dir)
    backends = server.children()

    kill(server, *(backends if everything else []))

    assert await fetch(postgres.ensure_running(), "SELECT answer FROM written") == 42
    assert [process for process in (server, *backends) if lives(process)] == []
    with pytest.raises((asyncpg.PostgresConnectionError, OSError)):
        await endless
    writing.terminate()


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A living process that has nothing to do with PostgreSQL."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


async def test_a_stale_pid_file_may_name_a_stranger(
    postgres: EmbeddedPostgres, stranger: subprocess.Popen[bytes]
) -> None:
    """M: the process id in the lock files of a killed server belongs to somebody else by now."""
    cluster = postgres.data_dir / "postgres"
    postgres.ensure_running()
    server = postmaster(postgres.data_dir)
    kill(server, *server.children())
    await until(lambda: not lives(server))
    for path in (cluster / "postmaster.pid", cluster / ".s.PGSQL.5432.lock"):
        path.write_text(path.read_text().replace(str(server.pid), str(stranger.pid), 1))

    assert postgres.find_running() is None
    assert await fetch(postgres.ensure_running(), "SELECT 1") == 1
    assert stranger.poll() is None


async def test_a_killed_initdb_is_done_again(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    starter = Other("postgres.ensure_running()", data_dir)
    await until(lambda: list(data_dir.glob("postgres.init-*/base")))
    process = psutil.Process(starter.process.pid)
    kill(process, *process.children())
    starter.end()
    assert not (data_dir / "postgres").exists()
    assert list(data_dir.glob("postgres.init-*"))

    postgres = EmbeddedPostgres(data_dir, shared_buffers_mb=16)
    try:
        assert await fetch(postgres.ensure_running(), "SELECT 1") == 1
        assert not list(data_dir.glob("postgres.init-*"))
    finally:
        postgres.stop()
        shutil.rmtree(data_dir)


def test_a_data_directory_has_one_owner(tmp_path: Path) -> None:
    """M: two `mindcone run` on one data directory."""
    first = Other("with postgres.own():\n    print('mine', flush=True); input()", tmp_path)
    first.says("mine")
    postgres = EmbeddedPostgres(tmp_path)
    try:
        with pytest.raises(DataDirectoryBusy) as busy, postgres.own():
            pass
    finally:
        first.process.kill()
        first.end()
    assert busy.value.code == "data_directory_busy"
    assert busy.value.detail == (
        f"Another `mindcone run` (process {first.process.pid}) uses the data directory {tmp_path}. "
        "Stop it first, or set MINDCONE_DATA_DIR to another directory."
    )

    with postgres.own():
        assert (tmp_path / "mindcone.lock").read_text() == f"{os.getpid()}\n"
        with pytest.raises(DataDirectoryBusy), postgres.own():
            pass
    with postgres.own():
        pass


async def test_a_deep_path_with_odd_letters_gets_a_private_socket_directory(made: Path, tmp_path: Path) -> None:
    """A socket's path has at most 107 bytes, and a comma in it would split the DSN."""
    data_dir = tmp_path / "深い, $HOME `x` \"y\" 'z'" / ("d" * 120)
    shutil.copytree(made, data_dir)
    postgres = EmbeddedPostgres(data_dir, shared_buffers_mb=16)
    try:
        dsn = postgres.ensure_running()
        socket_dir = socket_directory(data_dir)
        assert dsn == f"postgresql://postgres@/mindcone?host={socket_dir}&port=5432"
        assert EmbeddedPostgres(data_dir).find_running() == dsn
        assert await fetch(dsn, "SELECT 1") == 1
        assert mode(socket_dir) == 0o700

        kill(postmaster(data_dir), *postmaster(data_dir).children())
        assert postgres.ensure_running() == dsn
    finally:
        postgres.stop()
        shutil.rmtree(data_dir)
    assert socket_dir.name not in os.listdir(socket_dir.parent)


def test_a_socket_directory_that_others_may_enter_is_not_used_again(tmp_path: Path) -> None:
    deep = EmbeddedPostgres(tmp_path / ("d" * 120))
    deep.data_dir.mkdir()
    me = embedded._Account(os.geteuid(), os.getegid())
    first = deep._choose_socket_dir(me)
    assert deep._choose_socket_dir(me) == first
    first.chmod(0o755)

    second = deep._choose_socket_dir(me)

    assert second != first
    assert mode(second) == 0o700
    first.rmdir()
    first.symlink_to(second)
    (deep.data_dir / "postgres.socket-dir").write_text(str(first))
    third = deep._choose_socket_dir(me)
    assert third not in (first, second)
    first.unlink()
    second.rmdir()
    third.rmdir()


def test_another_major_version_is_left_alone(tmp_path: Path) -> None:
    cluster = tmp_path / "postgres"
    cluster.mkdir(mode=0o700)
    (cluster / "PG_VERSION").write_text("17\n")
    (cluster / "postgresql.conf").write_text("port = 5432\n")
    before = contents(cluster)

    with pytest.raises(EmbeddedPostgresError, match=r"made by PostgreSQL 17, the embedded server is PostgreSQL 18"):
        EmbeddedPostgres(tmp_path).ensure_running()

    assert contents(cluster) == before


def test_a_folder_that_is_no_cluster_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "letters.txt").write_text("dear")

    with pytest.raises(EmbeddedPostgresError, match=r"neither empty nor a PostgreSQL cluster"):
        EmbeddedPostgres(tmp_path).ensure_running()

    assert [path.name for path in (tmp_path / "postgres").iterdir()] == ["letters.txt"]


async def test_a_failed_start_shows_the_log_and_a_repaired_one_succeeds(postgres: EmbeddedPostgres) -> None:
    auto = postgres.data_dir / "postgres" / "postgresql.auto.conf"
    good = auto.read_text()
    auto.write_text(good + "nonsense = 1\n")
    try:
        with pytest.raises(EmbeddedPostgresError, match=r'unrecognized configuration parameter "nonsense"'):
            postgres.ensure_running()
        assert postgres.find_running() is None
    finally:
        auto.write_text(good)
    assert await fetch(postgres.ensure_running(), "SELECT 1") == 1


async def test_changed_settings_reach_an_old_cluster(postgres: EmbeddedPostgres) -> None:
    assert await fetch(postgres.ensure_running(), "SHOW shared_buffers") == "16MB"
    postgres.stop()
    later = EmbeddedPostgres(postgres.data_dir, shared_buffers_mb=24, maintenance_work_mem_mb=48)
    dsn = later.ensure_running()
    assert await fetch(dsn, "SHOW shared_buffers") == "24MB"
    assert await fetch(dsn, "SHOW maintenance_work_mem") == "48MB"
    assert await fetch(dsn, "SHOW fsync") == "off", "what an admin set with ALTER SYSTEM stays"
    main = postgres.data_dir / "postgres" / "postgresql.conf"
    assert main.read_text().count("include_if_exists = 'mindcone.conf'") == 1


@pytest.mark.parametrize(
    ("limit", "megabytes"),
    [("max", None), (f"{6 * 2**30}", 256), (f"{2**20}", 128), (f"{2**50}", None)],
)
def test_shared_buffers_are_a_share_of_what_a_container_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, megabytes: int | None
) -> None:
    """No limit, or one above the machine's memory, is the machine's memory."""
    own = min(max(psutil.virtual_memory().total // 2**20 // 24, 128), 1024)
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    monkeypatch.setattr(server_conf, "_CGROUP_LIMIT", tmp_path / "memory.max")
    assert server_conf.usual_shared_buffers_mb() == min(megabytes or own, own)
    monkeypatch.setattr(server_conf, "_CGROUP_LIMIT", tmp_path / "none")
    assert server_conf.usual_shared_buffers_mb() == own


def test_a_server_that_only_another_container_sees_is_not_doubled(
    postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its processes hold the lock that they inherited, though their ids mean nothing here."""
    monkeypatch.setattr(embedded, "_FOREIGN_MAY_LIVE_SECONDS", 0.1)
    with (postgres.data_dir / "postgres.alive").open("w") as held_elsewhere:
        fcntl.flock(held_elsewhere, fcntl.LOCK_EX)
        with pytest.raises(EmbeddedPostgresError, match="in another container"):
            postgres.ensure_running()
    assert not (postgres.data_dir / "postgres" / "postmaster.pid").exists()


async def test_the_log_does_not_grow_for_ever_and_quotes_nobody(postgres: EmbeddedPostgres) -> None:
    logs = postgres.data_dir / "postgres" / "log"
    (logs / "server-old.log").write_bytes(b"x" * 10_000_001)

    dsn = postgres.ensure_running()

    assert not (logs / "server-old.log").exists()
    assert await fetch(dsn, "SHOW log_truncate_on_rotation") == "on"
    assert await fetch(dsn, "SHOW log_filename") == "server-%H.log"
    await fetch(dsn, "CREATE TABLE notes (body text UNIQUE)")
    connection = await asyncpg.connect(dsn)
    await connection.execute("INSERT INTO notes VALUES ($1)", "my diary")
    with pytest.raises(asyncpg.UniqueViolationError):
        await connection.execute("INSERT INTO notes VALUES ($1)", "my diary")
    await connection.close()
    postgres.stop()  # the last lines are on their way until then
    written = "".join(path.read_text() for path in logs.iterdir())
    assert "duplicate key value" in written
    assert "my diary" not in written


def test_small_shared_memory_is_not_used() -> None:
    """A container's /dev/shm of 64 MB does not hold a parallel index build."""
    shm = os.statvfs("/dev/shm")
    megabytes = shm.f_blocks * shm.f_frsize // 2**20
    assert server_conf._dynamic_shared_memory_type(megabytes // 2) == "posix"
    assert server_conf._dynamic_shared_memory_type(megabytes) == "sysv"


async def test_parallel_workers_share_system_v_memory(postgres: EmbeddedPostgres) -> None:
    shm = os.statvfs("/dev/shm")
    postgres = EmbeddedPostgres(postgres.data_dir, 16, maintenance_work_mem_mb=shm.f_blocks * shm.f_frsize // 2**20)
    dsn = postgres.ensure_running()
    assert await fetch(dsn, "SHOW dynamic_shared_memory_type") == "sysv"
    connection = await asyncpg.connect(dsn, server_settings={"debug_parallel_query": "on"})
    plan = await connection.fetch("EXPLAIN (ANALYZE, COSTS OFF) SELECT count(*) FROM pg_class")
    await connection.close()
    assert "Workers Launched: 1" in "\n".join(row[0] for row in plan)


async def test_whoever_uses_the_server_brings_it_back_and_never_an_empty_one_instead(tmp_path: Path) -> None:
    """Killed while its directory is away: what comes back is what was there."""
    data_dir, away = tmp_path / "data", tmp_path / "away"

    with lease(data_dir) as dsn:
        connection = await asyncpg.connect(dsn)
        await connection.execute("CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)")
        before = postmaster(data_dir)
        with structlog.testing.capture_logs() as told:
            kill(before)
            (data_dir / "postgres").rename(away)
            await until(lambda: [one for one in told if one["event"] == "postgres_not_back"])
            assert not (data_dir / "postgres").exists()
            away.rename(data_dir / "postgres")
            await until(lambda: [one for one in told if one["event"] == "postgres_is_back"], 60)
        assert postmaster(data_dir).pid != before.pid
        back = await asyncpg.connect(dsn)
        assert await back.fetchval("SELECT id FROM kept") == 7
        await back.close()
        connection.terminate()
    assert EmbeddedPostgres(data_dir).find_running() is None


async def test_a_server_that_recovers_is_waited_for(tmp_path: Path) -> None:
    """After the death of a backend the server refuses everybody until the last of the others is gone, too."""
    with lease(tmp_path / "data") as dsn:
        held, killed = await asyncpg.connect(dsn), await asyncpg.connect(dsn)
        server = postmaster(tmp_path / "data").pid
        psutil.Process(held.get_server_pid()).suspend()  # the server gives it five seconds, then kills it
        psutil.Process(killed.get_server_pid()).kill()
        await until(killed.is_closed)
        assert await asyncio.to_thread(EmbeddedPostgres(tmp_path / "data").ensure_running) == dsn
        assert postmaster(tmp_path / "data").pid == server
        back = await asyncpg.connect(dsn)
        assert await back.fetchval("SELECT 1") == 1
        await back.close()
        for connection in (held, killed):
            connection.terminate()
