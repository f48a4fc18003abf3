"""The structure of Markdown notes: blocks with offsets, outline, wikilinks, tags, plain text.

The only file that knows markdown-it. Frontmatter is taken off before a text comes here.
"""

from __future__ import annotations

import bisect
import functools
import html
import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.text.normalise import fold

BlockKind = Literal["heading", "paragraph", "code", "table", "list", "quote", "html", "rule"]

_KINDS: Final[dict[str, BlockKind]] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "code",
    "code_block": "code",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "html_block": "html",
    "hr": "rule",
}
_MAX_LIST_LINES: Final = 20_000
_LIST_LINE = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_LINE_END = re.compile(r"\r\n?|\n")

_LEAD = re.compile(
    r"[ \t]*(?:>[ \t]?)*[ \t]*(?:\#{1,6}(?:[ \t]+|$)|(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|[-*+][ \t]*$)?"
)
# For lines without the white space around them: two runs of spaces side by side would be matched in n² ways.
_FENCE_LINE = re.compile(r"(?:`{3,}[^`]*|~{3,}.*)$")
_RULE_LINE = re.compile(r"(?:[-*_=][ \t]*){3,}$")
_SEPARATOR = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$")
_DEFINITION_LINE = re.compile(r"\[[^\]\n]{1,200}\]:[ \t]*(\S{1,1000})(?:[ \t]+[\"'(].*[\"')])?$")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]|#\n]*)(?:#([^\[\]|\n]*))?(?:\|([^\[\]\n]*))?\]\]")
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,500})\]"
    r"(?:\([^()\s]{0,1000}(?:\([^()\s]{0,200}\)[^()\s]{0,500})?(?:[ \t]+\"[^\"\n]{0,200}\")?\)|\[[^\[\]\n]{0,200}\])"
)
_HTML_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>|<!--[^<\n]{0,300}?-->")
_ANY_MARK = re.compile(r"[*~=`_]")
_MARKS = re.compile(
    r"(?<!\\)(?:\*{2,3}|~~|==|`+|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|(?<![\w*])\*(?=\S)|(?<=[^\s*])\*(?!\w))"
)
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+[ \t]*$")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")
# As in Obsidian a tag stands free; "[text](#anchor)" and "a#b" are none.
_TAG = re.compile(
    r"(?:^|(?<=[\s,，。、；;：:！!？?（]))#(?:\[\[([^\[\]\n]{1,100})\]\]|([\w\-]+(?:/[\w\-]+)*))", re.MULTILINE
)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s<>\[\]（）《》。，]+")
_BACKTICKS = re.compile(r"(?<!\\)`+")
_BLANK_LINE = re.compile(r"(?:\r\n?|\n)[ \t]*(?:\r\n?|\n)")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block from the first character of its first line to the end of its last, line end excluded.

    `level` and `title` are set on headings; `items` are the spans of a list's items.
    """

    start: int
    end: int
    kind: BlockKind
    level: int = 0
    title: str = ""
    items: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """One line of the outline; `slug` is unique within the text. Offsets are those of the heading's line."""

    level: int
    text: str
    slug: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class WikiLink:
    """`[[target#anchor|alias]]`, or `![[…]]` when `embed`. Empty strings where a part is missing."""

    target: str
    anchor: str
    alias: str
    embed: bool
    start: int
    end: int


