"""A sweep from another machine is changed as little as lets it run here, and every change is said."""

import pytest
from msgspec.structs import replace

from flashscope.app.pages.profile.form.adapting import COUNTERS_OFF, adapted
from flashscope.app.pages.profile.form.reasons import blocked
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.workload.block_pattern import BlockPattern
from flashscope.kernels.workload.device import Device
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.plan.request import Request
from tests.app.fakes import CPU_MACHINE, GPU, GPU_MACHINE

GPU_SWEEP = Request.of(
    "cuda", kernels=("standard", "flash2", "flash3"), seqlens=(256, 65536), dtype="bfloat16", counters=True
)


def test_a_sweep_of_a_gpu_runs_on_a_cpu_with_every_change_said() -> None:
    request, said = adapted(GPU_SWEEP, CPU_MACHINE)
    assert blocked(request, CPU_MACHINE) is None
    assert (request.backend, request.dtype, request.kernels) == ("cpu", "float32", ("standard", "flash2"))
    assert (request.heads, request.seqlens) == (GPU_SWEEP.heads, GPU_SWEEP.seqlens)
    assert said == [
        "CPU in the place of the GPU: this machine has none that can be used.",
        COUNTERS_OFF,
        "float32 in the place of bfloat16, which no kernel takes on this CPU.",
        "flash3 is left out: not implemented on cpu.",
        "N up to 65,536 takes long on a CPU; take out what you do not need.",
    ]


def test_kernels_that_are_left_out_for_one_reason_are_said_in_one_sentence() -> None:
    _, said = adapted(replace(GPU_SWEEP, kernels=("flash2", "flash3", "simt")), CPU_MACHINE)
    assert "flash3, simt are left out: not implemented on cpu." in said


def test_a_sweep_that_can_run_is_left_as_it_is() -> None:
    own = Request.of("cpu", seqlens=(256, 65536))
    assert adapted(own, CPU_MACHINE) == (own, [])
    runs = replace(GPU_SWEEP, kernels=("standard", "flash2"))
    assert adapted(runs, GPU_MACHINE) == (runs, [])


def test_nothing_is_changed_before_the_machine_is_known() -> None:
    assert adapted(GPU_SWEEP, None) == (GPU_SWEEP, [])


def test_a_kernel_that_an_older_gpu_lacks_is_left_out_with_its_reason() -> None:
    old = Device(backend="cuda", name="Old GPU", memory_bytes=8 << 30, compute_capability=(8, 0))
    request, said = adapted(GPU_SWEEP, Machine(system="x", python="3", devices=(old,)))
    assert "flash3" not in request.kernels
    (told,) = said
    assert told.startswith("flash3 is left out: needs compute capability 9.0")


def test_where_none_of_its_kernels_runs_those_of_the_lesson_take_their_place() -> None:
    request, said = adapted(replace(GPU_SWEEP, kernels=("flash3",)), CPU_MACHINE)
    assert request.kernels == ("standard", "flash1", "flash2")
    assert "In their place: standard, flash1, flash2." in said


@pytest.mark.parametrize("passes", ["forward", "backward", "both"])
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"dtype": "float16", "head_dim": 256},
        {"batch": 4, "lengths": "spread", "page_size": 64},
        {"queries": 1, "kv_heads": 4},
        {"blocks": BlockPattern(local=1), "causal": True},
        {"window": (128, 0)},
        {"kernels": tuple(spec.name for spec in KERNELS)},
        {"head_dim": 40},
    ],
    ids=lambda choices: "-".join(choices) or "plain",
)
@pytest.mark.parametrize("machine", [CPU_MACHINE, GPU_MACHINE], ids=["cpu", "gpu"])
def test_whatever_was_measured_elsewhere_can_run_here(
    machine: Machine, choices: dict[str, object], passes: str
) -> None:
    asked = Request.of("cuda", **({"seqlens": (256, 512), "passes": passes} | choices))
    request, said = adapted(asked, machine)
    assert blocked(request, machine) is None
    assert all(sentence.endswith(".") for sentence in said)
    if request != asked:
        assert said
    assert machine.device(request.backend) in {GPU, *CPU_MACHINE.devices}
    assert isinstance(request.protocol, Protocol)
