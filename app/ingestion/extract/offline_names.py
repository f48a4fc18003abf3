"""What counts as a name where rules read a card: of its title, its links and tags, its headings and its text. Pure."""

from __future__ import annotations

import html
import re

from app.text.names_match import MAX_NAME_CHARS
from app.text.names_words import DEMONYMS, FUNCTION, MONTHS, NOT_ACRONYMS, TEMPLATE, WEEKDAYS, is_ordinary
from app.text.names_zh_words import GENERIC, GRAMMAR
from app.text.normalise import HAN, is_han

_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(r"[^\W_]")
_LEAD = re.compile(r"^[^\w《“\"'(（.$&<@#]+|^[_\s]+")
_DATE = re.compile(
    r"\d{4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2}日?)?(?:[ T_-].{0,20})?$|\d{1,2}[-/.]\d{1,2}(?:[-/.]\d{2,4})?$|\d{4}年?$"
    r"|\d{1,2}月(?:\d{1,2}日)?$|\d{4}-?W\d{1,2}$|\d{4}-?Q\d$"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}$"
    r"|第.{1,6}[章节回集篇讲课]$",
    re.I,
)
_CLOCK = re.compile(r"\d{1,2}:\d{2}\s*(?:am|pm)?\b", re.I)
FILE = re.compile(r"\S+\.(?:md|txt|pdf|docx?|html?|png|jpe?g)$", re.I)
CLAUSE_MARK = re.compile(r"[。！？!?；;…]|[,，].*[,，]|\. ")
# What is shouted in Chinese is no name where it asks, pleads, or tells what has become of something.
_CRY = re.compile(f"[{HAN}A-Za-z0-9·]{{2,10}}[！!]$")
_PLEA = re.compile("[吗呢吧啊呀啦了请别要快谁]|什么|怎么|如何|为何|多少")
# The dot of "M. Ward", "Dr. No", "St. Louis", "Warner Bros. Pictures" ends no sentence.
_ABBREVIATED = re.compile(
    r"\b([A-Z][a-z]{0,2}|[A-Z][a-z]*[b-df-hj-np-tv-z]{3,}|Inc|Corp|Bros|Prof|Vols?|Nos?|Pts?|vs)\. "
)


def linked_name(target: str) -> str:
    """A path of several folders is how Obsidian tells two files of one name apart; "TCP/IP" is a name."""
    return bare_name(target.rpartition("/")[2] if target.count("/") > 1 else target)


def bare_name(name: str) -> str:
    """A name without the emoji or bullet that its writer puts in front: "📚金字塔原理"."""
    bare = _LEAD.sub("", html.unescape(name)).strip()
    bare = re.sub(r"[^\w)）》”\"'.+#!?！？%]+$", "", bare)
    return bare if _WORD.search(bare) else name.strip()


def words_in(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name.lower())


def is_subject(name: str) -> bool:
    """Whether a title names something: no date, no template word, no sentence."""
    if not is_name(name, marked=True) or _CLOCK.search(name) or FILE.match(name):
        return False
    if CLAUSE_MARK.search(_ABBREVIATED.sub(r"\1 ", name)) and not _is_exclaimed(name):
        return False
    words = words_in(name)
    if all(w in TEMPLATE or w.isdigit() for w in words):
        return False
    return len(_HAN.findall(name)) <= 30 and len(name.split()) <= 12


def _is_exclaimed(name: str) -> bool:
    """Panic! at the Disco, Steins;Gate, Once Upon a Time... in Hollywood, Who Framed Roger Rabbit?, 奇葩说！: names, as
    they are written like names.
    """
    if _HAN.search(name):
        return _CRY.match(name) is not None and _PLEA.search(name) is None
    # "fun. (band)" says which one is meant.
    bare = re.sub(r"[.!?]? \([^()]{1,40}\)$", "", name)
    if bare != name and not CLAUSE_MARK.search(bare):
        return True
    # Dots in the middle only make one wait.
    name = re.sub(r"\.{2,} (?=\S)|…(?=.)", " ", bare)
    words = name.split()
    if len(words) > 8 or "; " in name or name[-1] in ";…" or ". " in _ABBREVIATED.sub(r"\1 ", name):
        return False
    return all(word[0].isupper() or word[0].isdigit() or word in FUNCTION for word in words if word[0].isalnum())


def is_heading_name(name: str) -> bool:
    """Whether a heading is a noun phrase that names a thing of its own."""
    if not is_name(name) or CLAUSE_MARK.search(name) or any(c in name for c in "：:，,、=→"):
        return False
    words = words_in(name)
    if any(w in TEMPLATE for w in words) or words[0].isdigit():
        return False
    if _HAN.search(name):
        return 3 <= len(name) <= 10 and not any(c in GRAMMAR for c in name if is_han(c)) and name not in GENERIC
    latin = name.split()
    if not 1 <= len(latin) <= 4 or any(w.lower() in FUNCTION for w in latin) or not latin[0][0].isupper():
        return False
    # One common word heads a section; two or more make a term, unless the first is a verb: "Getting Started".
    if all(is_ordinary(w) for w in words):
        return len(latin) > 1 and not latin[0].endswith("ing") and not latin[-1].endswith(("ed", "ing", "ly"))
    return True


def is_name(name: str, marked: bool = False) -> bool:
    """`marked`: its writer said that it is one, by a link, a tag or a title."""
    if len(name) < 2 or len(name) > MAX_NAME_CHARS or not _WORD.search(name) or _DATE.match(name):
        return False
    if all(c.isdigit() or not c.isalnum() for c in name) or "\ufffc" in name or "://" in name or "{{" in name:
        return False
    low = name.lower()
    if low in MONTHS or low in WEEKDAYS or low in NOT_ACRONYMS or name in GENERIC:
        return False
    # The WHO is not "who".
    if low in FUNCTION and not (name.isupper() and len(name) > 2):
        return False
    if marked:
        return low not in TEMPLATE
    return name[0].isupper() or low not in DEMONYMS
