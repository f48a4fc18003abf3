"""What a model says, in one piece, for whoever has no use for its coming bit by bit."""

from __future__ import annotations

from contextlib import aclosing

from app.providers.ports import ChatProvider, ChatRequest, Text


async def whole_text(provider: ChatProvider, request: ChatRequest) -> str:
    """Raises ProviderError; then what was said before is lost."""
    pieces: list[str] = []
    async with aclosing(provider.stream(request)) as events:
        async for event in events:
            if isinstance(event, Text):
                pieces.append(event.text)
    return "".join(pieces)
