"""Measures what experiments need on a GPU, here or a host's: small sweeps in the engine's own processes."""

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue

from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import LESSON, runnable
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.profiles.claims.lab import BrokenOffError, Topic
from flashscope.profiles.engine.contract import EngineFactory
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.plan.presets import preset_plan
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.wire.events import Event, PlanFinished

QUICK = Protocol(repeats=5, time_cap_s=2.0, drift_check=False)
LOOK_S = 0.2  # how often it is asked whether to stop
PEERS = (*LESSON, "flash3-fp8", "torch-math", "torch-flash", "torch-cudnn")
HEAD_DIMS, SEQLENS = (64, 128), (2048, 8192, 16_384)


class ClaimBench:
    """One sweep after the other, each in an engine of its own.

    Args:
        device: The GPU.
        stopped: Whether whoever asked has had enough; it then ends within a repeat.
        make_engine: Makes each engine.
    """

    def __init__(
        self,
        device: Device,
        stopped: Callable[[], bool] = lambda: False,
        make_engine: EngineFactory = LocalEngine,
    ) -> None:
        self._device, self._stopped, self._make_engine = device, stopped, make_engine

    def __call__(self, topic: Topic) -> Session | None:
        """Measure a topic; None when nothing of it can run, or it was stopped before it began."""
        plan = PLANS[topic](self._device)
        names = runnable(plan.kernels, plan.problems, self._device)
        return self.measured(replace(plan, kernels=names)) if names else None

    def measured(self, plan: Plan) -> Session | None:
        """The session of a plan, whole or as far as it came before it was stopped.

        Raises:
            BrokenOffError: The sweep failed, as where a host is lost: what is missing then says nothing.
        """
        events: SimpleQueue[Event] = SimpleQueue()
        failed: list[str] = []
        driver = Driver(self._make_engine, events.put)
        try:
            driver.run(plan)
            while driver.running:
                if self._stopped():
                    driver.cancel()
                with suppress(Empty):
                    driver.take(event := events.get(timeout=LOOK_S))
                    failed += _failure(event)
        finally:
            driver.close()
        if failed:
            raise BrokenOffError(f"The measurement broke off: {failed[0]}")
        return driver.session


def _failure(event: Event) -> list[str]:
    """Why a sweep failed, where it did."""
    return [event.reason] if isinstance(event, PlanFinished) and event.outcome == "failed" else []


def _sixteen_bits(device: Device) -> Dtype:
    return "bfloat16" if (device.compute_capability or (8, 0)) >= (8, 0) else "float16"


def _square(seqlen: int, head_dim: int, heads: int, dtype: Dtype) -> Problem:
    return Problem(seqlen_q=seqlen, seqlen_k=seqlen, heads=heads, head_dim=head_dim, dtype=dtype)


def _peers(device: Device) -> Plan:
    plan = preset_plan("peers", "cuda", QUICK, kernels=PEERS)
    chosen = (one for one in plan.problems if not one.causal and one.head_dim in HEAD_DIMS)
    dtype = _sixteen_bits(device)
    return replace(
        plan, problems=tuple(replace(one, dtype=dtype) for one in chosen if one.seqlen_q in SEQLENS)
    )


def _over_n(device: Device) -> Plan:
    problems = tuple(_square(512 << k, 64, 16, _sixteen_bits(device)) for k in range(8))
    return Plan(backend="cuda", kernels=("standard", "flash2"), problems=problems, protocol=QUICK)


def _traffic(device: Device) -> Plan:
    problems = tuple(_square(n, 128, 16, _sixteen_bits(device)) for n in (4096, 8192))
    return Plan(backend="cuda", kernels=LESSON, problems=problems, protocol=replace(QUICK, counters=True))


def _torch_choice(device: Device) -> Plan:
    half = _sixteen_bits(device)
    problems = (_square(4096, 64, 16, "float32"), _square(4096, 64, 16, half), _square(4096, 96, 16, half))
    return Plan(backend="cuda", kernels=("torch-auto", "torch-flash"), problems=problems, protocol=QUICK)


PLANS: dict[Topic, Callable[[Device], Plan]] = {
    "h200-peers": _peers,
    "h100-peers": _peers,
    "h200-standard-flash2": _over_n,
    "h200-traffic": _traffic,
    "h100-caches": _over_n,
    "torch-choice": _torch_choice,
}
