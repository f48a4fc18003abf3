"""A Markdown note with everything blanked that can hold no name: code, URLs, HTML, macros, property keys.

The blanked text is as long as the note, so that an offset into one is an offset into the other. Links, tags and
inline code are given apart, for their writer said that they are names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

FILLER: Final = "\ufffc"
"""Stands for what is blanked. Neither a space nor a word: names end at it."""

_MARKS = re.compile(
    r"(?P<fence>^[ \t>*+-]*(?P<tick>```|~~~)[^\n]*\n(?:.*?\n)??[ \t>]*(?P=tick)|^[ \t>*+-]*(?:```|~~~).*\Z"
    r"|^[ \t>*+-]*\#\+BEGIN_(?:QUERY|SRC)\b.*?(?:\#\+END_\w+|\Z))"
    r"|(?P<code>`+[^`\n]{1,300}`+)"
    r"|(?P<embed>!\[\[[^\[\]\n]{0,300}\]\]|!\[[^\[\]\n]{0,300}\]\([^()\n]{0,1000}\))"
    r"|\[\[(?P<target>[^\[\]|\#\n]{0,300})(?P<anchor>\#[^\[\]|\n]{0,300})?(?:\|(?P<alias>[^\[\]\n]{0,300}))?\]\]"
    r"|\[(?P<text>[^\[\]\n]{0,300})\]\((?P<url>[^()\s]{0,1000}(?:\([^()\s]{0,200}\)[^()\s]{0,500})?)(?:\s+\"[^\"\n]{0,200}\")?\)"
    r"|(?P<address>(?:(?:https?|ftp|file|obsidian|zotero|logseq|evernote|magnet|data)://?|www\.)[^\s<>\[\]（）《》。，、；]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+)"
    r"|(?P<html></?[A-Za-z][^<>\n]{0,300}>|<!--.{0,2000}?-->|<%.{0,2000}?%>|&(?:[a-z]{2,8}|\#\d{1,6});)"
    r"|(?P<macro>\#\+(?:BEGIN|END)_\w+[^\n]*|\$[^$\n]{0,300}\\[^$\n]{0,300}\$|\\[A-Za-z]{2,20}|\{\{[^{}\n]{0,500}\}\}|\(\([0-9a-fA-F-]{36}\)\)|\$\$.{0,2000}?\$\$|\[![\w-]{1,30}\][+-]?|\[\^[^\]\n]{1,40}\])"
    r"|(?P<key>^[ \t>]*(?:[-*+][ \t]+)?[\w./ -]{1,40}::|\b[\w-]{1,30}::(?=\s))"
    r"|(?:^|(?<=[\s,，。、；;：:！!？?（(]))\#(?:\[\[(?P<wide>[^\[\]\n]{1,100})\]\]|(?P<tag>[\w-]{1,100}(?:/[\w-]{1,100}){0,8}))",
    re.MULTILINE | re.DOTALL,
)
_FRONT = re.compile(r"\A---[ \t]*\r?\n.*?^---[ \t]*$", re.MULTILINE | re.DOTALL)
_FRONT_KEY = re.compile(r"^[ \t-]*[\w -]{1,40}:(?=\s|$)|^---[ \t]*$", re.MULTILINE)
_FILE = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|pdf|mp[34]|m4a|wav|canvas|excalidraw|zip|docx?|xlsx?|pptx?)$", re.I
)
_KEEPS = ("`", "~~~", "[", "://", "www.", "@", "<", "&", "{{", "((", "$$", "::", "#", "\\")


@dataclass(frozen=True, slots=True)
class Marked:
    """What a writer marked. `shown` is the place of what a reader sees of it."""

    name: str
    start: int
    end: int
    alias: str = ""


@dataclass(slots=True)
class Marks:
    text: str
    links: list[Marked] = field(default_factory=list)
    tags: list[Marked] = field(default_factory=list)
    code: list[Marked] = field(default_factory=list)


def read_marks(content: str) -> Marks:
    """`content` blanked, with its wikilinks, tags and inline code in order."""
    if content.startswith("---"):
        content = _FRONT.sub(lambda front: _FRONT_KEY.sub(_blank, front.group()), content, count=1)
    found = Marks(content)
    if not any(sign in content for sign in _KEEPS):
        return found
    pieces: list[str] = []
    done = 0
    for match in _MARKS.finditer(content):
        start, end = match.span()
        kept = _keep(match, found)
        pieces.append(content[done:start])
        if kept is None:
            pieces.append(FILLER * (end - start))
        else:
            pieces += (FILLER * (kept[0] - start), content[kept[0] : kept[1]], FILLER * (end - kept[1]))
        done = end
    pieces.append(content[done:])
    found.text = "".join(pieces)
    return found


def _keep(match: re.Match[str], found: Marks) -> tuple[int, int] | None:
    """The part of a mark that stays readable; None: nothing of it."""
    kind = match.lastgroup
    if match["code"] is not None:
        start, end = _trimmed(match.string, *match.span(), "`")
        found.code.append(Marked(match.string[start:end], start, end))
        return None
    if match["target"] is not None:
        return _link(match, found)
    if match["text"] is not None:
        return match.span("text") if "://" not in match["text"] else None
    if match["wide"] is not None:
        found.tags.append(Marked(match["wide"].strip(), *match.span("wide")))
        return match.span("wide")
    if match["tag"] is not None:
        leaf = match["tag"].rpartition("/")[2].strip("-")
        at = match.start("tag") + match["tag"].rfind(leaf)
        if leaf and not leaf.isdigit():
            found.tags.append(Marked(leaf, at, at + len(leaf)))
        return at, at + len(leaf)
    return None if kind else match.span()


def _link(match: re.Match[str], found: Marks) -> tuple[int, int] | None:
    target = match["target"].removesuffix("\\")
    # "[[C#]]": a lone "#" at the end belongs to the name.
    end = match.end("target") - (len(match["target"]) - len(target)) + (1 if match["anchor"] == "#" else 0)
    start, end = _trimmed(match.string, match.start("target"), end, " ")
    name = match.string[start:end].removesuffix(".md")
    alias = (match["alias"] or "").strip()
    if not name or _FILE.search(name):
        return None
    if alias:
        shown = _trimmed(match.string, *match.span("alias"), " ")
        found.links.append(Marked(name, *shown, alias))
        return shown
    end = start + len(name)
    found.links.append(Marked(name, start, end))
    return start, end


def _trimmed(text: str, start: int, end: int, signs: str) -> tuple[int, int]:
    while start < end and text[start] in signs:
        start += 1
    while end > start and text[end - 1] in signs:
        end -= 1
    return start, end


def _blank(match: re.Match[str]) -> str:
    return FILLER * len(match.group())
