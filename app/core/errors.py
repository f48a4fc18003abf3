"""Every failure the product can name. Plain classes with a stable `code`; no HTTP here.

The docstring of a class is its default message. `api/problems.py` owns the table from
class to status. A room that needs a finer code subclasses the nearest class below.
"""

from __future__ import annotations

from typing import Any, ClassVar


class MindConeError(Exception):
    """Something went wrong inside MindCone."""

    code: ClassVar[str] = "internal"

    def __init__(self, detail: str | None = None, **extra: Any) -> None:
        self.detail = detail or (type(self).__doc__ or "").strip()
        self.extra = extra
        super().__init__(self.detail)


class NotFound(MindConeError):
    """Nothing with this id exists here."""

    code = "not_found"


class Conflict(MindConeError):
    """The request contradicts the present state."""

    code = "conflict"


class VersionMismatch(MindConeError):
    """Someone changed this in the meantime; read it again and repeat the change."""

    code = "version_mismatch"


class Invalid(MindConeError):
    """The request is well-formed, but a value in it is not acceptable."""

    code = "invalid"


class TooLarge(MindConeError):
    """This is larger than the limit."""

    code = "too_large"


class Unauthorized(MindConeError):
    """A valid API key is needed."""

    code = "unauthorized"


class Forbidden(MindConeError):
    """This API key may not do that."""

    code = "forbidden"


class RateLimited(MindConeError):
    """Too many requests. `retry_after_seconds` says when to come back."""

    code = "rate_limited"

    def __init__(self, detail: str | None = None, *, retry_after_seconds: float = 1.0, **extra: Any) -> None:
        super().__init__(detail, **extra)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(MindConeError):
    """A part that is needed for this does not answer at the moment."""

    code = "unavailable"

    def __init__(self, detail: str | None = None, *, retry_after_seconds: float = 2.0, **extra: Any) -> None:
        super().__init__(detail, **extra)
        self.retry_after_seconds = retry_after_seconds


class ShuttingDown(Unavailable):
    """The server is stopping; come back in a moment."""

    code = "shutting_down"


class ConfigurationError(MindConeError):
    """A setting is wrong; the process cannot start like this."""

    code = "configuration"
