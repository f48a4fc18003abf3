"""Secrets in a text, and the text without them. Pure, linear in its length.

Keys of the usual services, bearer tokens, passwords and the like behind their names, private keys, passwords in
addresses, card numbers (Luhn), Chinese identity numbers (checksum). Words need not be separated by spaces:
凭证为sk_test_… is found. Knows shapes only: a secret without one (a passphrase in a sentence) stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

Kind = str
"""`api_key`, `bearer_token`, `password`, `private_key`, `card_number`, `identity_number`: what stands in its place."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """`kinds` of what was taken out, each once, in the order of appearance."""

    text: str
    kinds: tuple[Kind, ...] = ()


def redact(text: str) -> Redacted:
    """`text` with `[redacted:<kind>]` where secrets were. Doing it twice changes nothing more."""
    found = sorted(_find(text.translate(_HALF_WIDTH)))
    if not found:
        return Redacted(text)
    parts: list[str] = []
    kinds: dict[Kind, None] = {}
    at = 0
    for start, end, kind in found:
        if end <= at:
            continue
        if start >= at:
            parts += (text[at:start], f"[redacted:{kind}]")
            kinds[kind] = None
        # Two that overlap are one secret.
        at = end
    parts.append(text[at:])
    return Redacted("".join(parts), tuple(kinds))


# Full-width letters, digits and marks are read as plain ones; offsets stay.
_HALF_WIDTH: Final = {full: full - 0xFEE0 for full in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}

# Not in a longer word; Han characters are no part of one.
_LEFT = r"(?<![A-Za-z0-9_])"
_RIGHT = r"(?![A-Za-z0-9])"

_API_KEYS: Final = (
    # OpenAI, Anthropic, DeepSeek, Moonshot, Qwen, Stripe's webhooks and others
    r"sk-(?:[a-z]{2,8}-)?(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{16,256}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{3,256}",  # Stripe
    r"whsec_[A-Za-z0-9]{16,256}",
    r"gh[opusr]_[A-Za-z0-9]{16,256}|github_pat_[A-Za-z0-9_]{16,256}|glpat-[A-Za-z0-9_-]{16,256}",
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",  # AWS
    r"LTAI[A-Za-z0-9]{12,30}|AKID[A-Za-z0-9]{12,64}",  # Aliyun, Tencent
    r"AIza[A-Za-z0-9_-]{30,45}|ya29\.[A-Za-z0-9_-]{16,1024}",  # Google
    r"xox[abeoprs]-[A-Za-z0-9-]{10,256}|xapp-[A-Za-z0-9-]{10,256}",  # Slack
    r"hf_[A-Za-z0-9]{16,64}|npm_[A-Za-z0-9]{16,64}|pypi-[A-Za-z0-9_-]{16,256}|dop_v1_[a-f0-9]{16,64}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{16,64}|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}",
    r"(?:gsk|xai|pplx|r8|nvapi|tvly|fw)[-_][A-Za-z0-9_-]{20,256}",
    r"mc_[0-9a-f]{32}_[A-Za-z0-9_-]{16,128}",  # our own
    r"eyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{4,4096}(?:\.[A-Za-z0-9_-]{0,2048})?",  # JWT
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,36}",  # Telegram
)
_API_KEY = re.compile(f"{_LEFT}(?:{'|'.join(_API_KEYS)}){_RIGHT}")
_BEARER = re.compile(
    rf"{_LEFT}(?i:bearer|basic)[ \t]{{1,4}}(?=[A-Za-z._~+/=-]{{0,200}}[0-9=])([A-Za-z0-9._~+/=-]{{12,4096}})"
)
_IN_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\[\]]{0,100}:([^\s/@\[\]]{1,200})@")

# What follows such a name is a secret, however short.
_SURE = r"(?:(?<![A-Za-z])(?:pass[-_ ]?(?:word|phrase|code)|passwd|pwd)s?|密码|口令)"
# And here it must look like one.
_LIKELY = (
    r"(?:(?<![A-Za-z])(?:(?:api|access|auth|secret|private|client|signing|encryption|account|master)"
    r"[-_ ]?(?:key|token|secret)|secret(?:[-_ ]?access)?[-_ ]?key|(?:access|refresh|auth|id|session|bot)[-_ ]?token"
    r"|secret|token|credentials?)"
    r"|密钥|秘钥|私钥|令牌|凭证|凭据|授权码|访问码)"
)
_SIGN = r"""["'”]?[ \t]{0,4}(?::=|=>|[:=])[ \t]{0,4}"""
_IS = r"""["'”]?[ \t]{0,4}(?:(?<![A-Za-z])(?:is|was)(?![A-Za-z])|是|为|改为|改成|设为)[ \t]{0,4}"""
_QUOTED = r"""(?:"([^"\n]{1,200})"|'([^'\n]{1,200})'|“([^”\n]{1,200})”|`([^`\n]{1,200})`)"""
_BARE = r"([!-~]{%d,200})"
_QUOTES: Final = "\"'“`"
_PLAIN = r"[\s\"'“”`,;，。；、]"
_NAMED = re.compile(
    rf"(?i:{_SURE})(?:{_SIGN})(?:{_QUOTED}|{_BARE % 3})|(?i:{_SURE})(?:{_IS})(?:{_QUOTED}|{_BARE % 4})"
    rf"|(?i:{_LIKELY})(?:{_SIGN}|{_IS})(?:{_QUOTED}|{_BARE % 8})"
)
_SURE_NAME = re.compile(f"(?i:{_SURE})")
_SIGNED = re.compile(f"(?:{_SIGN})$")
_VALUE_END = re.compile(r"[\"'`,;)\]}>]+$|[.!?]+$")
_NO_SECRET = re.compile(
    r"\[redacted:[a-z_]+\]?|(?:true|false|null|none|nil|undefined|required|optional|\*+|x+|\.+)", re.I
)

_BEGIN_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END_KEY = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")

_DIGITS = re.compile(r"(?<![0-9A-Za-z_.])[0-9]{1,19}(?:[ -][0-9]{1,19}){0,40}(?![0-9A-Za-z_])")
_GROUP = re.compile("[0-9]+")
_CARDS = re.compile(
    r"4[0-9]{12}(?:[0-9]{3}){0,2}|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}"
    r"|62[0-9]{14,17}|35[0-9]{14}"
)
_MOST_GROUPS: Final = 6
_IDENTITY = re.compile(r"(?<![0-9A-Za-z])[1-8][0-9]{5}(?:18|19|20)[0-9]{9}[0-9Xx](?![0-9A-Za-z])")
_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)

