"""What the application's own role may: read and write rows, and nothing else.

It is no superuser and owns nothing, so that it can neither change the schema nor step over row level security. The
owner of the schema grants it; tables that later migrations make are granted with them.
"""

from __future__ import annotations

import re
from typing import Any, Final

from app.core.errors import ConfigurationError, NotFound

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_$-]{0,62}")
_GRANTS: Final = (
    "GRANT USAGE ON SCHEMA public TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role}",
    "REVOKE INSERT, UPDATE, DELETE ON alembic_version FROM {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {role}",
)


class RoleNotFound(NotFound):
    """There is no such role; create it first: CREATE ROLE name LOGIN PASSWORD '…'."""

    code = "role_not_found"


class RoleTooStrong(ConfigurationError):
    """This role owns the schema or steps over row level security; the application wants one that does neither."""

    code = "role_too_strong"


async def grant(connection: Any, role: str) -> None:
    """On an asyncpg connection of the schema's owner. Raises RoleNotFound, RoleTooStrong."""
    if _NAME.fullmatch(role) is None:
        raise RoleNotFound
    found = await connection.fetchrow(
        """
        SELECT rolsuper OR rolbypassrls OR EXISTS (
            SELECT 1 FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relowner = r.oid) AS is_strong
        FROM pg_roles r WHERE rolname = $1""",
        role,
    )
    if found is None:
        raise RoleNotFound
    if found["is_strong"]:
        raise RoleTooStrong
    async with connection.transaction():
        for statement in _GRANTS:
            await connection.execute(statement.format(role=f'"{role}"'))
