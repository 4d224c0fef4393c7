"""Run one backward pass on a GPU: bound to its arrays, what it writes poisoned, compared with the oracle."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest

from flashscope.kernels.catalogue.ladder import FLASH3, LADDER
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.workspace import SLOPES
from flashscope.kernels.cuda.backward import bind
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.launching.launch import make_inputs, prepare_backward
from flashscope.kernels.oracle.reference import Scoring, attention_reference
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs, Saved
from tests.kernels.cases import in_mode
from tests.kernels.cuda.running import guarded_backward
from tests.kernels.report import note


class Mode(NamedTuple):
    """A kernel's backward pass, and whether every run is to give the same bits."""

    name: str
    deterministic: bool = False

    def of(self, problem: Problem) -> Problem:
        """The same problem in this mode."""
        return in_mode(problem, self.deterministic)


OURS = [
    Mode(spec.name, deterministic)
    for spec in LADDER
    if spec.backward is not None and "cuda" in spec.backward.implementation
    for deterministic in ((False, True) if spec.name in ("flash2", "flash3") else (False,))
]
each_mode = pytest.mark.parametrize(
    "mode", OURS, ids=[f"{mode.name}{'-deterministic' * mode.deterministic}" for mode in OURS]
)
DTYPES: tuple[Dtype, ...] = ("float16", "bfloat16")
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


def given(cp: Any, problem: Problem, inputs: Inputs | None = None) -> Saved:
    """Inputs drawn unless they are given, O and LSE as a right forward pass leaves them, and a dO."""
    inputs = make_inputs(problem, "cuda") if inputs is None else inputs
    output, lse = attention_reference(
        *inputs.qkv,
        causal=problem.causal,
        window=problem.window,
        block_mask=problem.block_mask,
        scale=problem.softmax_scale,
        scoring=Scoring.of(problem, inputs),
    )
    dtype = storage_dtype(problem.dtype)
    grad_output = cp.random.default_rng(problem.seed + 1).standard_normal(output.shape, dtype=cp.float32)
    return Saved(*inputs.qkv, output.astype(dtype), lse.astype(cp.float32), grad_output.astype(dtype))


def unsupported(mode: Mode, problem: Problem) -> str | None:
    """Why this GPU cannot run it."""
    return find_kernel(mode.name).unsupported_backward(mode.of(problem), describe())


def taken(mode: Mode, problems: Iterable[Problem]) -> list[Problem]:
    """Those that this GPU runs the pass on; skips where there are none."""
    reasons = {problem: unsupported(mode, problem) for problem in problems}
    found = [problem for problem, reason in reasons.items() if reason is None]
    if not found:
        pytest.skip(next(filter(None, reasons.values())))
    return found


def prepared(mode: Mode, problem: Problem, saved: Saved) -> Any:
    """The pass bound to its arrays, what it writes poisoned; skips what this GPU cannot run."""
    taken(mode, [problem])
    spec = find_kernel(mode.name)
    if spec is FLASH3:
        launch: Any = bind(spec, mode.of(problem), saved, guarded_backward)
    else:
        launch = prepare_backward(spec, mode.of(problem), saved, "cuda")
    poison(launch)
    return launch


def poison(launch: Any) -> None:
    """Fill with NaN what a run is to write: all but P and slopes, which it reads."""
    read = {"P", SLOPES}
    written = {
        key: array for key, array in launch.workspace.items() if key not in read and array.dtype.kind != "i"
    }
    for array in (*launch.gradients, *written.values()):
        array.fill(float("nan"))


def differing_bits(cp: Any, launch: Any, runs: int, *, names: tuple[str, ...] = Gradients._fields) -> int:
    """How many bytes of these gradients ever differ from the first run's."""
    launch.run()
    first, differing = (
        {name: getattr(launch.gradients, name).copy() for name in names},
        cp.zeros((), cp.int64),
    )
    for _ in range(runs):
        poison(launch)
        launch.run()
        for name, one in first.items():
            differing += (getattr(launch.gradients, name).view(cp.uint8) != one.view(cp.uint8)).sum()
    return int(differing)


def judged(cp: Any, mode: Mode, problem: Problem, inputs: Inputs | None = None) -> Verdict:
    inputs = make_inputs(problem, "cuda") if inputs is None else inputs
    saved = given(cp, problem, inputs)
    launch = prepared(mode, problem, saved)
    launch.run()
    verdict = gradient_criterion(problem, inputs, saved.grad_output).judge(launch.gradients)
    return note(f"{mode.name} backward", verdict)
