"""What can be wrong with a file or an archive. Most of these end as the code of one file's result."""

from __future__ import annotations

from app.core.errors import Invalid, TooLarge


class UnsafePath(Invalid):
    """The name of this file leads outside of its folder or archive, or it is a link."""

    code = "unsafe_path"


class PathTooLong(Invalid):
    """The path of this file is longer than a note's identity can be."""

    code = "path_too_long"


class DuplicatePath(Invalid):
    """Another file of this import has the same path; the first one is kept."""

    code = "duplicate_path"


class UnsupportedType(Invalid):
    """Files of this type cannot be imported."""

    code = "unsupported_type"


class EmptyDocument(Invalid):
    """There is no text in this file."""

    code = "empty_document"


class UnknownEncoding(Invalid):
    """This is not text in any encoding that can be recognised."""

    code = "unknown_encoding"


class UnreadableFile(Invalid):
    """This file cannot be read."""

    code = "unreadable_file"


class UnreadablePdf(UnreadableFile):
    """This PDF is broken or needs a password."""

    code = "unreadable_pdf"


class UnreadableDocx(UnreadableFile):
    """This Word document is broken or carries XML that is not accepted."""

    code = "unreadable_docx"


class EncryptedFile(UnreadableFile):
    """This entry of the archive needs a password."""

    code = "encrypted_file"


class BrokenArchive(Invalid):
    """This is not a zip archive, or it is damaged."""

    code = "broken_archive"


class FileTooLarge(TooLarge):
    """This file is larger than the limit."""

    code = "file_too_large"


class ArchiveTooLarge(TooLarge):
    """This archive expands to more than the limits allow."""

    code = "archive_too_large"
