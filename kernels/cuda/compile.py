"""From a .cu file to machine code: the one place that decides compiler options.

CuPy compiles at run time. Without a driver CuPy's own call refuses, so `compile_offline` hands the same
source and the same options to NVRTC itself; tests use it for every architecture on machines without a GPU.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from flashscope.installation import install_command
from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.cuda.cache import machine_code
from flashscope.kernels.cuda.headers import toolkit_headers
from flashscope.kernels.cuda.program import Program, Target
from flashscope.kernels.workload.errors import CompileError, DeviceUnavailableError

FOLDER = Path(__file__).parent
INCLUDES = FOLDER / "include"
ALWAYS_ADDED_BY_CUPY = ("-ftz=true", "--device-as-default-execution-space")


def read_source(program: Program) -> str:
    """The text of the program's .cu file."""
    if program.text is not None:
        return program.text
    return (FOLDER / program.source).read_text(encoding="utf-8")


@cache
def includes_hash() -> str:
    """Hash of the shared device code; in the options, as CuPy's disk cache reads no #include."""
    digest = hashlib.sha256()
    for path in sorted(INCLUDES.glob("*.cuh")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def options(program: Program) -> tuple[str, ...]:
    """Options for the compiler, without the architecture, which CuPy adds from the device itself.

    A source that is not of this folder finds the files beside it, too, the CUDA toolkit's headers, and
    INFINITY, which NVRTC lacks.
    """
    folder = (FOLDER / program.source).parent
    beside = () if folder == FOLDER else (f"-I{folder}", *_toolkit(), "-DINFINITY=__int_as_float(0x7f800000)")
    defines = tuple(f"-D{name}={value}" for name, value in program.defines.items())
    return ("-std=c++17", f"-I{INCLUDES}", *beside, *defines, f"-DINCLUDES_HASH=0x{includes_hash()}")


def _toolkit() -> tuple[str, ...]:
    headers = toolkit_headers()
    return () if headers is None else (f"-I{headers}",)


def compile_module(program: Program) -> Any:
    """Compile for the current device with CuPy: a loaded `cupy.RawModule`.

    Raises:
        CompileError: The compiler refused; its log is attached.
    """
    import cupy  # noqa: PLC0415 - the tests without a GPU use this file too
    from cupy.cuda.compiler import CompileException  # noqa: PLC0415 - as above

    if program.arch_suffix:
        return cupy.RawModule(path=str(_cached_cubin(program, cupy.cuda.Device().compute_capability)))
    module = cupy.RawModule(code=read_source(program), options=options(program), backend="nvrtc")
    try:
        module.compile()
    except CompileException as error:
        raise _refused(program, str(error)) from error
    return module


def _cached_cubin(program: Program, capability: str) -> Path:
    """The machine code for an architecture with a suffix, which CuPy's own call and cache know nothing of."""
    from cupy.cuda import nvrtc  # noqa: PLC0415 - as above

    arch = f"-arch=sm_{capability}{program.arch_suffix}"
    chosen = (*options(program), *ALWAYS_ADDED_BY_CUPY, arch)
    key = repr((read_source(program), chosen, nvrtc.getVersion())).encode()
    return machine_code(
        hashlib.sha256(key).hexdigest(), lambda: _compile_with_cupys_nvrtc(program, chosen)[0]
    )


def _compile_with_cupys_nvrtc(program: Program, chosen: tuple[str, ...]) -> tuple[bytes, str]:
    """The machine code, and the compiler's log."""
    from cupy.cuda import nvrtc  # noqa: PLC0415 - as above

    handle = nvrtc.createProgram(read_source(program), program.source, (), ())
    try:
        nvrtc.compileProgram(handle, chosen)
        cubin: bytes = nvrtc.getCUBIN(handle)
        log: str = nvrtc.getProgramLog(handle)
    except nvrtc.NVRTCError as error:
        raise _refused(program, nvrtc.getProgramLog(handle)) from error
    finally:
        nvrtc.destroyProgram(handle)
    return cubin, log


def compile_anywhere(program: Program, target: Target) -> tuple[bytes, str]:
    """Compile for any architecture with whichever NVRTC there is: (cubin, log with registers and spills).

    No GPU is needed. To be called in a process of its own: CuPy may be imported.

    Raises:
        CompileError: The compiler refused; its log is attached.
        DeviceUnavailableError: There is no compiler; the text names the remedy.
    """
    try:
        if installed("cuda.bindings.nvrtc"):
            return compile_offline(program, target)
        return _compile_with_cupys_nvrtc(program, _offline_options(program, target))
    except (ImportError, RuntimeError) as error:  # a library that is not found is no ImportError
        raise DeviceUnavailableError(
            f"No CUDA compiler is here ({error}); install one with {install_command('cuda13')}."
        ) from error


def run_nvrtc(name: str, text: str, chosen: Sequence[str]) -> tuple[bytes | None, str]:
    """What NVRTC makes of a source with these options: its cubin, None where it refuses, and its log."""
    from cuda.bindings import nvrtc  # noqa: PLC0415 - of the extra `sass`, and of the tests

    encoded = [option.encode() for option in chosen]
    handle = _checked(nvrtc.nvrtcCreateProgram(text.encode(), name.encode(), 0, [], []))
    try:
        (status,) = nvrtc.nvrtcCompileProgram(handle, len(encoded), encoded)
        log = _read(handle, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog).decode().rstrip("\0")
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return None, log
        return _read(handle, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN), log
    finally:
        nvrtc.nvrtcDestroyProgram(handle)


def compile_offline(
    program: Program,
    target: Target,
    *,
    source: str | None = None,
    line_info: bool = False,
    run: Callable[[str, str, Sequence[str]], tuple[bytes | None, str]] = run_nvrtc,
) -> tuple[bytes, str]:
    """Compile for any architecture with NVRTC alone: (cubin, log with registers and spills).

    Args:
        program: What is compiled.
        target: The architecture.
        source: Its text; None: its file's.
        line_info: Whether the cubin says of each instruction from which line it comes; the machine code is
            the same.
        run: Runs NVRTC, in this process or in another.

    Raises:
        CompileError: The compiler refused; its log is attached.
    """
    chosen = (*_offline_options(program, target), *(["-lineinfo"] if line_info else []))
    cubin, log = run(program.source, read_source(program) if source is None else source, chosen)
    if cubin is None:
        raise _refused(program, log)
    return cubin, log


def _offline_options(program: Program, target: Target) -> tuple[str, ...]:
    arch = f"-arch={target.arch}{program.arch_suffix}"
    return (*options(program), *ALWAYS_ADDED_BY_CUPY, arch, "--ptxas-options=-v")


def _refused(program: Program, log: str) -> CompileError:
    first = next((line for line in log.splitlines() if "error" in line), "no message")
    return CompileError(f"The CUDA compiler refused {program.source}: {first.strip()}", log)


def _checked(answer: tuple[Any, ...]) -> Any:
    status, value = answer
    if status.value != 0:
        raise RuntimeError(f"NVRTC answered {status.name}")
    return value


def _read(handle: Any, size: Any, read: Any) -> bytes:
    buffer = bytes(_checked(size(handle)))  # zeros, as all Python shares the bytes of one: an empty text's
    read(handle, buffer)
    return buffer
