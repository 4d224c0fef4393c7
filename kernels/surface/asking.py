"""What a call asks for, understood: the kernel, the problem and how the arrays lie."""

from importlib import import_module
from typing import Any, NamedTuple

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.arguments import check_inputs, problem_of
from flashscope.kernels.launching.axes import AxisOrder, order_named
from flashscope.kernels.launching.options import yes_or_no
from flashscope.kernels.surface.callers import Caller
from flashscope.kernels.surface.kernels import kernel_of
from flashscope.kernels.surface.sequences import Offsets, SequenceRun, Sequences, refuse_lengths
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.kernels.workload.tensors import Inputs


class Call(NamedTuple):
    """What is to be computed, and how the arrays lie.

    Attributes:
        named: The kernel; None: the one that is chosen for the problem.
        problem: All of it as one problem; its lengths are those of the sequences.
        order: The layout of the arrays.
        sequences: Where the sequences begin, in a layout that has no axis of them.
        device: Where it is computed.
        copy: Whether what a kernel cannot read where it lies is copied.
    """

    named: KernelSpec | None
    problem: Problem
    order: AxisOrder
    sequences: Sequences | None
    device: Device
    copy: bool

    @property
    def parts(self) -> list[SequenceRun]:
        """Those that are computed one by one, in a layout that has no axis of sequences."""
        return self.sequences.parts(self.problem) if self.sequences else []


class Manner(NamedTuple):
    """How a call wants its work done, as it was given.

    Attributes:
        kernel: See `AttentionOptions`, and so are the next two.
        layout: See there.
        copy: See there.
        passes: What is computed: `forward` or `backward`.
    """

    kernel: Any
    layout: Any
    copy: Any
    passes: Passes


def understand(manner: Manner, caller: Caller, inputs: Inputs, offsets: Offsets, **options: Any) -> Call:
    """The call that these make; on the device that holds the arrays, which is the current one.

    Args:
        manner: How it is computed.
        caller: Whose arrays they are.
        inputs: Q, K and V, and a page table, as NumPy or CuPy has them.
        offsets: Where sequences begin that lie one behind the other.
        options: Masks, scale and lengths by name, as they were given.

    Raises:
        InputError: They are not what is accepted; the text says what is.
    """
    order, copy = order_named(manner.layout), yes_or_no("copy", manner.copy)
    named = kernel_of(manner.kernel, caller.arrays, caller.backend, manner.passes)
    check_inputs(inputs, order)
    sequences = offsets.read(order, caller, inputs.q, inputs.k)
    lengths = {name: options.get(name) for name in ("query_lengths", "key_lengths")}
    if sequences is None:
        options |= {name: caller.borrow(name, given) for name, given in lengths.items()}
    else:
        refuse_lengths(order, **lengths, block_mask=options["block_mask"])
        options |= {name: getattr(sequences, name) for name in lengths}
    device = import_module(f"flashscope.kernels.{caller.backend}.device").describe()
    return Call(named, problem_of(inputs, order, **options), order, sequences, device, copy)
