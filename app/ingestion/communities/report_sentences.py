"""Sentences that can stand in a report: what a relation's text says without its marks, and how well it reads. Pure."""

from __future__ import annotations

import re
from typing import Final

from app.ingestion.cone.phrases import bounded, is_han_text, width
from app.ingestion.cone.prose import leans
from app.text.markdown import strip_marks

MAX_WORDS: Final = 60.0
"""Two Han characters count as one word."""
_MIN_WORDS: Final = 4.0
_GOOD_WORDS: Final = 8.0
_LONG_WORDS: Final = 36.0

_PROPERTY = re.compile(r"^([\w\- ]{1,40})::\s*")
_FIELD = re.compile(r"^(?:简介|摘要|内容简介|描述|概述|description|summary|abstract)\s*[:：]\s*", re.IGNORECASE)
_DECORATION = re.compile(
    r"[\U0001F000-\U0001FAFF\u2600-\u27bf\u2b00-\u2bff\ufe0f\u200d\u200b★☆◆●•]+|\[![\w-]+\][+-]?|\{\{[^{}]{0,80}\}\}"
    r"|%%[^%\n]{0,80}%%|(?<![\w&])#[\w/-]+(?=\s|$)|\(\(?[0-9a-f]{8}-[0-9a-f-]{20,}\)?\)|\[\^?\d{1,3}\]|\[插图\]"
)
_LEAD_NUMBER = re.compile(
    r"^(?:[(（]?\d{1,3}(?:[)）、]|\.(?!\d))|[一二三四五六七八九十]{1,3}、|第[一二三四五六七八九十\d]{1,3}[,，、])\s*"
)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,12}://\S+|\bwww\.\S+")
_WIKILINK = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")
_TAIL = re.compile(r"(?:\s*\^[A-Za-z0-9-]{4,}|[\s|>(（\[【:：,，、;；-])+$")
_LEAD = re.compile(r"^[\s|>:：,，、;；。.!！?？)）\]】-]+")
_ENDS = re.compile(r"[.!?。！？…]['\"”’」』)）]*$")
_ASKS = re.compile(r"[?？]['\"”’」』)）]*$")
_POINTS_BACK = re.compile(
    r"(?:It|It's|This|That|These|Those|They|He|She|His|Her|Their|Its|We|And|But|So|Also|Then|However|Thus|Therefore"
    r"|Moreover|Instead|Otherwise|Or|Because)\b"
    r"|[他她它]|[这那](?![个些]?[人年天月])|此|该|其(?!实)|但|而|所以|因此|因为|否则|不过|然后|于是|同时|另外|并且|以及|或者|例如|比如"
    r"|如果你|你现在是|[也又还都再就]|是|有(?!人)|相当于|相比|前者|后者|最后|总之|总而言之|综上|至于|对此|尤其|其中|随后|后来|接着|首先|其次"
    r"|[与和][^，。]{1,16}(?:类似|不同|一样|相似|有点像)"
)
_LEADS_ON = re.compile(
    r"(?:以下|如下|下面|[几两三四五六七八九十\d]+[个大种]?(?:方面|部分|步骤?|点|阶段|原则))[。：:]?$"
    r"|(?:following|as follows)[.:]?$"
)
_LABELLED = re.compile(r"^[^\s:：,，。]{1,8}[:：]\s*\S")
_CAPTION = re.compile(r"^\W*(?:Illustration|Figure|Fig|Table|Image|图|表|插图)\b\.?\s*[\d:：.]")
_DIALOGUE = re.compile(
    r"^[\"'“‘「][^\"”’」]{1,200}[\"'”’」]|[\"'”’」],?\s+(?:said|cried|asked|replied|returned|inquired|answered)\b"
)
_SPOKEN = re.compile(r"(?:I|I'm|I've|My)\b|我(?!们|国)")
_LETTERS = re.compile(r"[^\W\d_]")
_CODE = re.compile(r"[{}<>=$\\]|::|\w\(\)|--\w|\b\w+\.(?:js|py|edn|css|json|md|sh)\b")


