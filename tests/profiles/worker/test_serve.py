"""What a worker does between its points."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from flashscope.kernels.workload.device import Device
from flashscope.profiles.wire.messages import Message
from flashscope.profiles.worker.child import Link
from flashscope.profiles.worker.serve import Worker

CPU = Device(backend="cpu", name="A CPU", memory_bytes=1 << 33)


class Deaf(Link):
    """No engine at its other end."""

    def __init__(self) -> None:
        pass

    def send(self, message: Message) -> None:
        del message


@pytest.fixture
def thawed() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_what_a_worker_keeps_is_not_looked_through_again_after_every_point(thawed: None) -> None:
    kept = [[n] for n in range(10_000)]
    Worker(Deaf(), ())._clean_up(CPU)
    assert gc.get_freeze_count() > len(kept)
    assert len(gc.get_objects()) < len(kept)


class Circle:
    """Holds itself."""

    def __init__(self) -> None:
        self.itself = self


def test_garbage_of_a_later_point_is_collected_all_the_same(thawed: None) -> None:
    worker = Worker(Deaf(), ())
    worker._clean_up(CPU)
    left = weakref.ref(Circle())
    worker._clean_up(CPU)
    assert left() is None
