"""What a client of many devices costs: python -m tests.benchmarks.many_devices_bench [POINTS]

SIMULATED: the devices are fakes with drawn speeds and failures. Dask's scheduler, a server of Dask's for each
device and the client are in one process, by in-process connections; calls are those of a client and a host.
Prints a line for 1, 10, 100 and 1,000 devices; gates on nothing.
"""

import asyncio
import random
import resource
import sys
import time
from typing import Any, NamedTuple
from unittest.mock import Mock

import psutil

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.cluster.calls import Ask, Attach, Attached, EventBatch, Leave, Pull, RunPlan
from flashscope.profiles.cluster.client.link import SchedulerLink
from flashscope.profiles.cluster.connection import Connection
from flashscope.profiles.cluster.host.device_host import DeviceHost
from flashscope.profiles.cluster.settings import NO_PAGES, OP, HostSettings
from flashscope.profiles.cluster.versions import versions_here
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.events import Event, PlanFinished, PointFailed, PointMeasured, PointStarted
from flashscope.profiles.wire.measurement import Sample

from distributed import Scheduler  # isort: skip - after the link has made it quiet
from distributed.core import Server  # isort: skip - as above

DEVICES = (1, 10, 100, 1000)
POINTS = 100_000  # of the largest case; the others have as many for each device, 1,000 at least
SAMPLES, FAILING, MEAN_S = 20, 0.02, 0.002


class Fake(Mock):
    """An engine whose points take drawn times, and fail now and then."""

    def begin(self, sink: Sink, dice: random.Random) -> "Fake":
        self.sink, self.dice, self.speed = sink, dice, dice.uniform(0.5, 2.0)
        return self

    def run(self, plan: Plan, _remaining: object = None) -> None:
        self.task = asyncio.get_running_loop().create_task(self._measure(len(plan.problems)))

    async def _measure(self, points: int) -> None:
        for index in range(points):
            self.sink(PointStarted(index=index, t_ns=time.monotonic_ns()))
            await asyncio.sleep(self.dice.expovariate(self.speed / MEAN_S))
            self.sink(self._outcome(index))
        self.sink(PlanFinished(t_ns=time.monotonic_ns(), outcome="finished"))

    def _outcome(self, index: int) -> Event:
        now = time.monotonic_ns()
        if self.dice.random() < FAILING:
            return PointFailed(index=index, t_ns=now, status="failed", reason="a drawn failure")
        samples = tuple(Sample(self.dice.random(), t_ns=now + step) for step in range(SAMPLES))
        return PointMeasured(index=index, t_ns=now, samples=samples)


class Taken(NamedTuple):
    """What came of one device: its outcomes, and the seconds to its first event."""

    outcomes: list[Event]
    first_s: float


async def served(number: int, dice: random.Random) -> Server:
    """A fake device that is served as a worker's, without what else a worker does."""
    settings = HostSettings(folder="", device=f"fake {number}", hold_s=600)
    device = DeviceHost(settings, lambda sink: Fake().begin(sink, dice), lambda _: None)
    server = Server({OP: device.answer}, needs_workdir=False)
    await server.listen("inproc://")
    return server


async def measured(link: SchedulerLink, address: str, plan: Plan) -> Taken:
    """Take a device, run a plan there and keep how its points ended."""
    attached = await link.call(address, Attach(holder="benchmark", versions=versions_here()))
    assert isinstance(attached, Attached), attached
    begun, first_s, next_one, outcomes = time.perf_counter(), 0.0, 0, list[Event]()
    await link.call(address, Ask(token=attached.token, number=0, asked=RunPlan(plan=plan)))
    finished = False
    while not finished:
        batch = await link.call(address, Pull(token=attached.token, first=next_one))
        assert isinstance(batch, EventBatch), batch
        if batch.events:
            first_s = first_s or time.perf_counter() - begun
        next_one += len(batch.events)
        outcomes += (one for one in batch.events if isinstance(one, PointMeasured | PointFailed))
        finished = any(isinstance(one, PlanFinished) for one in batch.events)
    await link.call(address, Leave(token=attached.token, first=next_one))
    return Taken(outcomes, first_s)


async def case(devices: int, points: int) -> str:
    """One number of devices, in words."""
    dice, each = random.Random(devices), max(1, points // devices)  # noqa: S311 - no secret
    plan = Plan(backend="cpu", kernels=("flash2",), problems=(Problem(seqlen_q=64, seqlen_k=64),) * each)
    async with Scheduler(protocol="inproc", port=0, dashboard=False, dashboard_address=NO_PAGES) as scheduler:
        workers = [await served(number, dice) for number in range(devices)]
        link = SchedulerLink(Connection(address=scheduler.address))
        before, cpu, begun = psutil.Process().memory_info().rss, time.process_time(), time.perf_counter()
        taken = await asyncio.gather(*(measured(link, one.address, plan) for one in workers))
        wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
        grown = psutil.Process().memory_info().rss - before
        await link.close()
        await asyncio.gather(*(one.close() for one in workers))
    done = sum(len(one.outcomes) for one in taken)
    firsts = sorted(one.first_s for one in taken)
    return (
        f"{devices:>5} devices  {done:>7} points in {wall:6.1f} s  CPU {cpu / done * 1e3:.3f} ms/point"
        f"  first event {firsts[len(firsts) // 2]:.3f} s, latest {firsts[-1]:.3f} s  +{grown / 2**20:.0f} MiB"
    )


def main(points: int) -> None:
    """Print the table."""
    say: Any = print
    say(f"SIMULATED devices with drawn speeds and failures ({FAILING:.0%}); no network, no kernel")
    for devices in DEVICES:
        say(asyncio.run(case(devices, max(1000, points * devices // DEVICES[-1]))), flush=True)
    say(f"peak memory of the process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main(*(int(word) for word in (*sys.argv[1:2], str(POINTS))[:1]))
