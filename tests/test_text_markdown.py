"""Blocks, outline, wikilinks, tags and plain text of Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.markdown import WikiLink, blocks, outline, plain, strip_marks, tags, wikilinks

NOTE = """# 安装 Setup

Some *text* with [a link](https://a.b/c(d) "t").
Second line

Name | Value
--- | ---
x | 1

- one
  more

  ```
  # not a heading
  ```
- two

> quoted
lazy

```python
# comment
x = [[1]]
```

Under
=====
[ref]: https://x.y
"""


def test_blocks_in_order_with_offsets():
    found = blocks(NOTE)
    assert [(b.kind, NOTE[b.start : b.end].splitlines()[0]) for b in found] == [
        ("heading", "# 安装 Setup"),
        ("paragraph", 'Some *text* with [a link](https://a.b/c(d) "t").'),
        ("table", "Name | Value"),
        ("list", "- one"),
        ("quote", "> quoted"),
        ("code", "```python"),
        ("heading", "Under"),
        ("paragraph", "[ref]: https://x.y"),
    ]
    assert [NOTE[start:end].splitlines()[0] for start, end in found[3].items] == ["- one", "- two"]
    assert (found[0].level, found[0].title, found[6].level, found[6].title) == (1, "安装 Setup", 1, "Under")


def test_a_table_may_end_a_paragraph():
    assert [b.kind for b in blocks("Intro\n| a | b |\n|---|:-:|\n| 1 | 2 |")] == ["paragraph", "table"]
    assert [b.kind for b in blocks("a | b\nno separator")] == ["paragraph"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_offsets_hold_for_every_line_end(end: str):
    text = f"# A{end}{end}para{end}```{end}code{end}```{end}"
    assert [text[b.start : b.end] for b in blocks(text)] == ["# A", "para", f"```{end}code{end}```"]


@given(st.text(st.sampled_from(list("#-*>`|~ \t\n\r1.[]:=ab中\u3000\x0b\u2028")), max_size=80))
def test_blocks_cover_everything_but_white_space(text: str):
    done = 0
    for block in blocks(text):
        assert text[done : block.start].strip() == ""
        assert text[block.start : block.end].strip() != ""
        done = block.end
    assert text[done:].strip() == ""


@pytest.mark.parametrize(
    "unit", [">", "> ", "- ", "[", "*", "`", "|", "#", "[[", "![", "<", " ", "\\", "-", "|-", "a.", "./", "^", "]("]
)
def test_floods_of_a_mark_end(unit: str):
    flood = unit * 20_000
    for text in (flood, flood + "x", "x" + flood, f"| {flood}x", f"-{flood}x", f"[{flood}]: x", f" ^{flood}x"):
        assert blocks(text) != [] or not text.strip()
        assert tags(text) == []
        assert wikilinks(text) == []
        plain(text)


def test_a_flood_of_list_items_is_read_as_text():
    text = "- a\n" * 20_001
    assert [b.kind for b in blocks(text)] == ["paragraph"]


# ------------------------------------------------------------------------------------- outline


def test_slugs_are_unique_for_chinese_headings():
    """B16."""
    text = "# 安装\n## 在 Linux 上\n# 安装\n# 安装\n## Q&A: what?\n## **粗体** `code` [x](y)\n# ！！\n# 安装-1\n"
    assert [(h.level, h.text, h.slug) for h in outline(text)] == [
        (1, "安装", "安装"),
        (2, "在 Linux 上", "在-linux-上"),
        (1, "安装", "安装-1"),
        (1, "安装", "安装-2"),
        (2, "Q&A: what?", "qa-what"),
        (2, "粗体 code x", "粗体-code-x"),
        (1, "！！", "section"),
        (1, "安装-1", "安装-1-1"),
    ]


def test_outline_offsets_and_code():
    text = "x\n\n```\n# no\n```\n\n## 是\ny"
    assert [(text[h.start : h.end], h.slug) for h in outline(text)] == [("## 是", "是")]


@given(st.lists(st.sampled_from(["安装", "a", "a-1", "!", "", "A"]), max_size=12))
def test_slugs_never_repeat(titles: list[str]):
    slugs = [h.slug for h in outline("\n".join(f"# {title}" for title in titles))]
    assert len(slugs) == len(set(slugs)) == len(titles)
    assert all(slugs)


# ----------------------------------------------------------------------------------- wikilinks


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("see [[笔记]] now", ("笔记", "", "", False)),
        ("[[Note#Part two|shown]]", ("Note", "Part two", "shown", False)),
        ("![[图.png]]", ("图.png", "", "", True)),
        ("[[#here]]", ("", "here", "", False)),
        ("[[C#]]", ("C#", "", "", False)),
        ("| [[a\\|b]] |", ("a", "", "b", False)),
        ("[[ dir/Note ]]", ("dir/Note", "", "", False)),
        ("[[Note#^block]]", ("Note", "^block", "", False)),
    ],
)
def test_wikilinks(text: str, parts: tuple[str, str, str, bool]):
    (link,) = wikilinks(text)
    assert (link.target, link.anchor, link.alias, link.embed) == parts
    assert text[link.start : link.end].strip("!").startswith("[[")
    assert text[link.start : link.end].endswith("]]")


@pytest.mark.parametrize(
    "text",
    [
        "[[]]",
        "[[ ]]",
        "[[a\nb]]",
        "`[[a]]`",
        "``x ` [[a]]``",
        "```\n[[a]]\n```",
        "    [[a]]",
        "- item\n\n  ```\n  [[a]]\n  ```",
        "[a]]",
    ],
)
def test_no_wikilinks(text: str):
    assert wikilinks(text) == []


def test_unpaired_backticks_hide_nothing():
    assert [link.target for link in wikilinks("a ` b [[x]]\n\nc ` d \\`[[y]]\\`")] == ["x", "y"]


def test_several_links_in_order():
    assert wikilinks("[[a]] and [[b|c]]") == [WikiLink("a", "", "", False, 0, 5), WikiLink("b", "", "c", False, 10, 17)]


# ---------------------------------------------------------------------------------------- tags


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#todo and #中文标签，#a/b/c (not this)", ["todo", "中文标签", "a/b/c"]),
        ("标签：#读书 #Todo #todo", ["读书", "Todo"]),
        ("#[[two words]]", ["two words"]),
        ("# heading\n## other #real", ["real"]),
        ("#2024 #v2 #123", ["v2"]),
        ("a#b [t](#anchor) [[x#y]] https://a.b/#frag &#39; ##x", []),
        ("`#no` \n\n```\n#no\n```\n\n#yes", ["yes"]),
        ("https://例.cn/ #后", ["后"]),
        ("no tags", []),
    ],
)
def test_tags(text: str, found: list[str]):
    assert tags(text) == found


# --------------------------------------------------------------------------------------- plain


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("## 标题 ##", "标题"),
        ("- [x] done **bold** and _em_ `code`", "done bold and em code"),
        ("12. step", "step"),
        ("> quoted", "quoted"),
        ("| a | b |", "a b"),
        ("|---|:-:|", ""),
        ("--- ", ""),
        ("```python", ""),
        ("[text](https://a.b/c_(d)) ![alt](x.png) [[note|alias]] [[note]] [[#part]]", "text alt alias note part"),
        ("[ref]: https://x.y 'T'", ""),
        ("[10:30] Ann: hi", "[10:30] Ann: hi"),
        ("snake_case 2 * 3 * 4 a*b", "snake_case 2 * 3 * 4 a*b"),
        ("&lt;b&gt; <b>x</b> 1 < 2", "<b> x 1 < 2"),
        (r"\*not em\*", "*not em*"),
        ("text ^block-1", "text"),
        ("3.14 is pi", "3.14 is pi"),
        ("C# and F#", "C# and F#"),
    ],
)
def test_strip_marks(line: str, shown: str):
    assert strip_marks(line) == shown


def test_plain_keeps_code_as_it_is():
    text = "# T\n\n```py\nx = a_b**2  # no\n```\n\n---\n* **b**\n"
    assert plain(text) == "T\nx = a_b**2  # no\nb"
