"""The instructions that were sampled beside those of the build with lines: each gets its line."""

from collections.abc import Sequence
from typing import NamedTuple

from flashscope.kernels.cuda.sass.disassembly import Instruction, home_of
from flashscope.kernels.cuda.sass.kinds import OPCODE
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.stalls import NO_LINE
from flashscope.profiles.worker.stalls.printed import SampledInstruction

OTHER_CODE = (
    "The machine code that ran is not that of the build with lines (it differs at byte {address:#x}: {ran} "
    "where that has {built}), so that no sample can be given a line. The compilers differ: have CuPy and "
    "Flashscope use NVRTC of one version."
)


class Joined(NamedTuple):
    """An instruction that was sampled.

    Attributes:
        text: As the disassembler writes it, with names in place of the addresses that branches lead to.
        line: Its line of the source, from 1; `NO_LINE`: it is of none there.
    """

    text: str
    line: int


def joined(sampled: Sequence[SampledInstruction], code: Sequence[Instruction], file: str) -> list[Joined]:
    """The text and line of each instruction that was sampled.

    Args:
        sampled: By address from the kernel's first.
        code: Those of the build with lines, without the padding at the end.
        file: The source's name.

    Raises:
        UnsupportedError: The machine code is another; the text says where.
    """
    ran = {one.address: one.text for one in sampled}
    for one in code:
        if opcode(ran.get(one.address, "")) != opcode(one.text):
            told = ran.get(one.address, "nothing") or "nothing"
            raise UnsupportedError(OTHER_CODE.format(address=one.address, ran=told, built=one.text))
    known = {one.address: Joined(one.text, _line(one, file)) for one in code}
    return [known.get(one.address, Joined(one.text, NO_LINE)) for one in sampled]


def opcode(text: str) -> str:
    """An instruction's opcode without its modifiers, behind the predicate it may have; empty: it is none."""
    found = OPCODE.match(text.strip())
    return found[1] if found else ""


def _line(one: Instruction, file: str) -> int:
    home = home_of(one, file)
    return home.line if home is not None and home.file == file else NO_LINE
