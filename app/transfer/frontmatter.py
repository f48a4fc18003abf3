"""The YAML block at the top of a note: where it ends, and what it says as plain JSON data. Pure.

Values follow YAML 1.2's core schema as Obsidian reads it, so `no`, `12:30` and `007` stay the
words that were written, and so do dates. Tags such as `!!python/object` mean nothing here:
nothing is constructed. Anchors are expanded under a budget.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

import yaml

from app.transfer.encoding import clean

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_CHARACTERS = 64 * 1024
MAX_EXPANDED_CHARACTERS = 256 * 1024
MAX_NODES = 5_000
MAX_DEPTH = 32
# The largest integers that every reader of JSON keeps exact have 15 digits.
_INTEGER = re.compile(r"[-+]?(?:0|[1-9]\d{0,14})")
_FLOAT = re.compile(r"[-+]?(?:\d{1,15}\.\d{0,15}|\.\d{1,15}|\d{1,15})(?:[eE][-+]?\d{1,3})?")
_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\Z)(?:[ \t]*\r?\n)*", re.MULTILINE)
# A hash after a space is a comment to YAML, but nobody who writes `- #tea` means one.
_BARE_HASHTAGS = re.compile(r"^(tags?:[ \t]+|[ \t]*-[ \t]+)(#[^\s#\"'][^\"'\r\n]*)", re.MULTILINE | re.IGNORECASE)
_TAGS_IN_BRACKETS = re.compile(r"^(tags?:[ \t]*)\[([^\]\[\"'\r\n]*)\]", re.MULTILINE | re.IGNORECASE)


class FrontmatterUnreadable(ValueError):
    """Not a YAML mapping, or one that expands without bound."""


@dataclass(frozen=True, slots=True)
class Split:
    """`raw + body` is the text that was split; `raw` has its fences and the blank lines after it."""

    raw: str
    yaml: str
    body: str


def split(text: str) -> Split | None:
    """The block that opens `text`, or `None`. A block that is never closed is none."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        return None
    return Split(text[: closing.end()], text[opening.end() : closing.start()], text[closing.end() :])


def parse(source: str, words: Collection[str] = ()) -> dict[str, Json]:
    """The mapping that `source` writes down. Top-level keys in `words` keep scalars as written.

    Raises `FrontmatterUnreadable`.
    """
    if len(source) > MAX_CHARACTERS:
        raise FrontmatterUnreadable("too long")
    source = _BARE_HASHTAGS.sub(r'\1"\2"', _TAGS_IN_BRACKETS.sub(_quoted_hashtags, source))
    try:
        root = yaml.compose(source, Loader=yaml.BaseLoader)
        if root is None:
            return {}
        if not isinstance(root, yaml.MappingNode):
            raise FrontmatterUnreadable("not a mapping")
        return _Reading(frozenset(words)).mapping(root, 0)
    except (yaml.YAMLError, RecursionError) as error:
        raise FrontmatterUnreadable(type(error).__name__) from error


class _Reading:
    """One walk over the nodes; an alias is walked again each time, so the budget bounds bombs."""

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._nodes = MAX_NODES
        self._characters = MAX_EXPANDED_CHARACTERS

    def mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Json]:
        result: dict[str, Json] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise FrontmatterUnreadable("a key that is not a word")
            name = str(self._scalar(key, as_written=True))
            result[name] = self._value(value, depth + 1, as_written=depth == 0 and name.lower() in self._words)
        return result

    def _value(self, node: yaml.Node, depth: int, as_written: bool) -> Json:
        if depth > MAX_DEPTH:
            raise FrontmatterUnreadable("too deep")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, as_written)
        self._spend(0)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item, depth + 1, as_written) for item in node.value]
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, depth)
        raise FrontmatterUnreadable("neither scalar, list nor mapping")

    def _scalar(self, node: yaml.ScalarNode, as_written: bool) -> Json:
        text: str = node.value
        self._spend(len(text))
        if node.style is None:
            return _resolve(text, as_written)
        return clean(text)

    def _spend(self, characters: int) -> None:
        self._nodes -= 1
        self._characters -= characters
        if self._nodes < 0 or self._characters < 0:
            raise FrontmatterUnreadable("expands too far")


def _quoted_hashtags(tags: re.Match[str]) -> str:
    return f'{tags[1]}"{tags[2]}"' if "#" in tags[2] else tags[0]


def _resolve(text: str, as_written: bool) -> Json:
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if as_written:
        return clean(text)
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return text[0] in "tT"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)) and not re.match(r"[-+]?0\d", text):
        return number
    return clean(text)
