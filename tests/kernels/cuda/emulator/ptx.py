"""From the text of a CUDA source to C++ that calls an emulator: its inline PTX instruction by instruction.

`asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, ...}, ...;" : ... : ...)` becomes a
call of `ptx::mma_sync_aligned_row_col<Shape<16, 8, 16>, f32, bf16, bf16, f32>(list(...), ...)`: a function
named after the instruction, whose shapes and types are its template arguments. One that device/ does not
define is an error of the compiler that names it.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

_STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)"')
_MARKS = re.compile(rf"{_STRINGS.pattern}|[][(){{}}:,]")  # what statements are split by
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_TYPE = re.compile(r"[fusb](8|16|32|64)|pred|b?f16(x2)?|tf32|e4m3(x2)?|e5m2(x2)?")
_C_TYPES = {"r": "u32", "l": "u64", "h": "u16", "f": "float", "d": "double", "n": "int"}
_REGISTERS = {
    ".pred": "bool",
    ".b16": "u16",
    ".f16": "u16",
    ".b32": "u32",
    ".u32": "u32",
    ".f32": "float",
    ".b64": "u64",
}
_ASM = re.compile(r"\basm\b\s*(?:volatile\b)?\s*\(")
_DYNAMIC = re.compile(r"extern\s+__shared__\s+__align__\((\d+)\)\s+([\w ]+?)\s+(\w+)\[\]\s*;")
_STATIC = re.compile(r"(?<!extern )__shared__\s+([\w ]+?)\s+(\w+)((?:\[[^;]*?\])+)\s*;")


class TranslationError(ValueError):
    """Inline PTX of a form that is not understood."""


class Operand(NamedTuple):
    """A C++ expression bound to %0, %1, ..."""

    constraint: str
    expression: str


def translate(source: str) -> str:
    """A preprocessed source with its inline PTX and its shared arrays as C++."""
    source = _DYNAMIC.sub(r"\2* const \3 = static_cast<\2*>(machine::dynamic_shared(\1));", source)
    source = _STATIC.sub(
        r"static char \2_key; \1 (&\2)\3 = *static_cast<\1 (*)\3>"
        r"(machine::static_shared(&\2_key, sizeof(\1 \3), alignof(\1)));",
        source,
    )
    return "".join(_pieces(source))


def _pieces(source: str) -> Iterator[str]:
    at = 0
    for match in _ASM.finditer(source):
        end = _closing(source, match.end() - 1)
        yield source[at : match.start()]
        yield _statement(source[match.end() : end])
        at = end + 1
    yield source[at:]


@cache  # kernels include the same headers
def _statement(body: str) -> str:
    """One asm statement, without its last semicolon."""
    text, *lists = _split(body, ":")
    template = "".join(_STRINGS.findall(text)).replace("\\n", "\n").replace("\\t", "\t")
    outputs, inputs = (_operands(lists[i]) if i < len(lists) else [] for i in (0, 1))
    lines = [f"[[maybe_unused]] auto& _{i} = {one.expression};" for i, one in enumerate(outputs)]
    for i, one in enumerate(inputs, len(outputs)):
        kind = _C_TYPES[one.constraint]
        lines.append(f"[[maybe_unused]] const {kind} _{i} = ({kind})({one.expression});")
    lines += _instructions(template)
    return f"do {{ {' '.join(lines)} }} while (0)"


def _operands(text: str) -> list[Operand]:
    parts = (re.fullmatch(r'\s*"([^"]*)"\s*(\(.*\))\s*', part, re.DOTALL) for part in _split(text, ","))
    return [Operand(match[1].strip("=+&"), match[2]) for match in parts if match]


def _instructions(template: str) -> Iterator[str]:
    """C++ of each PTX statement; a block of its own needs no braces, as its statement has some."""
    text = template.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    for statement in filter(None, (one.strip() for one in text.split(";"))):
        if statement.startswith(".reg"):
            _, kind, names = statement.split(maxsplit=2)
            yield f"{_REGISTERS[kind]} {', '.join(name.strip() + '{}' for name in names.split(','))};"
        else:
            name, _, operands = statement.partition(" ")
            yield f"{function_of(name)}({', '.join(_operand(one) for one in _split(operands, ','))});"


def function_of(mnemonic: str) -> str:
    """What emulates an instruction."""
    names: list[str] = []
    arguments: list[str] = []
    for piece in mnemonic.replace("::", ".").split("."):
        if shape := _SHAPE.fullmatch(piece):
            arguments.append(f"ptx::Shape<{', '.join(shape.groups())}>")
        else:
            known = _TYPE.fullmatch(piece)
            (arguments if known else names).append(f"ptx::type::{piece}" if known else piece)
    template = f"<{', '.join(arguments)}>" if arguments else ""
    return f"ptx::{'_'.join(names)}{template}"


def _operand(text: str) -> str:
    text = text.strip()
    if not text:
        raise TranslationError("an instruction without one of its operands")
    inside = text[1:-1]
    if text[0] == "[":
        return ", ".join(_operand(one) for one in _split(inside, ","))
    if text[0] == "{":
        return f"ptx::list({', '.join(_operand(one) for one in _split(inside, ','))})"
    if text.startswith("%%"):
        return f"ptx::special_{inside[1:]}{text[-1]}"
    return "ptx::none" if text == "_" else re.sub(r"%(\d+)", r"_\1", text)


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators outside of strings and brackets; none of an empty text."""
    parts, depth, start = [], 0, 0
    for found in _MARKS.finditer(text):
        mark = found[0]
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif mark == separator and depth == 0:
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]] if text.strip() else []


def _closing(text: str, opening: int) -> int:
    depth = 0
    for found in _MARKS.finditer(text, opening):
        if found[0] in "()":
            depth += 1 if found[0] == "(" else -1
            if depth == 0:
                return found.start()
    raise TranslationError("an asm statement that does not end")
