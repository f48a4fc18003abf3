"""Stamps of date and hour are taken off, dates that are said are not."""

from __future__ import annotations

import pytest

from app.text.stamps import without_stamps


@pytest.mark.parametrize(
    ("stamped", "bare"),
    [
        ("[July 20, 2023, 08:56 PM] Caroline: Hey!", "Caroline: Hey!"),
        ("Session Date: July 20, 2023. At 08:56 PM, Melanie asked.", "Melanie asked."),
        ("On May 8, 2023, at 01:56 PM, Caroline reported that she was ill.", "Caroline reported that she was ill."),
        ("Caroline (08:56 PM): I joined a group.", "Caroline: I joined a group."),
        ("2024-03-01 09:30: The bridge was closed.", "The bridge was closed."),
        ("【2024年3月1日 9点30分】桥关了。", "桥关了。"),
        ("日期：2024-03-01；桥关了。", "桥关了。"),
    ],
)
def test_stamps_go(stamped: str, bare: str) -> None:
    assert without_stamps(stamped) == bare


@pytest.mark.parametrize(
    "said",
    [
        "The bridge was closed on May 8, 2023.",
        "The train leaves at 9:30 from Hangzhou.",
        "The match ended 3:2 in extra time.",
        "2024年3月1日桥关了。",
        "Version 1.2.3 came out in 2023.",
        "",
    ],
)
def test_what_is_said_stays(said: str) -> None:
    assert without_stamps(said) == said
