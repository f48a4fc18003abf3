"""Server-sent events, parsed incrementally: bytes in, events out, wherever the bytes were cut.

Pure. Knows the text/event-stream format of the HTML standard and nothing of any AI provider.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from app.providers.ports import ProviderGarbled

MAX_LINE_BYTES: Final = 1 << 20

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One dispatched event; several `data` lines are joined by line feeds."""

    data: str
    kind: str = "message"


class SseParser:
    """Feed it what the network gives; it never looks at a character before its line is whole, so a
    multibyte character may be split anywhere. Bytes that are no UTF-8 become U+FFFD.
    """

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_line_bytes
        self._partial = bytearray()
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._kind = ""
        self._swallow_lf = False
        self._first_line = True

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that `chunk` completes. Raises ProviderGarbled beyond the line cap."""
        if not chunk:
            return []
        if self._swallow_lf and chunk[:1] == b"\n":
            chunk = chunk[1:]
        self._swallow_lf = chunk.endswith(b"\r")
        events: list[ServerEvent] = []
        start = 0
        for end in _LINE_END.finditer(chunk):
            self._partial += chunk[start : end.start()]
            start = end.end()
            self._take_line(events)
        self._partial += chunk[start:]
        self._check(len(self._partial))
        return events

    def close(self) -> list[ServerEvent]:
        """What the end of the stream completes: servers may leave out the last blank line."""
        events: list[ServerEvent] = []
        if self._partial:
            self._take_line(events)
        self._dispatch(events)
        return events

    def _take_line(self, events: list[ServerEvent]) -> None:
        line = bytes(self._partial)
        self._partial.clear()
        self._check(len(line))
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BOM)
        if not line:
            self._dispatch(events)
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data_bytes += len(value)
            self._check(self._data_bytes)
            self._data.append(value)
        elif field == b"event":
            self._kind = value.decode("utf-8", "replace")

    def _dispatch(self, events: list[ServerEvent]) -> None:
        if self._data:
            data = "\n".join(line.decode("utf-8", "replace") for line in self._data)
            events.append(ServerEvent(data, self._kind or "message"))
        self._data.clear()
        self._data_bytes = 0
        self._kind = ""

    def _check(self, size_bytes: int) -> None:
        """One cap for a line and for an event: many short lines fill the memory just as well."""
        if size_bytes > self._max_bytes:
            raise ProviderGarbled("The provider sent a line that is too long.", limit_bytes=self._max_bytes)
