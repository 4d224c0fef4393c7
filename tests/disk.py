"""The disk under the tests' own recordings."""

import pytest

from flashscope.profiles.store import opening


@pytest.fixture(autouse=True)
def no_disk_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests record need not outlive the machine: for that, each point waits for the disk."""
    monkeypatch.setattr(opening, "PRAGMAS", (*opening.PRAGMAS, "synchronous = OFF"))
