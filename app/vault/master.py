"""Where the master keys are: in the settings, else in a file of the data directory that only its owner reads.

Several processes may start at once on one directory: one of them makes the file, the others read it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from app.core.log import get
from app.vault.seal import Keyring, new_key, parse_key
from app.vault.settings import VaultSettings

log = get(__name__)

FILE: Final = "vault.key"


def keyring(settings: VaultSettings, data_dir: Path, *, may_make: bool) -> Keyring | None:
    """The keys that there are; a fresh one when there is none and one may be made. None: nothing can be sealed here.

    Blocking. Raises ConfigurationError for a key that is none.
    """
    if settings.vault_key is not None:
        keys = [settings.vault_key, *settings.vault_keys_old]
        return Keyring([parse_key(key.get_secret_value()) for key in keys])
    path = data_dir / FILE
    if not path.exists() and may_make:
        try:
            _write(path, [new_key()], replace=False)
        except OSError as error:
            log.warning("vault_key_not_made", reason=error.strerror)
    lines = _read(path)
    old = [parse_key(key.get_secret_value()) for key in settings.vault_keys_old]
    return Keyring([*map(parse_key, lines), *old]) if lines else None


def add_key(data_dir: Path) -> None:
    """A fresh key that seals from now on; those that were there still open. Blocking."""
    path = data_dir / FILE
    _write(path, [new_key(), *_read(path)], replace=True)


def drop_old_keys(data_dir: Path) -> None:
    """Once nothing is sealed with them any more. Blocking."""
    path = data_dir / FILE
    _write(path, _read(path)[:1], replace=True)


def _read(path: Path) -> list[str]:
    try:
        text = path.read_text("ascii")
        if os.name == "posix" and path.stat().st_mode & 0o077:
            log.warning("vault_key_readable_by_others", file=path.name)
    except FileNotFoundError:
        return []
    return text.split()


def _write(path: Path, keys: Sequence[str], *, replace: bool) -> None:
    """Whole or not at all; without `replace` whoever was first wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".vault-")  # 0600 from its first moment
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write("\n".join(keys) + "\n")
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.replace(name, path)
        else:
            with suppress(FileExistsError):
                os.link(name, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)
