"""What of an answer may be shown, whatever pieces it comes in."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.shown import Shown, key_like

KNOWN = ["The page is https://good.example/a?b=c and (www.good.example/d)."]
SECRET = "CANARY-77AB12"


def shown(text: str, size: int = 10_000, *, is_tainted: bool = True) -> str:
    filtered = Shown(is_tainted, KNOWN, [SECRET])
    return "".join(filtered.feed(text[at : at + size]) for at in range(0, len(text), size)) + filtered.close()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        # ordinary text
        ("Hello [1] world [2, 3]. How? Fine! said: ok", "Hello [1] world [2, 3]. How? Fine! said: ok"),
        ("a < b and c > d <3, List<String> x", "a < b and c > d <3, List<String> x"),
        ("[note](notes/a.md#b) 和 [图](附件/图.png)", "[note](notes/a.md#b) 和 [图](附件/图.png)"),
        ("see // a comment, a//b, path/to/x.md, 3:4", "see // a comment, a//b, path/to/x.md, 3:4"),
        (
            "run http://127.0.0.1:8000/docs or http://localhost:1/x",
            "run http://127.0.0.1:8000/docs or http://localhost:1/x",
        ),
        # addresses
        (
            "[ok](https://good.example/a?b=c) https://good.example/a?b=c.",
            "[ok](https://good.example/a?b=c) https://good.example/a?b=c.",
        ),
        ("[click](https://evil.example/?q=1) now", "[click](evil.example) now"),
        ("https://a.b.evil.example/path?x=1.", "evil.example."),
        ("中文，见https://evil.example/路径。后面", "中文，见evil.example。后面"),
        ("<https://evil.example/abc> www.evil.example/x //evil.example/y", "evil.example evil.example evil.example"),
        ("[x](//evil.example/x) [y](&#104;ttps://evil.example)", "[x](evil.example) [y]()"),
        ("[r]: https://evil.example/x?y", "[r]: evil.example"),
        ("[x](javascript:alert(1)) [y](data:text/html,hi) mailto:a@evil.example?body=x", "[x]() [y]() "),
        # images and HTML
        ("![x](https://good.example/a?b=c)", "[x](https://good.example/a?b=c)"),
        ("![a][r]", "[a][r]"),
        ("<img src=https://evil.example/x>hi <script>alert(1)</script>", "hi alert(1)"),
        ("<!-- hidden --> ok <!-- open", " ok !-- open"),
        ("<img src=x onerror=alert(1)", "img src=x onerror=alert(1)"),
        # code
        ("`<div>` and ```x``` ok", "`<div>` and ```x``` ok"),
        ("```\n<b>\n![a](http://b.c/d)\n```\n![a](http://b.c/d)", "```\n<b>\n![a](http://b.c/d)\n```\n[a](b.c)"),
        ("- x\n  ```\n![](http://b.c/q)", "- x\n  ```\n[](b.c)"),
        ("| `a | ![](http://b.c/d)` |", "| `a | [](b.c)` |"),
        # what is withheld
        (f"The code is {SECRET}! `{SECRET.lower()}`", "The code is […]! `[…]`"),
        (f"{SECRET[::-1]} {SECRET.encode().hex()} {' '.join(SECRET)}", "[…] […] […]"),
        (f"https://{SECRET}.evil.example/{SECRET}", "evil.example"),
    ],
)
def test_what_is_told(text: str, told: str) -> None:
    for size in (1, 2, 3, 5, 7, 13, 10_000):
        assert shown(text, size) == told, size


def test_without_strangers_addresses_are_free_and_images_are_not() -> None:
    text = f"![a](https://x.example/y) https://x.example/z <b>bold</b> {SECRET} [s](javascript:x)"
    assert shown(text, is_tainted=False) == f"[a](https://x.example/y) https://x.example/z bold {SECRET} [s]()"


def test_ordinary_words_do_not_wait() -> None:
    filtered = Shown(True, KNOWN, [SECRET])
    assert filtered.feed("You said:") == "You said:"
    assert filtered.feed(" Hi, das heißt 你好") == " Hi, das heißt 你好"


@given(st.text(alphabet="ab`<>[]()!/:.|\\ \nhtp-A7"), st.integers(1, 9))
def test_nothing_remote_gets_through_in_any_pieces(text: str, size: int) -> None:
    told = shown(f"{text}![x](https://evil.example/q){text}\n", size)
    assert "![x](https" not in told.replace("\\!", "") or "`" in text


def test_everything_is_told_in_the_end() -> None:
    for text in ("[", "![", "`a", "```", "<a", "http", "\\", "!", "](", "~~~\nx"):
        assert len(shown(f"x {text}", 1)) >= 2


@pytest.mark.parametrize("piece", ["[", "![", "<", "](", "`", "http://a.b/", "\\", "<a ", "```\n", "|", "(", "CANARY-"])
def test_time_grows_with_the_text_alone(piece: str) -> None:
    def took(size: int) -> float:
        started = time.process_time()
        shown((piece * size)[:size], 40)
        return time.process_time() - started

    short, long = min(took(10_000) for _ in range(3)), took(80_000)
    assert long < max(short, 0.01) * 8 * 4


def test_keys_are_told_from_words() -> None:
    text = "You are X. Code: CANARY-77AB12, sk-abc12345678, instruction-following, GPT4x9zzz, HELLO-WORLD, 2026-11-30"
    assert key_like(text, ["what is gpt4x9ZZZ"]) == ["CANARY-77AB12", "sk-abc12345678", "HELLO-WORLD"]
