"""The pure parts around HTTP: addresses, statuses, waiting times, codes."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

import pytest

from app.core import clock
from app.core.errors import ConfigurationError
from app.providers.ports import ProviderBusy, ProviderDown, ProviderError, ProviderRefused, ProviderTimeout
from app.providers.transport import endpoint_url, retry_after_seconds, status_error, upstream_code


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("https://a.example/v1", "/chat/completions", "https://a.example/v1/chat/completions"),
        ("https://a.example/v1/ ", "/chat/completions", "https://a.example/v1/chat/completions"),
        ("https://a.example/v1/chat/completions", "/chat/completions", "https://a.example/v1/chat/completions"),
        ("http://localhost:11434", "/v1/chat/completions", "http://localhost:11434/v1/chat/completions"),
        ("http://localhost:11434/v1", "/v1/chat/completions", "http://localhost:11434/v1/chat/completions"),
        ("https://a.example/x/c", "/chat/completions", "https://a.example/x/c/chat/completions"),
    ],
)
def test_endpoint_url(base: str, path: str, url: str):
    assert endpoint_url(base, path) == url


@pytest.mark.parametrize(
    "base", ["", "a.example", "ftp://a.example", "http://", "https://key@a.example", "https://a.example?x=1", "h\x00p"]
)
def test_no_address(base: str):
    with pytest.raises(ConfigurationError):
        endpoint_url(base, "/chat/completions")


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, ProviderRefused, False),
        (401, ProviderRefused, False),
        (403, ProviderRefused, False),
        (404, ProviderRefused, False),
        (413, ProviderRefused, False),
        (422, ProviderRefused, False),
        (307, ProviderRefused, False),
        (408, ProviderTimeout, True),
        (409, ProviderBusy, True),
        (429, ProviderBusy, True),
        (500, ProviderDown, True),
        (502, ProviderDown, True),
        (503, ProviderDown, True),
        (504, ProviderTimeout, True),
        (529, ProviderBusy, True),
        (599, ProviderDown, True),
    ],
)
def test_statuses(status: int, kind: type[ProviderError], retryable: bool):
    error = status_error(status, {})
    assert type(error) is kind
    assert error.retryable is retryable
    assert error.extra["upstream_status"] == status


def test_waiting_times():
    """F1: what the provider asks for, in any of its three spellings."""
    assert retry_after_seconds({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert retry_after_seconds({"retry-after": "2.5"}) == 2.5
    assert retry_after_seconds({}) is None
    for nonsense in ("soon", "-1", "nan", "inf", ""):
        assert retry_after_seconds({"retry-after": nonsense}) is None
    in_ten = format_datetime(clock.now() + timedelta(seconds=10), usegmt=True)
    assert 8.5 < (retry_after_seconds({"retry-after": in_ten}) or 0) <= 10
    assert retry_after_seconds({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert retry_after_seconds({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}) == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"error": {"code": "context_length_exceeded", "message": "m"}}', "context_length_exceeded"),
        (b'{"error": {"code": null, "type": "requests"}}', "requests"),
        (b'{"code": "Throttling.RateQuota", "message": "m"}', "Throttling.RateQuota"),
        (b'{"error": {"code": 7, "status": "UNAVAILABLE"}}', "UNAVAILABLE"),
        (b'{"error": "text"}', None),
        (b'{"error": {"code": "Your key is sk-1 2 3"}}', None),
        (b"[1]", None),
        (b"<html>", None),
        (b"", None),
        (b"\xff", None),
        (b"[" * 60_000, None),
    ],
)
def test_upstream_code(body: bytes, code: str | None):
    assert upstream_code(body) == code