def as_sentence(text: str) -> str:
    """What the text of a relation says, on one line, as a reader wants it; may be empty."""
    lines = []
    for raw in text.splitlines():
        line = strip_marks(raw)
        line = _PROPERTY.sub("", line)
        line = _DECORATION.sub(" ", line)
        line = _FIELD.sub("", line.strip())
        line = _LEAD_NUMBER.sub("", line)
        line = _URL.sub("", line)
        lines.append(" ".join(line.split()))
    line = " ".join(filter(None, lines))
    line = _LEAD.sub("", _TAIL.sub("", line))
    if width(line) > MAX_WORDS:
        line = f"{bounded(line, MAX_WORDS)}…"
    return _balanced(line)


def reads_well(raw: str, sentence: str) -> float:
    """0…1: how well a sentence can be read by itself, whatever it says."""
    words = width(sentence)
    if words < _MIN_WORDS:
        return 0.0
    score = min(1.0, words / _GOOD_WORDS)
    if words > _LONG_WORDS:
        score *= 0.85
    if _ASKS.search(sentence):
        score *= 0.25
    elif sentence.endswith("…") or not _ENDS.search(sentence):
        score *= 0.6
    if raw.lstrip(" \t>-*+").startswith("#") or _PROPERTY.match(raw.strip()):
        score *= 0.4
    if _POINTS_BACK.match(sentence) or leans(sentence):
        score *= 0.45
    if _LABELLED.match(sentence) and words < _GOOD_WORDS:
        score *= 0.2
    if _LEADS_ON.search(sentence):
        score *= 0.35
    if _CAPTION.match(sentence):
        score *= 0.3
    if _DIALOGUE.search(sentence):
        score *= 0.55
    if sentence.endswith(("!", "！", "!'", '!"', "!”")):
        score *= 0.75
    if _SPOKEN.match(sentence):
        score *= 0.7
    if _URL.search(raw):
        score *= 0.5
    linked = sum(len(target) for target in _WIKILINK.findall(raw))
    if linked * 2 > len(sentence):
        score *= 0.5
    letters = len(_LETTERS.findall(sentence))
    if letters * 10 < len(sentence.replace(" ", "")) * 7:
        score *= 0.4
    if len(_CODE.findall(raw)) > 1:
        score *= 0.4
    if words > 6 and _is_list(sentence):
        score *= 0.6
    return score


def shingles(sentence: str) -> frozenset[str]:
    """What tells whether two sentences say the same: character trigrams of Han, words of the rest."""
    letters = "".join(ch for ch in sentence.casefold() if ch.isalnum() or ch == " ")
    if is_han_text(sentence):
        letters = letters.replace(" ", "")
        return frozenset(letters[n : n + 3] for n in range(max(len(letters) - 2, 1)))
    words = letters.split()
    return frozenset(" ".join(words[n : n + 2]) for n in range(max(len(words) - 1, 1)))


def overlap(one: frozenset[str], two: frozenset[str]) -> float:
    """Share of the smaller one that is in the other."""
    return len(one & two) / (min(len(one), len(two)) or 1)


def _is_list(sentence: str) -> bool:
    """Names set in a row rather than a statement."""
    marks = sum(sentence.count(mark) for mark in "、,，;；/")
    return marks > width(sentence) / 3


def _balanced(line: str) -> str:
    """Without a bracket or quotation mark whose partner is in another sentence."""
    for opening, closing in ("“”", "「」", "『』", "（）", "()", "《》", "[]", "【】"):
        if line.count(opening) != line.count(closing):
            if line.startswith(opening) and closing not in line:
                line = line[1:]
            elif line.endswith(closing) and opening not in line:
                line = line[:-1]
    if line.count('"') == 1:
        line = line.replace('"', "")
    return line.strip()
