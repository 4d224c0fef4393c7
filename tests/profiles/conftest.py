"""Engines under test."""

from collections.abc import Iterator

import pytest

from tests.profiles.heard import Heard, running_children


@pytest.fixture
def heard() -> Iterator[Heard]:
    """An engine with the faulty kernels beside the real ones."""
    heard = Heard("tests.faults:KERNELS")
    yield heard
    heard.engine.close()
    assert running_children() == []
