"""The threads in which embedders work: who goes first, what a cancelled order costs, how they end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from app.providers.embedding.lanes import SMALL, Lanes
from app.providers.ports import ProviderDown


class Gate:
    """Work that can be held: each item waits for `let`, and is noted when it starts."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.threads: set[str] = set()
        self._permits = threading.Semaphore(0)

    def __call__(self, item: str) -> str:
        self.started.append(item)
        self.threads.add(threading.current_thread().name)
        assert self._permits.acquire(timeout=10)
        if item.startswith("bad"):
            raise ValueError(item)
        return item.upper()

    def let(self, count: int) -> None:
        self._permits.release(count)

    async def until_started(self, count: int) -> None:
        async with asyncio.timeout(10):
            while len(self.started) < count:  # noqa: ASYNC110 - a thread changes it
                await asyncio.sleep(0)


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
async def lane(gate: Gate) -> AsyncIterator[Lanes[str, str]]:
    lanes = Lanes(gate, 1, "test-lane")
    lanes.open()
    yield lanes
    gate.let(1000)
    await asyncio.to_thread(lanes.close)


async def test_questions_pass_and_a_small_order_takes_turns_with_a_large_one(gate: Gate, lane: Lanes[str, str]):
    count = SMALL + 1
    large = asyncio.create_task(lane.run([f"a{n}" for n in range(count)]))
    await gate.until_started(1)
    second = asyncio.create_task(lane.run([f"c{n}" for n in range(count)]))
    small = asyncio.create_task(lane.run(["b0", "b1"]))
    await asyncio.sleep(0)
    question = asyncio.create_task(lane.run(["q1", "q2"], urgent=True))
    await asyncio.sleep(0)
    gate.let(2 * count + 4)
    assert await question == ["Q1", "Q2"]
    assert await small == ["B0", "B1"]
    assert await large == [f"A{n}" for n in range(count)]
    assert await second == [f"C{n}" for n in range(count)]
    rest = [f"a{n}" for n in range(2, count)] + [f"c{n}" for n in range(count)]
    assert gate.started == ["a0", "q1", "q2", "b0", "a1", "b1", *rest]


async def test_orders_of_one_size_are_done_as_they_came(gate: Gate, lane: Lanes[str, str]):
    """Side by side they would all be done at the same moment, and the lanes idle while all of them are written."""
    long = asyncio.create_task(lane.run(["a1", "a2", "a3"]))
    await gate.until_started(1)
    short = asyncio.create_task(lane.run(["b1"]))
    await asyncio.sleep(0)
    question = asyncio.create_task(lane.run(["q1", "q2"], urgent=True))
    await asyncio.sleep(0)
    gate.let(6)
    assert await question == ["Q1", "Q2"]
    assert await short == ["B1"]
    assert await long == ["A1", "A2", "A3"]
    assert gate.started == ["a1", "q1", "q2", "a2", "a3", "b1"]
    assert gate.threads == {"test-lane-0"}


async def test_a_cancelled_order_stops_consuming(gate: Gate, lane: Lanes[str, str]):
    """K4: whoever goes away costs at most the items at hand."""
    task = asyncio.create_task(lane.run([f"a{n}" for n in range(100)]))
    await gate.until_started(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.let(2)
    assert await lane.run(["next"]) == ["NEXT"]
    assert gate.started == ["a0", "next"]


async def test_a_failing_item_fails_its_order_only(gate: Gate, lane: Lanes[str, str]):
    gate.let(100)
    with pytest.raises(ValueError, match="bad"):
        await lane.run(["a", "bad", "never", "never"])
    assert await lane.run(["b"]) == ["B"]
    assert gate.started == ["a", "bad", "b"]


async def test_results_keep_the_order_of_items():
    def slow_when_even(number: int) -> int:
        threading.Event().wait(0.002 if number % 2 == 0 else 0)
        return number * number

    lanes = Lanes(slow_when_even, 4, "squares")
    lanes.open()
    try:
        assert await lanes.run(range(40)) == [number * number for number in range(40)]
        assert await lanes.run([]) == []
    finally:
        lanes.close()


async def test_closing_fails_what_is_not_complete_and_joins(gate: Gate):
    lanes = Lanes(gate, 2, "closing")
    lanes.open()
    task = asyncio.create_task(lanes.run(["a", "b", "c"]))
    await gate.until_started(2)
    closing = asyncio.create_task(asyncio.to_thread(lanes.close))
    async with asyncio.timeout(10):
        while not lanes._stopping:  # noqa: ASYNC110 - a thread changes it
            await asyncio.sleep(0)
    gate.let(2)
    await closing
    with pytest.raises(ProviderDown):
        await task
    assert gate.started == ["a", "b"]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("closing-")]
    with pytest.raises(ProviderDown):
        await lanes.run(["d"])
    lanes.close()  # twice does no harm


async def test_every_thread_is_prepared():
    prepared: list[str] = []
    lanes = Lanes(str, 3, "prepared", prepare=lambda: prepared.append(threading.current_thread().name))
    lanes.open()
    lanes.close()
    assert sorted(prepared) == ["prepared-0", "prepared-1", "prepared-2"]
