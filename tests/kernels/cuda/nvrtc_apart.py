"""NVRTC in a process of its own, as the program has it, too: python -m tests.kernels.cuda.nvrtc_apart

A worker of pytest's that had run thousands of other tests ended inside NVRTC twice (SIGSEGV), where as many
compiles alone never did. The process ends with the worker: its stdin is closed then.
"""

import subprocess
import sys
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import msgspec

from flashscope.kernels.cuda import compile as compiling

FOLDER = Path(__file__).parents[3]


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
    """`kernels.cuda.compile.run_nvrtc`, elsewhere."""
    process = _started()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(msgspec.json.encode(Asked(name, text, list(options))) + b"\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        _started.cache_clear()  # the next one is compiled in another
        raise AssertionError(f"NVRTC ended with {process.wait()} while it compiled {name}")
    made = msgspec.json.decode(answer, type=Made)
    return made.cubin, made.log


compile_apart = partial(compiling.compile_offline, run=run_apart)


@cache
def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=FOLDER
    )


def main() -> None:
    """Compile what is asked for, a line each, until there is no more."""
    for line in sys.stdin.buffer:
        asked = msgspec.json.decode(line, type=Asked)
        made = Made(*compiling.run_nvrtc(asked.name, asked.text, asked.options))
        sys.stdout.buffer.write(msgspec.json.encode(made) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
