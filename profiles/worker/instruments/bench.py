"""What measuring needs of a backend: a clock, a cache to flush, a memory to watch."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from flashscope.profiles.wire.measurement import Figure, Sample
from flashscope.profiles.worker.instruments.conditions import Condition
from flashscope.profiles.worker.instruments.counter_samples import CounterRuns
from flashscope.profiles.worker.instruments.energy import Counter

Run = Callable[[], None]
Reader = Callable[[Run], Figure]
"""Reads one figure of a kernel that is right, by running it apart from the timed runs."""
KeptSettings = Mapping[str, Callable[[], object]]
"""How each setting is read, by what it is called; None: it cannot be, or is not there yet."""


class CeilingLoad(NamedTuple):
    """Work of which a device does nothing else.

    Attributes:
        run: Does it once.
        amount: What one run does, in the unit of the rate times ms.
        what: What it is, in words.
    """

    run: Run
    amount: float
    what: str


class MemoryPeak(NamedTuple):
    """What one run did to memory, in bytes.

    Attributes:
        allocator: The allocator's high-water mark over the run.
        device_delta: Growth of the whole device's used memory, others included; None when it cannot be read.
    """

    allocator: int
    device_delta: int | None


class HeldRun(NamedTuple):
    """One run that the device was not let begin until the host had enqueued all of it.

    Attributes:
        waited: Whether the host came back only when the device was let go: it is slow, or waits for it.
        early: The bytes at the end of each array of the answer while the device was held, uint8.
        at_end: The same when the stream that it was called on was through with it.
        late: The same when the whole device had nothing left to do.
        host_ms: For how long the host was away.
        ms: What it took between two events.
        left_ms: For how long the device worked on after the second of them.
    """

    waited: bool
    early: tuple[Any, ...]
    at_end: tuple[Any, ...]
    late: tuple[Any, ...]
    host_ms: float
    ms: float
    left_ms: float


class Bench(Protocol):
    """One backend's instruments.

    Attributes:
        timer: What times a run, in words.
        memory_source: What the allocator's peak is read from, in words.
    """

    timer: str
    memory_source: str

    @property
    def readers(self) -> Mapping[str, Reader]:
        """What reads further figures, by the key of their quantity."""

    @property
    def cache_bytes(self) -> int | None:
        """Size of the last cache before the memory, None when unknown."""

    @property
    def core_cache_bytes(self) -> int | None:
        """Size of the cache of one core of a CPU, None when unknown and on a GPU."""

    @property
    def loads(self) -> Mapping[str, Callable[[], CeilingLoad]]:
        """What makes the load of each ceiling of the device, by its key."""

    @property
    def settings(self) -> KeptSettings:
        """How the device, its driver and its allocators are set: no kernel is to leave them otherwise."""

    def free_bytes(self) -> int:
        """Memory a kernel could have now, after everything cached has been given back."""

    def time_ms(self, run: Run) -> float:
        """Run once and wait; its duration in ms."""

    def wait(self) -> None:
        """Return when the whole device has nothing left to do."""

    def held(self, run: Run, answer: Callable[[], Iterable[Any]], ms: float) -> HeldRun | None:
        """Run once, held; None where a device works in no streams.

        Args:
            run: Enqueues it.
            answer: The arrays that it wrote.
            ms: What a run takes.
        """

    def sample(self, run: Run, *, cold: bool, after: Run | None = None) -> Sample:
        """Run once and wait; the run as a sample, rejected where it cannot be trusted (throttling).

        Cold: with nothing of it left in the last-level cache. `after` is done when the clock has stopped, on
        a GPU enqueued behind the run.
        """

    def stretch(self, run: Run, runs: int) -> Sample:
        """Run so often back to back and wait; what one of these runs takes as a sample."""

    def condition(self) -> Condition | None:
        """How the device is right after a sample; None: nothing tells."""

    def others(self, ours: Collection[int]) -> Figure | None:
        """How many other processes there are on the device; None: that is no question here.

        Args:
            ours: Processes beside this one that are not counted.
        """

    def is_exclusive(self) -> bool:
        """Whether the device takes one process at a time."""

    def energy_counter(self) -> Counter:
        """What counts the device's energy.

        Raises:
            NoCounterError: There is none.
        """

    def counted(self, run: Run, *, cold: bool) -> CounterRuns:
        """Run a few times while hardware counters are sampled, each run alone; the samples, and the runs.

        Cold: with nothing of it in the last-level cache.

        Raises:
            CountersError: Counters cannot be read here.
        """

    def peak(self, make: Run, run: Run) -> MemoryPeak:
        """Watch memory while `make` allocates inputs that stay and `run` everything else.

        Temporaries of `make` that are gone when it returns are not part of the peak.
        """

    def healthy(self) -> bool:
        """Whether later points can run in this process: a CUDA fault poisons its context for good."""

    def rest(self) -> None:
        """Let go of instruments and cached memory that others may want; the next run has them anew."""

    def release(self) -> None:
        """Give cached memory back."""
