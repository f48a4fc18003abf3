"""The tools of one answer and the account of what was called: bounded, checked, each call at most once.

Knows no provider: it takes what a model asked for and gives what the model is to be told.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from app.chat.settings import ToolSettings
from app.chat.tool_arguments import BadArguments, canonical, read_arguments
from app.chat.tools import Tool, ToolContext, ToolOutcome
from app.core.errors import MindConeError
from app.core.log import get
from app.providers.ports import ToolCall, ToolSpec
from app.text.normalise import clean

log = get(__name__)

# running: begun; only a process that died leaves it so. done, failed: what the tool said. invalid: no such tool, or
# arguments that it does not take. repeated: called before in this turn. refused: too many.
CallState = Literal["running", "done", "failed", "invalid", "repeated", "refused"]

_NAME_CHARS: Final = 100
_STORED_CHARS: Final = 8000
# How long a call that is under way may take when the turn is stopped: it may have written already.
_LAST_SECONDS: Final = 5.0

_SPENT: Final = "No more tools in this turn. Answer now with what you have."
_REPEATED: Final = "You have called this with the same arguments already in this turn; it was not done again."


@dataclass(slots=True)
class Called:
    """One call and what came of it. `at`: how much of the answer was said before. `text` is what the model is told."""

    id: str
    name: str
    arguments: str
    at: int
    state: CallState = "running"
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] | None = None

    @property
    def is_readable(self) -> bool:
        """Whether the arguments are a JSON object of a size that can be told again."""
        try:
            return self.given is not None or (
                len(self.arguments) <= _STORED_CHARS and isinstance(json.loads(self.arguments), dict)
            )
        except (ValueError, RecursionError):
            return False

    def stored(self) -> dict[str, Any]:
        """As a message keeps it and the wire shows it."""
        return {
            "id": self.id[:_NAME_CHARS],
            "name": self.name[:_NAME_CHARS],
            "arguments": self.given if self.given is not None else self.arguments[:_STORED_CHARS],
            "at": self.at,
            "state": self.state,
            "text": self.text[:_STORED_CHARS],
            "data": dict(self.data),
        }


class Toolbox:
    """`calls` are all so far, in their order. `hide` takes out of their arguments what nobody may be told."""

    def __init__(self, tools: Sequence[Tool], settings: ToolSettings) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._settings = settings
        self._seen: set[tuple[str, str]] = set()
        self.hide: Callable[[str], str] = str
        self.calls: list[Called] = []

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return [tool.spec for tool in self._tools.values()]

    @property
    def is_spent(self) -> bool:
        return len(self.calls) >= self._settings.tool_max_calls

    def begin(self, call: ToolCall, at: int) -> Called:
        """Take up a call; one that is not to be run is settled already."""
        called = Called(clean(call.id), clean(call.name), self.hide(clean(call.arguments)), at)
        if self.is_spent:
            called.state, called.text = "refused", _SPENT
            # What nobody will run is told to the model, and not kept without end.
            if len(self.calls) < 2 * self._settings.tool_max_calls:
                self.calls.append(called)
            return called
        self.calls.append(called)
        tool = self._tools.get(call.name)
        if tool is None:
            names = ", ".join(self._tools)
            called.state, called.text = "invalid", f"There is no such tool. There are: {names}."
            return called
        try:
            called.given = read_arguments(called.arguments, tool.spec.parameters)
        except BadArguments as error:
            called.state, called.text = "invalid", str(error)
            return called
        key = (call.name, canonical(called.given))
        if key in self._seen:
            called.state, called.text = "repeated", _REPEATED
        self._seen.add(key)
        return called

    async def run(self, called: Called, context: ToolContext) -> None:
        """Do it. A turn that is stopped meanwhile waits a moment for what has begun, so that its account is true."""
        work = asyncio.create_task(self._outcome(called, context), name=f"tool-{called.name}")
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work}, timeout=_LAST_SECONDS)
            if not work.done():
                work.cancel()
                with suppress(asyncio.CancelledError):
                    await work
            raise
        finally:
            if work.done() and not work.cancelled():
                outcome = work.result()
                called.state = "failed" if outcome.is_error else "done"
                called.text, called.data = clean(outcome.text), _plain(outcome.data)

    async def _outcome(self, called: Called, context: ToolContext) -> ToolOutcome:
        assert called.given is not None
        try:
            async with asyncio.timeout(self._settings.tool_seconds):
                return await self._tools[called.name].call(context, called.given)
        except MindConeError as error:
            return ToolOutcome(f"{error.code}: {error.detail}", {"code": error.code}, is_error=True)
        except TimeoutError:
            return ToolOutcome("The tool took too long.", {"code": "tool_timeout"}, is_error=True)
        except Exception as error:
            log.error("tool_failed", tool=called.name, exc_info=error)
            return ToolOutcome("The tool failed.", {"code": "internal"}, is_error=True)


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON, so that the database and the wire take it."""
    plain: dict[str, Any] = json.loads(clean(json.dumps(dict(data), ensure_ascii=False, default=str)))
    return plain
