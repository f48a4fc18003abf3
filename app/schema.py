"""Alembic's view of the database: imports every room's tables, so that `metadata` holds them all."""

from __future__ import annotations

import app.cards.tables
import app.chat.tables
import app.index.lexical_tables
import app.index.tables
import app.jobs.tables
import app.people.tables
from app.db.base import Base

metadata = Base.metadata
