"""Shared objects: the emulated machine, and CUDA sources translated and compiled for it."""

import ctypes
import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from flashscope.kernels.cuda.compile import FOLDER, INCLUDES
from flashscope.kernels.cuda.program import Program
from tests.kernels.cuda.emulator.ptx import translate

HERE = Path(__file__).parent
KEPT = HERE.parents[3] / ".pytest_cache" / "d" / "emulator"
"""Where objects stay, under names made of all they depend on."""
SHARED = ("-shared", "-fPIC", "-march=native", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE")
MACHINE = ("-std=c++20", "-O1", "-ftree-vectorize", *SHARED)
PREPROCESS = ("-E", "-w", "-std=c++17", f"-I{INCLUDES}", "-x", "c++")
CHECKS = ("-fsanitize=alignment,bounds", "-fsanitize-undefined-trap-on-error")
KERNEL = ("-std=c++17", "-O0", "-w", "-nostdlib", *CHECKS, *SHARED)  # most of the time is the compiler's

Edits = Sequence[tuple[str, str]]


class EmulatorError(RuntimeError):
    """A source that g++ refuses, or a launch that ended early."""


@cache
def compiler() -> str | None:
    """g++, if it is there."""
    return shutil.which("g++")


@cache
def machine() -> ctypes.CDLL:
    """The machine; what kernels call is found in it."""
    folder = HERE / "machine"
    sources = sorted(folder.glob("*.cpp"))
    whole = "".join(f'#include "{source}"\n' for source in sources)
    path = _built(MACHINE, whole, digest_of([*sources, *folder.glob("*.hpp")]))
    return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def kernels(program: Program, arch: int, edits: Edits = ()) -> ctypes.CDLL:
    """The launches of a program, after edits of its preprocessed source: pairs of old and new text.

    They are linked with no library: the machine has brought all of them when they are loaded.
    """
    machine()
    source = _run([*PREPROCESS, *_defines(program, arch), str(FOLDER / program.source)])
    for old, new in edits:
        if source.count(old) != 1:
            raise EmulatorError(f"{old!r} is {source.count(old)} times in {program.source}, not once")
        source = source.replace(old, new)
    entries = "".join(
        f'extern "C" void call_{name}(void* const* arguments) {{ call_kernel({name}, arguments); }}\n'
        for name in dict.fromkeys(stage.entry for stage in program.launches)
    )
    whole = f'#include "{HERE}/device/ptx.hpp"\n{translate(source)}\n{entries}'
    headers = [*(HERE / "device").glob("*.hpp"), *(HERE / "machine").glob("*.hpp")]
    return ctypes.CDLL(str(_built(KERNEL, whole, digest_of(headers))))


def tokens(program: Program, arch: int, source: str) -> str:
    """What the preprocessor leaves of a source for a program, without its blanks and lines.

    Of two sources that leave the same, a compiler makes the same machine code.
    """
    return "".join(_run([*PREPROCESS, "-P", *_defines(program, arch), "-"], source).split())


def _defines(program: Program, arch: int) -> list[str]:
    return [*(f"-D{name}={value}" for name, value in program.defines.items()), f"-D__CUDA_ARCH__={arch}"]


def _built(options: Iterable[str], text: str, included: str) -> Path:
    """The object of a source, made unless it is there; `included`: the digest of what it includes."""
    digest = hashlib.sha256(repr((tuple(options), text, included)).encode()).hexdigest()[:24]
    return made_once(
        KEPT / f"{digest}.so",
        lambda fresh: _run([*options, "-o", str(fresh), "-x", "c++", "-"], text),
    )


def digest_of(paths: Iterable[Path]) -> str:
    """What the names and contents of files come to."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def made_once(path: Path, make: Callable[[Path], object]) -> Path:
    """A file that is made, under another name, unless it is there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another worker of pytest may be making it
            if not path.exists():
                fresh = path.with_suffix(".fresh")
                make(fresh)
                fresh.replace(path)
    return path


def _run(arguments: list[str], text: str = "") -> str:
    found = compiler()
    assert found, "g++ is not installed"
    done = subprocess.run([found, *arguments], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EmulatorError(f"g++ refused the source:\n{done.stderr[:4000]}")
    return done.stdout
