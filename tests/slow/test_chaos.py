"""The chaos scripts in small, on real processes: what `bench/chaos/` shows with larger numbers."""

from __future__ import annotations

import pytest

from bench.chaos import conversation, disconnects, embeddings, kill_worker, searches

pytestmark = pytest.mark.slow


async def test_many_searches_at_once_are_answered_or_told_to_come_again() -> None:
    """E13."""
    async with embeddings.serving() as environment:
        assert await searches.run(60, 2, 1, None, **environment) == []


async def test_clients_that_vanish_leave_nothing_running() -> None:
    """E11, K1, K4."""
    async with embeddings.serving() as environment:
        assert await disconnects.run(30, 1, None, **environment) == []


async def test_cards_survive_workers_that_are_killed() -> None:
    """2 workers and the instance's own; every 2 seconds one of them dies."""
    assert await kill_worker.run(200, 2, 2.0, 1, None) == []


async def test_a_conversation_survives_servers_that_are_killed() -> None:
    """K1, M8: 12 turns, 3 of them while the server dies."""
    async with embeddings.serving() as environment:
        assert await conversation.run(12, 3, 1, None, **environment) == []
