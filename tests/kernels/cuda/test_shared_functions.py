"""Problems that compile alike share a function: what one is allowed is never taken from another."""

from typing import Any

import pytest

from flashscope.kernels.cuda import fused, launch
from flashscope.kernels.cuda.program import HOPPER, SHARED_MEMORY_LIMITS, Program, Target
from flashscope.kernels.workload.problem import Problem

ON_HOPPER = Target(HOPPER, SHARED_MEMORY_LIMITS[HOPPER])


class Function:
    """A function of a module as CuPy gives it: every asker gets the same one of the driver's."""

    def __init__(self) -> None:
        self.max_dynamic_shared_size_bytes = 48 << 10


class Module:
    """A module that is loaded once."""

    def __init__(self) -> None:
        self._function = Function()

    def get_function(self, _name: str) -> Function:
        return self._function


def program_of(n: int) -> Program:
    return fused.program(Problem(seqlen_q=n, seqlen_k=n, head_dim=128), ON_HOPPER)


@pytest.mark.parametrize("lengths", [(500, 128, 500), (128, 500, 128), (32, 128, 500)])
def test_a_shorter_row_lowers_nothing_that_a_longer_one_was_allowed(
    monkeypatch: pytest.MonkeyPatch, lengths: tuple[int, ...]
) -> None:
    loaded: dict[Any, Module] = {}
    monkeypatch.setattr(
        launch, "compile_module", lambda program: loaded.setdefault(str(program.defines), Module())
    )
    most = 0
    for n in lengths:
        program = program_of(n)
        most = max(most, program.launches[0].shared_bytes)
        (kernel,) = launch.load_kernels(program)
        assert kernel.max_dynamic_shared_size_bytes >= most, n
    assert len(loaded) == 1
    assert kernel.max_dynamic_shared_size_bytes == most > 48 << 10
