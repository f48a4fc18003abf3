"""What constraints.txt pins."""

from __future__ import annotations

from importlib import metadata

import pytest
from packaging.specifiers import SpecifierSet

DEBIAN = "3.11.2"
"""The oldest Python that a stranger is told to bring."""


@pytest.mark.parametrize("python", [DEBIAN, "3.12.0", "3.13.0"])
def test_every_pinned_package_installs_on_a_python_of_strangers(python: str) -> None:
    """A release that wants a later patch of Python fails there at `make run`, and nowhere else."""
    unfit = {
        one.metadata["Name"]: wanted
        for one in metadata.distributions()
        if (wanted := one.metadata["Requires-Python"]) and not SpecifierSet(wanted).contains(python)
    }
    assert unfit == {}
