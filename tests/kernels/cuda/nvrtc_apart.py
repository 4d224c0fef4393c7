"""NVRTC in a process of its own, as the program has it, too: python -m tests.kernels.cuda.nvrtc_apart

A worker of pytest's that had run thousands of other tests ended inside NVRTC twice (SIGSEGV), where as many
compiles alone never did. The process ends with the worker: its stdin is closed then.

What it has made is kept for other tests and other workers: many ask for the same build.
"""

import atexit
import hashlib
import subprocess
import sys
import zlib
from collections.abc import Sequence
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

import msgspec

from flashscope.kernels.cuda import compile as compiling
from tests.kernels.cuda.emulator.build import made_once

FOLDER = Path(__file__).parents[3]
KEPT = FOLDER / ".pytest_cache" / "d" / "nvrtc"
"""Where answers stay, under digests of all they depend on; of the includes the options have one, too."""


class Asked(msgspec.Struct):
    """A source, its name and the options."""

    name: str
    text: str
    options: list[str]


class Made(msgspec.Struct):
    """What became of it; `cubin` is None where it was refused."""

    cubin: bytes | None
    log: str


def run_apart(name: str, text: str, options: Sequence[str]) -> tuple[bytes | None, str]:
    """`kernels.cuda.compile.run_nvrtc`, elsewhere or earlier."""
    asked = msgspec.json.encode(Asked(name, text, list(options)))
    digest = hashlib.sha256(version("nvidia-cuda-nvrtc").encode() + asked).hexdigest()[:24]
    path = made_once(KEPT / digest, lambda fresh: fresh.write_bytes(zlib.compress(_answer(name, asked), 1)))
    made = msgspec.json.decode(zlib.decompress(path.read_bytes()), type=Made)
    return made.cubin, made.log


def _answer(name: str, asked: bytes) -> bytes:
    process = _started()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(asked + b"\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        _started.cache_clear()  # the next one is compiled in another
        raise AssertionError(f"NVRTC ended with {process.wait()} while it compiled {name}")
    return answer


compile_apart = partial(compiling.compile_offline, run=run_apart)


@cache
def _started() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=FOLDER
    )
    atexit.register(process.communicate)  # it ends with its stdin, and is seen to
    return process


def main() -> None:
    """Compile what is asked for, a line each, until there is no more."""
    for line in sys.stdin.buffer:
        asked = msgspec.json.decode(line, type=Asked)
        made = Made(*compiling.run_nvrtc(asked.name, asked.text, asked.options))
        sys.stdout.buffer.write(msgspec.json.encode(made) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
