"""The `__global__` functions of a CUDA source and their parameters, as far as a launch has to know them."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from flashscope.kernels.workload.problem import Dtype

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = re.compile(
    r"__global__\s+(?:void\s+)?(?:__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*)?(?:void\s+)?(\w+)\s*\("
)
_QUALIFIER = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|__grid_constant__|struct)\b")

SCALARS: Mapping[str, str] = {
    "bool": "bool",
    "int": "int32",
    "int32_t": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "uint32_t": "uint32",
    "long long": "int64",
    "int64_t": "int64",
    "unsigned long long": "uint64",
    "uint64_t": "uint64",
    "size_t": "uint64",
    "float": "float32",
    "double": "float64",
}
"""Types of C++ and the NumPy scalars of their size."""
POINTED: Mapping[str, Dtype] = {
    "float32": "float32",
    "__half": "float16",
    "half": "float16",
    "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16",
}


class Parameter(NamedTuple):
    """One parameter.

    Attributes:
        name: Its name.
        pointer: Whether it is a pointer.
        scalar: NumPy's name of its type, or of what it points to; C++'s where that is none of `SCALARS`.
        text: As it stands in the source.
    """

    name: str
    pointer: bool
    scalar: str
    text: str


def code_of(text: str) -> str:
    """A source without its comments."""
    return _COMMENT.sub(" ", text)


def entries(code: str) -> dict[str, str]:
    """The `__global__` functions of a source without comments, by name, with the text of their parameters."""
    found = {}
    for match in _ENTRY.finditer(code):
        depth, end = 1, match.end()
        while end < len(code) and depth:
            depth += (code[end] == "(") - (code[end] == ")")
            end += 1
        found[match[1]] = code[match.end() : end - 1]
    return found


def parameters(text: str) -> list[Parameter]:
    """The parameters between a function's brackets."""
    parts = [" ".join(part.split()) for part in text.split(",")]
    return [_parameter(part) for part in parts if part]


def _parameter(text: str) -> Parameter:
    plain = " ".join(_QUALIFIER.sub(" ", text).replace("*", " * ").split())
    kind, _, name = plain.rpartition(" ")
    pointer = "*" in kind
    kind = kind.replace("*", "").strip()
    return Parameter(name, pointer, SCALARS.get(kind, kind), text)
