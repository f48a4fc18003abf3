"""What a model said, made fit to keep: text without NUL and lone surrogates, tokens estimated.

Pure. The one place where model output is cleaned; the guard calls it for every provider.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from app.providers.ports import Message

_UNFIT = re.compile(r"[\x00\ud800-\udfff]")
_HIGH: Final = ("\ud800", "\udbff")
_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
# Order matters: an escaped backslash and a whole pair are stepped over before a lone half can match.
_ESCAPE = re.compile(rf"(\\\\|{_PAIR})|\\u0000|\\u[dD][89a-fA-F][0-9a-fA-F]{{2}}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af]")


def clean(text: str) -> str:
    """`text` without NUL and lone surrogates; the halves of one pair become the character they are."""
    if not _UNFIT.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return joined.replace("\x00", "")


def clean_json(text: str) -> str:
    """JSON text, also without the escapes that would become NUL or a lone surrogate when parsed."""
    return _ESCAPE.sub(lambda found: found.group(1) or "", clean(text))


class TextCleaner:
    """`clean` over a stream: the first half of a pair waits for the piece that brings the other half."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        piece = self._half + piece
        self._half = ""
        if piece and _HIGH[0] <= piece[-1] <= _HIGH[1]:
            piece, self._half = piece[:-1], piece[-1]
        return clean(piece)


def estimate_tokens(text: str) -> int:
    """A rough count, high rather than low: one per CJK character, one per four others."""
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // 4)


def estimate_prompt_tokens(messages: Iterable[Message]) -> int:
    """As `estimate_tokens`, with the few tokens that frame each message."""
    return sum(
        4 + estimate_tokens(m.content) + sum(estimate_tokens(c.name + c.arguments) for c in m.tool_calls)
        for m in messages
    )
