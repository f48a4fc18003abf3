"""Pronouns to names, so that a sentence taken out of its text still says of whom it speaks. Chinese and English.

Conservative: what is not plain stays unresolved, and only what stands before its pronoun is an antecedent. Which names
there are, and of what type, is the caller's to say; knows nothing of entities, cards or models.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Sequence
from typing import Final

from app.text import coref_en, coref_things, coref_zh
from app.text.coref_names import name_words, person_names
from app.text.coref_shapes import Gender, NameSpan, NameType, Resolution
from app.text.normalise import is_han
from app.text.sentences import sentences

__all__ = ["Gender", "NameSpan", "NameType", "Resolution", "person_names", "resolve", "rewrite"]

_Read = Callable[[str, Sequence[tuple[int, int]], Sequence[NameSpan], str], list[Resolution]]
_READERS: Final[tuple[tuple[Callable[[str], object], _Read], ...]] = (
    (coref_en.GENDERED.search, coref_en.resolve_persons),
    (coref_things.PRONOUN.search, lambda text, spans, names, title: coref_things.resolve_things(text, spans, names)),
    (
        lambda text: any(head in text for head in coref_zh.HEADS),
        lambda text, spans, names, title: coref_zh.resolve_han(text, spans, names),
    ),
)
_LOOK_BACK: Final = 400
_SELF = frozenset(("himself", "herself"))


def resolve(
    text: str,
    names: Sequence[NameSpan],
    spans: Sequence[tuple[int, int]] | None = None,
    title: str = "",
) -> list[Resolution]:
    """The pronouns of `text` that plainly stand for one of `names`, in order.

    `spans` are its sentences in order (found where not given). `title` is the text's own: whom it names, the text is
    about, and may be an antecedent although the text never repeats the name.
    """
    readers = [read for occurs, read in _READERS if occurs(text)]
    if not readers:
        return []
    names = [n for n in names if not _is_label(text, n)]
    if spans is None:
        spans = sentences(text)
    if not spans:
        return []
    found = [one for read in readers for one in read(text, spans, names, title)]
    return sorted(found, key=lambda r: r.start)


def _is_label(text: str, name: NameSpan) -> bool:
    """Whether the name only says who speaks: "Ann: …", "[9:12] **Ann**: …"."""
    if text[name.end : name.end + 3].lstrip("*_ ")[:1] not in (":", "："):
        return False
    line = text[max(0, name.start - 40) : name.start].rpartition("\n")[2].strip(" \t*_->")
    return not line or line[-1] in "])］）" or line[-1].isdigit()


def rewrite(sentence_start: int, sentence_end: int, text: str, resolutions: Sequence[Resolution]) -> str:
    """text[sentence_start:sentence_end] with names for its pronouns; `resolutions` are those of `text`, in order.

    A name that the sentence has said already is not said again: "Ann said she was ill" stays as it is.
    """
    out: list[str] = []
    told: set[str] = set()
    at = sentence_start
    for i in range(bisect.bisect_left(resolutions, sentence_start, key=_start), len(resolutions)):
        found = resolutions[i]
        if found.end > sentence_end:
            break
        before = text[max(sentence_start, found.start - _LOOK_BACK) : found.start]
        if found.pronoun.lower() in _SELF or found.name in told or _said(found.name, before):
            continue
        out += (text[at : found.start], _form(found, text))
        told.add(found.name)
        at = found.end
    out.append(text[at:sentence_end])
    return "".join(out)


def _start(found: Resolution) -> int:
    return found.start


def _form(found: Resolution, text: str) -> str:
    if found.pronoun == "其" and found.possessive:
        return f"{found.name}的"
    if is_han(found.pronoun[0]):
        # A Latin name does not run into a Latin word: 它 API → Redis API.
        glued = found.name[-1].isascii() and re.match(r"[A-Za-z0-9]", text[found.end : found.end + 1]) is not None
        return f"{found.name} " if glued else found.name
    return f"{found.name}'s" if found.possessive else found.name


def _said(name: str, before: str) -> bool:
    if is_han(name[0]):
        return name in before
    words = {name.lower(), *(word for word in name_words(name) if len(word) > 2)}
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", before, re.IGNORECASE) for word in words)
