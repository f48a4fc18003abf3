"""Documents of other kinds to Markdown: plain text, web pages, PDF, Word."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress

import docx
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from app.transfer import documents
from app.transfer.documents import read_docx, read_html, read_pdf, read_plain
from app.transfer.errors import ArchiveTooLarge, EmptyDocument, UnreadableDocx, UnreadablePdf
from app.transfer.settings import TransferSettings

SETTINGS = TransferSettings()


# ------------------------------------------------------------------------------------- plain


def test_plain_text_is_taken_as_it_is() -> None:
    document = read_plain("第一行\r\n  two\n".encode("gbk"))
    assert (document.text, document.metadata) == ("第一行\r\n  two\n", {"encoding": "gb18030"})
    with pytest.raises(EmptyDocument):
        read_plain(b" \n")


# -------------------------------------------------------------------------------------- html

ARTICLE = """<html><head><title>Roasting light and slow | The Site</title>
<meta property="article:published_time" content="2025-04-03T10:00:00+08:00"></head>
<body><nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
<article><h1>Roasting light and slow</h1>{paragraphs}
<h2>Numbers</h2><ul><li>charge at 195 degrees</li><li>drop at 208 degrees</li></ul>
<table><tr><th>batch</th><th>loss</th></tr><tr><td>A7</td><td>13.2 %</td></tr></table>
<p>More in <a href="https://example.org/log">the log</a>.</p></article>
<footer>Cookie settings. Subscribe to our newsletter.</footer></body></html>"""
PARAGRAPH = "<p>The third batch was <b>better</b> than the second, because the drum had time to settle ({n}).</p>"


def test_a_web_page_becomes_its_article() -> None:
    document = read_html(ARTICLE.format(paragraphs="".join(PARAGRAPH.format(n=n) for n in range(12))).encode())
    assert document.title == "Roasting light and slow"
    assert document.text.startswith("# Roasting light and slow\n\nThe third batch")
    assert document.created_at is not None
    assert document.created_at.date().isoformat() == "2025-04-03"
    for expected in (
        "**better**",
        "## Numbers",
        "- drop at 208 degrees",
        "13.2 %",
        "[the log](https://example.org/log)",
    ):
        assert expected in document.text
    assert "newsletter" not in document.text
    assert "Shop" not in document.text


def test_a_short_page_is_taken_whole() -> None:
    page = """<title>冲泡 &amp; 水温 - Untitled</title><h1>茶</h1><p>水温 95 °C，snake_case 与 2*3 不变。</p>
    <img src="data:image/png;base64,AAAA">
    <script>steal()</script><a href="javascript:steal()">here</a><pre>x = 1
