"""What the compiler makes of a program, held against what a GPU of its architecture has."""

from flashscope.kernels.cuda.design.compiling import SERIALISED
from flashscope.kernels.cuda.program import Program, Target
from flashscope.kernels.cuda.sass.resources import resources
from flashscope.kernels.workload.problem import Dtype, Problem
from tests.kernels.cuda.nvrtc_apart import compile_apart

REGISTERS = 65536  # of an SM, and so of a block at most
STATIC = 48 * 1024  # bytes of shared memory that a block may have without asking


def workload(head_dim: int, dtype: Dtype = "bfloat16", *, causal: bool = False) -> Problem:
    """A problem that a GPU has enough to do with."""
    return Problem(
        batch=2, heads=4, seqlen_q=8192, seqlen_k=8192, head_dim=head_dim, dtype=dtype, causal=causal
    )


def cubin_of(program: Program, target: Target, source: str) -> bytes:
    """What a program would compile to if this were its source."""
    return compile_apart(program, target, source=source)[0]


def check(program: Program, target: Target, spilled: int = 0) -> bytes:
    """Compile a program; its cubin.

    Args:
        program: What is compiled.
        target: The architecture.
        spilled: Bytes that a thread may spill; where it may none, it has no stack either.

    Raises:
        AssertionError: It does not fit the architecture, spills more, or wgmma's products run in series.
    """
    cubin, log = compile_apart(program, target)
    assert cubin.startswith(b"\x7fELF")
    assert SERIALISED.search(log) is None, log
    found = resources(log)
    for launch in program.launches:
        used = found[launch.entry]
        assert 0 < used.registers * launch.threads <= REGISTERS, (launch.entry, used)
        assert used.shared <= STATIC, (launch.entry, used)
        assert used.shared + launch.shared_bytes <= target.shared_memory, (launch.entry, used)
        assert used.spilled <= spilled, (launch.entry, used)
        assert spilled or not used.stack, (launch.entry, used)
    return cubin
