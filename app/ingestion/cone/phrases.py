"""Small tools over one text: how wide it is, its first words, its clauses, whether it says anything.

Pure strings. Knows neither cards nor what a claim is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from app.text.cut import good_cut
from app.text.normalise import HAN
from app.text.stopwords import ENGLISH

_WORD = re.compile(rf"([{HAN}])|[^\s{HAN}]*\w[^\s{HAN}]*")
_OTHER_WORD = re.compile(rf"[^\W{HAN}]+(?:[^\s\w]+[^\W{HAN}]+)*")
_HAN_CHAR = re.compile(f"[{HAN}]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'’-]*")
_CLAUSE = re.compile(r"[，；：。！？;]|[,:.!?—–](?=\s)|\s[—–-]\s|、")
_MAX_CHARS_PER_WORD: Final = 40
_TRIM: Final = " \t\r\n,，;；:：、。.!！?？-–—|>"
_SMALL_TALK_LIST = """
    hey hi hello wow oh ah yeah yep yes no nope ok okay thanks thank thx please sorry sure totally absolutely
    definitely cool great nice awesome amazing lovely wonderful sweet good glad happy fun really so very too much
    super pretty i i'm i'll i've i'd im me my you you're you'll you've your we we're we'll us our they them that
    that's thats this what what's how how's who when where why can could would should will do does did don't doesn't
    have has had got get gotta gonna be been am well just also then there here it's its let let's go going see soon
    later bye talk take care love like know think guess agree again all some any more out up off about if but or not
    new things thing anything everything something congrats congratulations way make made sounds sound looks look
    feel right always catch keep hear heard mean haha lol one lot wish luck day today"""
_SMALL_TALK: Final = frozenset(_SMALL_TALK_LIST.split()) | ENGLISH
_HAN_SMALL_TALK = re.compile(
    r"^(?:好[的吧啊呀]?|嗯+|哦+|啊+|哈+|是[的吗啊]?|对[的啊呀]?|谢谢[你您]?|不客气|你好|您好|大家好|再见|拜拜|早|晚安|没问题|没事|行|可以|收到|辛苦了"
    r"|真的吗?|太好了|太棒了|不错|加油|明天见|回头见|晚点聊|[,，。！!？?～~\s])+$"
)


def width(text: str) -> float:
    """Length in words; two Han characters count as one."""
    if text.isascii():
        return float(len(text.split()))
    return len(_HAN_CHAR.findall(text)) / 2 + len(_OTHER_WORD.findall(text))


def is_han_text(text: str) -> bool:
    """Whether the text reads as Chinese: it joins and quotes itself by Chinese marks."""
    han = len(_HAN_CHAR.findall(text))
    return han > 0 and han * 2 >= len(_LATIN_WORD.findall(text))


def bounded(text: str, words: float) -> str:
    """`text`, cut behind a clause, else a word, where it is wider than `words`."""
    stop = _fits(text, 0, words)
    if stop >= len(text):
        return text
    return text[: good_cut(text, 0, max(1, stop))].rstrip(_TRIM)


def pieces(text: str, words: float) -> Iterator[str]:
    """`text` whole, or in pieces of up to `words`, cut behind clauses where there are any."""
    start = 0
    while (stop := _fits(text, start, words)) < len(text):
        cut = good_cut(text, start, max(start + 1, stop))
        piece = text[start:cut].strip(_TRIM)
        if piece:
            yield piece
        start = cut
    rest = text[start:] if start == 0 else text[start:].lstrip(_TRIM)
    if rest:
        yield rest


def _fits(text: str, start: int, words: float) -> int:
    """Where the first word beyond `words` begins; the end of the text when there is none. Looks no further.

    A run without any space counts by its length too: nothing of it may be endless.
    """
    if len(text) - start <= words:
        return len(text)
    total = 0.0
    most = start + int(words * _MAX_CHARS_PER_WORD)
    for match in _WORD.finditer(text, start):
        if match.start() >= most or match.end() > most:
            return most
        total += 0.5 if match.group(1) else 1.0
        if total > words:
            return match.start()
    return len(text)


def clauses(text: str) -> list[str]:
    found: list[str] = []
    start = 0
    for match in _CLAUSE.finditer(text):
        found.append(text[start : match.start()].strip())
        start = match.end()
    found.append(text[start:].strip())
    return [clause for clause in found if clause]


def lead(text: str, words: float) -> str:
    """The first clauses of `text` up to `words`: at least three words where it has them."""
    taken = ""
    for match in _CLAUSE.finditer(text):
        if width(text[: match.start()]) > words:
            break
        taken = text[: match.start()]
        if width(taken) >= 3:
            break
    if width(taken) < 3:
        taken = bounded(text, words)
    return taken.strip(_TRIM) or bounded(text, words).strip()


def joined(parts: Sequence[str]) -> str:
    """Sentences set one after the other; what lacks a full stop gets a semicolon, so that nothing runs together."""
    out = ""
    for part in parts:
        if not out:
            out = part
        elif _HAN_CHAR.match(out[-1]):
            out += f"；{part}"
        elif out[-1] in "。！？；…”』」":
            out += part
        else:
            out += f"; {part}" if out[-1].isalnum() or out[-1] == ")" else f" {part}"
    return out


def run_on(one: str, two: str) -> str:
    """Two pieces of one sentence."""
    return one + two if _HAN_CHAR.match(one[-1:]) or one[-1:] in "，、" else f"{one} {two}"


def under(context: str, text: str) -> str:
    """`context: text`, with the colon of its script; `text` alone where it says its context already."""
    context = context.strip(_TRIM)
    if not context or text.lower().startswith(context.lower()):
        return text
    return f"{context}：{text}" if is_han_text(context + text) else f"{context}: {text}"


def says_something(text: str) -> bool:
    """Whether it has a word character at all."""
    return _WORD.search(text) is not None


def is_small_talk(text: str, speakers: frozenset[str] = frozenset()) -> bool:
    """A greeting, thanks, an exclamation: nothing that anyone would look for. `speakers` are folded first names."""
    if _HAN_CHAR.search(text):
        return _HAN_SMALL_TALK.match(text) is not None
    words = [w.lower().replace("’", "'") for w in _LATIN_WORD.findall(text)]
    telling = [w for w in words if w not in _SMALL_TALK and w.removesuffix("'s") not in speakers]
    return not telling or (len(telling) == 1 and len(words) <= 4 and not any(ch.isdigit() for ch in text))
