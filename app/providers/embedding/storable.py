"""Takes out of a text what neither UTF-8 nor a C string can carry. Knows nothing else."""

from __future__ import annotations

import re
from typing import Final

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` without NUL and lone surrogates, which a file parser or a model may have left in it."""
    return _UNSTORABLE.sub("", text)
