"""A kernel of the user's own on arrays of the same shapes that lie elsewhere, while the first ones go on."""

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.worker.instruments.bench import Bench
from flashscope.profiles.worker.vetting.answers import ROWS, taken, what_is_wrong_in_rows
from flashscope.profiles.worker.vetting.around import Around, bytes_read
from flashscope.profiles.worker.vetting.guards import guarded, prepare_guarded
from flashscope.profiles.worker.vetting.values import redraw

ROOM = 2  # times as much memory as it needs that must be free


def told_of_other_addresses(
    spec: KernelSpec, problem: Problem, device: Device, bench: Bench, first: Around
) -> str:
    """What is wrong with its answer at other addresses; empty where nothing is, or where memory is short.

    Args:
        spec: The kernel.
        problem: What is computed.
        device: Where it runs.
        bench: What runs it.
        first: What it was given before, which stays where it is and gets other values.

    Raises:
        CaughtError: It wrote where it may not.
        Exception: Whatever the kernel raised.
    """
    rng = np.random.default_rng()
    if bench.free_bytes() < ROOM * spec.predicted_bytes(problem, device.backend):
        return ""
    given, guards = guarded(first.given)
    redraw(first.given.inputs.qkv, rng)
    before, launch = bytes_read(given), prepare_guarded(spec, problem, given, device.backend)
    try:
        guards.add(launch)
        launch.spoil()
        bench.time_ms(launch.run)
        answer = taken(launch.answer())
        first._replace(guards=guards, given=given).look(before, launch.answer())
    finally:
        launch.release()
    return what_is_wrong_in_rows(problem, given, answer, rng, ROWS)
