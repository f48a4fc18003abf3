"""Takes out of a text what would harm an embedder: characters that cannot be carried, and its own markers."""

from __future__ import annotations

import re
from typing import Final

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` without NUL and lone surrogates, which a file parser or a model may have left in it."""
    return _UNSTORABLE.sub("", text)


_MARKER: Final = re.compile("[<＜](?=([/／]?s|pad|unk|mask)[>＞])")


def spelt_out(text: str) -> str:
    """`text` with `<s>` and its like pulled apart: XLM-RoBERTa's vocabulary has them as pieces that always win."""
    return _MARKER.sub("< ", text)
