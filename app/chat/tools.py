"""The port of tools: what a model may do besides speaking. Knows no tool and no provider.

A tool refuses by an outcome that is an error, or by an error of ours, which comes to the same; the model reads why, and
the turn goes on.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.providers.ports import ToolSpec


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where, and for whom, a tool is called. `message_id` is the answer in the making. `may_write`: whoever asked may
    change the workspace, not only talk. `is_tainted`: text that nobody vouches for (retrieved cards, reports, insights
    of other branches) stands in the prompt, so the wish may be somebody else's.
    """

    workspace_id: uuid.UUID
    conversation_id: uuid.UUID
    branch_id: uuid.UUID
    message_id: uuid.UUID
    may_write: bool
    is_tainted: bool


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """`text` is for the model and never holds what nobody vouches for; `data` is for whoever watches: JSON values."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False


class Tool(Protocol):
    @property
    def spec(self) -> ToolSpec:
        """Its parameters are a JSON schema; arguments that do not match it never reach `call`."""
        ...

    async def call(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Do it, in units of work of its own. Called again with the same arguments it must bear it."""
        ...
