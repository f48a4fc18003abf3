"""Names and identifiers in a text by how they are written: capitals, quotes, addresses, versions.

Knows no dictionary: a Chinese name without 《》, quotes or a link is none here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, Literal

from app.text.normalise import HAN

WordKind = Literal["name", "identifier"]
Free = Callable[[int, int], bool]
"""Whether nothing else is known to stand there."""

# ------------------------------------------------------------------------ identifiers and names

_QUOTED = re.compile(
    r"《[^《》\n]{1,60}》|〈[^〈〉\n]{1,40}〉|「[^「」\n]{1,40}」|『[^『』\n]{1,40}』|“[^“”\n]{1,60}”|(?<!\w)\"[^\"\n]{1,60}\"(?!\w)"
    r"|\[\[[^\[\]\n]{1,120}\]\]"
)
_MAX_QUOTED_WORDS: Final = 6
_MAX_QUOTED_HAN: Final = 16
_EXTENSIONS = (
    "py|md|js|ts|tsx|jsx|json|ya?ml|toml|sql|sh|txt|csv|tsv|pdf|docx?|xlsx?|pptx?|html?|css|go|rs|java|cpp|c|h|rb|php|png"
    "|jpe?g|gif|svg|mp[34]|zip|gz|exe|dll|ini|cfg|conf|log|xml|ipynb|lua|swift|kt"
)
_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s<>\[\]（）《》。，；“”\"'`|]+"
    r"|(?<![\w.%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6}"
    r"|(?<![\w/.:~<])(?:~|\.{1,2})?(?:/[A-Za-z0-9_.@%+{}:-]*[A-Za-z][A-Za-z0-9_.@%+{}:-]*){1,30}/?"
    r"|(?<![\w\\])[A-Za-z]:\\[\w\\. -]{0,200}\w"
    rf"|(?<![\w./-])(?:[A-Za-z0-9_.-]{{1,60}}/){{0,20}}[A-Za-z0-9_][A-Za-z0-9_.-]{{0,60}}\.(?:{_EXTENSIONS})(?![\w-])"
    r"|(?<![\w#&])#\d{1,7}(?!\w)"
)
_L = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u03ff\u0400-\u04ff"
_TOKEN = re.compile(
    rf"(?<![{_L}0-9_])\.?[{_L}0-9](?:[{_L}0-9_]|[-.·+](?=[{_L}0-9])|['’](?=[A-Z]))*(?:\+\+|\#(?![{_L}0-9_]))?"
)
_HAS_DIGIT_AND_LETTER = re.compile(r"(?=.*\d)(?=.*[A-Za-z])")
_PLAIN_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s|am|pm|x|k|m|d|h)$", re.IGNORECASE)
_DOTTED_NUMBER = re.compile(r"\d+(?:\.\d+){2,}$")
_HUMP = re.compile(r"[a-z\d][A-Z]")
_LINKER_LIST = "of de la le du da di del von van der den the for al el bin ibn"
_LINKERS = frozenset(_LINKER_LIST.split())
_GAP = re.compile(rf"(?:\.? (?:(?:{'|'.join(_LINKER_LIST.split())}) ){{0,2}}| ?[&·•] ?)$")
_MAX_GAP: Final = 12
_TITLE_LIST = "st mt ft dr mr mrs ms prof jr sr gen col gov rev sgt lt capt"
_TITLES = frozenset(_TITLE_LIST.split())
_OPENER_LIST = """
    a an the this that these those there here it its he she they we you i his her their our my your me him us them
    what which who whom whose when where why how if in on at by for from to of with without and or but nor so yet as
    since because although though while after before during until till through into onto over under about above
    below between among against within across along around despite unlike like than then thus hence therefore
    however moreover furthermore meanwhile also too not no yes yeah yep nope ok okay hey hi hello wow oh ah well
    please thanks thank sorry sure great good nice cool awesome amazing totally absolutely definitely really
    actually maybe perhaps is are was were be been being am do does did done have has had will would shall should
    can could may might must let lets some any each every all both either neither one two three four five six seven
    eight nine ten many much more most few several other another such same first second third last next now today
    yesterday tomorrow once again always never often sometimes usually just only even still already soon later
    instead overall finally initially originally additionally additional gonna wanna got get gets see look take make
    go going keep use using used click run set add note step open create install bye congrats congratulations woohoo
    yay aw aww ugh haha whoa"""
_OPENERS = frozenset(_OPENER_LIST.split())
_NEVER_NAME_LIST = """
    i i'm i'll i've i'd ok okay am pm ad bc tv vs etc re ps fyi lol omg btw mr mrs ms dr
    monday tuesday wednesday thursday friday saturday sunday"""
_NEVER_NAMES = frozenset(_NEVER_NAME_LIST.split())
_MONTH_LIST = """
    January February March April May June July August September October November December
    Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"""
_MONTHS = frozenset(_MONTH_LIST.split())
_SENTENCE_START = frozenset('.!?。！？:：;；\n\r"“‘”(（[*-•>|#「『_~=+\t，')

# ------------------------------------------------------------------------------------- words


def find_addresses(text: str) -> Iterator[tuple[int, int]]:
    """URLs, mail addresses, paths, file names, numbers of issues."""
    for match in _ADDRESS.finditer(text):
        start, end = match.span()
        while end > start + 1 and text[end - 1] in ".,:;!?)":
            end -= 1
        yield start, end


def find_words(text: str, free: Free) -> Iterator[tuple[WordKind, int, int]]:
    """Identifiers and capitalised names. A capital that opens a sentence tells nothing by itself."""
    run: list[tuple[int, int]] = []
    unsure: list[tuple[str, int, int]] = []
    sure: set[str] = set()
    lower: set[str] = set()
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        word = text[start:end]
        if not free(start, end):
            yield from _closed(text, run, unsure, sure)
            run = []
            continue
        if _is_identifier(word):
            yield from _closed(text, run, unsure, sure)
            run = []
            yield "identifier", start, end
            continue
        first = word[0]
        if not first.isupper():
            if first.islower():
                lower.add(word)
            if _HUMP.search(word):
                yield from _closed(text, run, unsure, sure)
                run = []
                yield "name", start, end
            elif word not in _LINKERS:
                yield from _closed(text, run, unsure, sure)
                run = []
            continue
        if run and not _joins(text, run[-1], start):
            yield from _closed(text, run, unsure, sure)
            run = []
        run.append((start, end))
    yield from _closed(text, run, unsure, sure)
    for word, start, end in unsure:
        if word in sure or (text[end : end + 1] in ":：" and end < len(text) and word.lower() not in lower):
            yield "name", start, end


def _joins(text: str, last: tuple[int, int], start: int) -> bool:
    """Whether a name goes on over what lies between two capitalised words. A full stop belongs to an initial only."""
    gap = text[last[1] : start]
    if gap == " ":
        return True
    if len(gap) > _MAX_GAP or not _GAP.match(gap):
        return False
    word = text[slice(*last)]
    return gap[0] != "." or len(word) == 1 or "." in word or word.lower() in _TITLES


def _is_identifier(word: str) -> bool:
    if word.endswith(("+", "#")) or "_" in word:
        return True
    if word[0] == ".":
        return word[1:2].isupper() or len(word) > 3
    if word.isalpha():
        return False
    if _HAS_DIGIT_AND_LETTER.match(word):
        return not _PLAIN_ORDINAL.match(word)
    return _DOTTED_NUMBER.match(word) is not None


def _closed(
    text: str, run: list[tuple[int, int]], unsure: list[tuple[str, int, int]], sure: set[str]
) -> Iterator[tuple[WordKind, int, int]]:
    """The name that a run of capitalised words makes. Openers fall off its front; a lone first word is put aside."""
    at = 0
    while at < len(run) and text[slice(*run[at])].lower() in _OPENERS:
        at += 1
    kept = run[at:]
    while kept and text[slice(*kept[-1])].lower() in _NEVER_NAMES | _OPENERS:
        kept = kept[:-1]
    if not kept:
        return
    start, end = kept[0][0], kept[-1][1]
    word = text[start:end]
    if len(kept) == 1:
        if len(word) < 2 or word.lower() in _NEVER_NAMES or word in _MONTHS:
            return
        if not _HUMP.search(word) and not (word.isupper() and len(word) >= 2) and _opens(text, start):
            unsure.append((word, start, end))
            return
    sure.update(text[slice(*piece)] for piece in kept)
    yield "name", start, end


def _opens(text: str, at: int) -> bool:
    while at and text[at - 1] == " ":
        at -= 1
    return not at or text[at - 1] in _SENTENCE_START


def find_quoted(text: str) -> Iterator[tuple[int, int]]:
    """Short quotes, titles in 《》 and the targets of links: the words without their marks."""
    for match in _QUOTED.finditer(text):
        raw = match.group()
        link = raw.startswith("[[")
        inner = raw[2:-2] if link else raw[1:-1]
        if link:
            inner = inner.split("|")[-1].split("#")[0] or inner
        name = inner.strip()
        if not name or len(name.split()) > _MAX_QUOTED_WORDS or (not link and raw[0] not in "《〈" and _speaks(name)):
            continue
        start = match.start() + raw.rindex(inner) + len(inner) - len(inner.lstrip())
        yield start, start + len(name)


def _speaks(quoted: str) -> bool:
    """What is quoted because somebody says it is no name."""
    return _SPEAKS.search(quoted) is not None or (
        len(quoted) > _MAX_QUOTED_HAN and _HAN_CHAR.search(quoted) is not None
    )


_SPEAKS = re.compile(r"[。！？，；!?]|,\s")
_HAN_CHAR = re.compile(f"[{HAN}]")
