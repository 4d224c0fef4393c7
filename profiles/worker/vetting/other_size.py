"""A kernel of the user's own on another size than was asked for: what it takes, it must have right."""

import numpy as np
from msgspec.structs import replace

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.passes import draw_given, prepare_passes
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import KernelError
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.worker.instruments.bench import Bench
from flashscope.profiles.worker.vetting.answers import taken, what_is_wrong_in_rows
from flashscope.profiles.worker.vetting.around import Around, bytes_of
from flashscope.profiles.worker.vetting.guards import guarded
from flashscope.profiles.worker.vetting.process_state import ProcessState

QUERIES, KEYS = 67, 131  # no multiples of anything, and other than each other
MOST_HEADS = 8
TILE = 256  # on a GPU sizes stay multiples of half of it: beyond a size it was made for, it may break the GPU


def told_of_other_size(
    spec: KernelSpec, problem: Problem, device: Device, bench: Bench, state: ProcessState
) -> str:
    """What is wrong with an answer at another size, as a clause; empty where nothing is or it takes no such.

    Args:
        spec: The kernel.
        problem: What was asked for.
        device: Where it runs.
        bench: What runs it.
        state: The process as it is to be.

    Raises:
        CaughtError: It wrote where it may not, or changed the process.
    """
    other = other_size(problem, device)
    if other is None or spec.unsupported(other, device) is not None:
        return ""
    given, guards = guarded(draw_given(other, device.backend))
    before = bytes_of(given)
    try:
        launch = prepare_passes(spec, other, given, device.backend)
        bench.time_ms(launch.run)
    except KernelError:
        return ""
    try:
        answer = taken(launch.answer())
        Around(state, guards, given).look(before, launch.answer())
        told = what_is_wrong_in_rows(other, given, answer, np.random.default_rng())
    finally:
        launch.release()
    size = f"{other.seqlen_q} queries and {other.seqlen_k} keys"
    return told and f"at {size}, which it takes, it is wrong: {told.rstrip('.')}"


def other_size(problem: Problem, device: Device) -> Problem | None:
    """A problem with the same features and other sizes; None where there is none that is safe to run."""
    if problem.block_mask is not None:
        return None
    if device.backend == "cuda":
        half = problem.seqlen_q // 2
        return replace(problem, seqlen_q=half) if half and problem.seqlen_q % TILE == 0 else None
    group = problem.heads // problem.key_heads
    shared = max(1, min(2, problem.key_heads, MOST_HEADS // group))
    return replace(
        problem,
        seqlen_q=QUERIES,
        seqlen_k=KEYS,
        batch=min(2, problem.batch),
        heads=shared * group,
        kv_heads=None if problem.kv_heads is None else shared,
    )
