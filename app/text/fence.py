"""Texts of others between tags of ours: none can close its own, or open another. Pure."""

from __future__ import annotations

import re


def tags_of(*names: str) -> re.Pattern[str]:
    """The beginnings of tags of these names, also with blanks and invisible characters in them."""
    return re.compile(rf"[<＜](?=[\s/\\\u00ad\u200b-\u200f\u2060\ufeff]*(?:{'|'.join(names)})\b)", re.IGNORECASE)


def fenced(text: str, tags: re.Pattern[str]) -> str:
    """The text without beginnings of such tags; as long as it was."""
    return tags.sub("‹", text)
