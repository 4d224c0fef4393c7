"""Engines under test."""

from collections.abc import Iterator

import pytest

from tests.disk import no_disk_is_waited_for
from tests.profiles.heard import Heard, running_children

__all__ = ["no_disk_is_waited_for"]  # a fixture for every room

FAULTY = "tests.faults:KERNELS"  # beside the real ones


class Spare:
    """An engine that a test has left idle, for the next: to start one with its worker takes half a second."""

    def __init__(self) -> None:
        self._heard: Heard | None = None

    def take(self) -> Heard:
        """The one there is, or a new one."""
        heard, self._heard = self._heard, None
        return heard or Heard(FAULTY)

    def close(self) -> None:
        """End the one there is."""
        if self._heard is not None:
            self._heard.engine.close()
            self._heard = None
        assert running_children() == []

    def put(self, heard: Heard) -> None:
        """Keep it if it does nothing, with no child but a worker that does nothing."""
        if heard.is_idle():
            heard.forget()
            self._heard = heard
        else:
            heard.engine.close()
            assert running_children() == []


@pytest.fixture(scope="module")
def spare() -> Iterator[Spare]:
    spare = Spare()
    yield spare
    spare.close()


@pytest.fixture
def heard(spare: Spare, request: pytest.FixtureRequest) -> Iterator[Heard]:
    """An engine with the faulty kernels beside the real ones; a test before may have had it, too."""
    failed = request.session.testsfailed
    if "gate" in request.fixturenames:
        spare.close()  # its worker, which got its environment as it began, knows of no gate
    heard = spare.take()
    yield heard
    if request.session.testsfailed > failed:
        heard.engine.close()  # whatever state it is in
    spare.put(heard)


@pytest.fixture
def fresh() -> Iterator[Heard]:
    """An engine that nobody has used and nobody will use; one of tests before may stand beside it."""
    before = set(running_children())
    heard = Heard(FAULTY)
    yield heard
    heard.engine.close()
    assert set(running_children()) <= before
