"""Words too common to tell one note from another. Data only.

Short on purpose: document frequency tames the rest, and longer lists lost on questions.
"""

from __future__ import annotations

from typing import Final

_ENGLISH_LIST = """
    a an the of to in on at for and or is are was were be been being with by from as that this these those it its
    he she they his her their i you we not do does did has have had what which who whom when where why how"""
ENGLISH: Final = frozenset(_ENGLISH_LIST.split())

_HAN_LIST = """
    的 了 着 是 在 和 与 及 或 以及 也 都 就 而 但 被 把 从 以 为 于 由 等 之 其 该 这 那 此 这个 那个
    这些 那些 个 们 我 你 您 他 她 它 我们 你们 他们 有 会 能 可以 吗 呢 吧 啊 呀 么 请 请问
    什么 哪 哪个 哪些 哪里 谁 怎么 怎样 如何 为什么 为何 多少 几"""
HAN_WORDS: Final = frozenset(_HAN_LIST.split())
