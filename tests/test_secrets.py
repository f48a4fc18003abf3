"""Secrets are found by their shape, in any neighbourhood, and nothing else is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.secrets import redact

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAK\nabc==\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "kind", "secret"),
    [
        ("凭证为sk_test_ABC", "api_key", "sk_test_ABC"),
        ("我的key是sk-proj-abcd1234efgh5678ijkl，别外传", "api_key", "sk-proj-abcd1234efgh5678ijkl"),
        ("sk-ant-api03-abcdefGHIJKL0123456789-_x", "api_key", "sk-ant-api03-abcdefGHIJKL0123456789-_x"),
        (
            "push with ghp_16C7e42F292c6912E7710c838347Ae178B4a now",
            "api_key",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        ),
        ("AKIAIOSFODNN7EXAMPLE", "api_key", "AKIAIOSFODNN7EXAMPLE"),
        ("谷歌的AIzaSyA1234567890abcdefghijklmnopqrstuv可用", "api_key", "AIzaSyA1234567890abcdefghijklmnopqrstuv"),
        ("阿里云LTAI5tAbCdEf1234567890", "api_key", "LTAI5tAbCdEf1234567890"),
        ("xoxb-123456789012-abcdefGHIJ", "api_key", "xoxb-123456789012-abcdefGHIJ"),
        ("mc_" + "0a" * 16 + "_" + "Zz9-" * 8, "api_key", "mc_" + "0a" * 16 + "_" + "Zz9-" * 8),
        (
            "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.Gf-9_x",
            "api_key",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.Gf-9_x",
        ),
        ("Authorization: Bearer abcdef123456.ghi", "bearer_token", "abcdef123456.ghi"),
        ("请求头bearer AbCdEf0123456789==", "bearer_token", "AbCdEf0123456789=="),
        ("password=hunter2", "password", "hunter2"),
        ("MY_DB_PASSWORD = 's3cr3t with spaces'", "password", "s3cr3t with spaces"),
        ('{"password": "x y", "user": "z"}', "password", "x y"),
        ("the password is hunter2", "password", "hunter2"),
        ("密码：qwer，别忘", "password", "qwer"),
        ("wifi密码改成tea-time9", "password", "tea-time9"),
        ("密码是Abc12345。", "password", "Abc12345"),
        ("ｐａｓｓｗｏｒｄ＝ｈｕｎｔｅｒ２", "password", "ｈｕｎｔｅｒ２"),
        ("API_KEY=9f8e7d6c5b4a", "api_key", "9f8e7d6c5b4a"),
        ("令牌：abcdef12345678", "api_key", "abcdef12345678"),
        ("postgres://app:p4ssw0rd@db/notes", "password", "p4ssw0rd"),
        (f"before {KEY} after", "private_key", KEY),
        (KEY[:60], "private_key", KEY[:60]),
        ("卡号4111 1111 1111 1111到期", "card_number", "4111 1111 1111 1111"),
        ("卡号４１１１１１１１１１１１１１１１到期", "card_number", "４１１１１１１１１１１１１１１１"),
        ("card 3782-822463-10005", "card_number", "3782-822463-10005"),
        ("银联6222020000000000000。", "card_number", "6222020000000000000"),
        ("身份证11010519491231002X号", "identity_number", "11010519491231002X"),
    ],
)
def test_what_is_taken_out(text: str, kind: str, secret: str) -> None:
    """B11"""
    found = redact(text)
    assert secret not in found.text
    assert found.text == text.replace(secret, f"[redacted:{kind}]")
    assert found.kinds == (kind,)
    assert redact(found.text).text == found.text


@pytest.mark.parametrize(
    "text",
    [
        "the password is required for everyone",
        "密码是必须的",
        "passwords: none",
        "the secret: be kind",
        "max_tokens: 4096, token = 12345678",
        "the secretary: Bob12345678",
        "bearer of bad news arrives tomorrow",
        "sk-learn and scikit-learn 1.5; task-2026-planning-with-a-long-name",
        "4111 1111 1111 1112",
        "order 1700000000000, phone 13800138000, ISBN 9787111213826",
        "身份证110105194912310021号",
        "110105194913310020",
        "https://example.org/a:b@c and ssh://git@host:22/x",
        "-----BEGIN CERTIFICATE-----",
        "token of appreciation",
        "2024-01-15 14:30:00.123456",
    ],
)
def test_what_stays(text: str) -> None:
    assert redact(text).text == text
    assert redact(text).kinds == ()


def test_several_in_one_text() -> None:
    found = redact("a pwd=abcde b 4111111111111111 c pwd=fghij d")
    assert found.text == "a pwd=[redacted:password] b [redacted:card_number] c pwd=[redacted:password] d"
    assert found.kinds == ("password", "card_number")


@given(st.text())
def test_twice_is_once(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "password ",
        "1 ",
        "sk-",
        "密码是",
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "a://b:",
        "bearer ",
        "4111-",
        'key="',
        '"',
    ],
)
def test_time_grows_with_the_text_alone(piece: str) -> None:
    def took(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            redact(text)
            best = min(best, time.process_time() - started)
        return best

    short, long = took(16_000), took(128_000)
    assert long < max(short, 0.002) * 8 * 3
