"""Which encoding a file is in, decided on the whole file."""

from __future__ import annotations

import os
from contextlib import suppress

import pytest

from app.transfer.encoding import clean, decode, decode_name
from app.transfer.errors import UnknownEncoding

SIMPLIFIED = "今天和林晓雯一起试了三锅云南小粒咖啡，第二锅在一爆后一分二十秒下豆，酸质明亮，价格是每公斤七十六元。"
TRADITIONAL = "自從我開始寫筆記以來，這個世界變得不同了。臺灣的烏龍茶與雲南的普洱茶，風味各異，價錢也不一樣。"
KOREAN = "안녕하세요. 오늘은 커피를 볶는 방법에 대해 이야기합니다. 물의 온도와 시간이 중요합니다."
FRENCH = "Le café de l'été est très agréable à Besançon."


@pytest.mark.parametrize(
    ("text", "codec", "reported"),
    [
        (SIMPLIFIED, "utf-8", "utf-8"),
        (SIMPLIFIED, "utf-8-sig", "utf-8-sig"),
        (SIMPLIFIED, "gbk", "gb18030"),
        (SIMPLIFIED + "😀㐀", "gb18030", "gb18030"),
        (TRADITIONAL, "big5", "big5hkscs"),
        (FRENCH, "cp1252", "cp1252"),
        (KOREAN, "euc_kr", "cp949"),
        ("plain ASCII", "ascii", "utf-8"),
        ("no byte order mark", "utf-16-le", "utf-16-le"),
        ("no byte order mark", "utf-16-be", "utf-16-be"),
        ("", "utf-8", "utf-8"),
    ],
)
def test_text_comes_back_as_it_was_written(text: str, codec: str, reported: str) -> None:
    decoded = decode(text.encode(codec))
    assert (decoded.text, decoded.encoding, decoded.damaged) == (text, reported, 0)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_decides_and_is_not_part_of_the_text(codec: str) -> None:
    decoded = decode(("﻿" + SIMPLIFIED).encode(codec))
    assert (decoded.text, decoded.encoding) == (SIMPLIFIED, codec)


@pytest.mark.parametrize("codec", ["utf-8", "gbk"])
def test_a_long_ascii_prefix_does_not_hide_what_comes_after_it(codec: str) -> None:
    """A14"""
    text = "a = 1\n" * 200_000 + SIMPLIFIED
    assert decode(text.encode(codec)).text == text


def test_one_damaged_character_does_not_turn_a_utf8_file_into_mojibake() -> None:
    data = (SIMPLIFIED + SIMPLIFIED).encode()[:-1]
    decoded = decode(data)
    assert decoded.text == (SIMPLIFIED + SIMPLIFIED)[:-1] + "�"
    assert (decoded.encoding, decoded.damaged) == ("utf-8", 1)


def test_a_replacement_character_that_was_written_is_no_damage() -> None:
    data = ("�" + SIMPLIFIED).encode()[:-1]
    assert decode(data).damaged == 1
    assert decode("�".encode()).damaged == 0


def test_noise_is_not_text() -> None:
    with pytest.raises(UnknownEncoding):
        decode(b"\x89PNG\r\n\x1a\n\x00\x00\x81\x8d" + bytes(range(256)) * 8)


@pytest.mark.parametrize("name", ["读书笔记", "琅琊榜", "林晓雯", "囧妈", "云南行程（草稿）"])
def test_a_short_chinese_name_in_gbk(name: str) -> None:
    assert decode_name(name.encode("gbk")) == name


def test_names_that_are_neither_utf8_nor_chinese_fall_back_to_the_zip_standard() -> None:
    assert decode_name("façade.md".encode("cp437")) == "façade.md"


def test_nul_and_lone_surrogates_are_removed_and_nothing_else() -> None:
    """A1, A4"""
    kept = "İß𝄞\t\r\n\x07\x1b👩‍🔬﻿"
    assert clean("\x00" + kept + "\ud800\x00\udfff") == kept


def test_any_bytes_give_text_or_a_typed_error() -> None:
    for size in (1, 2, 3, 50, 5_000):
        with suppress(UnknownEncoding):
            clean(decode(os.urandom(size)).text).encode("utf-8")