y = 2</pre>"""
    document = read_html(page.encode())
    text = document.text
    assert document.title == "冲泡 & 水温 - Untitled"
    assert text.startswith("# 茶\n\n水温 95 °C，snake_case 与 2*3 不变。")
    assert "x = 1\ny = 2" in text
    assert "steal" not in text
    assert "AAAA" not in text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<meta charset=gb2312><p>朱镕基的内容很短</p>".encode("gbk"), "朱镕基的内容很短"),
        ("<meta http-equiv=x content='text/html; charset=big5'><p>龜</p>".encode("big5"), "龜"),
        ("<meta charset=gbk><p>其实是 UTF-8</p>".encode(), "其实是 UTF-8"),
        ("<meta charset=utf-16><p>ASCII é</p>".encode(), "ASCII é"),
        ("<meta charset=rot13><p>Größe</p>".encode("cp1252"), "Größe"),
    ],
)
def test_the_page_s_own_word_on_its_encoding_counts_after_utf8(data: bytes, text: str) -> None:
    assert read_html(data).text == text


def test_a_page_without_words_is_empty() -> None:
    with pytest.raises(EmptyDocument):
        read_html(b"<html><head><title>x</title></head><body><script>1</script></body></html>")


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 100_000 + "words &amp; more",
        "<p>words &amp; more" + "<p>x" * 150_000,
        "words &amp; more" + "<" * 300_000,
        "<b><i>" * 20_000 + "words &amp; more",
        "<title " * 100_000 + "<p>words &amp; more",
    ],
)
def test_hostile_pages_give_their_words_in_time(page: str) -> None:
    started = time.perf_counter()
    assert "words & more" in read_html(page.encode()).text
    assert time.perf_counter() - started < 10


# --------------------------------------------------------------------------------------- pdf


def pdf(draw: Callable[[Canvas], None], encrypt: StandardEncryption | None = None, title: str = "") -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, encrypt=encrypt)
    canvas.setTitle(title)
    draw(canvas)
    canvas.save()
    return buffer.getvalue()


def two_pages(canvas: Canvas) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    canvas.drawString(72, 700, "First page")
    canvas.showPage()
    canvas.setFont("STSong-Light", 12)
    canvas.drawString(72, 700, "第二页：烘焙曲线")
    canvas.showPage()


def test_a_pdf_page_by_page() -> None:
    document = read_pdf(pdf(two_pages, title="烘焙记录"), max_pages=10)
    assert document.text == "First page\n\n第二页：烘焙曲线"
    assert (document.title, document.metadata, document.warnings) == ("烘焙记录", {"pages": 2}, [])
    assert document.created_at is not None
    assert document.created_at.tzinfo is not None


def test_a_pdf_that_is_cut_says_so() -> None:
    document = read_pdf(pdf(two_pages, title="Microsoft Word - x.doc"), max_pages=1)
    assert (document.text, document.title, document.warnings) == ("First page", None, ["pages_cut"])


def test_nul_in_a_pdf_is_removed() -> None:
    """A1"""

    def with_nul(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "before\x00after")

    assert "\x00" not in read_pdf(pdf(with_nul), max_pages=10).text
    assert "after" in read_pdf(pdf(with_nul), max_pages=10).text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a pdf",
        b"%PDF-1.7\n%%EOF",
        pdf(two_pages)[:400],
        pdf(two_pages, encrypt=StandardEncryption("secret", "owner", strength=128)),
    ],
)
def test_broken_and_locked_pdfs(data: bytes) -> None:
    with pytest.raises(UnreadablePdf):
        read_pdf(data, max_pages=10)


def test_a_pdf_that_anyone_may_open_is_read() -> None:
    assert read_pdf(pdf(two_pages, encrypt=StandardEncryption("", "owner", strength=128)), 10).text.startswith("First")


def test_a_scan_has_no_text() -> None:
    with pytest.raises(EmptyDocument):
        read_pdf(pdf(lambda canvas: canvas.rect(10, 10, 50, 50)), max_pages=10)


def test_any_damage_to_a_pdf_is_a_typed_error_or_text() -> None:
    whole = pdf(two_pages)
    for at in range(0, len(whole), len(whole) // 40):
        with suppress(UnreadablePdf, EmptyDocument):
            assert "\x00" not in read_pdf(whole[:at] + b"\x00<<" + whole[at + 3 :], max_pages=10).text


# -------------------------------------------------------------------------------------- docx


def word() -> bytes:
    document = docx.Document()
    document.core_properties.title = "会议记录"
    document.add_heading("Decisions", 1)
    document.add_paragraph("Price is 76 元 per kg_net.")
    document.add_paragraph("call Marco", style="List Bullet")
    table = document.add_table(2, 2)
    for row, column, text in ((0, 0, "item"), (0, 1, "price"), (1, 0, "beans"), (1, 1, "76")):
        table.cell(row, column).text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def with_part(data: bytes, name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            if info.filename != name:
                new.writestr(info.filename, old.read(info))
        new.writestr(name, content)
    return buffer.getvalue()


def test_a_word_document() -> None:
    document = read_docx(word(), SETTINGS)
    assert document.title == "会议记录"
    assert document.text == (
        "# Decisions\n\nPrice is 76 元 per kg_net.\n\n- call Marco\n\n| item | price |\n| --- | --- |\n| beans | 76 |"
    )


BOMB = b"""<?xml version="1.0"?><!DOCTYPE w [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>"""


@pytest.mark.parametrize("bomb", [BOMB, b"\xef\xbb\xbf\n" + BOMB[21:], BOMB[21:].decode().encode("utf-16")])
def test_xml_that_defines_entities_is_refused(bomb: bytes) -> None:
    with pytest.raises(UnreadableDocx) as caught:
        read_docx(with_part(word(), "word/document.xml", bomb), SETTINGS)
    assert type(caught.value.__cause__).__name__ == "DTDForbidden"


def test_a_word_document_that_is_a_zip_bomb() -> None:
    with pytest.raises(ArchiveTooLarge):
        read_docx(with_part(word(), "word/document.xml", b" " * 20_000_000), SETTINGS)


@pytest.mark.parametrize(
    "data", [b"", b"PK\x05\x06" + b"\x00" * 18, word()[:900], with_part(word(), "word/document.xml", b"<w:document")]
)
def test_broken_word_documents(data: bytes) -> None:
    with pytest.raises(UnreadableDocx):
        read_docx(data, SETTINGS)


def test_a_word_document_without_words() -> None:
    buffer = io.BytesIO()
    docx.Document().save(buffer)
    with pytest.raises(EmptyDocument):
        read_docx(buffer.getvalue(), SETTINGS)


def test_pictures_are_not_inlined() -> None:
    assert documents._no_image(object()) == []