Span = tuple[int, int, Kind]


def _find(text: str) -> Iterator[Span]:
    yield from _private_keys(text)
    for match in _API_KEY.finditer(text):
        yield *match.span(), "api_key"
    for match in _BEARER.finditer(text):
        yield *match.span(1), "bearer_token"
    for match in _IN_ADDRESS.finditer(text):
        yield *match.span(1), "password"
    yield from _named(text)
    yield from _numbers(text)


def _private_keys(text: str) -> Iterator[Span]:
    at = 0
    while begin := _BEGIN_KEY.search(text, at):
        end = _END_KEY.search(text, begin.end())
        at = end.end() if end else len(text)
        yield begin.start(), at, "private_key"


def _named(text: str) -> Iterator[Span]:
    for match in _NAMED.finditer(text):
        group = match.lastindex or 0
        start, end = match.span(group)
        value = match[group]
        is_bare = text[start - 1] not in _QUOTES
        if is_bare:
            start += len(value) - len(value.lstrip(_QUOTES))
            value = value.lstrip(_QUOTES)
            value = re.split(_PLAIN, value, maxsplit=1)[0]
            if trailing := _VALUE_END.search(value):
                value = value[: trailing.start()]
            end = start + len(value)
        if not value or _NO_SECRET.fullmatch(value):
            continue
        sure = _SURE_NAME.match(text, match.start())
        sign = _SIGNED.search(text[match.start() : start].rstrip(_QUOTES))
        if sure and (sign or not is_bare):
            yield start, end, "password"
        elif _looks_secret(value, 4 if sure else 8):
            yield start, end, "password" if sure else "api_key"


def _looks_secret(value: str, least: int) -> bool:
    """Long enough, and neither a word of a sentence nor a number."""
    if len(value) < least or value.isalpha():
        return False
    return least < 8 or (any(ch.isdigit() for ch in value) and not value.replace(".", "").isdigit())


def _numbers(text: str) -> Iterator[Span]:
    for match in _IDENTITY.finditer(text):
        if _is_identity(match[0]):
            yield *match.span(), "identity_number"
    for match in _DIGITS.finditer(text):
        yield from _cards(match)


def _cards(run: re.Match[str]) -> Iterator[Span]:
    """Card numbers in a run of digits: whole groups, one behind the other."""
    groups = [(run.start() + group.start(), group[0]) for group in _GROUP.finditer(run[0])]
    first = 0
    while first < len(groups):
        number = ""
        for last in range(first, min(first + _MOST_GROUPS, len(groups))):
            start, digits = groups[last]
            number += digits
            if len(number) > 19:
                break
            if len(number) >= 13 and _CARDS.fullmatch(number) and _passes_luhn(number):
                yield groups[first][0], start + len(digits), "card_number"
                first = last
                break
        first += 1


def _passes_luhn(number: str) -> bool:
    digits = [int(digit) for digit in reversed(number)]
    doubled = sum(2 * digit - 9 * (digit > 4) for digit in digits[1::2])
    return (sum(digits[::2]) + doubled) % 10 == 0


def _is_identity(number: str) -> bool:
    """GB 11643-1999: a date of birth inside, ISO 7064 MOD 11-2 at the end."""
    try:
        date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    rest = sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, number, strict=False)) % 11
    return "10X98765432"[rest] == number[17].upper()
