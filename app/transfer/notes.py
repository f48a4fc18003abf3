"""One note of a vault: bytes in, `ParsedNote` out. Pure.

How a note gets its title: the frontmatter's (or Logseq's) `title`; else its H1, when it has
exactly one; else the name of its file. Several H1 are the sections of a page, not its title.
Wikilinks name files, not titles, so the file's stem is always among `metadata["aliases"]`.

`metadata["frontmatter_raw"] + content` is the text of the file, character for character. A note
that is nothing but frontmatter keeps it as content, for that is all it says; so does one
whose frontmatter cannot be read. Logseq's properties stay in the content: they are its first block.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal

from app.transfer import frontmatter, logseq
from app.transfer.dates import date_in_name, parse_timestamp
from app.transfer.encoding import Decoded, clean, decode
from app.transfer.errors import EmptyDocument
from app.transfer.frontmatter import Json

VaultFormat = Literal["obsidian", "logseq", "markdown"]

MAX_TITLE_CHARACTERS = 300
MAX_TAGS = 100
MAX_TAG_CHARACTERS = 200
_LONGEST_HEADING = 4 * MAX_TITLE_CHARACTERS
# In order of preference; compared without spaces, dashes and underscores.
_CREATED = ("createdat", "created", "datecreated", "creationdate", "createtime", "createdtime", "date")
_TAGS = ("tags", "tag")
_ALIASES = ("aliases", "alias")
# Their scalars are read as written: a title of 1.10 is not 1.1.
_WORDS = frozenset({"title", *_TAGS, *_ALIASES})
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_H1 = re.compile(r" {0,3}#[ \t]+(?=\S)")
# Zero-width characters are not whitespace to Python; Logseq opens every day with an empty bullet.
_NOTHING = " \t\r\n\f\v\u00a0\u200b\u2060\u3000\ufeff"
_NOTHING_IN_LOGSEQ = _NOTHING + "-"


@dataclass(slots=True)
class ParsedNote:
    """`external_id` is the path: relative, with `/`, in NFC, the same on every import. `created_at` is in UTC."""

    path: str
    title: str
    content: str
    tags: list[str]
    created_at: datetime | None
    metadata: dict[str, Json]
    external_id: str
    warnings: list[str] = field(default_factory=list)


def parse_note(path: str, data: bytes, vault_format: VaultFormat = "markdown") -> ParsedNote:
    """The Markdown note in `data`. Raises `EmptyDocument` and `UnknownEncoding`."""
    text, warnings = read_text(decoded := decode(data))
    if is_blank(text):
        raise EmptyDocument
    raw, fields, content = _without_frontmatter(text, warnings)
    page = logseq.page_of(path) if vault_format == "logseq" else None
    if page:
        fields = {**logseq.properties(content), **fields}
        if not content.removeprefix(text if raw else "").strip(_NOTHING_IN_LOGSEQ):
            raise EmptyDocument
    taken: set[str] = set()
    title = _first_word(fields, ("title",), taken)
    created_at = _created_at(fields, taken, warnings)
    tags = _tags(fields, taken, vault_format, warnings)
    aliases = _names(fields, _ALIASES, taken, vault_format)
    stem = PurePosixPath(path).stem
    metadata = {key: value for key, value in fields.items() if key not in taken}
    return build(
        path,
        title=title or (page.name if page else _only_h1(content)),
        content=content,
        created_at=created_at or (page.day if page else None),
        tags=tags,
        aliases=[*aliases, stem, *((page.name, *page.other_names) if page else ())],
        metadata={**metadata, **({"frontmatter_raw": raw} if raw else {}), **encoding_of(decoded)},
        warnings=warnings,
    )


def build(
    path: str,
    *,
    content: str,
    title: str | None = None,
    created_at: datetime | None = None,
    tags: list[str] | None = None,
    aliases: Iterable[str] = (),
    metadata: Mapping[str, Json] | None = None,
    warnings: list[str] | None = None,
) -> ParsedNote:
    """A note with what every imported file has: identity from its path, a title, its names for links."""
    identity = unicodedata.normalize("NFC", path)
    stem = PurePosixPath(identity).stem
    names = unique(unicodedata.normalize("NFC", name) for name in (*aliases, stem))
    return ParsedNote(
        path=identity,
        title=plain_title(title or "") or stem,
        content=content,
        tags=tags or [],
        created_at=created_at or date_in_name(identity),
        metadata={**(metadata or {}), "path": identity, "aliases": [*names]},
        external_id=identity,
        warnings=warnings or [],
    )


def read_text(decoded: Decoded) -> tuple[str, list[str]]:
    """The text that can be stored, and what had to be done to it."""
    text, warnings = clean(decoded.text), []
    if decoded.damaged:
        warnings.append("invalid_bytes_replaced")
    if len(text) != len(decoded.text):
        warnings.append("nul_removed")
    return text, warnings


def is_blank(text: str) -> bool:
    return not text.strip(_NOTHING)


def encoding_of(decoded: Decoded) -> dict[str, Json]:
    """Noted only where it is not plain UTF-8, so that the file can be written back as it was."""
    return {} if decoded.encoding == "utf-8" else {"encoding": decoded.encoding}


def plain_title(text: str) -> str:
    """One line without Markdown's marks; links show what they show to a reader."""
    text = re.sub(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]", r"\1", text[:_LONGEST_HEADING])
    text = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", text)
    text = re.sub(r"(\*\*|__|~~|==|`)(?=\S)(.*?)(?<=\S)\1", r"\2", text)
    return " ".join(text.split())[:MAX_TITLE_CHARACTERS].strip()


