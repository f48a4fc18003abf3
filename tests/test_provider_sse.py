"""The SSE parser, wherever the network cuts the bytes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.providers.ports import ProviderGarbled
from app.providers.sse import ServerEvent, SseParser

STREAM = (
    b"\xef\xbb\xbf: a comment\r\n\r\n"
    b"data:no space\n\n"
    b"data:  two spaces, \xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x98\x80\r\n\r\n"
    b"event: ping\rdata: {}\r\r"
    b"id: 7\nretry: 10\nunknown\ndata: one\r\ndata\ndata: three\n\n"
    b"event: forgotten\n\n"
    b"\n\n"
    b"data: [DONE]\n\n"
)
EVENTS = [
    ServerEvent("no space"),
    ServerEvent(" two spaces, 你好 😀"),
    ServerEvent("{}", "ping"),
    ServerEvent("one\n\nthree"),
    ServerEvent("[DONE]"),
]


def parse(chunks: list[bytes], **options: int) -> list[ServerEvent]:
    parser = SseParser(**options)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.close()


def test_whole():
    assert parse([STREAM]) == EVENTS


def test_byte_by_byte():
    assert parse([STREAM[n : n + 1] for n in range(len(STREAM))]) == EVENTS


def test_cut_in_two_anywhere():
    for cut in range(len(STREAM) + 1):
        assert parse([STREAM[:cut], b"", STREAM[cut:]]) == EVENTS, cut


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_cut_anywhere(cuts: list[int]):
    edges = [0, *sorted(cuts), len(STREAM)]
    assert parse([STREAM[a:b] for a, b in pairwise(edges)]) == EVENTS


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_any_bytes_are_parsed_alike_however_they_are_cut(chunks: list[bytes]):
    whole = b"".join(chunks)
    assert parse(chunks) == parse([whole]) == parse([whole[n : n + 1] for n in range(len(whole))])


def test_bytes_that_are_no_utf8_are_replaced():
    assert parse([b"data: a\xff\xfeb \xe4\xbd\n\n"]) == [ServerEvent("a\ufffd\ufffdb \ufffd")]


def test_line_separators_of_unicode_end_no_line():
    assert parse(["data: a\u2028b\u0085c\n\n".encode()]) == [ServerEvent("a\u2028b\u0085c")]


def test_the_last_blank_line_may_be_missing():
    assert parse([b"data: a\ndata: b"]) == [ServerEvent("a\nb")]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_line_cap(size: int):
    at_the_cap, over = b"data: " + b"x" * 94, b"data: " + b"x" * 95
    assert parse([at_the_cap + b"\n\n"], max_line_bytes=100) == [ServerEvent("x" * 94)]
    with pytest.raises(ProviderGarbled):
        parse([over[n : n + size] for n in range(0, len(over), size)], max_line_bytes=100)


def test_many_short_lines_of_one_event_do_not_get_around_the_cap():
    with pytest.raises(ProviderGarbled):
        parse([b"data: xxxxxxxxxx\n"] * 11, max_line_bytes=100)


def test_a_line_that_never_ends_is_refused_before_it_fills_the_memory():
    parser = SseParser()
    for _ in range(10):
        parser.feed(b"x" * 100_000)
    with pytest.raises(ProviderGarbled):
        parser.feed(b"x" * 100_000)
