"""Percents are written one way: 5%, without a space, as in the documents."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("app", "profiles/results", "profiles/claims")
APART = re.compile("(?:[0-9]|…)[ \N{NO-BREAK SPACE}]%(?![a-z(])")


def texts(file: Path) -> Iterator[str]:
    """Every string of a module that is no docstring, with an ellipsis where a figure is put in."""
    source = file.read_text("utf-8")
    nodes = [*ast.walk(ast.parse(source))] if "%" in source else []  # most have none
    others = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            others |= set(map(id, node.values))
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "…" for one in node.values)
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in others:
            yield re.sub(r"\{[^}]*\}", "…", node.value)


def test_no_text_has_a_space_between_a_figure_and_its_percent_sign() -> None:
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    found = [(file.name, text) for file in files for text in texts(file)]
    assert [one for one in found if APART.search(one[1])] == []
