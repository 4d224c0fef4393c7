"""The quick sweep of the start page: small enough to end within 15 seconds on any machine."""

from flashscope.kernels.catalogue.registry import lesson_on, runnable
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan, Protocol

BUDGET_S = 6.0  # of sampling; the rest of the 15 s is for starting, compiling and verifying
GPU_SEQLENS = (512, 1024, 2048, 4096)
CPU_SEQLENS = (128, 256, 512, 1024)


def quick_plan(machine: Machine | None) -> Plan:
    """The lesson's kernels that run on the best device of this machine, over four sequence lengths."""
    device = _device(machine)
    on_gpu = device is not None and device.backend == "cuda"
    problems = tuple(
        Problem(seqlen_q=n, seqlen_k=n, heads=8 if on_gpu else 2, dtype="float16" if on_gpu else "float32")
        for n in (GPU_SEQLENS if on_gpu else CPU_SEQLENS)
    )
    backend: Backend = "cuda" if on_gpu else "cpu"
    kernels = lesson_on(backend) if device is None else runnable(lesson_on(backend), problems, device)
    cap = BUDGET_S / (len(kernels) * len(problems))
    return Plan(
        backend=backend,
        kernels=kernels,
        problems=problems,
        protocol=Protocol(warmup=1, time_cap_s=cap, drift_check=False),
    )


def _device(machine: Machine | None) -> Device | None:
    return (machine.device("cuda") or machine.device("cpu")) if machine else None
