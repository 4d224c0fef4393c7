"""Trace of a timed backward pass: its own source in its own tiles, compiled once more with its recording."""

import cupy

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.backward import backward_arrays
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.launch import bind_launches, current_target, load_kernels
from flashscope.kernels.cuda.traced.backward import backward_cut, collected, recording_shapes, timed_backward
from flashscope.kernels.launching import backward_tracing
from flashscope.kernels.launching.passes import Given, after_forward
from flashscope.kernels.workload.backward_trace import BackwardTrace, BackwardTraceRequest
from flashscope.kernels.workload.tensors import Gradients, Inputs, Saved


def record(request: BackwardTraceRequest) -> BackwardTrace:
    """Run the timed kernel's passes on its whole problem and collect one K/V head's state after every tile.

    The trace's request has the tile that the kernel took. dK and dV are the timed kernel's to the bit, and so
    is dQ where its additions come in the same order in every run.

    Raises:
        UnsupportedError: The kernel has no backward pass of this problem on this GPU, or none that records.
        InputError: The problem is not in 16 bits, or its trace would be too large.
        CompileError: The compiler refused the kernel.
    """
    device = describe()
    backward_tracing.check_supported(request, device)
    cut = backward_cut(request, current_target())
    asked, program = cut.asked, cut.program
    backward_tracing.check_backward_traceable(asked, cut.dq_asked)
    shapes, saved = recording_shapes(cut), saved_of(asked)
    buffers = backward_arrays(program, find_kernel(asked.kernel), asked.problem, saved)
    buffers |= {name: cupy.zeros(shape, dtype) for name, (shape, dtype) in shapes.items()}
    program = timed_backward(program, asked.head)
    for launch in bind_launches(program, load_kernels(program), buffers):
        launch()
    found = collected(cut, lambda name, slots: cupy.asnumpy(buffers[name][slots]))
    gradients = Gradients(*(cupy.asnumpy(buffers[name]) for name in Gradients._fields))
    held = Saved(*(cupy.asnumpy(array) for array in saved))
    return backward_tracing.assemble(
        asked,
        device=device.name,
        source=f"{program.source} as it is timed, with its recording compiled in, on the GPU",
        tile=found.tile,
        states=found.states,
        saved=backward_tracing.saved_on_show(asked, held),
        gradients=backward_tracing.gradients_on_show(asked, gradients),
        clocks=found.clocks,
        apart=found.apart,
    )


def saved_of(asked: BackwardTraceRequest) -> Saved:
    """What is drawn, and what the kernel's forward pass leaves of it, on the device."""
    inputs, grad_output = backward_tracing.given(asked)
    q, k, v = (cupy.asarray(one) for one in inputs.qkv)
    drawn = Given(Inputs(q, k, v), cupy.asarray(grad_output))
    found = after_forward(find_kernel(asked.kernel), asked.problem, drawn, "cuda")
    return Saved(q, k, v, found.output, found.lse, found.grad_output)
