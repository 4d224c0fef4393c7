"""nvdisasm: where it is, and what it prints of a cubin with line information, instruction by instruction."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import msgspec

from flashscope.installation import install_command
from flashscope.kernels.workload.errors import DeviceUnavailableError

EXTRA = "sass"  # of pyproject.toml: NVRTC and nvdisasm
TOOL = "nvdisasm"
TOOLKITS = ("CUDA_PATH", "CUDA_HOME")  # variables that name the folder of a CUDA toolkit
USUAL_TOOLKIT = "/usr/local/cuda"
SECTION = re.compile(r"\.text\.(\w+):")
PLACE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
LABEL = re.compile(r"(\.L_x_\d+):")
INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
TARGET = re.compile(r"`\(([^()]+)\)")
PADDING = "NOP"


class SourcePlace(NamedTuple):
    """A line of a source: the file's name, and the line's number from 1."""

    file: str
    line: int


class Instruction(msgspec.Struct, frozen=True, array_like=True):
    """One instruction of a kernel.

    Attributes:
        address: In bytes from the kernel's first.
        text: As nvdisasm writes it, without what encloses the label that it branches to.
        label: That stands before it; empty: none.
        places: The line that it comes from, and the calls through which that was inlined, innermost first.
    """

    address: int
    text: str
    label: str = ""
    places: tuple[SourcePlace, ...] = ()


def home_of(one: Instruction, file: str) -> SourcePlace | None:
    """The line that an instruction is of, read in one source; None: the compiler names none.

    The innermost of its lines in that source; where it has none there, the outermost of all.
    """
    own = next((place for place in one.places if place.file == file), None)
    return own or (one.places[-1] if one.places else None)


def find_nvdisasm() -> Path:
    """Where nvdisasm is: in NVIDIA's wheel, in the toolkit that a variable names, on the PATH.

    Raises:
        DeviceUnavailableError: Nowhere; the text says how to install it.
    """
    package = find_spec("nvidia.cu13") if find_spec("nvidia") else None
    wheels = [Path(one) for one in (package.submodule_search_locations or ())] if package else []
    toolkits = [Path(folder) for name in TOOLKITS if (folder := os.environ.get(name))]
    bins = [str(folder / "bin") for folder in (*wheels, *toolkits)]
    for searched in (*bins, None, str(Path(USUAL_TOOLKIT, "bin"))):  # None: the PATH
        if found := shutil.which(TOOL, path=searched):
            return Path(found)
    raise DeviceUnavailableError(
        f"NVIDIA's disassembler, {TOOL}, is not on this machine: install it with {install_command(EXTRA)}, "
        f"or name the folder of a CUDA toolkit in {TOOLKITS[0]}."
    )


def disassembled(cubin: bytes, folder: Path, *, line_info: bool = False) -> str:
    """The instructions of all kernels as text.

    Args:
        cubin: The machine code.
        folder: Where it may be written for nvdisasm, which reads files alone.
        line_info: Whether lines of the sources, and of what calls are inlined, stand between them.

    Raises:
        DeviceUnavailableError: There is no nvdisasm, or it refused; the text says why.
    """
    tool, path = find_nvdisasm(), folder / "build.cubin"
    path.write_bytes(cubin)
    try:
        ended = subprocess.run(
            [tool, "-c", *(["-gi"] if line_info else []), path], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip()
        raise DeviceUnavailableError(f"{tool} could not read the machine code: {said}.") from error
    return ended.stdout


def instructions_of(text: str) -> dict[str, list[Instruction]]:
    """The instructions of each kernel, by its name, without the padding at the end.

    Args:
        text: What nvdisasm prints with line information.
    """
    found: dict[str, list[Instruction]] = {}
    current: list[Instruction] = []
    label, open_ = "", False
    places: tuple[SourcePlace, ...] = ()
    for line in text.splitlines():
        if section := SECTION.fullmatch(line):
            current = found.setdefault(section[1], [])
            label, places, open_ = "", (), False
        elif place := PLACE.match(line):
            here = SourcePlace(Path(place[1]).name, int(place[2]))
            places, open_ = ((*places, here) if open_ else (here,)), True
        elif named := LABEL.fullmatch(line):
            label = named[1]
        elif one := INSTRUCTION.match(line):
            current.append(Instruction(int(one[1], 16), TARGET.sub(r"\1", one[2]), label, places))
            label, open_ = "", False
    return {name: list(_without_padding(code)) for name, code in found.items()}


def _without_padding(code: list[Instruction]) -> Iterator[Instruction]:
    """All up to the last that does something."""
    last = max((at for at, one in enumerate(code) if one.text != PADDING), default=-1)
    yield from code[: last + 1]
