"""What of an answer may be shown, decided while it is being said. Pure.

An answer is Markdown that somebody's browser renders, and a text in the notes may have told the model what to put into
it. No image is loaded, no raw HTML is let through. Where text that nobody vouches for was before the model, an address
that it did not find there word for word is cut down to its host (it may carry away what was read), and what looks like
a key in the instructions is withheld. Code stays as it is, where it is certainly code.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from app.chat.citations import Citable, Citer
from app.chat.prompt import Prompt

WITHHELD: Final = "[…]"

# A last word that may still become the beginning of an address with the characters to come.
_LAST_WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z:/.]{1,12}\Z|[!\]/\\]\Z")
_MARKS: Final = "!]/\\"
_STARTS: Final = ("http://", "https://", "ftp://", "ftps://", "www.", "javascript:", "vbscript:", "data:", "mailto:")
_LONGEST: Final = 2000
_LONGEST_CODE: Final = 400

_NEXT = re.compile(
    r"\\.|(?:(?<=\n)|\A)(?:`{3,}|~{3,})|`+|!(?=\[)|\]\(|<|(?<![A-Za-z0-9])(?i:[a-z][a-z0-9+.-]{1,20}:(?://|\\\\)|www\.)"
    r"|://|(?<![:/\w])//(?=[\w-])|(?<![A-Za-z0-9])(?i:javascript|data|vbscript|mailto):(?=\S)",
    re.DOTALL,
)
_CLOSING_FENCE = re.compile(r"^(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_IN_ADDRESS = r"[^\s<>()\[\]\"'`{}|\\^，。；、）】」』”’《》]*"
_ADDRESS = re.compile(rf"{_IN_ADDRESS}(?:\([^\s<>()]*\){_IN_ADDRESS})*")
_TRAILING = ".,;:!?"
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?[/\\]*(?:[^/\\?#@\s]*@)?([\w.-]+)", re.IGNORECASE)
_TARGET = re.compile(r"\]\(\s*(<[^<>\n]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)")
_LOCAL = re.compile(r"(?!/?/)(?:[\w#.~%/@+=, -]|[^\x00-\x7f])*")

_SCRIPT = re.compile(r"(?i)(?:javascript|vbscript|data):")
_NO_HOST = re.compile(r"(?i)(?:javascript|vbscript|data|mailto):")
_OPEN_PARENTHESIS = re.compile(r"\([^\s()<>]*")
_LOOPBACK = re.compile(r"(?i)https?://(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/]|$)")
_NUMBERS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")

_ELEMENT_LIST = """
    a abbr acronym address applet area article aside audio b base bdi bdo big blink blockquote body br button canvas
    caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset
    figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img
    input ins isindex kbd keygen label legend li link listing main map mark marquee math menu meta meter nav nobr
    noembed noframes noscript object ol optgroup option output p param picture plaintext portal pre progress q rp rt
    ruby s samp script search section select slot small source span strike strong style sub summary sup svg table tbody
    td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp"""
_ELEMENTS: Final = frozenset(_ELEMENT_LIST.split())
_TAG = re.compile(r"<(?:!--.*?(?:-->|\Z)|[!?/]?([A-Za-z][\w:.-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)/?>)", re.DOTALL)
_AUTOLINK = re.compile(r"<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)>", re.IGNORECASE)
_MAY_BE_TAG = re.compile(r"<[A-Za-z!?/]")

_KEY_LIKE = re.compile(
    r"(?=[A-Za-z_-]*[0-9])(?=[0-9_-]*[A-Za-z])[A-Za-z0-9_-]{8,200}|(?=[0-9_-]*[A-Z])[A-Z0-9]+(?:[-_][A-Z0-9]+)+"
)


@dataclass(slots=True)
class Shown:
    """Reads an answer piece by piece and gives what can be shown of it. `known`: texts whose addresses may be repeated.

    `is_tainted`: text that nobody vouches for was before the model. `withheld`: words that are not told then.
    Afterwards: how many images, tags, addresses and words were taken out.
    """

    is_tainted: bool
    known: Sequence[str] = ()
    withheld: Iterable[str] = ()
    taken: dict[str, int] = field(default_factory=lambda: {"images": 0, "tags": 0, "addresses": 0, "withheld": 0})
    _held: str = ""
    _before: str = "\n"
    _fence: str = ""
    _withhold: re.Pattern[str] | None = None
    _prefixes: set[str] = field(default_factory=set)
    _longest: int = 0

    def __post_init__(self) -> None:
        words = sorted({form for word in self.withheld for form in _forms(word)}, key=len, reverse=True)
        if words and self.is_tainted:
            self._withhold = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
            self._prefixes = {word[:size].lower() for word in words for size in range(1, len(word))}
            self._longest = max(map(len, self._prefixes), default=0)

    def feed(self, piece: str) -> str:
        """What can be shown after this piece; may be empty."""
        self._held += piece
        return self._release(is_last=False)

    def close(self) -> str:
        """The rest, after the last piece."""
        return self._release(is_last=True)

    # --------------------------------------------------------------------------------------------

    def _release(self, *, is_last: bool) -> str:
        """Everything up to the last word, and what needs more to be understood waits."""
        out: list[str] = []
        at = 0
        while at < len(self._held):
            if self._fence:
                end = self._fence_end(at, is_last=is_last)
                if end is None:
                    at = self._tell(out, at, self._safe_end(at, is_last=is_last))
                    break
                at = self._tell(out, at, end)
                self._fence = ""
                continue
            found = self._find(at)
            if found is None:
                at = self._tell(out, at, self._safe_end(at, is_last=is_last))
                break
            at = self._tell(out, at, found.start())
            step = self._step(found, is_last=is_last)
            if step is None:
                break
            end, text = step
            out.append(text)
            self._before = text[-1:] or self._before
            at = end
        self._held = self._held[at:]
        return "".join(out)

    def _find(self, at: int) -> re.Match[str] | None:
        """The next thing to be looked at; a fence only at the beginning of a line, also one that was shown already."""
        found = _NEXT.search(self._held, at)
        while found is not None and found[0][:3] in ("```", "~~~") and not self._begins_line(found.start()):
            if found[0][0] == "`":
                return found
            found = _NEXT.search(self._held, found.end())
        return found

    def _begins_line(self, at: int) -> bool:
        return (self._held[at - 1] if at else self._before) == "\n"

    def _safe_end(self, at: int, *, is_last: bool) -> int:
        """What is behind it may be the beginning of something that is not to be shown."""
        end = len(self._held)
        if is_last:
            return end
        safe = end
        word = _LAST_WORD.search(self._held, max(at, end - 13))
        if word and (word[0][-1] in _MARKS or any(start.startswith(word[0].lower()) for start in _STARTS)):
            safe = word.start()
        if self._fence:
            line = max(self._held.rfind("\n") + 1, at)
            if not self._held[line:].strip("`~ \t"):
                safe = min(safe, line)
        for size in range(min(self._longest, end - at), 0, -1):
            if self._held[end - size :].lower() in self._prefixes:
                safe = min(safe, end - size)
                break
        # What is withheld is not cut in two.
        for whole in self._withhold.finditer(self._held, at) if self._withhold else ():
            if whole.start() < safe < whole.end():
                return whole.start()
        return safe

    def _tell(self, out: list[str], start: int, end: int) -> int:
        if end > start:
            out.append(self.hide(self._held[start:end]))
            self._before = self._held[end - 1]
        return max(start, end)

    def hide(self, text: str) -> str:
        """Without the words that are withheld."""
        if self._withhold is None:
            return text
        text, count = self._withhold.subn(WITHHELD, text)
        self.taken["withheld"] += count
        return text

    # ------------------------------------------------------------------------------- one thing

    def _step(self, found: re.Match[str], *, is_last: bool) -> tuple[int, str] | None:
        """Where it ends and what is shown of it; None: not known yet."""
        start, mark = found.start(), found[0]
        rest = len(self._held) - start
        if mark[0] in "`~":
            return self._code(found, is_last=is_last)
        if mark == "!":
            self.taken["images"] += 1
            return found.end(), ""
        if mark == "](":
            return self._target(start, is_last=is_last or rest > _LONGEST)
        if mark == "<":
            return self._tag(start, is_last=is_last or rest > _LONGEST)
        if mark[0] == "\\" and len(mark) == 2:
            return found.end(), mark
        return self._address(start, is_last=is_last or rest > _LONGEST)

    def _code(self, found: re.Match[str], *, is_last: bool) -> tuple[int, str] | None:
        start, mark = found.start(), found[0]
        if found.end() == len(self._held) and not is_last:
            return None
        if len(mark) >= 3 and self._begins_line(start):
            self._fence = mark
            return found.end(), mark
        line = self._held[found.end() : found.end() + _LONGEST_CODE].partition("\n")[0]
        for other in re.finditer("`+", line):
            if other[0] == mark:
                end = found.end() + other.end()
                code = self._held[start:end]
                is_code = "|" not in code and not (self.is_tainted and ("](" in code or "//" in code))
                return (end, self.hide(code)) if is_code else (found.end(), mark)
        is_open = found.end() + len(line) == len(self._held) and len(line) < _LONGEST_CODE
        return None if is_open and not is_last else (found.end(), mark)

    def _fence_end(self, at: int, *, is_last: bool) -> int | None:
        """Behind the line that closes the block."""
        for closing in _CLOSING_FENCE.finditer(self._held, at):
            is_whole = closing.end() < len(self._held) or is_last
            begins = self._begins_line(closing.start())
            if begins and is_whole and closing[1][0] == self._fence[0] and len(closing[1]) >= len(self._fence):
                return closing.end()
        return None

    def _target(self, start: int, *, is_last: bool) -> tuple[int, str] | None:
        """`](` and where it leads."""
        found = _TARGET.match(self._held, start)
        if found is None:
            return start + 2, "]("
        if self._may_grow(found.end()) and not is_last:
            return None
        target = found[1].strip("<>")
        if _LOCAL.fullmatch(target) or self._may_show(target):
            return found.end(), found[0]
        self.taken["addresses"] += 1
        return found.end(), f"]({_host(target) if '&' not in target else ''}"

    def _tag(self, start: int, *, is_last: bool) -> tuple[int, str] | None:
        autolink = _AUTOLINK.match(self._held, start)
        if autolink:
            if self._may_show(autolink[1]):
                return autolink.end(), autolink[0]
            self.taken["addresses"] += 1
            return autolink.end(), self.hide(_host(autolink[1]))
        tag = _TAG.match(self._held, start)
        if tag is None or (tag[1] is None and tag.end() == len(self._held) and not tag[0].endswith("-->")):
            may_grow = _MAY_BE_TAG.match(self._held, start) or start + 1 == len(self._held)
            if not is_last and may_grow:
                return None
            if _MAY_BE_TAG.match(self._held, start):
                self.taken["tags"] += 1
                return start + 1, ""
            return start + 1, "<"
        name, attributes = tag[1], tag[2]
        if name is not None and name.lower() not in _ELEMENTS and not attributes.strip(" /"):
            return tag.end(), self.hide(tag[0])
        self.taken["tags"] += 1
        return tag.end(), ""

    def _address(self, start: int, *, is_last: bool) -> tuple[int, str] | None:
        found = _ADDRESS.match(self._held, start)
        end = found.end() if found else start
        if self._may_grow(end) and not is_last:
            return None
        address = self._held[start:end].rstrip(_TRAILING)
        end = start + len(address)
        if not address:
            return start + 1, self._held[start]
        if self._may_show(address) or (address.startswith("//") and "." not in address.strip("/").partition("/")[0]):
            return end, self.hide(address)
        self.taken["addresses"] += 1
        return end, (" " if address[0] == ":" else "") + self.hide(_host(address))

    def _may_grow(self, end: int) -> bool:
        """Whether an address that ends here may go on with the characters to come, in parentheses perhaps."""
        rest = self._held[end:]
        return not rest or _OPEN_PARENTHESIS.fullmatch(rest) is not None

    def _may_show(self, address: str) -> bool:
        if _SCRIPT.match(address):
            return False
        if not self.is_tainted or _LOOPBACK.match(address):
            return True
        return any(address in text for text in self.known)


def key_like(instructions: str, told: Iterable[str]) -> list[str]:
    """Words of the instructions that look like keys, and that nobody else has said."""
    words = dict.fromkeys(match[0] for match in _KEY_LIKE.finditer(instructions) if len(match[0]) >= 8)
    texts = [text.lower() for text in told]
    return [word for word in words if not any(word.lower() in text for text in texts)]


def _host(address: str) -> str:
    """The last two labels: what stands before them may carry something."""
    if _NO_HOST.match(address):
        return ""
    # The scheme may have been shown before it was one.
    found = _HOST.match(address.lstrip(":"))
    name = found[1].strip(".") if found else ""
    return name if _NUMBERS.fullmatch(name) else ".".join(name.split(".")[-2:]) if "." in name else ""


def _forms(word: str) -> set[str]:
    """A word as a model may be told to write it: as it is, backwards, in base64, hexadecimal, spelt out."""
    raw = word.encode()
    return {
        word,
        word[::-1],
        base64.b64encode(raw).decode().rstrip("="),
        base64.urlsafe_b64encode(raw).decode().rstrip("="),
        raw.hex(),
        " ".join(word),
        "-".join(word),
        word.replace("-", "").replace("_", ""),
    }


class Saying(Citer):
    """A Citer that is told only what may be shown."""

    def __init__(self, sources: Mapping[str, Citable], shown: Shown) -> None:
        super().__init__(sources)
        self.may_be_shown = shown
        self._waiting = ""

    def feed(self, piece: str) -> str:
        return self.take() + super().feed(self.may_be_shown.feed(piece))

    def close(self) -> str:
        return self.take() + super().feed(self.may_be_shown.close()) + super().close()

    def settle(self) -> int:
        """Nothing more follows for now; how much was said. What waited for its end is given by `take`."""
        self._waiting += super().feed(self.may_be_shown.close())
        return len(self.text)

    def take(self) -> str:
        told, self._waiting = self._waiting, ""
        return told


def saying(prompt: Prompt, *, is_tainted: bool) -> Saying:
    """The answer to a prompt. Its addresses are known, and so is what stands in its instructions alone."""
    instructions = "\n".join(message.content for message in prompt.messages if message.role == "system")
    told = [message.content for message in prompt.messages if message.role != "system"]
    withheld = key_like(instructions, told) if is_tainted else ()
    return Saying(prompt.citable, Shown(is_tainted, told, withheld))
