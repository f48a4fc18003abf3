"""Envelopes, master keys, and the file that they lie in."""

from __future__ import annotations

import base64
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.core.errors import ConfigurationError
from app.vault.master import FILE, add_key, drop_old_keys, keyring
from app.vault.seal import Keyring, Unopenable, new_key, parse_key
from app.vault.settings import VaultSettings

ONE, TWO = (parse_key(new_key()) for _ in range(2))
PLACE = "provider_settings/openai/https://api.openai.com:443"


def test_a_secret_opens_in_its_own_place_only() -> None:
    ring = Keyring([ONE])
    sealed = ring.seal("sk-secret", PLACE)
    assert b"sk-secret" not in sealed
    assert ring.open(sealed, PLACE) == "sk-secret"
    for place in ("provider_settings/qwen/https://api.openai.com:443", PLACE.replace("openai.com", "evil.example"), ""):
        with pytest.raises(Unopenable):
            ring.open(sealed, place)


def test_the_same_secret_is_never_sealed_the_same_way() -> None:
    ring = Keyring([ONE])
    assert len({ring.seal("sk-secret", PLACE) for _ in range(20)}) == 20


def test_every_changed_bit_is_noticed() -> None:
    ring = Keyring([ONE])
    sealed = ring.seal("sk", PLACE)
    for at in range(len(sealed)):
        with pytest.raises(Unopenable):
            ring.open(sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :], PLACE)
    for cut in range(len(sealed)):
        with pytest.raises(Unopenable):
            ring.open(sealed[:cut], PLACE)


def test_rotation() -> None:
    before, both, after = Keyring([ONE]), Keyring([TWO, ONE]), Keyring([TWO])
    sealed = before.seal("sk-secret", PLACE)
    assert both.open(sealed, PLACE) == "sk-secret"
    assert not both.is_current(sealed)
    fresh = both.rewrap(sealed, PLACE)
    assert both.is_current(fresh)
    assert after.open(fresh, PLACE) == "sk-secret"
    with pytest.raises(Unopenable):
        after.open(sealed, PLACE)
    with pytest.raises(Unopenable):
        before.open(fresh, PLACE)
    with pytest.raises(Unopenable):
        both.rewrap(sealed, "elsewhere")


@pytest.mark.parametrize("text", ["", "secret", base64.b64encode(b"short").decode(), "A" * 44, "é" * 44])
def test_what_is_no_master_key(text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_key(text)
    assert not text or text not in caught.value.detail


def test_the_file_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    first = keyring(VaultSettings(), tmp_path, may_make=True)
    assert first is not None
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    sealed = first.seal("x", PLACE)
    again = keyring(VaultSettings(), tmp_path, may_make=True)
    assert again is not None
    assert again.open(sealed, PLACE) == "x"
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_processes_that_start_together_have_one_key(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from app.vault.master import keyring, FILE;"
        "from app.vault.settings import VaultSettings; keyring(VaultSettings(), Path(sys.argv[1]), may_make=True);"
        "print((Path(sys.argv[1]) / FILE).read_text())"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) for _ in range(4)]
    assert len({process.communicate()[0] for process in running}) == 1


def test_without_a_key_nothing_is_sealed_and_none_is_made_where_it_must_not(tmp_path: Path) -> None:
    assert keyring(VaultSettings(), tmp_path, may_make=False) is None
    assert list(tmp_path.iterdir()) == []
    given = keyring(VaultSettings(vault_key=new_key()), tmp_path, may_make=True)
    assert given is not None
    assert list(tmp_path.iterdir()) == []


def test_keys_of_the_file_are_rotated(tmp_path: Path) -> None:
    before = keyring(VaultSettings(), tmp_path, may_make=True)
    assert before is not None
    sealed = before.seal("x", PLACE)
    add_key(tmp_path)
    both = keyring(VaultSettings(), tmp_path, may_make=True)
    assert both is not None
    fresh = both.rewrap(sealed, PLACE)
    drop_old_keys(tmp_path)
    after = keyring(VaultSettings(), tmp_path, may_make=True)
    assert after is not None
    assert after.open(fresh, PLACE) == "x"
    with pytest.raises(Unopenable):
        after.open(sealed, PLACE)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_settings_of_the_environment(tmp_path: Path) -> None:
    """F10"""
    old, now = new_key(), new_key()
    sealed = Keyring([parse_key(old)]).seal("x", PLACE)
    settings = VaultSettings(vault_key=now, vault_keys_old=f" {old},")
    ring = keyring(settings, tmp_path, may_make=False)
    assert ring is not None
    assert ring.open(sealed, PLACE) == "x"
    assert VaultSettings(vault_key="").vault_key is None
    assert now not in repr(settings)
    assert old not in repr(settings)
