"""Which turns are still to be reflected on."""

from __future__ import annotations

import uuid

from sqlalchemy import ForeignKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created


class Reflection(Created, Base):
    """An answered turn from which something may be worth remembering. Gone when that has been done."""

    __tablename__ = "reflections"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "message_id"], ["messages.workspace_id", "messages.id"], ondelete="CASCADE"
        ),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    message_id: Mapped[uuid.UUID] = mapped_column(primary_key=True, comment="the answer")
    is_tainted: Mapped[bool]
