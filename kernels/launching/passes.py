"""The passes of attention that a problem asks for, forward, backward or both, as one thing that is run.

A backward pass alone starts from what the same kernel's forward pass left; of both, each run computes O and
LSE, and from these the gradients. A library's backward pass goes by the graph of a forward pass that ran
once (see `kernels.library.tensor_launch`), also where the run of both begins with another forward pass; and
standard's holds a P of its own, which is made while it is prepared.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import (
    BackwardLaunch,
    Launch,
    LibraryLaunch,
    RenewedBackward,
    make_grad_output,
    make_inputs,
    prepare,
    prepare_backward,
)
from flashscope.kernels.workload.arrays import bits_of
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs, Saved

NO_GRADIENTS = Gradients(None, None, None)


class Given(NamedTuple):
    """What a run reads and does not write; arrays of one kind.

    Attributes:
        inputs: Q, K and V.
        grad_output: dO, like Q; None where no gradients are asked for.
        output: O as the kernel's forward pass left it; None where a run computes it.
        lse: LSE as the kernel's forward pass left it; None also where the kernel returns none.
    """

    inputs: Inputs
    grad_output: Any = None
    output: Any = None
    lse: Any = None

    @property
    def nbytes(self) -> int:
        """Bytes of all that is there."""
        return _nbytes((*self.inputs, *self[1:]))


class PassOutputs(NamedTuple):
    """What a run wrote; None where it computes nothing of the kind.

    Attributes:
        output: O.
        lse: LSE; None also where the kernel returns none.
        gradients: dQ, dK and dV.
    """

    output: Any
    lse: Any
    gradients: Gradients

    @property
    def arrays(self) -> Iterator[Any]:
        """The arrays that the run wrote, those that are None left out."""
        return (array for array in (self.output, self.lse, *self.gradients) if array is not None)

    @property
    def nbytes(self) -> int:
        """Bytes of all of them."""
        return _nbytes(self.arrays)


@dataclass
class PassLaunch:
    """The passes of one kernel bound to their arrays, compiled and allocated, ready to run.

    Attributes:
        forward: None where no run computes O.
        backward: None where no gradients are asked for.
    """

    forward: Launch | None
    backward: BackwardLaunch | None

    def __post_init__(self) -> None:
        self._launches = [launch for launch in (self.forward, self.backward) if launch is not None]
        self._renewed = self.backward if isinstance(self.backward, RenewedBackward) else None

    def run(self) -> None:
        """Compute all of it once; on CUDA this enqueues on the current stream and returns."""
        if self.forward is not None:
            self.forward.run()
            if self._renewed is not None:
                self._renewed.renew(self.forward.output, self.forward.lse)
        if self.backward is not None:
            self.backward.run()

    @property
    def workspace_bytes(self) -> int:
        """Bytes held beside what is given and what is written."""
        return sum(launch.workspace_bytes for launch in self._launches)

    @property
    def note(self) -> str:
        """What was chosen and why, in words; empty when nothing was left to choose."""
        return "; ".join(dict.fromkeys(launch.note for launch in self._launches if launch.note))

    @property
    def libraries(self) -> list[LibraryLaunch]:
        """The launches of libraries among its own."""
        return [launch for launch in self._launches if isinstance(launch, LibraryLaunch)]

    def answer(self) -> PassOutputs:
        """What the newest run wrote."""
        output, lse = (self.forward.output, self.forward.lse) if self.forward else (None, None)
        return PassOutputs(output, lse, self.backward.gradients if self.backward else NO_GRADIENTS)

    def bits(self) -> list[Any]:
        """All that the newest run wrote, in host memory as bytes, uint8."""
        return [bits_of(array) for array in self.answer().arrays]

    def spoil(self) -> None:
        """Fill all that a run writes with NaN: what it leaves out is never right."""
        for array in self.answer().arrays:
            array.fill(nan)

    def release(self) -> None:
        """Give back what the allocators of libraries keep."""
        for launch in self.libraries:
            launch.release()


def draw_given(problem: Problem, backend: Backend) -> Given:
    """Q, K and V, and dO where gradients are asked for, drawn from the seed: the same for every kernel."""
    grad_output = make_grad_output(problem, backend) if problem.runs_backward else None
    return Given(make_inputs(problem, backend), grad_output)


def after_forward(spec: KernelSpec, problem: Problem, drawn: Given, backend: Backend) -> Given:
    """What is given to a kernel: to a backward pass alone also O and LSE of the kernel's forward pass.

    Raises:
        CompileError: The CUDA compiler refused the kernel.
        MemoryError: The buffers of its forward pass do not fit.
    """
    if problem.runs_forward:
        return drawn
    launch = prepare(spec, problem, drawn.inputs, backend)
    launch.run()
    output, lse = launch.output, launch.lse
    if isinstance(launch, LibraryLaunch):  # whose memory is its own: the copy is ours, as all inputs are
        output, lse = (None if array is None else array.copy() for array in (output, lse))
        launch.release()
    return drawn._replace(output=output, lse=lse)


def renewing(spec: KernelSpec, problem: Problem, given: Given, backend: Backend) -> Callable[[], None]:
    """What writes O and LSE of the inputs as they are by then over those that a backward pass alone is given.

    Args:
        spec: The kernel.
        problem: What is computed, backward alone.
        given: What it is computed from, see `after_forward`.
        backend: Where.

    Raises:
        MemoryError: The buffers of its forward pass do not fit once more.
    """
    launch = prepare(spec, problem, given.inputs, backend)

    def renew() -> None:
        launch.run()
        for kept, now in ((given.output, launch.output), (given.lse, launch.lse)):
            if kept is not None:
                kept[...] = now

    return renew


def prepare_passes(spec: KernelSpec, problem: Problem, given: Given, backend: Backend) -> PassLaunch:
    """Compile what is needed, allocate what a run writes and the workspace, and bind them.

    Args:
        spec: A kernel that takes the problem.
        problem: What is computed.
        given: What it is computed from.
        backend: Where.

    Raises:
        CompileError: The CUDA compiler refused the kernel.
        UnsupportedError: The kernel has no backward pass, or a library refuses the problem.
        MemoryError: The buffers do not fit.
    """
    forward = prepare(spec, problem, given.inputs, backend) if problem.runs_forward else None
    if not problem.runs_backward:
        return PassLaunch(forward, None)
    if forward is None:
        output, lse = given.output, given.lse
    else:
        forward.run()  # a backward pass may make something of LSE while it is prepared
        output, lse = forward.output, forward.lse
    saved = Saved(*given.inputs.qkv, output, lse, given.grad_output)
    return PassLaunch(forward, prepare_backward(spec, problem, saved, backend))


def _nbytes(arrays: Iterable[Any]) -> int:
    return sum(array.nbytes for array in arrays if array is not None)