def unique(names: Iterable[str]) -> list[str]:
    """Without blanks and repetitions, in order."""
    return list(dict.fromkeys(stripped for name in names if (stripped := name.strip())))


def _without_frontmatter(text: str, warnings: list[str]) -> tuple[str, dict[str, Json], str]:
    parts = frontmatter.split(text)
    if parts is None:
        return "", {}, text
    try:
        fields = frontmatter.parse(parts.yaml, _WORDS)
    except frontmatter.FrontmatterUnreadable:
        warnings.append("frontmatter_unreadable")
        return "", {}, text
    if is_blank(parts.body):
        return "", fields, text
    return parts.raw, fields, parts.body


def _squeezed(key: str) -> str:
    return re.sub(r"[\s_-]", "", key).lower()


def _first_word(fields: Mapping[str, Json], keys: tuple[str, ...], taken: set[str]) -> str | None:
    for key, value in fields.items():
        if key.lower() in keys and isinstance(value, str) and value.strip():
            taken.add(key)
            return value
    return None


def _created_at(fields: Mapping[str, Json], taken: set[str], warnings: list[str]) -> datetime | None:
    """The first readable one of the known keys. Those that say something else stay in the metadata."""
    candidates: dict[str, str] = {}
    for key in fields:
        candidates.setdefault(_squeezed(key), key)
    for name in _CREATED:
        if (found := candidates.get(name)) is None or (value := fields[found]) is None:
            continue
        if moment := parse_timestamp(str(value)):
            taken.add(found)
            return moment
        warnings.append("created_unreadable")
    return None


def _tags(fields: Mapping[str, Json], taken: set[str], vault_format: VaultFormat, warnings: list[str]) -> list[str]:
    written = unique(name.lstrip("#") for name in _names(fields, _TAGS, taken, vault_format))
    kept = [tag for tag in written if len(tag) <= MAX_TAG_CHARACTERS][:MAX_TAGS]
    if len(kept) < len(written):
        warnings.append("tags_cut")
    return kept


def _names(fields: Mapping[str, Json], keys: tuple[str, ...], taken: set[str], vault_format: VaultFormat) -> list[str]:
    found: list[str] = []
    for key, value in fields.items():
        if key.lower() not in keys:
            continue
        taken.add(key)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, str)]
        elif isinstance(value, str) and vault_format == "logseq":
            found += logseq.items(value)
        elif isinstance(value, str):
            # Tags hold no spaces, names do.
            found += re.split(r"[,，\s]+" if key.lower() in _TAGS else r"[,，]", value)
    return unique(name.strip().removeprefix("[[").removesuffix("]]") for name in found)


def _only_h1(content: str) -> str | None:
    if content.count("# ") == 0:
        return None
    found: list[str] = []
    fence = ""
    for line in content.splitlines():
        if match := _FENCE.match(line):
            if not fence:
                fence = match[1]
            elif match[1].startswith(fence):
                fence = ""
        elif not fence and (heading := _H1.match(line)):
            found.append(re.sub(r"(^|[ \t])#+$", "", line[heading.end() :][:_LONGEST_HEADING].rstrip()))
    return found[0] if len(found) == 1 else None
