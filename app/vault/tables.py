"""The table of what was stored of chat providers. It belongs to the installation, not to a workspace."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, LargeBinary, Sequence, Text, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created

# A row that comes again after it was deleted must not have a version that was seen before.
VERSIONS = Sequence("provider_versions", metadata=Base.metadata, data_type=BigInteger)


class ProviderRow(Created, Base):
    """What is null is as the settings say. The key is sealed for this name and this origin."""

    __tablename__ = "provider_settings"
    __table_args__ = (
        CheckConstraint("(sealed_key IS NULL) = (key_origin IS NULL)", name="key_has_origin"),
        CheckConstraint("(sealed_key IS NULL) = (key_last4 IS NULL)", name="key_has_last4"),
    )

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    base_url: Mapped[str | None] = mapped_column(Text)
    default_model: Mapped[str | None] = mapped_column(Text)
    allow_private: Mapped[bool] = mapped_column(server_default=text("false"))
    sealed_key: Mapped[bytes | None] = mapped_column(LargeBinary)
    key_last4: Mapped[str | None] = mapped_column(Text)
    key_origin: Mapped[str | None] = mapped_column(Text)
    version: Mapped[int] = mapped_column(BigInteger, server_default=VERSIONS.next_value())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
