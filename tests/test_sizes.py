"""Files and functions are short, and a room has no more modules than one can look over."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("app", "kernels", "profiles", "tests")
LINES, BODY, MODULES = 400, 50, 32
WIDE = {
    "kernels/cuda": "a kernel is a source and the module that binds it, side by side",
    "tests/kernels/cuda": "its tests",
}
"""Rooms that may have more modules, each with the reason."""


def modules() -> Iterator[Path]:
    for room in ROOMS:
        yield from sorted((ROOT / room).rglob("*.py"))


def body_lines(function: ast.FunctionDef) -> int:
    """Lines from the first statement behind the docstring to the last."""
    first = function.body[1] if ast.get_docstring(function) and len(function.body) > 1 else function.body[0]
    return (function.end_lineno or 0) - first.lineno + 1


def test_no_file_has_more_lines_than_one_reads_at_once() -> None:
    lines = {str(path.relative_to(ROOT)): path.read_bytes().count(b"\n") for path in modules()}
    assert {path: count for path, count in lines.items() if count > LINES} == {}


@pytest.mark.matrix
def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        f"{path.relative_to(ROOT)}: {node.name}": body_lines(node)
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and body_lines(node) > BODY
    }
    assert long == {}


def test_no_room_has_more_modules_than_one_looks_over() -> None:
    count = Counter(str(path.parent.relative_to(ROOT)) for path in modules() if path.name != "__init__.py")
    wide = {room: modules for room, modules in count.items() if modules > MODULES}
    assert {room: modules for room, modules in wide.items() if room not in WIDE} == {}
    assert set(WIDE) <= set(wide), "an exception that nothing needs any more"
