"""What the router's classifier sees of a question: hashed character n-grams, with names, numbers and quotations masked,
and cues.

Pure. A question's form tells its level; whom it is about does not, so names become a sign. Training and answering share
this file: whoever changes it trains again (`python -m bench.router.train`).
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from app.retrieval.route_cues import CUES
from app.text.normalise import HAN, fold

BUCKETS: Final = 1 << 15
_PAIRS: Final = BUCKETS + len(CUES)
ROWS: Final = _PAIRS + len(CUES) ** 2
LENGTHS: Final = range(1, 4)
CUE_VALUE: Final = 1.0
PAIR_VALUE: Final = 0.5
# The beginning and the end of a question tell what is wanted; a pasted text in between does not.
_HEAD, _TAIL = 240, 120

_TITLE = re.compile(r"《[^》]{1,120}》")
_QUOTED = re.compile(r"「[^」]{1,120}」|“[^”]{1,120}”|\"[^\"]{1,120}\"|`[^`]{1,120}`")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_LATIN_WORD = re.compile(r"[^\W\d_]+")
# A capital inside a sentence, or inside a word: a name, more often than not.
_LANGUAGES = "Python|JavaScript|TypeScript|Java|Rust|Go|SQL|JSON|Bash|HTML|CSS|C|Markdown|Makefile|Dockerfile"
_CAPITAL = rf"(?!(?:I|{_LANGUAGES})\b)[A-Z][\w.+#'’-]*"
_NAME = re.compile(rf"(?<=[\w,;:—{HAN}] ){_CAPITAL}(?: {_CAPITAL})*|(?<=[{HAN}]){_CAPITAL}(?: {_CAPITAL})*", re.ASCII)
_INNER_CAPITAL = re.compile(
    rf"\b(?!(?:{_LANGUAGES})\b)[A-Za-z]*[a-z][A-Z]\w*|\b(?!(?:{_LANGUAGES})\b)[A-Z]{{2,}}\b(?= ?[a-z])", re.ASCII
)
# What people put in front of a question of any kind.
_POLITE = re.compile(
    r"^(?:(?:please|hey|hi|hello|so|well|ok|okay|um|quick question|urgent)[,:]? (?=\w+ \w+ )|(?:can|could|"
    r"would) you (?:please )?(?:tell me|help me)[,:]? |"
    r"please tell me:? |tell me[,:] |i(?:'d| would) like to know[,:]? |i want to know[,:]? |do you know |i wonder |"
    r"(?:请问|麻烦问一下|帮我看看|我想知道|我想问(?:一下|问)?|想问(?:一下|问)?|你能告诉我吗|能不能告诉我|你知道|"
    r"急|嗨|你好)[，,：: ]+|请问|我想知道|麻烦(?:问一下)?)+"
)
_BLANK = re.compile(r"\s+")
_NAME_SIGN, _QUOTE_SIGN, _TITLE_SIGN = "§", "¶", "¤"
_BEGIN, _END = "\x02", "\x03"


def masked(text: str) -> str:
    """`text` as the classifier reads it: short, folded, with signs in place of what it is about."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} … {text[-_TAIL:]}"
    text = _TITLE.sub(f" {_TITLE_SIGN} ", _BLANK.sub(" ", text))
    text = _QUOTED.sub(f" {_QUOTE_SIGN} ", text)
    words = _LATIN_WORD.findall(text)
    # In a title each word has a capital: there it tells nothing.
    if sum(word[0].isupper() for word in words) <= len(words) * 0.6 or re.search(f"[{HAN}]", text):
        text = _INNER_CAPITAL.sub(_NAME_SIGN, _NAME.sub(_NAME_SIGN, text))
    text = _NUMBER.sub("0", fold(text))
    text = _BLANK.sub(" ", text).strip(" .?!。？！…~～\ufeff")
    return _POLITE.sub("", text) or text


def features(text: str, seen: list[int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Rows of the weights that a masked `text` and its cues call for, and how much each counts: all n-grams together as
    much as one cue, however long the text is.
    """
    grams = _buckets(text)
    pairs = [_PAIRS + first * len(CUES) + second for first, second in combinations(seen, 2)]
    rows = np.concatenate([grams, np.array([BUCKETS + cue for cue in seen] + pairs, np.int64)])
    values = np.full(len(rows), 1 / np.sqrt(len(grams)), np.float32)
    values[len(grams) :] = CUE_VALUE
    values[len(rows) - len(pairs) :] = PAIR_VALUE
    return rows, values


def _buckets(text: str) -> npt.NDArray[np.int64]:
    """Sorted, each once: FNV-1a over code points, one hash per n-gram."""
    points = np.frombuffer(f"{_BEGIN}{text}{_END}".encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    hashed = np.full(len(points), 0xCBF29CE484222325, np.uint64)
    found = []
    for length in LENGTHS:
        if length > len(points):
            break
        # The hash of n-1 points from each place, and the point behind them.
        hashed = (hashed[: len(points) - length + 1] ^ points[length - 1 :]) * np.uint64(0x100000001B3)
        found.append((hashed ^ (hashed >> np.uint64(29))) % np.uint64(BUCKETS))
    return np.unique(np.concatenate(found)).astype(np.int64)
