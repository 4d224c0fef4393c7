"""The energy that a device takes over a loop, from a counter that moves in steps."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from statistics import mean
from threading import Event, Thread
from typing import NamedTuple, Protocol

from flashscope.profiles.wire.measurement import BY_POWER, Figure

LEAST_S = 1.0  # of runs: a counter that steps every 0.1 s says nothing of less
LEAST_SHARE = 0.5  # of the loop, that must lie between the first step and the last
POLL_S = 0.01  # between two readings; on a GPU a reading takes about 3 ms


class NoCounterError(Exception):
    """There is no counter of energy; the text says why, as a clause."""


class Counter(NamedTuple):
    """What counts the energy of a whole device.

    Attributes:
        read: What it has taken since some moment, in mJ.
        source: What is read, in words.
        limit_w: The most that the device may draw, in W; None where none is known.
        power: What it draws at this moment, in W, from another sensor's reading; None: it does not tell.
    """

    read: Callable[[], float]
    source: str
    limit_w: float | None = None
    power: Callable[[], float | None] = lambda: None


class Counting(Protocol):
    """What has a counter of energy, or none."""

    def energy_counter(self) -> Counter:
        """The counter.

        Raises:
            NoCounterError: There is none.
        """


class CounterStep(NamedTuple):
    """The counter was seen to have moved.

    Attributes:
        after_s: It had not when this reading began, the one before.
        before_s: It had when this reading ended.
        mj: Where it then stood.
    """

    after_s: float
    before_s: float
    mj: float


class Power(NamedTuple):
    """Mean watts between two steps, with the least and the most that their moments allow."""

    mean: float
    low: float
    high: float
    over_s: float


def power_between(steps: list[CounterStep]) -> Power | None:
    """The energy from the first step to the last over the time from one to the other; None: too few steps.

    A step lies anywhere between two readings, so the time is known to two such gaps and the energy exactly.
    """
    if len(steps) < 2:  # noqa: PLR2004 - both ends
        return None
    first, last = steps[0], steps[-1]
    shortest, longest = last.after_s - first.before_s, last.before_s - first.after_s
    if shortest <= 0:
        return None
    joules, middle = (last.mj - first.mj) / 1e3, (shortest + longest) / 2
    return Power(joules / middle, joules / longest, joules / shortest, middle)


class Watch:
    """Reads a counter in a thread of its own while something runs.

    Attributes:
        steps: How it moved.
        powers: What the device drew at each reading, in W.
        seconds: How long it was watched.
    """

    def __init__(self, counter: Counter) -> None:
        self.steps: list[CounterStep] = []
        self.powers: list[float] = []
        self.seconds = 0.0
        self._counter, self._ended = counter, Event()
        self._thread = Thread(target=self._poll, daemon=True)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read from here on until this ends."""
        begun = time.monotonic()
        self._thread.start()
        try:
            yield
        finally:
            self.seconds = time.monotonic() - begun
            self._ended.set()
            self._thread.join()

    def _poll(self) -> None:
        """Read until it ends, or until the counter answers no more."""
        with suppress(Exception):
            began, known = time.monotonic(), self._counter.read()
            while not self._ended.wait(POLL_S):
                again, now = time.monotonic(), self._counter.read()
                if now != known:
                    self.steps.append(CounterStep(began, time.monotonic(), now))
                began, known = again, now
                power = self._counter.power()
                self.powers += [] if power is None else [power]


def spend(bench: Counting, loop: Callable[[], int], seconds: float) -> dict[str, Figure]:
    """Run a loop, and tell what it took.

    Args:
        bench: What has the counter.
        loop: Runs a kernel back to back; returns how often.
        seconds: How long it is to take.

    Returns:
        `energy_mj` of one run and `power_w`, the mean, of the whole device with all that runs on it; where
        they are known `power_limit_w`, and as a check on the counter the energy by `BY_POWER`.
    """
    try:
        counter = bench.energy_counter()
    except NoCounterError as error:
        loop()
        return _missing(str(error))
    if seconds < LEAST_S:
        loop()
        return _missing(f"{seconds:g} s back to back are too short for the counter: it takes {LEAST_S:g} s")
    watch = Watch(counter)
    with watch.reading():
        runs = loop()
    limit = {} if counter.limit_w is None else {"power_limit_w": Figure(value=counter.limit_w, source="NVML")}
    return limit | _figures(watch, runs, counter.source)


def _figures(watch: Watch, runs: int, source: str) -> dict[str, Figure]:
    power = power_between(watch.steps)
    if power is None or power.over_s < LEAST_SHARE * watch.seconds:
        return _missing(f"the counter moved {len(watch.steps)} times in {watch.seconds:.2g} s: too rarely")
    told = f"{source}, {len(watch.steps)} steps over {power.over_s:.3g} s"
    watts = Figure(value=power.mean, low=power.low, high=power.high, source=told)
    each = watch.seconds / runs * 1e3
    energy = Figure(value=power.mean * each, low=power.low * each, high=power.high * each, source=told)
    return {"energy_mj": energy, "power_w": watts} | _by_power(watch.powers, each)


def _by_power(powers: list[float], each: float) -> dict[str, Figure]:
    """The energy of a run of so many ms once more, without the counter."""
    if not powers:
        return {}
    told = f"mean of {len(powers)} readings of the power, times the time"
    return {BY_POWER: Figure(value=mean(powers) * each, source=told)}


def _missing(reason: str) -> dict[str, Figure]:
    return {key: Figure(missing=reason) for key in ("energy_mj", "power_w")}
