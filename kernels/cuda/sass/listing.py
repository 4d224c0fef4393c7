"""A kernel compiled for a GPU that need not be there, as instructions that name their lines of the source."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from flashscope.installation import install_command
from flashscope.kernels.cuda.compile import compile_offline
from flashscope.kernels.cuda.program import KernelLaunch, Program
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.cuda.reading.step import StepSource, program_of, source_of
from flashscope.kernels.cuda.sass.disassembly import (
    EXTRA,
    Instruction,
    disassembled,
    find_nvdisasm,
    instructions_of,
)
from flashscope.kernels.cuda.sass.resources import Resources, resources_of
from flashscope.kernels.workload.errors import DeviceUnavailableError
from flashscope.kernels.workload.problem import Problem


class KernelListing(msgspec.Struct, frozen=True):
    """One `__global__` function of a build.

    Attributes:
        entry: Its name.
        instructions: Its code, by address.
        resources: What it takes.
        threads: Of a block, in its first launch.
        dynamic_shared: Bytes of dynamic shared memory of a block, in its first launch.
        launches: How often a run launches it.
    """

    entry: str
    instructions: list[Instruction]
    resources: Resources
    threads: int
    dynamic_shared: int
    launches: int


class BuildListing(msgspec.Struct, frozen=True):
    """All that a run of a kernel launches.

    Attributes:
        source: What was compiled: the lines that the instructions name are its own, or a header's.
        arch: The compiler's name of the architecture.
        compiler: NVRTC and its version.
        kernels: In the order of their launches.
    """

    source: StepSource
    arch: str
    compiler: str
    kernels: list[KernelListing]


def listing_of(kernel: str, problem: Problem, card: GpuCard, folder: Path) -> BuildListing:
    """Compile a kernel of the ladder with line information, and read its machine code.

    Args:
        kernel: Its name.
        problem: What it is compiled for.
        card: The GPU.
        folder: Where files may be made on the way.

    Raises:
        InputError: It is no kernel of ours with a source in CUDA.
        UnsupportedError: It does not take the problem on this GPU; the text says why.
        SourceError: The source has something that is not understood.
        DeviceUnavailableError: A tool is missing; the text says how to install it.
        CompileError: The compiler refused.
    """
    program, source = program_of(kernel, problem, card), source_of(kernel, problem, card)
    compiler, _ = nvrtc_version(), find_nvdisasm()  # what is missing is told before anything is compiled
    cubin, log = compiled_with_lines(program, source, card)
    code = instructions_of(disassembled(cubin, folder, line_info=True))
    listed = list(_kernels(program, code, log))
    return BuildListing(source, f"{card.target.arch}{program.arch_suffix}", f"NVRTC {compiler}", listed)


def compiled_with_lines(program: Program, source: StepSource, card: GpuCard) -> tuple[bytes, str]:
    """A program's source as one reads it, compiled with line information: (cubin, log).

    Its machine code is that of the program.

    Raises:
        CompileError: The compiler refused.
    """
    stated = replace(program, defines={})  # they are in the text
    return compile_offline(stated, card.target, source=source.text, line_info=True)


def _kernels(program: Program, code: dict[str, list[Instruction]], log: str) -> Iterator[KernelListing]:
    by_entry: dict[str, list[KernelLaunch]] = {}
    for launch in program.launches:
        by_entry.setdefault(launch.entry, []).append(launch)
    for entry, launches in by_entry.items():
        first, many = launches[0], len(launches)
        yield KernelListing(
            entry, code[entry], resources_of(entry, log), first.threads, first.shared_bytes, many
        )


def nvrtc_version() -> str:
    """The version of NVRTC, as `13.0`.

    Raises:
        DeviceUnavailableError: It is not there; the text says how to install it.
    """
    try:
        from cuda.bindings import nvrtc  # noqa: PLC0415 - of the extra `sass`, and of the tests

        status, major, minor = nvrtc.nvrtcVersion()
    except (ImportError, OSError, RuntimeError) as error:
        raise DeviceUnavailableError(
            f"NVIDIA's run-time compiler, NVRTC, is not on this machine: install it with "
            f"{install_command(EXTRA)}."
        ) from error
    if status.value != 0:
        raise DeviceUnavailableError(f"NVRTC does not tell its version: {status.name}.")
    return f"{major}.{minor}"
