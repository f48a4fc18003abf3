"""What counts as another name of the same: behind a link, in brackets, as an acronym. Pure.

An explanation is none, and neither is a part, an example or a credit: names that wrongly count as one merge two things.
"""

from __future__ import annotations

import re
from typing import Final

from app.ingestion.extract.offline_names import CLAUSE_MARK, is_name, words_in
from app.text.names_words import FUNCTION, is_ordinary
from app.text.names_zh_words import GRAMMAR
from app.text.normalise import HAN, is_han, name_key

_HAN = re.compile(f"[{HAN}]")
_DOMAIN = re.compile(r"\w\.(?:com|cn|net|org|io|me|app|dev|info|co)(?:/|$)", re.I)
_CITED = re.compile(r"\bet al\b|\bopens?\b.*\bwindow\b|[饰译著编摄绘]$|缩写|意思", re.I)
_CLAUSES = re.compile(r"[:：，]|\bor\b")
_LATIN_WORD = re.compile(r"[A-Za-z]{2}")
_SET_OFF: Final = ("**", "__", "==", "]]", "》", "」")
_AND = re.compile(r"&|[与和及]|\band\b")
# What stands in brackets behind a name explains it as often as it says it again: （内含物价）, （轻量级标记语言）.
_SAYS_WHAT = re.compile(r"(?:内含|包含|不?含|包括|包|不|已|未|需|仅|只|共|约|可|如|例|见|用|由|在|从|被)")
_KIND_OF_THING = re.compile(r"(?:语言|工具|软件|插件|平台|系统|框架|网站|公司|组织|机构|模型|项目|游戏|作者|创始人)$")


def is_alias(alias: str, name: str) -> bool:
    """ "[[Barack Obama|he]]" teaches no other name of him, "[[the flywheel|all beginnings are hard]]" none of it:
    what a link shows is another name only where it shares something with the first, or says it in another script.
    """
    if name_key(alias) == name_key(name) or not is_name(alias) or len(alias) > 40 or CLAUSE_MARK.search(alias):
        return False
    if alias in name.split() or not may_be_alias(alias):
        return False
    in_han, named_in_han = bool(_HAN.search(alias)), bool(_HAN.search(name))
    if in_han == named_in_han:
        # The first half of "pictures: hosted or local" is what one sentence is about.
        if not _is_akin(alias, name) or (alias in name and _CLAUSES.search(name)):
            return False
        # 基础代谢估算 is not 基础代谢率: what stands last says what it is.
        if in_han and alias not in name and name not in alias and alias[-2:] != name[-2:]:
            return False
    elif in_han and _LATIN_WORD.search(alias):
        # "slides学习笔记教程" is about the thing that the link names.
        return False
    return in_han or any(c.isupper() for c in alias)


def ends_a_word(text: str, start: int, end: int) -> bool:
    """Whether a Han name is the end of a longer compound. What is set off from the text is one word altogether:
    in **创伤后压力反应** it begins at the marks, and 西蒙 · 赫伯特 has two parts.
    """
    if text[:start].rstrip(" ").endswith(("·", "•")):
        return True
    before = text[start - 1] if start else ""
    if not before or not is_han(before) or not is_han(text[start]):
        return False
    return before not in GRAMMAR or text.startswith(_SET_OFF, end)


def may_be_alias(other: str) -> bool:
    """No phrase, no web address, no citation, no credit."""
    if _DOMAIN.search(other) or _CITED.search(other):
        return False
    return not _HAN.search(other) or (len(other) <= 12 and not any(c in GRAMMAR for c in other))


def _is_akin(one: str, two: str) -> bool:
    """Whether two names of one script share a word of their own, two Han characters in a row, or initials."""
    if is_acronym_of(one, two) or is_acronym_of(two, one):
        return True
    if _HAN.search(one):
        return any(one[i : i + 2] in two for i in range(len(one) - 1))
    words = {word.lower() for word in words_in(two)}
    return any(word.lower() in words and not is_ordinary(word) for word in words_in(one))


def is_other_name(name: str, inside: str) -> bool:
    """Whether what stands in brackets behind a name is the same in letters or in another script."""
    if len(inside) > 60 or any(c.isdigit() for c in inside[:1]) or not may_be_alias(inside):
        return False
    han_name, han_inside = bool(_HAN.search(name)), bool(_HAN.search(inside))
    if han_name != han_inside:
        if _SAYS_WHAT.match(inside) or (_KIND_OF_THING.search(inside) and not name.isupper()):
            return False
        # 克鲁格效应 (Kruger and Dunning) are those who found it.
        if han_name and _AND.search(inside) and not _AND.search(name):
            return False
        return (han_inside is False and inside[:1].isalpha()) or (han_inside and len(inside) <= 12)
    if han_name:
        return False
    return is_acronym_of(inside, name) or is_acronym_of(name, inside)


def is_acronym_of(short: str, long: str) -> bool:
    """WHO of World Health Organization: its letters are the first ones of the words, small words left out or not."""
    letters = [c.lower() for c in short if c.isalnum()]
    if not 2 <= len(letters) <= 8 or sum(c.isupper() for c in short) < 2:
        return False
    words = re.findall(r"[^\W_]+", long)
    heads = [w[0].lower() for w in words]
    strong = [w[0].lower() for w in words if w.lower() not in FUNCTION]
    return len(words) > 1 and letters in (heads, strong)
