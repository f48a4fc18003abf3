"""The two ports through which MindCone talks to AI models, and the errors that come out of them.

Everything here is plain data. Wire dialects, embedders and the offline provider implement the
protocols; nobody above this room knows which one is at work.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from app.core.errors import MindConeError

Vector = npt.NDArray[np.float32]

# ---------------------------------------------------------------------------------- embedding


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Which vectors may be compared with which: same provider, model and dimension.

    `sparse` says that the model also gives lexical weights (BGE-M3), as
    `sparsevec(sparse_dimension)`.
    """

    provider: str
    model: str
    dimension: int
    sparse: bool = False
    sparse_dimension: int = 250_002

    @property
    def key(self) -> str:
        """Stable name, e.g. `embedded/multilingual-e5-small/384`."""
        return f"{self.provider}/{self.model}/{self.dimension}"


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Vectors of n texts, in their order.

    `dense`: float32, shape (n, dimension), rows of unit norm.
    `sparse`: one {token id: weight > 0} per text, or None where the space has none.
    `truncated`: indices of texts that were longer than the model's window.
    """

    dense: Vector
    sparse: Sequence[Mapping[int, float]] | None = None
    truncated: frozenset[int] = frozenset()


class Embedder(Protocol):
    """Turns texts into vectors of one space. Safe to call from many tasks at once."""

    @property
    def space(self) -> EmbeddingSpace: ...

    @property
    def max_tokens(self) -> int:
        """Longest text, in the model's own tokens, that is embedded whole."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` without the model's special tokens and prefixes."""
        ...

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        """Vectors of texts to be found. Raises ProviderError."""
        ...

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        """Vectors of questions. Raises ProviderError."""
        ...

    async def open(self) -> None:
        """Load weights or connect, off the event loop; check model and dimension."""
        ...

    async def close(self) -> None: ...


# --------------------------------------------------------------------------------------- chat

Role = Literal["system", "user", "assistant", "tool"]
StopReason = Literal["stop", "length", "tool_calls", "content_filter", "truncated"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function the model wants called; `arguments` is the raw JSON text it wrote.

    `carried` is what its provider wants to see again with the call, as (the dialect's name for it, value): the
    signature or the thoughts that came with it. It means nothing to anybody else; hand the call back as it is.
    """

    id: str
    name: str
    arguments: str
    carried: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the prompt. What a tool gave has the role `tool` and the id of the call it answers; several
    results in a row answer the calls of the assistant's message before them.
    """

    role: Role
    content: str
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A function offered to the model; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """One piece of evidence in the prompt, as the offline provider needs it: uncut and marked. `text[slice(*focus)]`
    is what matched the question best. A report condenses many notes; `rests_on` are the markers of some of them. A
    theme is what a report is about, rather than what it says to the question.
    """

    marker: str
    title: str
    text: str
    score: float = 0.0
    focus: tuple[int, int] | None = None
    kind: Literal["card", "report", "memory"] = "card"
    rests_on: Sequence[str] = ()
    is_theme: bool = False


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One model call. `question` and `sources` repeat what the messages already say in words;
    wire dialects ignore them, the offline provider answers from them. `told` is what was said in the
    conversation, where the question asks about that; it has no markers.

    `tool_choice` `none` keeps the tools that earlier messages called known, and lets none be called now.
    `max_tokens` bounds what is said; room for thoughts that nobody sees comes on top.
    """

    messages: Sequence[Message]
    model: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    tools: Sequence[ToolSpec] = ()
    tool_choice: Literal["auto", "none"] = "auto"
    json_schema: Mapping[str, Any] | None = None
    question: str = ""
    sources: Sequence[Source] = ()
    told: Sequence[Source] = ()
    purpose: Literal["answer", "summarise", "extract", "title"] = "answer"


@dataclass(frozen=True, slots=True)
class Text:
    """Visible text, a piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them; `estimated` when it did not say."""

    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of every stream that did not fail. A stream that ended without its
    terminal event is `truncated`. `provider` and `model` say who spoke where that may be a stand-in.
    """

    reason: StopReason
    usage: Usage = field(default_factory=Usage)
    tool_calls: Sequence[ToolCall] = ()
    provider: str = ""
    model: str = ""


ChatEvent = Text | Finished


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do. `json_schema`: the provider itself holds answers to a schema. `temperature`: it may be
    chosen; where it may not, it is left out of requests.
    """

    context_window: int
    tools: bool = False
    json_schema: bool = False
    streaming: bool = True
    temperature: bool = True


class ChatProvider(Protocol):
    """One endpoint that speaks; streaming is the primitive, everything else collects it."""

    @property
    def name(self) -> str: ...

    @property
    def default_model(self) -> str: ...

    def capabilities(self, model: str | None = None) -> Capabilities: ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        """Zero or more `Text`, then exactly one `Finished`. Raises ProviderError; after the first
        `Text` an error is never retried.
        """
        ...

    async def open(self) -> None: ...

    async def close(self) -> None: ...


# ------------------------------------------------------------------------------------- errors


class ProviderError(MindConeError):
    """The AI provider could not do it."""

    code: ClassVar[str] = "provider_error"
    retryable: ClassVar[bool] = False


class MissingKey(ProviderError):
    """No API key is configured for this provider."""

    code = "provider_missing_key"


class ProviderRefused(ProviderError):
    """The provider refused the request (bad request, bad key, unknown model)."""

    code = "provider_refused"


class ProviderBusy(ProviderError):
    """The provider asks to come back later."""

    code = "provider_busy"
    retryable = True

    def __init__(self, detail: str | None = None, *, retry_after_seconds: float | None = None, **extra: Any) -> None:
        super().__init__(detail, **extra)
        self.retry_after_seconds = retry_after_seconds


class ProviderDown(ProviderError):
    """The provider cannot be reached or fails."""

    code = "provider_down"
    retryable = True


class ProviderTimeout(ProviderDown):
    """The provider did not answer in time."""

    code = "provider_timeout"


class ProviderGarbled(ProviderError):
    """The provider's answer does not follow its protocol."""

    code = "provider_garbled"


class DimensionMismatch(ProviderError):
    """The model gives vectors of another dimension than the space it is configured for."""

    code = "dimension_mismatch"
