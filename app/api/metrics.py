"""Prometheus metrics of the doors. Labels have few values: never a workspace, a path or an id."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from app.chat.answer import Answer, Routed
from app.jobs.job import QueueStatus

Event = TypeVar("Event")

_METHODS: Final = frozenset({"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"})
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """One registry per app, so that several apps live in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "mindcone_http_requests",
            "Answered requests",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "mindcone_http_request_seconds",
            "Time until the answer was sent",
            ["method", "route"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._retrieval = Histogram(
            "mindcone_retrieval_seconds",
            "Time per level and step of retrieval",
            ["level", "step"],
            buckets=(0.001, 0.0025, *_SECONDS),
            registry=self.registry,
        )
        self._degraded = Counter(
            "mindcone_retrieval_degraded", "Answers with a leg missing", ["reason"], registry=self.registry
        )
        self._answer_seconds = Histogram(
            "mindcone_answer_seconds",
            "Time to the first word of an answer, and to its last",
            ["level", "step"],
            buckets=(*_SECONDS, 60, 120, 300),
            registry=self.registry,
        )
        self._answers = Counter(
            "mindcone_answers", "Answers by how they ended", ["level", "stop_reason"], registry=self.registry
        )
        self._tokens = Counter(
            "mindcone_answer_tokens", "Tokens that answers took", ["direction"], registry=self.registry
        )
        self._connections = Gauge(
            "mindcone_database_connections", "Pooled connections", ["state"], registry=self.registry
        )
        self._jobs = Gauge("mindcone_jobs", "Jobs by state, over all workspaces", ["state"], registry=self.registry)
        self._oldest = Gauge(
            "mindcone_jobs_oldest_due_seconds", "How long the oldest job has been waiting", registry=self.registry
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def retrieved(self, level: str, timings_ms: Mapping[str, float], degraded: tuple[str, ...]) -> None:
        for step, milliseconds in timings_ms.items():
            self._retrieval.labels(level, step).observe(milliseconds / 1000)
        for reason in degraded:
            self._degraded.labels(reason).inc()

    async def counting(self, events: AsyncGenerator[Event]) -> AsyncGenerator[Event]:
        """The same events; what is retrieved and answered among them is counted, failures and departures are not."""
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Routed):
                    evidence = event.evidence
                    self.retrieved(evidence.level.name, evidence.timings_ms, tuple(evidence.degraded))
                elif isinstance(event, Answer):
                    self._spoke(event)
                yield event

    def _spoke(self, answer: Answer) -> None:
        level = answer.evidence.level.name
        self._answers.labels(level, answer.stop_reason).inc()
        for step in ("first_token", "total"):
            self._answer_seconds.labels(level, step).observe(answer.timings_ms[step] / 1000)
        self._tokens.labels("input").inc(answer.usage.input_tokens)
        self._tokens.labels("output").inc(answer.usage.output_tokens)

    def connections(self, status: Mapping[str, int]) -> None:
        for state, count in status.items():
            self._connections.labels(state).set(count)

    def queue(self, status: QueueStatus) -> None:
        self._jobs.labels("queued").set(status.queued)
        self._jobs.labels("working").set(status.working)
        self._oldest.set(status.oldest_due_seconds)

    def text(self) -> bytes:
        return generate_latest(self.registry)
