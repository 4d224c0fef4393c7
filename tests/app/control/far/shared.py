"""Several GPUs of this machine that a window measures on, each with an engine that a test scripts."""

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.control.far import devices
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.plan.machine import Gpu
from flashscope.profiles.wire.events import Event, PlanFinished, PointStarted
from tests.app.fakes import CPU_MACHINE, MS, SECOND, FakeEngine, measurement, reading
from tests.end_to_end.hosts import RunningHost
from tests.profiles.sessions import ends_well

H100, L4 = "NVIDIA H100", "NVIDIA L4"
GPUS = tuple(Gpu(number=n, uuid=f"GPU-{n}a", name=name) for n, name in enumerate((H100, L4, H100, H100)))


class Shared:
    """The engines of the GPUs that were chosen, by UUID.

    Args:
        patch: Puts them in the place of this machine's.
        wait: Returns once something is so.
    """

    def __init__(self, patch: pytest.MonkeyPatch, wait: Callable[[Callable[[], bool]], object]) -> None:
        self.engines: dict[str, FakeEngine] = {}
        self.machine, self._wait = CPU_MACHINE, wait
        patch.setattr(devices, "LocalEngine", self._make)

    def _make(self, sink: Sink, gpu: str) -> FakeEngine:
        self.engines[gpu] = FakeEngine(sink, self.machine)
        return self.engines[gpu]

    def measure(self, controller: Controller, told: int = 0) -> None:
        """Have each device measure what it is asked to until the sweep has ended, but the first so many."""
        heard = dict.fromkeys(self.engines, told)

        def asked() -> list[str]:
            return [gpu for gpu, engine in self.engines.items() if len(engine.rests) > heard[gpu]]

        while True:
            self._wait(lambda: bool(asked()) or not controller.measuring)
            if not controller.measuring:
                return
            for gpu in asked():
                heard[gpu] += 1
                self.engines[gpu].say(self.share(gpu))

    def share(self, gpu: str) -> list[Event]:
        """All that a device says of the share that it is asked to measure."""
        engine = self.engines[gpu]
        plan, rest = engine.plans[-1], engine.rests[-1]
        assert rest is not None
        events: list[Event] = [rest.begin(engine.machine, None), reading((rest.t_ns + 100 * MS) / SECOND)]
        for index in sorted(rest.left):
            point = plan.points()[index]
            events += [
                PointStarted(index=index, t_ns=rest.t_ns + 200 * MS),
                *ends_well(index, rest.t_ns + 900 * MS, measurement(1.0, point.problem.input_bytes)),
            ]
        return [*events, PlanFinished(t_ns=rest.t_ns + SECOND, outcome="finished")]


def connect(controller: Controller, host: RunningHost, qtbot: QtBot, device: str = "") -> None:
    """Take a device of the host, and wait until that is looked at."""
    with qtbot.waitSignal(controller.machine_found):
        controller.devices.connect_to(str(host.file), device)
