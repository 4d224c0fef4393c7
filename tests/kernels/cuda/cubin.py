"""What lies in a cubin: its sections, the relocations of its instructions, and its disassembly."""

import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flashscope.kernels.cuda.sass import disassembly

RELOCATIONS_WITH_ADDEND, NO_BITS = 4, 8  # ELF, sh_type


class Section(NamedTuple):
    """A section of a 64-bit ELF; one that takes no place in the file has its size as its content."""

    name: str
    kind: int
    content: bytes
    link: int


def code_of(cubin: bytes) -> dict[str, bytes]:
    """What a GPU runs and reads but for its parameters: by section, the instructions and constants.

    Relocations of instructions name their symbols, which have other numbers where there are more of them.
    """
    sections = _sections(cubin)
    found = {}
    for one in sections:
        if one.name.startswith((".text.", ".nv.constant2", ".nv.constant3", ".nv.shared")):
            found[one.name] = one.content
        elif one.name.startswith((".rel.text", ".rela.text")):
            found[one.name] = repr([*_relocations(one, sections)]).encode()
    return found


def globals_of(cubin: bytes) -> dict[str, bytes]:
    """The variables that are no kernel's own, as of `constexpr`, and their addresses in constant bank 4."""
    names = (".nv.constant4", ".nv.global")
    return {one.name: one.content for one in _sections(cubin) if one.name.startswith(names)}


def _sections(elf: bytes) -> list[Section]:
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + place * size) for place in range(count)]
    texts = headers[names][4]
    return [
        Section(
            _text_at(elf, texts + name),
            kind,
            str(length).encode() if kind == NO_BITS else elf[offset : offset + length],
            link,
        )
        for name, kind, _, _, offset, length, link, *_ in headers
    ]


def _text_at(content: bytes, at: int) -> str:
    return content[at : content.index(b"\0", at)].decode()


def _relocations(one: Section, sections: list[Section]) -> Iterator[tuple[int | str, ...]]:
    """Where, of which kind, the addend if there is one, and the symbol's name."""
    symbols = sections[one.link]
    names = sections[symbols.link].content
    layout = "<QQq" if one.kind == RELOCATIONS_WITH_ADDEND else "<QQ"
    for where, info, *addend in struct.iter_unpack(layout, one.content):
        (name,) = struct.unpack_from("<I", symbols.content, 24 * (info >> 32))
        yield (where, info & 0xFFFFFFFF, *addend, _text_at(names, name))


def disassembled(cubin: bytes) -> str:
    """The instructions of all kernels as text.

    Raises:
        DeviceUnavailableError: There is no nvdisasm; the text says what to install.
    """
    with tempfile.TemporaryDirectory() as folder:
        return disassembly.disassembled(cubin, Path(folder))
