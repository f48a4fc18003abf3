"""What migrations keep in `migrations/sql/`. Like them it knows nothing of the program, which goes on changing."""

from __future__ import annotations

import re
from pathlib import Path

from alembic import op

SQL = Path(__file__).resolve().parent / "sql"


def run(name: str) -> None:
    """The statements of `migrations/sql/<name>.sql`, which are divided by `-- next`."""
    for part in (SQL / f"{name}.sql").read_text(encoding="utf-8").split("-- next\n"):
        if re.sub(r"--.*", "", part).strip():
            op.execute(part.strip())
