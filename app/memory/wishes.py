"""What a user plainly asks to be kept, or says of his likings: "remember that …", 记住…, "I prefer …", 我喜欢…. Pure.

Rules, and careful ones: questions, quotations, code and long pasted texts are passed over. What is kept are the user's
own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.memory.change import Type
from app.text.normalise import is_chinese
from app.text.sentences import sentences

MAX_CHARS: Final = 1500
"""A longer message is no wish, but a text with one in it that may be anybody's."""
MAX_WISHES: Final = 3
_LEAST_CHARS: Final = 3
_WISHED: Final = 0.7
_LIKED: Final = 0.6

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*[>|].*$", re.MULTILINE)
_QUESTION = re.compile(r"[?？][\"'”’)）]*\s*$|(?:吗|呢|么|没有)[。.!！~]*\s*$")
_ASIDE = r"(?:(?:and|also|but|so|ok(?:ay)?|hey|hi|well|oh|btw|by the way|one more thing)[,:]?\s+){0,2}"

_ASKED_EN = re.compile(
    rf"{_ASIDE}(?:please\s+|kindly\s+|(?:can|could|will|would) you (?:please\s+)?|i want you to\s+|i'd like you to\s+"
    r"|you (?:should|must)\s+)?"
    r"(?P<verb>remember|keep in mind|note|do(?:n['’]t| not) forget|make a note|memori[sz]e)"
    r"(?P<that>\s+(?:that|this|the following|of this)\b)?(?P<sign>\s*[:,，：-])?\s+(?P<what>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
# "Remember when we …", "note the …": no wish to keep something, without a "that" or a colon.
_NO_WISH_EN = re.compile(r"(?:when|how|what|who|where|why|me\b|the time|those|to\b|if\b|about\b|of\b)", re.IGNORECASE)
_LIKED_EN = re.compile(
    rf"{_ASIDE}(?:i (?:really |strongly |much |usually |generally |always )?(?:prefer|like|love|enjoy|hate|dislike"
    r"|do(?:n['’]t| not) (?:like|eat|drink|want)|can(?:['’]t|not) stand)\s+"
    r"(?!(?:this|that|it|these|those|your?|him|her|them|how|what|the (?:idea|way|answer|sound|look))\b)"
    r"|i(?:['’]m| am) (?:allergic to|vegetarian|vegan)\b|my (?:name|favou?rite|preferred)\b[^.!?]{0,60}?\bis\b"
    r"|(?:please )?call me\s+|(?:please )?(?:from now on|in (?:the )?future)[, ]+"
    r"|(?:please )?(?:always|never) (?:answer|reply|write|use)\s+)",
    re.IGNORECASE,
)
_ASKED_ZH = re.compile(
    r"(?:另外|还有|对了|好的?|那)?[，,]?(?:请你?|麻烦你?|帮我|你要|你得|务必|一定要|你){0,3}"
    r"(?:记住|记下来?|记一下|牢记|别忘了?|不要忘(?:记|了)?|记得)(?P<sign>[：:，,\s]*)(?:这[一个]?点|以下内容?)?[：:，,\s]*(?P<what>\S.*)",
    re.DOTALL,
)
_LIKED_ZH = re.compile(
    r"(?:另外|还有|对了|其实)?[，,]?(?:我(?:更|最|很|比较|特别|非常|一向|一直|平时|通常|从来|从){0,2}"
    r"(?:不喜欢|喜欢|偏好|偏爱|讨厌|爱吃|爱喝|不吃|不喝|习惯|忌口)(?![你您他她它这那])"
    r"|我对.{1,20}过敏|我(?:叫|的名字[是叫])|(?:请|以后|今后)?叫我|(?:请)?(?:以后|今后|往后|从现在起|从今以后)(?!的))"
)


@dataclass(frozen=True, slots=True)
class Wish:
    body: str
    type: Type
    importance: float


def wishes(said: str) -> list[Wish]:
    """In their order, at most `MAX_WISHES`."""
    if len(said) > MAX_CHARS:
        return []
    text = _QUOTED_LINE.sub("", _CODE.sub(" ", said))
    found: dict[str, Wish] = {}
    for wish in _found(text):
        if len(wish.body) >= _LEAST_CHARS:
            found.setdefault(wish.body, wish)
    return list(found.values())[:MAX_WISHES]


def _found(text: str) -> Iterator[Wish]:
    done = 0
    for start, end in sentences(text):
        sentence = text[start:end].strip()
        if start < done or _QUESTION.search(sentence):
            continue
        asked = _asked(sentence)
        if asked is not None:
            what, is_list = asked
            if is_list:
                # "Remember: …" goes on to the end of its paragraph.
                paragraph = text[start:].partition("\n\n")[0]
                what, done = (_asked(paragraph.strip()) or (what, True))[0], start + len(paragraph)
            yield Wish(_tidy(what), "preference" if _is_liking(what) else "fact", _WISHED)
        elif _is_liking(sentence):
            yield Wish(_tidy(sentence), "preference", _LIKED)


def _asked(sentence: str) -> tuple[str, bool] | None:
    """What is to be kept, and whether a colon says that all that follows is."""
    if is_chinese(sentence):
        match = _ASKED_ZH.match(sentence)
        if match is None:
            return None
        return match["what"], any(sign in match[0][: match.start("what")] for sign in "：:")
    match = _ASKED_EN.match(sentence)
    if match is None:
        return None
    is_marked = bool(match["that"] or (match["sign"] or "").strip())
    if not is_marked and (match["verb"].lower() == "note" or _NO_WISH_EN.match(match["what"])):
        return None
    return match["what"], ":" in (match["sign"] or "") or "：" in (match["sign"] or "")


def _is_liking(sentence: str) -> bool:
    return (_LIKED_ZH if is_chinese(sentence) else _LIKED_EN).match(sentence) is not None


def _tidy(what: str) -> str:
    return what.strip().strip('"“”').strip()
