"""What experiments ask of a GPU: measured points, of the GPU here or of the bundled recordings."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from flashscope.kernels.workload.device import Device
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import SUFFIX, SessionFileError, load
from flashscope.profiles.wire.ceilings import COPY, matmul_key

Topic = Literal[
    "h200-peers", "h100-peers", "h200-standard-flash2", "h200-traffic", "h100-caches", "torch-choice"
]
"""What was measured: kernels side by side over shapes (and the same on an H100), standard and flash2 over N,
bytes by counters, the rates of caches, and what PyTorch's dispatcher takes in float32 and for odd head dims,
of which there is no recording."""

SHEET_TFLOPS, SHEET_GPUS, SHEET_SMS = 989.4, ("H100", "H200"), 132
SLOWER = "NVL"  # of the same name and as many multiprocessors, with a lower clock
SHEET = "NVIDIA's data sheet: 989.4 TFLOP/s in 16 bits without sparsity"

Measure = Callable[[Topic], Session | None]
T = TypeVar("T")


class BrokenOffError(Exception):
    """A measurement did not come to its end; the text says why, in a sentence."""


class PeakRate(NamedTuple):
    """The rate of 16-bit products that a share is taken of, and where it comes from."""

    tflops: float
    source: str


class Lab:
    """Sessions by topic, each read or measured once.

    Args:
        recordings: The folder of the bundled recordings.
        measure: Measures a topic on the GPU here; None: there is none, or it is not to be used.
        stopped: Whether whoever asked has had enough; what takes long looks.
    """

    def __init__(
        self, recordings: Path, measure: Measure | None = None, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self.recordings, self._measure, self.stopped = recordings, measure, stopped
        self._known: dict[Topic, Session | None] = {}
        self._broken: dict[Topic, Exception] = {}
        self._made: dict[Callable[[], Any], Any] = {}

    @property
    def live(self) -> bool:
        """Whether a GPU measures here."""
        return self._measure is not None

    def of_h100(self) -> "tuple[Lab, Topic]":
        """Where kernels side by side on an H100 are found: on the GPU here if it is one, else recorded."""
        device = self.device("h200-peers") if self.live else None
        if device is not None and "H100" in device.name:
            return self, "h200-peers"
        return self.recorded(), "h100-peers"

    def recorded(self) -> "Lab":
        """A lab that reads recordings alone: this one where no GPU measures."""
        return Lab(self.recordings) if self.live else self

    def once(self, make: Callable[[], T]) -> T:
        """What a function makes, made once for all experiments that ask for it."""
        if make not in self._made:
            self._made[make] = make()
        made: T = self._made[make]
        return made

    def session(self, topic: Topic) -> Session | None:
        """What was measured of a topic; None where its recording is missing or cannot be read.

        Raises:
            Exception: Whatever measuring it raised, which is tried once.
        """
        if topic in self._broken:
            raise self._broken[topic]
        if topic not in self._known:
            try:
                self._known[topic] = self._measure(topic) if self._measure else self._read(topic)
            except Exception as error:
                self._broken[topic] = error
                raise
        return self._known[topic]

    def rows(self, topic: Topic, *kernels: str) -> list[PointRow]:
        """The points of a topic that are done, of these kernels where any are named."""
        session = self.session(topic)
        known = rows(session) if session else []
        return [row for row in known if row.done and (not kernels or row.kernel in kernels)]

    def every(self, topic: Topic) -> list[PointRow]:
        """All points of a topic, those that would not fit among them."""
        session = self.session(topic)
        return rows(session) if session else []

    def source(self, topic: Topic) -> str:
        """Where a topic's figures come from, in words."""
        device = self.device(topic)
        name = device.name if device else "a GPU"
        return f"measured on {name}" if self.live else f"recorded on {name} ({topic}{SUFFIX})"

    def device(self, topic: Topic) -> Device | None:
        """The GPU that a topic was measured on."""
        session = self.session(topic)
        return session.machine.device("cuda") if session else None

    def ceiling(self, key: str, topic: Topic = "h200-traffic") -> float | None:
        """A rate that the device was seen to reach beside the points of a topic."""
        session = self.session(topic)
        known = session.ceilings.get(1) if session else None
        reached = known.rates.get(key) if known else None
        return reached.figure.value if reached else None

    @cached_property
    def copy_gbs(self) -> float | None:
        """The rate of a copy within the device's memory, in 10^9 bytes a second."""
        return self.ceiling(COPY)

    @cached_property
    def peak(self) -> PeakRate | None:
        """The peak of 16-bit products: the data sheet's, or what was reached where that is not known."""
        device = self.device("h200-peers")
        if device and _on_sheet(device):
            return PeakRate(SHEET_TFLOPS, SHEET)
        reached = self.ceiling(matmul_key("bfloat16"))
        return PeakRate(reached, "a measured product") if reached else None

    def _read(self, topic: Topic) -> Session | None:
        try:
            return load(self.recordings / f"{topic}{SUFFIX}")
        except SessionFileError:
            return None


def _on_sheet(device: Device) -> bool:
    """Whether a GPU has the rate of the data sheet: all of its 132 multiprocessors, at their full clock."""
    named = any(name in device.name for name in SHEET_GPUS) and SLOWER not in device.name
    return named and device.multiprocessors in {None, SHEET_SMS}


def shapes(found: Sequence[PointRow]) -> dict[tuple[int, bool, int], dict[str, PointRow]]:
    """Points by head dim, causal and N, and by kernel."""
    cells: dict[tuple[int, bool, int], dict[str, PointRow]] = {}
    for row in found:
        problem = row.problem
        cells.setdefault((problem.head_dim, problem.causal, row.seqlen), {})[row.kernel] = row
    return cells
