"""Documents of other kinds to Markdown: .txt, .html, .pdf, .docx. Pure; CPU-bound, so for a worker thread.

Nothing outside of the given bytes is ever opened: no links, no images, no external entities.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from dataclasses import dataclass, field
from datetime import datetime
from xml.sax.handler import ContentHandler

import defusedxml.sax
import mammoth
import nh3
from defusedxml.ElementTree import fromstring
from markdownify import markdownify
from pypdf import PdfReader
from pypdf.errors import PyPdfError

from app.core.errors import TooLarge
from app.transfer import frontmatter
from app.transfer.archive import check_bounds, open_archive, read_entry
from app.transfer.dates import parse_timestamp
from app.transfer.encoding import Decoded, clean, decode
from app.transfer.errors import EmptyDocument, UnreadableDocx, UnreadablePdf
from app.transfer.frontmatter import Json
from app.transfer.notes import encoding_of, is_blank, plain_title, read_text
from app.transfer.settings import TransferSettings

# A page shorter than this has no article to find; one that loses more than this is no article.
SHORT_PAGE_CHARACTERS = 1_000
# Beyond this the search for the article takes time out of proportion, and a book is no article.
LONG_PAGE_CHARACTERS = 500_000
MIN_ARTICLE_SHARE = 0.35
# Browsers stop at 512; parsing takes time with the square of the depth.
MAX_DEPTH = 500
# Tags and entities; five seconds' worth.
MAX_MARKS = 100_000

_DECLARED_CHARSET = re.compile(rb"<meta[^<>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{2,40})", re.IGNORECASE)
_NESTING_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,20})")
_ANY_TAG = re.compile(r"<[^<>]*>")
# Void elements, and those whose end tag may be left out and which close one another.
_NEVER_NESTED = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
    | {"p", "li", "dt", "dd", "option", "optgroup", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "rp", "rt"}
)
_TITLE = re.compile(r"<title[^<>]*>([^<]{1,2000})</title", re.IGNORECASE)
_DROPPED_WITH_CONTENT = {"script", "style", "title", "nav", "noscript", "template", "iframe", "object", "svg"}
_DROPPED = {"img", "picture", "figure", "map", "area", "svg"}
_TITLES_THAT_SAY_NOTHING = {"untitled", "anonymous", "unspecified", "无标题", "未命名", "(anonymous)", "document"}
_MEANT = re.compile(r"gb2312|gbk|gb18030|big5(-hkscs)?|windows-\d+|iso-8859-\d+|shift_jis|euc-(jp|kr)|koi8-[ru]")
_BEFORE_XML = b"\x00\xef\xbb\xbf\xfe\xff \t\r\n"
_CORE = "docProps/core.xml"
_DC_TITLE = "{http://purl.org/dc/elements/1.1/}title"


@dataclass(slots=True)
class Document:
    """`title` is what the document calls itself, `None` when it does not say."""

    text: str
    title: str | None = None
    created_at: datetime | None = None
    metadata: dict[str, Json] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def read_plain(data: bytes) -> Document:
    """Raises `EmptyDocument` and `UnknownEncoding`."""
    decoded = decode(data)
    text, warnings = read_text(decoded)
    return Document(_not_blank(text), metadata=encoding_of(decoded), warnings=warnings)


def read_html(data: bytes) -> Document:
    """The article of a page, or the whole page where there is none. Raises `EmptyDocument` and `UnknownEncoding`."""
    page, warnings = read_text(_decode_html(data))
    if _too_deep(page):
        return Document(_not_blank(_bare(page)), warnings=[*warnings, "page_simplified"])
    whole, title, date = _html_to_markdown(page), _TITLE.search(page), None
    text, named = whole, title[1] if title else None
    if SHORT_PAGE_CHARACTERS <= len(whole) <= LONG_PAGE_CHARACTERS and page.count("<") <= MAX_MARKS:
        article = _article(page)
        if article is not None and len(article.text) >= MIN_ARTICLE_SHARE * len(whole):
            # A page's own title often ends in the name of the site.
            text, named, date = article.text, article.title or named, article.date
    return Document(
        _not_blank(clean(text)),
        title=_worth_saying(named),
        created_at=parse_timestamp(date) if date else None,
        warnings=warnings,
    )


def read_pdf(data: bytes, max_pages: int) -> Document:
    """The text layer, a blank line between pages. Raises `UnreadablePdf` and `EmptyDocument`."""
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadablePdf("This PDF needs a password.")
        total = len(reader.pages)
        pages = [_pdf_page(reader, number) for number in range(min(total, max_pages))]
        title = reader.metadata.title if reader.metadata else None
        created = _pdf_created(reader)
    except UnreadablePdf:
        raise
    except Exception as error:
        # Damaged files fail deep inside the parser in ways that it does not name.
        raise UnreadablePdf from error
    if all(page is None for page in pages):
        raise UnreadablePdf
    text = "\n\n".join(page for page in pages if page)
    if is_blank(text):
        raise EmptyDocument("This PDF has no text layer.")
    warnings = ["pages_unreadable"] if None in pages else []
    if total > max_pages:
        warnings.append("pages_cut")
    return Document(text, _worth_saying(title), created, {"pages": total}, warnings)


def read_docx(data: bytes, settings: TransferSettings) -> Document:
    """Headings, lists, tables and links; no images. Raises `UnreadableDocx`, `ArchiveTooLarge`, `EmptyDocument`."""
    try:
        with open_archive(io.BytesIO(data), settings) as archive:
            check_bounds(archive.infolist(), settings)
            title = _checked_docx(archive, settings)
        body: str = mammoth.convert_to_html(
            io.BytesIO(data), convert_image=_no_image, include_embedded_style_map=False, external_file_access=False
        ).value
    except TooLarge:
        raise
    except Exception as error:
        # As with PDF: damage shows deep inside the converter and has no one name.
        raise UnreadableDocx from error
    return Document(_not_blank(clean(_html_to_markdown(body))), _worth_saying(title))


def _not_blank(text: str) -> str:
    if is_blank(text):
        raise EmptyDocument
    return text


def _worth_saying(title: str | None) -> str | None:
    text = plain_title(clean(nh3.clean(title or "", tags=set())).replace("&amp;", "&"))
    # Print drivers put the name of the program and of the file there.
    if not text or text.lower() in _TITLES_THAT_SAY_NOTHING or text.lower().startswith("microsoft word"):
        return None
    return text


# ------------------------------------------------------------------------------------- html


def _decode_html(data: bytes) -> Decoded:
    """What is valid UTF-8 is UTF-8, whatever the page says; otherwise its word counts before a guess."""
    decoded = decode(data)
    declared = _DECLARED_CHARSET.search(data[:4096])
    if declared is None or (decoded.encoding.startswith("utf") and not decoded.damaged):
        return decoded
    name = declared[1].decode("ascii").lower()
    # Browsers take these for the larger sets they are part of, and so do the pages' authors.
    encoding = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252"}.get(name, name)
    try:
        return Decoded(data.decode(encoding), encoding) if _MEANT.fullmatch(name) else decoded
    except (LookupError, ValueError):
        return decoded


def _too_deep(page: str) -> bool:
    depth = 0
    for tag in _NESTING_TAG.finditer(page):
        if tag[2].lower() not in _NEVER_NESTED:
            depth = max(0, depth - 1) if tag[1] else depth + 1
            if depth > MAX_DEPTH:
                return True
    return False


def _bare(page: str) -> str:
    """The words without any structure: for pages that would take minutes."""
    lines = html.unescape(_ANY_TAG.sub("\n", clean(page))).splitlines()
    return "\n".join(stripped for line in lines if (stripped := line.strip()))


def _html_to_markdown(page: str) -> str:
    body = nh3.clean(
        page, tags=nh3.ALLOWED_TAGS - _DROPPED - _DROPPED_WITH_CONTENT, clean_content_tags=_DROPPED_WITH_CONTENT
    )
    if body.count("<") + body.count("&") > MAX_MARKS:
        return _bare(body)
    try:
        markdown: str = markdownify(
            body,
            heading_style="ATX",
            bullets="-",
            escape_asterisks=False,
            escape_underscores=False,
            escape_misc=False,
            table_infer_header=True,
        )
    except RecursionError:
        return _bare(body)
    return re.sub(r"\n{3,}", "\n\n", markdown).strip()


@dataclass(frozen=True, slots=True)
class _Article:
    text: str
    title: str | None
    date: str | None


def _article(page: str) -> _Article | None:
    # Its import costs more than reading most files, and few imports have a web page in them.
    import trafilatura

    found = trafilatura.extract_with_metadata(
        page,
        output_format="markdown",
        include_comments=False,
        include_formatting=True,
        include_links=True,
        include_tables=True,
        favor_recall=True,
        date_extraction_params={"extensive_search": False, "original_date": True},
    )
    if found is None or not found.text:
        return None
    block = frontmatter.split(found.text)
    return _Article(block.body if block else found.text, found.title, found.date)


# -------------------------------------------------------------------------------------- pdf


def _pdf_page(reader: PdfReader, number: int) -> str | None:
    try:
        return clean(reader.pages[number].extract_text()).strip()
    except Exception:
        return None


def _pdf_created(reader: PdfReader) -> datetime | None:
    try:
        created = reader.metadata.creation_date if reader.metadata else None
    except (PyPdfError, ValueError, OverflowError):
        return None
    return parse_timestamp(created.isoformat()) if created else None


# ------------------------------------------------------------------------------------- docx


def _checked_docx(archive: zipfile.ZipFile, settings: TransferSettings) -> str | None:
    """Refuses every XML part with a DTD before the converter sees it. The title in the core properties."""
    title = None
    for info in archive.infolist():
        # Any name may be the main part, so the content decides. Pictures in SVG often have a DTD and are not read.
        if info.is_dir() or info.filename.lower().endswith(".svg"):
            continue
        part = read_entry(archive, info, settings.import_max_file_bytes)
        if not part[:64].translate(None, _BEFORE_XML).startswith(b"<"):
            continue
        defusedxml.sax.parseString(part, ContentHandler(), forbid_dtd=True)
        if info.filename == _CORE:
            title = fromstring(part, forbid_dtd=True).findtext(_DC_TITLE)
    return title


def _no_image(image: object) -> list[object]:
    return []
