"""The kinds of SASS instructions, by the unit that carries them out.

After the instruction sets in NVIDIA's CUDA Binary Utilities.
"""

import re
from typing import NamedTuple


class InstructionKind(NamedTuple):
    """What one unit does.

    Attributes:
        title: One or two words.
        about: Which instructions, in a line.
        opcodes: What matches their opcodes, without what comes after the first dot.
    """

    title: str
    about: str
    opcodes: re.Pattern[str]


def _kind(title: str, about: str, opcodes: str) -> InstructionKind:
    return InstructionKind(title, about, re.compile(opcodes))


KINDS = (
    _kind("tensor cores", "products of tiles: HGMMA, HMMA, QGMMA, UTCHMMA", r"UTC\w*MMA|[A-Z]G?MMA"),
    _kind("MUFU", "exponentials, logarithms, reciprocals: MUFU", r"MUFU"),
    _kind("shared memory", "registers from and to shared memory: LDS, STS, LDSM, STSM", r"(LD|ST)SM?|ATOMS"),
    _kind(
        "global memory",
        "LDG, STG, copies past the registers (LDGSTS), atomics",
        r"LDG(STS)?|STG|LD|ST|RED|ATOMG?",
    ),
    _kind("TMA", "copies of boxes by the TMA: UTMALDG, UTMASTG, UBLKCP", r"UTMA\w+|UBLK\w+"),
    _kind("local memory", "spilled registers and arrays: LDL, STL", r"LDL|STL"),
    _kind(
        "barriers",
        "waits and fences: BAR, SYNCS, WARPGROUP, DEPBAR, MEMBAR",
        r"BAR|SYNCS|ARRIVES|WARPSYNC|WARPGROUP|(LDG)?DEPBAR|MEMBAR|FENCE|UCGABAR\w*|ACQBULK|(CGA)?ERRBAR",
    ),
    _kind("other", "arithmetic, moves, addresses, branches", r"\w+"),
)
"""The first that matches is an instruction's."""
OPCODE = re.compile(r"(?:@!?U?P\w+\s+)?(\w+)")  # behind the predicate, if it has one


def kind_of(text: str) -> int:
    """The place in `KINDS` of an instruction, as nvdisasm writes it: `@!P0 LDS.128 R4, [R8]`."""
    found = OPCODE.match(text)
    opcode = found[1] if found else "?"
    return next((place for place, kind in enumerate(KINDS) if kind.opcodes.fullmatch(opcode)), len(KINDS) - 1)
