"""What the answers of all dialects have in common while they arrive: text, tool calls, usage, an end or none.

Pure. A dialect says what its chunks mean; here is decided what counts as whole.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from app.providers.ports import (
    Finished,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ProviderGarbled,
    ProviderRefused,
    StopReason,
    ToolCall,
    Usage,
)
from app.providers.sse import ServerEvent
from app.providers.transport import status_error, upstream_code

# How errors inside a stream are told apart: by words in their code or type.
_BUSY: Final = ("rate_limit", "overloaded", "busy", "throttl", "exhausted")
_REFUSED: Final = (
    *("invalid", "context_length", "too_large", "failed_precondition"),
    *("auth", "permission", "not_found", "quota", "billing", "filter"),
)
_NONE_SAID: Final = object()


@dataclass(slots=True)
class Call:
    """A tool call while it arrives."""

    id: str = ""
    name: str = ""
    arguments: str = ""
    carried: tuple[str, str] | None = None


class WireAnswer:
    """Collects one answer. `spoke`: something visible was said; `ended`: nothing more is to come. Chunks and fields
    that are null, missing or of another type are stepped over.
    """

    REASONS: ClassVar[Mapping[str, StopReason]] = {}
    """What the dialect's servers were seen to say. Anything else is not known to be an end."""

    def __init__(self) -> None:
        self.spoke = False
        self.ended = False
        self._reason: str | None = None
        self._usage = Usage()

    def take(self, event: ServerEvent) -> str:
        """The visible text of one event. Raises ProviderError for an error that came after the 200."""
        raise NotImplementedError

    def take_whole(self, body: bytes) -> str:
        """The text of an answer that came as one JSON document."""
        raise NotImplementedError

    def is_last(self, data: str) -> bool:
        """Whether the last event of a body may be this, which no blank line followed: else it was cut in the middle."""
        return is_json(data)

    def close(self) -> None:
        """The body came to its own end."""

    def finished(self) -> Finished:
        """The last event. Without a reason and an end the answer is `truncated`; raises ProviderDown if it is also
        empty, because then trying again repeats nothing.
        """
        if not (self.ended and self._reason):
            if not self.spoke:
                raise ProviderDown("The provider's answer ended before it began.")
            return Finished("truncated", self._usage)
        reason = self.REASONS.get(self._reason, "truncated")
        calls = tuple(
            ToolCall(call.id or made_id(), call.name, call.arguments, call.carried)
            for call in self._all_calls()
            if call.name
        )
        if calls and reason == "stop":  # some servers call tools and say "stop"
            reason = "tool_calls"
        if reason == "tool_calls" and not calls:  # nothing to call: the turn is over
            reason = "stop" if self.spoke else "truncated"
        # Calls of an answer that was cut short may be cut themselves, and must not run.
        return Finished(reason, self._usage, calls if reason == "tool_calls" else ())

    def _all_calls(self) -> Iterable[Call]:
        raise NotImplementedError

    def _say(self, text: Any) -> str:
        if not isinstance(text, str):
            return ""
        self.spoke = self.spoke or bool(text)
        return text

    def _end_for(self, reason: Any) -> None:
        if isinstance(reason, str) and reason:
            self._reason = reason


_MADE: Final = "made-"


def made_id() -> str:
    """An id for a call whose provider gave it none."""
    return _MADE + uuid.uuid4().hex[:16]


def is_made(call_id: str) -> bool:
    return call_id.startswith(_MADE)


def parsed(data: str) -> Any:
    """Raises ProviderGarbled."""
    try:
        return json.loads(data, strict=False)
    except (ValueError, RecursionError) as error:
        raise ProviderGarbled from error


def is_json(data: str) -> bool:
    try:
        parsed(data)
    except ProviderGarbled:
        return False
    return True


def arguments_object(arguments: str) -> dict[str, Any]:
    """The arguments of a call for dialects that want an object. What a model wrote wrongly is shown as it stands."""
    try:
        value = json.loads(arguments, strict=False) if arguments.strip() else {}
    except (ValueError, RecursionError):
        value = _NONE_SAID
    return value if isinstance(value, dict) else {"arguments": arguments}


def count(value: Any) -> int:
    return max(0, value) if isinstance(value, int) else 0


def stream_error(error: Any) -> ProviderError:
    """The error of a stream whose status was 200, told by its code in numbers or words."""
    fields = error if isinstance(error, dict) else {}
    for key in ("code", "status", "status_code"):
        number = str(fields.get(key, ""))
        if number.isascii() and number.isdigit() and 400 <= int(number) < 600:
            return status_error(int(number), {})
    code = upstream_code(json.dumps(fields).encode()) or "no code"
    words = " ".join(str(fields.get(key, "")) for key in ("code", "type", "status")).lower()
    if any(sign in words for sign in _BUSY):
        return ProviderBusy(f"The provider asks to come back later ({code}).", upstream_code=code)
    if any(sign in words for sign in _REFUSED):
        return ProviderRefused(f"The provider refused the request ({code}).", upstream_code=code)
    return ProviderDown(f"The provider broke off ({code}).", upstream_code=code)
