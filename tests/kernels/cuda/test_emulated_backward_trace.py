"""What timed backward passes record with their recording compiled in, in the emulator, beside float64."""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.traced.backward import (
    BackwardCut,
    backward_cut,
    collected,
    recording_shapes,
    timed_backward,
)
from flashscope.kernels.launching import backward_tracing
from flashscope.kernels.workload.backward_trace import (
    BACKWARD_KERNELS,
    BackwardKernel,
    BackwardTrace,
    BackwardTraceRequest,
)
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients
from tests.kernels.backward_replaying import as_stored, check_backward_trace
from tests.kernels.cuda.emulator.launch import guarded_memory
from tests.kernels.cuda.emulator.running import Setting, given, needs_compiler, target, workspace
from tests.kernels.cuda.replaying import MASK
from tests.kernels.cuda.test_emulated_trace import WITHOUT_CLOCK
from tests.matrix import chosen

pytestmark = needs_compiler
HOPPER = 900
SHAPES: dict[str, dict[str, Any]] = {
    "full": {"seqlen_q": 150, "seqlen_k": 133},
    "causal": {"seqlen_q": 150, "seqlen_k": 200, "causal": True},
    "more rows": {"seqlen_q": 150, "seqlen_k": 70, "causal": True},
    "window": {"seqlen_q": 340, "seqlen_k": 400, "window": (50, 20)},
    "negative": {"seqlen_q": 40, "seqlen_k": 90, "scale": -0.5},
    "grouped": {"seqlen_q": 150, "seqlen_k": 133, "heads": 4, "kv_heads": 2, "batch": 2, "causal": True},
    "deterministic": {"seqlen_q": 300, "seqlen_k": 280, "heads": 2, "kv_heads": 1, "causal": True}
    | {"deterministic": True},
}
BLOCKS: dict[str, dict[str, Any]] = {
    "blocks": {"seqlen_q": 700, "seqlen_k": 300, "heads": 2, "causal": True, "block_mask": MASK},
}
HEADS = {"grouped": 3}
"""Which K/V head is on show where it is not the first."""
Case = tuple[BackwardKernel, str, int]
ON_MMA: tuple[BackwardKernel, ...] = "flash1", "flash2"
ON_HOPPER: tuple[BackwardKernel, ...] = ("flash3",)
CASES: list[Case] = [
    *product(BACKWARD_KERNELS, SHAPES, (64, 128)),
    *product(ON_MMA, ("blocks",), (64,)),
    *product(ON_MMA, ("causal",), (40,)),
    *product(ON_MMA, ("grouped",), (256,)),
    *product(ON_HOPPER, ("full", "grouped", "window", "deterministic"), (192, 256)),
]
IN_EVERY_RUN: list[Case] = [
    ("flash1", "causal", 40),
    ("flash2", "negative", 64),
    ("flash3", "negative", 64),
]


class Run(NamedTuple):
    """A case as it runs."""

    problem: Problem
    cut: BackwardCut

    @property
    def asked(self) -> BackwardTraceRequest:
        return self.cut.asked


def running(case: Case) -> Run:
    kernel, shape, head_dim = case
    options = (SHAPES | BLOCKS)[shape]
    problem = Problem(**options, head_dim=head_dim, dtype="float16", seed=2, passes="backward")
    request = BackwardTraceRequest(problem=problem, backend="cuda", kernel=kernel, head=HEADS.get(shape, 0))
    return Run(problem, backward_cut(request, target(HOPPER)))


def recorded(case: Run, *, traced: bool = True) -> dict[str, Any]:
    """The buffers after a run, with the recording or without."""
    problem, asked, program = case.problem, case.asked, case.cut.program
    spec = find_kernel(asked.kernel).backward
    assert spec is not None
    with guarded_memory() as memory:
        saved = given(problem)
        buffers = {name: memory.copy(name, array) for name, array in saved._asdict().items()}
        for name, array in zip(Gradients._fields, saved.inputs.qkv, strict=True):
            buffers[name] = memory.empty(name, array.shape, array.dtype)
        buffers |= workspace(memory, spec.workspace(problem, "cuda"), program)
        if traced:
            program = timed_backward(program, asked.head)
            for name, (shape, dtype) in recording_shapes(case.cut).items():
                buffers[name] = memory.copy(name, np.zeros(shape, dtype))
        Setting(arch=HOPPER, edits=WITHOUT_CLOCK if traced else ()).run(program, buffers)
        return {name: array.copy() for name, array in buffers.items()}


