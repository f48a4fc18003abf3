"""Types of entities and their kinds: names of two kinds are never one entity. Pure.

A type is what an extractor or a caller says; a kind is what tells names apart. Extractors differ on whether
something is a product, a work or a concept, hardly ever on whether it is a person or a place.
"""

from __future__ import annotations

from typing import Final

OTHER: Final = "other"
"""The type, and the kind, of what is not known. It goes with every kind."""

_KINDS: Final = {
    "person": "person",
    "place": "place",
    "organization": "thing",
    "event": "thing",
    "work": "thing",
    "product": "thing",
    "concept": "thing",
    OTHER: OTHER,
}
_SPELLINGS: Final = {
    **{kind: kind for kind in _KINDS},
    **dict.fromkeys(("people", "human", "individual", "character", "人", "人物", "人名"), "person"),
    **dict.fromkeys(("location", "gpe", "loc", "geo", "city", "country", "region", "地点", "地名", "位置"), "place"),
    **dict.fromkeys(("org", "organisation", "company", "institution", "group", "组织", "机构", "公司"), "organization"),
    **dict.fromkeys(("事件", "活动", "meeting", "conference"), "event"),
    **dict.fromkeys(("book", "film", "movie", "song", "article", "paper", "作品", "书籍", "电影"), "work"),
    **dict.fromkeys(("software", "tool", "technology", "device", "产品", "软件", "工具", "技术"), "product"),
    **dict.fromkeys(("idea", "topic", "method", "term", "field", "概念", "主题", "方法", "术语"), "concept"),
}


def type_of(said: str) -> str:
    """One of the known types for whatever was said; `other` where that is none."""
    return _SPELLINGS.get(said.strip().lower(), OTHER)


def kind_of(type_: str) -> str:
    """`person`, `place`, `thing` or `other`."""
    return _KINDS[type_of(type_)]


def compatible(kind: str, other: str) -> bool:
    """Whether names of these two kinds may be one entity."""
    return kind == other or OTHER in (kind, other)
