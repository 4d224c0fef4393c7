"""Backward passes that are wrong on purpose: flash2's, with dK off by one entry, or by a bit now and then."""

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu import flash2_backward
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Saved


class WrongDk:
    """The real one, spoilt."""

    def __init__(self, real: BackwardLaunch) -> None:
        self.workspace_bytes, self.note = real.workspace_bytes, real.note
        self._real = real

    @property
    def gradients(self) -> Gradients:
        return self._real.gradients

    def run(self) -> None:
        self._real.run()
        self.gradients.dk[0, 0, 5, 3] += 1


class DriftingDk(WrongDk):
    """Right in every run, but not to the same bits."""

    runs = 0

    def run(self) -> None:
        self._real.run()
        self.runs += 1
        self.gradients.dk[0, 0, 5, 3] *= 1 + self.runs % 2 * 2**-20


FAULTS = {"wrong-dk": WrongDk, "drifting-dk": DriftingDk}


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    return FAULTS[spec.name](flash2_backward.prepare(find_kernel("flash2"), problem, saved))
