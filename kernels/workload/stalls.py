"""Where the warps of a kernel stood: samples of its instructions, with what each warp waited for."""

import hashlib

import msgspec

from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import Array

MOST_INSTRUCTIONS = 100_000
MOST_REASONS = 64
NO_LINE = 0  # of an instruction that no line of the source on show is known of
ISSUED = "selected"
"""The reason of a warp that waits for nothing: its instruction is issued."""


class StallRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to sample.

    Attributes:
        problem: The workload.
        kernel: A kernel of the ladder with a source in CUDA; its timed build runs on this machine's GPU.
    """

    problem: Problem
    kernel: str = "flash2"


class StallProfile(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of a launch of a kernel's timed build. I instructions, R reasons.

    A sample is one warp at one moment: the instruction that it is to issue next, and why it did not issue it
    in that cycle, or that it did. Every SM looks at one of its warps at each moment.

    Attributes:
        request: What was asked for.
        device: The GPU that ran it.
        sampler: What took the samples, and its version.
        build: The digest of the kernel's source, as `kernels.catalogue.sources` has it.
        file: The name of the source that the lines are of.
        source: The digest of the text that they are of, as `text_digest` makes it.
        entry: The kernel of the run that has most samples.
        others: Samples of the run's other kernels, which are in none of the arrays.
        interval: Cycles between two moments, a power of two.
        launches: Of how many launches the samples are: the profiler repeats one.
        reasons: Of R, NVIDIA's names: `long_scoreboard`.
        address: int32 (I,): bytes from the kernel's first instruction.
        text: Of each instruction what the disassembler writes.
        line: int32 (I,): the line of the source that each instruction is of, from 1; `NO_LINE`: of none.
        samples: int32 (I, R): samples of each instruction by reason.
        idle: int32 (I,): those of them in cycles in which the quarter of the SM issued nothing.
        plain_ns: int64: how long each of some launches took without a profiler.
        profiled_ns: How long a launch took under the profiler that took no samples.
        sampled_ns: How long the launch took that was sampled.
    """

    request: StallRequest
    device: str
    sampler: str
    build: str
    file: str
    source: str
    entry: str
    others: int
    interval: int
    launches: int
    reasons: tuple[str, ...]
    address: Array
    text: tuple[str, ...]
    line: Array
    samples: Array
    idle: Array
    plain_ns: Array
    profiled_ns: int
    sampled_ns: int


def text_digest(text: str) -> str:
    """A digest of a source's text: lines of one are those of another with the same."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
