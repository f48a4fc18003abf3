"""Words too common to tell one note from another. Data only."""

from __future__ import annotations

from typing import Final

_ENGLISH_LIST = """
    a an the of to in on at for and or is are was were be been being with by from as that this these those it its
    he she they his her their i you we not do does did has have had what which who whom when where why how"""
ENGLISH: Final = frozenset(_ENGLISH_LIST.split())

_HAN_LIST = "的 了 是 在 和 与 及 或 也 都 就 而 着 被 把 吗 呢 吧 啊 呀 么"
HAN_WORDS: Final = frozenset(_HAN_LIST.split())
