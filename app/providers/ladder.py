"""From what a model wrote to the JSON value that it meant, rung by rung. Pure.

Strict JSON → a code fence → the balanced object among prose → full-width punctuation → repair. Knows nothing of
entities: who calls says which values are wanted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

import json_repair

from app.providers.ports import ProviderGarbled

Rung = Literal["strict", "fence", "braces", "punctuation", "repair"]
Wanted = Callable[[Any], bool]

_MAX_CHARS: Final = 400_000
_MAX_STARTS: Final = 200
"""Places at which an object is looked for; prose has few."""
_MAX_FENCED: Final = 20

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
_THINKING = re.compile(r"\s*<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL)
_OPEN_FENCE = re.compile(r"```[ \t]*[A-Za-z0-9_+-]*[ \t]*\r?\n?")
_OUTER_FENCE = re.compile(_OPEN_FENCE.pattern + "(.*)```", re.DOTALL)
_FENCED = re.compile(_OPEN_FENCE.pattern + "(.*?)```", re.DOTALL)
_OPENER = re.compile(r"[{\[]")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
# Repairing such a thing takes quadratic time, and no answer looks like it.
_BOMB = re.compile(r"(?:[{\[]\s*){24}")
_DECODER: Final = json.JSONDecoder(strict=False)


class NotJson(ProviderGarbled):
    """The model's answer is not the JSON that was asked for."""

    code: ClassVar[str] = "answer_not_json"


@dataclass(frozen=True, slots=True)
class Parsed:
    """`cut`: the text ended before its JSON did, so that something is missing from `value`."""

    value: Any
    rung: Rung
    cut: bool = False


def climb(text: str, wanted: Wanted) -> Parsed:
    """The first wanted value on the lowest rung that holds one; of several objects on one rung the largest.

    An answer that is nothing but `{}` or `[]` is taken as it is. Raises NotJson, whose detail can be told to the model.
    """
    if len(text) > _MAX_CHARS:
        raise NotJson("The answer is too long.")
    text = _THINKING.sub("", _CONTROL.sub(" ", text), count=1).strip()
    if not text:
        raise NotJson("The answer is empty.")
    for rung, value in _as_written(text, wanted):
        return Parsed(value, rung)
    plain = ascii_structure(text)
    if plain != text:
        for _, value in _as_written(plain, wanted):
            return Parsed(value, "punctuation")
    body = _body(plain)
    if body:
        repaired = _largest(_repaired(body), wanted)
        if repaired is not None:
            return Parsed(repaired, "repair", cut=_is_cut(body))
    raise NotJson(_complaint(plain))


def _as_written(text: str, wanted: Wanted) -> Iterator[tuple[Rung, Any]]:
    """What can be read without changing a character, best rung first."""
    whole = _loads(text)
    if whole == {} or whole == [] or wanted(whole):
        yield "strict", whole
    # The first and last fence first: what lies between may hold fences itself.
    for body in [*_OUTER_FENCE.findall(text), *_FENCED.findall(text)[:_MAX_FENCED]]:
        inside = _loads(body)
        if inside == {} or inside == [] or wanted(inside):
            yield "fence", inside
    found = _largest_object(text, wanted)
    if found is not None:
        yield "braces", found


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _largest_object(text: str, wanted: Wanted) -> Any:
    """The largest wanted value that begins at some bracket, if it is most of what stands between the brackets.

    Otherwise the answer is one broken object, and this is only a piece of it.
    """
    first = max(text.find("{"), 0)
    extent = text.rfind("}") + 1 - first
    best: Any = None
    best_size = extent // 2
    at = 0
    for _ in range(_MAX_STARTS):
        opener = _OPENER.search(text, at)
        if opener is None:
            break
        at = opener.start()
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        outermost = isinstance(value, dict) or at < first  # a list inside of an object is not the answer
        if end - at > best_size and outermost and wanted(value):
            best, best_size = value, end - at
        at = end
    return best


def _repaired(body: str) -> Any:
    if _BOMB.search(body):
        return None
    try:
        return json_repair.loads(body, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, TypeError, AttributeError):
        return None


