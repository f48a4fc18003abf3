"""What the container promises, as far as it can be read."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_user_of_the_container_is_the_documented_one() -> None:
    """M11: volumes that one container wrote are readable for the next."""
    dockerfile = (ROOT / "docker" / "Dockerfile").read_text()
    (made,) = re.findall(r"useradd --uid (\d+)", dockerfile)
    assert re.findall(r"^USER (\S+)$", dockerfile, re.M) == [made]
    assert f"The container's user id is {made}." in (ROOT / "README.md").read_text()
