"""A few threads that work through items one at a time: urgent orders first, the others as they came, small ones
and large ones in turns.

Made for native code that releases the interpreter's lock. Knows nothing of what the work is.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar, cast

from app.providers.ports import ProviderDown

SMALL: Final = 32
"""Items of an order that need not wait behind a long import."""

In = TypeVar("In")
Out = TypeVar("Out")


class _Order(Generic[In, Out]):
    """The items of one `run`, and where their results go. Touched only under the lanes' lock."""

    def __init__(self, items: Sequence[In], loop: asyncio.AbstractEventLoop) -> None:
        self.items = items
        self.results: list[Out | None] = [None] * len(items)
        self.next = 0
        self.missing = len(items)
        self.closed = False
        self.loop = loop
        self.done: asyncio.Future[list[Out]] = loop.create_future()

    def settle(self, error: BaseException | None = None) -> None:
        """Wake the waiting task, from whichever thread; at most once."""
        self.closed = True
        with contextlib.suppress(RuntimeError):  # its loop is gone, and so is whoever waited
            self.loop.call_soon_threadsafe(self._resolve, error)

    def _resolve(self, error: BaseException | None) -> None:
        if self.done.done():
            return
        if error is not None:
            self.done.set_exception(error)
        else:
            self.done.set_result(cast("list[Out]", self.results))


class Lanes(Generic[In, Out]):
    """`prepare` runs once at the start of each thread.

    The threads exist between `open` and `close` and do not survive a fork: open in the process that
    embeds.
    """

    def __init__(
        self, work: Callable[[In], Out], threads: int, name: str, prepare: Callable[[], None] | None = None
    ) -> None:
        self._work = work
        self._prepare = prepare
        self._count = threads
        self._name = name
        self._changed = threading.Condition()
        self._urgent: deque[_Order[In, Out]] = deque()
        self._small: deque[_Order[In, Out]] = deque()
        self._large: deque[_Order[In, Out]] = deque()
        self._is_small_next = True
        self._threads: list[threading.Thread] = []
        self._stopping = False

    def open(self) -> None:
        self._stopping = False
        # Daemons, so that a crashing process is not kept alive; the exit hook still lets them end
        # before the interpreter does, since native code must not wake up in a dead one.
        atexit.register(self.close)
        self._threads = [
            threading.Thread(target=self._lane, name=f"{self._name}-{number}", daemon=True)
            for number in range(self._count)
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Finish the items at hand, fail the orders that are not complete, end the threads. Blocks."""
        atexit.unregister(self.close)
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        self._threads = []
        with self._changed:
            for orders in (self._urgent, self._small, self._large):
                for order in orders:
                    order.settle(ProviderDown("The embedder was closed."))
                orders.clear()

    async def run(self, items: Sequence[In], *, urgent: bool = False) -> list[Out]:
        """Results in the order of `items`. The first failing item fails the order; a cancelled
        order takes no further thread.
        """
        if not items:
            return []
        order: _Order[In, Out] = _Order(items, asyncio.get_running_loop())
        with self._changed:
            if self._stopping or not self._threads:
                raise ProviderDown("The embedder is not open.")
            (self._urgent if urgent else self._small if len(items) <= SMALL else self._large).append(order)
            self._changed.notify(min(len(items), self._count))
        try:
            return await order.done
        finally:
            with self._changed:
                order.closed = True

    def _lane(self) -> None:
        if self._prepare is not None:
            self._prepare()
        while (taken := self._take()) is not None:
            order, at = taken
            try:
                result = self._work(order.items[at])
            except Exception as error:  # whatever it is, it belongs to the task that waits for it
                with self._changed:
                    if not order.closed:
                        order.settle(error)
            else:
                with self._changed:
                    order.results[at] = result
                    order.missing -= 1
                    if order.missing == 0 and not order.closed:
                        order.settle()

    def _take(self) -> tuple[_Order[In, Out], int] | None:
        with self._changed:
            while not self._stopping:
                pair = (self._small, self._large) if self._is_small_next else (self._large, self._small)
                for orders in (self._urgent, *pair):
                    while orders:
                        order = orders[0]
                        if order.closed:
                            orders.popleft()
                            continue
                        at, order.next = order.next, order.next + 1
                        if order.next == len(order.items):
                            orders.popleft()
                        # One after the other, not all side by side: they would all be done at the same moment, and
                        # the lanes idle while whoever waited for them writes.
                        if orders is not self._urgent:
                            self._is_small_next = orders is self._large
                        return order, at
                self._changed.wait()
            return None