def _largest(value: Any, wanted: Wanted) -> Any:
    """Several objects in one text are repaired to a list of them."""
    members = [one for one in value if isinstance(one, dict) and wanted(one)] if isinstance(value, list) else []
    if members:
        return max(members, key=lambda one: len(json.dumps(one)))
    return value if wanted(value) else None


def _body(text: str) -> str:
    """The text from its first bracket on, behind an opening fence if there is one."""
    fence = _OPEN_FENCE.search(text)
    opener = _OPENER.search(text, fence.end() if fence else 0) or _OPENER.search(text)
    if opener is None:
        return ""
    body = text[opener.start() :].rstrip()
    return body.removesuffix("```").rstrip() if fence else body


def _is_cut(body: str) -> bool:
    bare = _STRING.sub("", body)
    opened = bare.count("{") + bare.count("[")
    return opened > bare.count("}") + bare.count("]") or '"' in bare


def _complaint(text: str) -> str:
    if not _OPENER.search(text):
        return "There is no JSON object in the answer."
    try:
        json.loads(_body(text), strict=False)
    except RecursionError:
        return "The JSON is nested too deeply."
    except ValueError as error:
        return f"The answer is not valid JSON: {error}."
    return "The JSON has none of the keys that were asked for."


# ------------------------------------------------------------------------ full-width punctuation

_STRUCTURE: Final = str.maketrans("｛｝［］【】：，、", "{}[][]:,,")
_FULL_WIDTH = re.compile(r"[｛｝［］【】：，、“”„‟＂「」]")
_QUOTES: Final = '"“”„‟＂「」'
_OPENING: Final = "“„「"
_STRUCTURAL: Final = ",:}]，：｝］、】"
_STOP_PLAIN = re.compile(r'[\\"“”＂]')
_STOP_TYPED = re.compile(rf"[\\{_QUOTES}]")
_SPACE = re.compile(r"\s*")


def ascii_structure(text: str) -> str:
    """`text` with ASCII brackets, colons, commas and quotation marks where they are the structure of JSON; what stands
    inside strings stays. `｛“name”：“张三”｝` → `{"name":"张三"}`.
    """
    if not _FULL_WIDTH.search(text):
        return text
    out: list[str] = []
    at = 0
    for _ in range(len(text)):
        quote = _find_quote(text, at)
        out.append(text[at:quote].translate(_STRUCTURE))
        if quote == len(text):
            break
        string, at = _string(text, quote)
        out.append(string)
    return "".join(out)


_ANY_QUOTE = re.compile(f"[{_QUOTES}]")


def _find_quote(text: str, at: int) -> int:
    found = _ANY_QUOTE.search(text, at)
    return found.start() if found else len(text)


def _string(text: str, start: int) -> tuple[str, int]:
    """The string that begins with the quotation mark at `start`, as ASCII JSON, and where it ends.

    A mark closes if it is ASCII and the opening one is; otherwise if structure follows. Pairs inside are kept.
    """
    plain = text[start] == '"'
    stop = _STOP_PLAIN if plain else _STOP_TYPED
    out = ['"']
    depth = 0
    at = start + 1
    while (found := stop.search(text, at)) is not None:
        mark, place = found.group(), found.start()
        out.append(text[at:place])
        at = place + 1
        if mark == "\\":
            out.append(text[place : place + 2])
            at = place + 2
        elif plain and mark == '"':
            out.append('"')
            return "".join(out), at
        elif mark in _OPENING and not _before_structure(text, at):
            depth += 1
            out.append(mark)
        elif depth and mark in "”」":
            depth -= 1
            out.append(mark)
        elif _before_structure(text, at):
            out.append('"')
            return "".join(out), at
        else:
            out.append('\\"' if mark == '"' else mark)
    return "".join([*out, text[at:]]), len(text)


def _before_structure(text: str, at: int) -> bool:
    space = _SPACE.match(text, at)
    after = space.end() if space else at
    return after == len(text) or text[after] in _STRUCTURAL
