"""Zip archives from strangers: bounds checked before anything is unpacked, names that stay inside.

Nothing is ever written to disk, and archives inside archives are not opened.
"""

from __future__ import annotations

import lzma
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import BinaryIO

from app.transfer.encoding import decode_name, guess_chinese
from app.transfer.errors import ArchiveTooLarge, BrokenArchive, EncryptedFile, FileTooLarge, UnsafePath
from app.transfer.settings import MIB, TransferSettings

# Below this a high ratio proves nothing: a page of blanks packs into a few bytes.
RATIO_MATTERS_FROM_BYTES = MIB
_DIRECTORY_BYTES_PER_ENTRY = 512
_UTF8_NAME = 0x800
_ENCRYPTED = 0x1
_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]|^[A-Za-z]:")
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, struct.error, NotImplementedError)


def open_archive(file: BinaryIO, settings: TransferSettings) -> zipfile.ZipFile:
    """Raises `BrokenArchive`, and `ArchiveTooLarge` when the directory alone is."""
    if _directory_bytes(file) > settings.import_max_entries * _DIRECTORY_BYTES_PER_ENTRY:
        raise ArchiveTooLarge
    try:
        return zipfile.ZipFile(file)
    except (*_DAMAGE, ValueError) as error:
        raise BrokenArchive from error


def check_bounds(infos: Sequence[zipfile.ZipInfo], settings: TransferSettings) -> None:
    """Entries, total size and overall ratio as the directory declares them. Raises `ArchiveTooLarge`.

    Declared sizes bound what can be read: `zipfile` stops there, whatever the data holds.
    """
    expanded, packed = sum(info.file_size for info in infos), sum(info.compress_size for info in infos)
    if len(infos) > settings.import_max_entries or expanded > settings.import_max_expanded_bytes:
        raise ArchiveTooLarge
    _check_ratio(expanded, packed, settings.import_max_ratio)


def check_entry(info: zipfile.ZipInfo, settings: TransferSettings) -> None:
    """Raises `UnsafePath` for links, `EncryptedFile`, and `ArchiveTooLarge` for one that expands too far."""
    if stat.S_ISLNK(info.external_attr >> 16):
        raise UnsafePath
    if info.flag_bits & _ENCRYPTED:
        raise EncryptedFile
    _check_ratio(info.file_size, info.compress_size, settings.import_max_ratio)


def read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit_bytes: int) -> bytes:
    """Raises `FileTooLarge` and `BrokenArchive`."""
    if info.file_size > limit_bytes:
        raise FileTooLarge
    try:
        with archive.open(info) as entry:
            data = entry.read(limit_bytes + 1)
    except (*_DAMAGE, RuntimeError, ValueError) as error:
        raise BrokenArchive("This entry of the archive is damaged.") from error
    if len(data) > limit_bytes:
        raise FileTooLarge
    return data


def entry_names(infos: Sequence[zipfile.ZipInfo]) -> list[str]:
    """The names as they were meant. Without the UTF-8 flag the bytes may be UTF-8, GBK, Big5 or cp437.

    The names of an archive share one encoding, and together they tell it better than each alone.
    """
    raws = [None if info.flag_bits & _UTF8_NAME else info.orig_filename.encode("cp437") for info in infos]
    unsure = b"\n".join(raw for raw in raws if raw is not None and not _is_utf8(raw))
    fallback = (guess_chinese(unsure) or "cp437") if unsure else "cp437"
    return [
        info.orig_filename if raw is None else _decode(raw, fallback) for info, raw in zip(infos, raws, strict=True)
    ]


def safe_path(name: str) -> str:
    """`name` as a clean relative POSIX path. Raises `UnsafePath` for any name that could lead elsewhere."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or _UNSAFE.search(name):
        raise UnsafePath
    return "/".join(parts)


def _check_ratio(expanded: int, packed: int, max_ratio: int) -> None:
    if expanded > RATIO_MATTERS_FROM_BYTES and expanded > max_ratio * max(packed, 1):
        raise ArchiveTooLarge


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decode(raw: bytes, fallback: str) -> str:
    if _is_utf8(raw):
        return raw.decode("utf-8")
    try:
        return raw.decode(fallback)
    except UnicodeDecodeError:
        return decode_name(raw)


def _directory_bytes(file: BinaryIO) -> int:
    """The size of the central directory, which `zipfile` would read whole. 0 when there is none to be found."""
    size = file.seek(0, 2)
    start = max(0, size - _END.size - 0xFFFF)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        return 0
    directory: int = _END.unpack_from(tail, at)[5]
    if directory == 0xFFFFFFFF and start + at >= _END64_LOCATOR.size + _END64.size:
        file.seek(start + at - _END64_LOCATOR.size)
        signature, _, position, _ = _END64_LOCATOR.unpack(file.read(_END64_LOCATOR.size))
        if signature == b"PK\x06\x07" and position <= size - _END64.size:
            file.seek(position)
            directory = _END64.unpack(file.read(_END64.size))[8]
    file.seek(0)
    return directory
