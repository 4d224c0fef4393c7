"""How far a host's clock is ahead of this machine's, by calls that the host answers at once.

Of several calls the one with the shortest round trip counts: the host's answer was made within it, so that
its middle is wrong by half of it at most (F. Cristian, Probabilistic clock synchronization, 1989).
"""

import time
from collections.abc import Iterable
from typing import NamedTuple

from flashscope.profiles.cluster.calls import Describe, Described
from flashscope.profiles.cluster.client.link import LinkError, SchedulerLink
from flashscope.profiles.wire.events import LogLine

CALLS = 8
MUCH_NS = 10**7
GOOD_FOR_S = 60.0  # quartz clocks part by some 20 us a second at most, and system clocks are slewed


class HostClock(NamedTuple):
    """What is known of a host's clock.

    Attributes:
        ahead_ns: What it tells more than ours (ns).
        off_ns: By how much that may be wrong (ns).
        at_ns: When that was measured, by our clock.
    """

    ahead_ns: int
    off_ns: int
    at_ns: int

    @classmethod
    def of(cls, calls: Iterable[tuple[int, int, int]]) -> "HostClock":
        """What calls say: of each when it was sent (our clock), told (the host's) and heard (ours), in ns."""
        sent, told, heard = min(calls, key=lambda one: one[2] - one[0])
        return cls(told - (sent + heard) // 2, (heard - sent + 1) // 2, heard)

    @property
    def is_fresh(self) -> bool:
        """Whether it need not be measured anew yet."""
        return time.monotonic_ns() - self.at_ns < GOOD_FOR_S * 1e9

    def told_of(self, device: str, host: str) -> LogLine:
        """How well it is known; a warning where points on one axis may visibly be off."""
        known = f"within ±{self.off_ns / 1e6:.2g} ms, half the shortest of {CALLS} round trips"
        text = f"The clock of {device} at {host} is known {known}."
        return LogLine(source="engine", text=text, level="warning" if self.off_ns > MUCH_NS else "info")


async def clock_of(link: SchedulerLink, worker: str) -> HostClock:
    """Measure it.

    Raises:
        LinkError: The host does not answer, or otherwise than asked.
    """
    calls = []
    for _ in range(CALLS):
        sent = time.monotonic_ns()
        answer = await link.call(worker, Describe())
        if not isinstance(answer, Described):
            raise LinkError("the host does not tell the time", final=True)
        calls.append((sent, answer.t_ns, time.monotonic_ns()))
    return HostClock.of(calls)
