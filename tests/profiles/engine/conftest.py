"""A kernel that runs when a test lets it, the ladder that ends a child, and the CUDA instruments."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flashscope.profiles.engine import jobs
from flashscope.profiles.engine.children import SpawnedChild
from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.worker.instruments.bench import Bench
from tests.faults import AT_THE_GATE, GATE
from tests.profiles.heard import Heard


@pytest.fixture(autouse=True)
def no_ceilings_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """But in the sweeps that tests of a module share, which are looked at for them, too."""
    monkeypatch.setattr(jobs, "first_tasks", lambda _device: ())


class Gate:
    """A pipe with a byte for each run of the kernel `gated` that may end."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # both ends, so that the kernel's never closes

    def let(self, runs: int) -> None:
        """Let so many runs end."""
        os.write(self._pipe, bytes(runs))

    def await_run(self, heard: Heard, number: int) -> None:
        """Return once the kernel is in its run of that number, counted from 1."""
        for _ in range(number):
            heard.until(LogLine, lambda line: line.text == AT_THE_GATE)

    def left(self) -> int:
        """How many more runs were let, and did not come."""
        try:
            return len(os.read(self._pipe, 1 << 12))
        except BlockingIOError:
            return 0

    def close(self) -> None:
        os.close(self._pipe)


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    path = tmp_path / "gate"
    monkeypatch.setenv(GATE, str(path))
    made = Gate(path)
    yield made
    made.close()


class Ladder:
    """The rungs that children were brought to by force.

    Attributes:
        climbed: Each of them, in order.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.climbed: list[str | None] = []
        self._given: list[tuple[float, float, float]] = []  # before, when it is due, after
        climb = SpawnedChild._climb

        def counting(child: SpawnedChild) -> None:
            before = time.monotonic()
            climb(child)
            self.climbed.append(child._rung)
            if child._due is not None:
                self._given.append((before, child._due, time.monotonic()))

        monkeypatch.setattr(SpawnedChild, "_climb", counting)

    def assert_each_rung_is_given(self, seconds: float) -> None:
        """The next rung is due so long after this one, whenever a busy machine gets to it."""
        for before, due, after in self._given:
            assert before + seconds <= due <= after + seconds


@pytest.fixture
def ladder(monkeypatch: pytest.MonkeyPatch) -> Ladder:
    return Ladder(monkeypatch)


@pytest.fixture
def cuda_bench() -> Iterator[Bench]:
    """The CUDA instruments in this process, which gets its allocator back."""
    import cupy  # noqa: PLC0415 - absent without a GPU

    from flashscope.profiles.worker.instruments.bench_cuda import CudaBench  # noqa: PLC0415 - imports CuPy

    allocator = cupy.cuda.get_allocator()
    yield CudaBench(None)
    cupy.cuda.set_allocator(allocator)