@functools.cache
def _parser(lists: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    # Blocks are all we read of it: inline parsing would cost ten times as much and knows no offsets.
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser if lists else parser.disable("list")


def _parse(text: str) -> list[Token]:
    """Block tokens. The parser spends 0.1 ms on a list item: a flood of them is read as paragraphs."""
    return _parser(len(_LIST_LINE.findall(text)) <= _MAX_LIST_LINES).parse(text)


def blocks(text: str) -> list[Block]:
    """Top-level blocks in order; together they cover everything but blank lines."""
    lines = _lines(text)
    found: list[Block] = []
    done = 0
    tokens = _parse(text)
    for i, token in enumerate(tokens):
        kind = _KINDS.get(token.type)
        if token.level or kind is None or token.map is None:
            continue
        first, last = _trim(text, lines, *token.map)
        # Link definitions leave no token.
        found.extend(_rest(text, lines, done, first))
        done = max(done, last)
        if kind == "heading":
            title = strip_marks(tokens[i + 1].content.replace("\n", " "))
            found.append(Block(lines[first][0], lines[last - 1][1], kind, int(token.tag[1]), title))
        elif kind == "list":
            items = tuple(_items(text, lines, tokens[i + 1 :]))
            found.append(Block(lines[first][0], lines[last - 1][1], kind, items=items))
        elif kind == "paragraph":
            found.extend(_rest(text, lines, first, last))
        elif last > first:
            found.append(Block(lines[first][0], lines[last - 1][1], kind))
    found.extend(_rest(text, lines, done, len(lines)))
    return found


def outline(text: str) -> list[Heading]:
    """The headings in order. Slugs as GitHub makes them: `安装 Linux` → `安装-linux`, a second one `安装-linux-1`."""
    found: list[Heading] = []
    taken: set[str] = set()
    for block in blocks(text):
        if block.kind != "heading":
            continue
        base = _slug(block.title)
        slug, n = base, 0
        while slug in taken:
            n += 1
            slug = f"{base}-{n}"
        taken.add(slug)
        found.append(Heading(block.level, block.title, slug, block.start, block.end))
    return found


def wikilinks(text: str) -> list[WikiLink]:
    """Every `[[…]]` outside code, in order. A link without target points into its own text."""
    if "[[" not in text:
        return []
    code = _Ranges(_code(text))
    found: list[WikiLink] = []
    for match in _WIKILINK.finditer(text):
        bang, target, anchor, alias = match.groups(default="")
        # In tables the bar is written "\\|"; a lone "#" at the end belongs to the name: [[C#]].
        target = target.removesuffix("\\").strip() + ("#" if match.group(3) == "" else "")
        anchor = anchor.removesuffix("\\").strip()
        if (target or anchor) and not code.covers(match.start()):
            found.append(WikiLink(target, anchor, alias.strip(), bang == "!", match.start(), match.end()))
    return found


def tags(text: str) -> list[str]:
    """`#tag`, `#中文`, `#a/b` and `#[[two words]]` outside code and URLs; each once, in order, as first written."""
    if "#" not in text:
        return []
    apart = _Ranges(sorted([*_code(text), *(m.span() for m in _URL.finditer(text))]))
    found: dict[str, str] = {}
    for match in _TAG.finditer(text):
        tag = (match.group(1) or match.group(2)).strip("-/ ")
        if tag and not tag.isdigit() and not apart.covers(match.start()):
            found.setdefault(fold(tag), tag)
    return list(found.values())


def plain(text: str) -> str:
    """`text` as a reader sees it, one line per line that says something; code is left as it is."""
    kept: list[str] = []
    fence = ""
    for line in _LINE_END.split(text):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and (not fence or mark == fence):
            fence = "" if fence else mark
        elif fence:
            kept.append(line.rstrip())
        else:
            kept.append(strip_marks(line))
    return "\n".join(filter(None, kept))


def strip_marks(line: str, at_line_start: bool = True) -> str:
    """One line, or a piece of one, without Markdown's marks: what remains is what it says. May be empty."""
    if at_line_start:
        if _is_furniture(line.strip()):
            return ""
        lead = _LEAD.match(line)
        if lead is not None and lead.end():
            if "#" in lead.group():
                line = line.rstrip().rstrip("#")
            line = line[lead.end() :]
    if "[" in line:
        line = _WIKILINK.sub(_shown, line)
        line = _LINK.sub(r"\1", line)
    if "<" in line:
        line = _HTML_TAG.sub(" ", line)
    if _ANY_MARK.search(line):
        line = _MARKS.sub("", line)
    if "\\" in line:
        line = _ESCAPED.sub(r"\1", line)
    if "^" in line:
        line = _BLOCK_ID.sub("", line)
    if "|" in line:
        line = line.replace("|", " ")
    if "&" in line:
        line = html.unescape(line)
    return " ".join(line.split())


# ------------------------------------------------------------------------------------ details


def _lines(text: str) -> list[tuple[int, int]]:
    """(start, end without line end) of every line, as the parser counts them."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _LINE_END.finditer(text):
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(text)))
    return spans


def _trim(text: str, lines: list[tuple[int, int]], first: int, last: int) -> tuple[int, int]:
    """Lines first:last without the blank ones at either end; first == last when all are blank."""
    last = min(last, len(lines))
    while first < last and not text[slice(*lines[first])].strip():
        first += 1
    while last > first and not text[slice(*lines[last - 1])].strip():
        last -= 1
    return first, last


def _rest(text: str, lines: list[tuple[int, int]], first: int, last: int) -> Iterator[Block]:
    """The paragraph in lines first:last, and the table that begins in it.

    The parser's own tables make tokens of every cell, which takes seconds for a long one.
    """
    first, last = _trim(text, lines, first, last)
    if first == last:
        return
    bar = "|" in text[lines[first][0] : lines[last - 1][1]]
    header = next((i for i in range(first, last - 1) if _is_header(text, lines, i)), last) if bar else last
    if first < header:
        yield Block(lines[first][0], lines[header - 1][1], "paragraph")
    if header < last:
        yield Block(lines[header][0], lines[last - 1][1], "table")


def _is_header(text: str, lines: list[tuple[int, int]], i: int) -> bool:
    separator = text[slice(*lines[i + 1])].strip()
    return "|" in separator and _SEPARATOR.match(separator) is not None and "|" in text[slice(*lines[i])]


def _items(text: str, lines: list[tuple[int, int]], tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """Spans of the items of the list whose tokens follow."""
    for token in tokens:
        if token.level == 0:
            return
        if token.type == "list_item_open" and token.level == 1 and token.map is not None:
            first, last = _trim(text, lines, *token.map)
            if first < last:
                yield lines[first][0], lines[last - 1][1]


def _code(text: str) -> list[tuple[int, int]]:
    """Spans of fenced, indented and inline code, in order."""
    if "`" not in text and "~~~" not in text and "    " not in text and "\t" not in text:
        return []
    lines = _lines(text)
    found: list[tuple[int, int]] = []
    done = 0
    for token in _parse(text):
        if token.type in ("fence", "code_block") and token.map is not None:
            first, last = token.map[0], min(token.map[1], len(lines))
            found.extend(_inline_code(text, done, lines[first][0]))
            done = lines[last - 1][1]
            found.append((lines[first][0], done))
    found.extend(_inline_code(text, done, len(text)))
    return found


def _inline_code(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A run of backticks up to the next run of the same length in the same paragraph."""
    for begin, stop in _paragraphs(text, start, end):
        runs = [m.span() for m in _BACKTICKS.finditer(text, begin, stop)]
        following: dict[int, int] = {}
        partner = [-1] * len(runs)
        for i in range(len(runs) - 1, -1, -1):
            length = runs[i][1] - runs[i][0]
            partner[i] = following.get(length, -1)
            following[length] = i
        i = 0
        while i < len(runs):
            if partner[i] < 0:
                i += 1
                continue
            yield runs[i][0], runs[partner[i]][1]
            i = partner[i] + 1


def _paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _BLANK_LINE.finditer(text, start, end):
        yield start, match.start()
        start = match.start()
    yield start, end


class _Ranges:
    """Sorted spans that may be asked whether they hold an offset."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in spans]
        self._ends = list(itertools.accumulate((end for _, end in spans), max))

    def covers(self, offset: int) -> bool:
        i = bisect.bisect_right(self._starts, offset) - 1
        return i >= 0 and offset < self._ends[i]


def _slug(title: str) -> str:
    slug = _NOT_IN_SLUG.sub("", unicodedata.normalize("NFKC", title).lower()).strip().replace(" ", "-")
    return slug or "section"


def _is_furniture(line: str) -> bool:
    """Whether the stripped line is there for the parser only: rules, fences, separators of tables, link definitions."""
    if _RULE_LINE.match(line) or _FENCE_LINE.match(line) or ("|" in line and _SEPARATOR.match(line)):
        return True
    definition = _DEFINITION_LINE.match(line)
    # "[10:30]: hello" defines no link.
    return definition is not None and any(c in "./#" for c in definition.group(1))


def _shown(link: re.Match[str]) -> str:
    _, target, anchor, alias = link.groups(default="")
    return alias or target.removesuffix("\\") or anchor