def collected_trace(case: Run, found: dict[str, Any]) -> BackwardTrace:
    """The trace that a GPU's recording would be made into."""
    problem, asked = case.problem, case.asked
    returned = Gradients(*(found[name] for name in Gradients._fields))
    held = collected(case.cut, lambda name, slots: found[name][slots])
    return backward_tracing.assemble(
        asked,
        device="emulator",
        source=asked.kernel,
        tile=held.tile,
        states=held.states,
        saved=backward_tracing.saved_on_show(asked, given(problem)),
        gradients=backward_tracing.gradients_on_show(asked, returned),
        clocks=held.clocks,
        apart=held.apart,
    )


@chosen("case", CASES, IN_EVERY_RUN)
def test_each_state_is_that_of_a_replay_and_the_gradients_are_those_of_the_timed_kernel(case: Case) -> None:
    """The replay is in float64; the gradients are the same to the bit."""
    taken = running(case)
    found = recorded(taken)
    trace = collected_trace(taken, found)
    check_backward_trace(trace)
    assert trace.t_ns is not None
    assert {*trace.t_ns.numpy().tolist()} == {7}
    assert len(trace.t_ns.numpy()) == np.count_nonzero(found["trace_t_ns"])
    plain = recorded(running(case), traced=False)
    for name in Gradients._fields:  # the emulator's blocks add to dQ in the same order in every run
        assert found[name].tobytes() == plain[name].tobytes()


@pytest.mark.matrix
def test_the_sums_of_dq_that_flash1_is_told_to_have_are_its_answer_to_the_bit() -> None:
    taken = running(("flash1", "grouped", 64))
    trace = collected_trace(taken, recorded(taken))
    assert trace.dq is not None
    scale, found = np.float32(taken.problem.softmax_scale), np.zeros_like(trace.grad_q.numpy())
    for t, (head, i, j) in enumerate(trace.tile.numpy().tolist()):
        rows = taken.asked.area(i, j)[0]
        found[head, rows] = trace.dq.numpy()[t, : rows.stop - rows.start] * scale
    assert (as_stored("float16", found) == trace.grad_q.numpy()).all()


@pytest.mark.matrix  # it takes a second
@chosen("kernel", BACKWARD_KERNELS, {"flash1"})
def test_the_keys_are_outside_and_the_heads_of_a_group_pass_one_after_the_other(
    kernel: BackwardKernel,
) -> None:
    taken = running((kernel, "grouped", 64))
    tiles = collected_trace(taken, recorded(taken)).tile.numpy().tolist()
    assert tiles == sorted(tiles, key=lambda tile: (tile[2], tile[0], tile[1]))


def test_flash3_takes_a_tile_of_queries_in_all_heads_and_then_the_one_before_if_deterministic() -> None:
    taken = running(("flash3", "deterministic", 64))
    tiles = collected_trace(taken, recorded(taken)).tile.numpy().tolist()
    assert tiles == sorted(tiles, key=lambda tile: (tile[2], -tile[1], tile[0]))


@pytest.mark.matrix
def test_a_launch_that_computes_dq_alone_has_the_queries_outside_and_the_keys_rising_inside() -> None:
    taken = running(("flash2", "deterministic", 64))
    trace = collected_trace(taken, recorded(taken))
    assert trace.dq is None
    assert trace.dq_pass is not None
    tiles = trace.dq_pass.tile.numpy().tolist()
    assert tiles == sorted(tiles)
    assert (trace.dq_pass.block_q, trace.dq_pass.block_k) != (taken.asked.block_q, taken.asked.block_k)
    states = (getattr(trace.dq_pass, name) for name in ("tile", "p", "dp", "ds", "dq"))
    held = sum(len(one.data) for one in states)
    assert held == backward_tracing.dq_pass_bytes(trace.apart, len(tiles))
