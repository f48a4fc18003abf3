"""The knobs of reading other people's files. Every limit bounds memory or time, not taste."""

from __future__ import annotations

from pydantic import BaseModel, Field

MIB = 1024 * 1024


class TransferSettings(BaseModel):
    """Sizes are bytes after decompression."""

    import_max_text_bytes: int = Field(default=8 * MIB, gt=0, description="largest .md, .txt or .html file")
    import_max_file_bytes: int = Field(default=64 * MIB, gt=0, description="largest .pdf or .docx file")
    import_max_pages: int = Field(default=5_000, gt=0, description="pages of a PDF that are read")
    import_max_entries: int = Field(default=50_000, gt=0, description="entries of one archive")
    import_max_expanded_bytes: int = Field(default=1024 * MIB, gt=0, description="all entries of one archive together")
    import_max_ratio: int = Field(default=100, gt=0, description="expanded size over packed size, above one MiB")
