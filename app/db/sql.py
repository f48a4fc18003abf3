"""SQL with a home: statements live in `.sql` files beside the room that asks them."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def load(package: str, name: str) -> str:
    """Text of `<package>/sql/<name>.sql`. Raises FileNotFoundError."""
    return (resources.files(package) / "sql" / f"{name}.sql").read_text(encoding="utf-8")
