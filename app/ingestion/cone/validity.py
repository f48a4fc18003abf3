"""Which claims cannot both be true: the key under which an old claim and the one that replaces it meet. Pure.

Two kinds have one: a state with one value ("the warranty lasts 5 years") and a relation of which there is one at a
time ("lives in", "the CEO of"). Everything else may be true side by side. Precise rather than complete: what is asked,
supposed, denied, planned, reported or over gets no key. Knows neither dates nor which of two claims is the newer.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from app.ingestion.cone.validity_chinese import read_chinese
from app.ingestion.cone.validity_english import read_english
from app.text.normalise import HAN, fold, name_key

_HAN_CHAR = re.compile(f"[{HAN}]")
_LONGEST: Final = 240
"""Characters; what is longer says more than one thing."""
_SPOKEN = re.compile(r"^(?P<who>[^\"“”:：]{1,60}?)(?: said: |说[:：]\s*)[\"“](?P<said>[^\"“”]+)[\"”]$")
_CONTEXT = re.compile(r"^(?P<context>[^:：\n]{1,120})(?:：\s*|:\s+)(?P<text>.+)$", re.DOTALL)
_MORE = re.compile(r"[.!]\s+[A-Z\d]|[。！；;\n](?=.)")
_ABBREVIATED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Inc|Ltd|Co|Jr|Sr)\.")
_QUOTES = re.compile(r"[\"“”「」『』?？]")
_TITLE_WORDS = re.compile(rf"[{HAN}]+|[a-z][a-z'’]*")
_EMPTY_TITLE_LIST = """
    the a an of for and in on my our note notes new news update updated updates journal diary daily log entry
    memo meeting minutes status info current latest today monday tuesday wednesday thursday friday saturday
    sunday january february march april may june july august september october november december jan feb mar apr
    jun jul aug sep oct nov dec"""
_EMPTY_TITLE: Final = frozenset(_EMPTY_TITLE_LIST.split())
_EMPTY_HAN_TITLE = re.compile(
    r"更新|笔记|记录|日记|日志|周记|通知|最新|关于|信息|变更|调整|今天|星期[一二三四五六日天]|周[一二三四五六日]|[年月日号的新旧一二三四五六七八九十]"
)


@dataclass(frozen=True, slots=True)
class ClaimKey:
    """Claims of one `key` and several values exclude each other."""

    key: uuid.UUID
    value: str


def claim_key(text: str, entities: Sequence[str], has_times: bool, scope: str = "") -> ClaimKey | None:
    """`entities` are the names that the claim is about, `has_times` whether it says when.

    `scope`, the title under which it stands, tells apart what the claim itself does not name: the budget of one
    project from the budget of another. Claims about somebody named do not depend on it.
    """
    text = text.strip()
    if len(text) > _LONGEST or _MORE.search(_ABBREVIATED.sub("", text), 0, max(0, len(text) - 1)):
        return None
    speaker = ""
    if spoken := _SPOKEN.match(text):
        speaker, text = spoken["who"], spoken["said"].strip()
    if _QUOTES.search(text):
        return None
    context = ""
    if found := _CONTEXT.match(text):
        context, text = found["context"], found["text"]
    names = sorted({fold(name) for name in entities if name.strip()}, key=len, reverse=True)
    read = read_chinese if _HAN_CHAR.search(text) else read_english
    statement = read(text, names, has_times, speaker)
    if statement is None:
        return None
    where = "" if statement.is_named else "|".join(_scopes((context, scope), text))
    told = f"{statement.subject}\n{statement.attribute}\n{where}"
    return ClaimKey(uuid.UUID(bytes=hashlib.sha256(told.encode()).digest()[:16]), statement.value)


def _scopes(titles: Iterable[str], text: str) -> Iterable[str]:
    """What the titles say beyond the claim itself, without dates and words that any title may have."""
    own = name_key(text)
    for title in titles:
        words = _TITLE_WORDS.findall(_EMPTY_HAN_TITLE.sub("", fold(title)))
        left = [word for word in words if word not in _EMPTY_TITLE and name_key(word).removesuffix("s") not in own]
        if left:
            yield " ".join(dict.fromkeys(left))
