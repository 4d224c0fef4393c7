"""What a Python file has in place of the function that is looked for in it, and what to do about it."""

import ast
from collections.abc import Iterator

ANSWER = "def {}(q, k, v, *, causal, scale)"


def near_miss(tree: ast.Module, name: str = "") -> str:
    """One sentence, with a space before, on the first thing in a file that may have been meant.

    Args:
        tree: The file's.
        name: What the user asked for; empty: nothing by name.
    """
    return next((f" Line {line}: {told}." for line, called, told in _found(tree) if name in {"", called}), "")


def _found(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Lines, names and what is told of them."""
    for node in tree.body:
        match node:
            case ast.AsyncFunctionDef(name=name):
                yield node.lineno, name, f"{name} is async; write def, and return O itself"
            case ast.FunctionDef(name=name) if name.startswith("_"):
                yield node.lineno, name, f"{name} begins with _, as helpers do; name it so that it does not"
            case ast.FunctionDef(name=name, args=arguments):
                yield node.lineno, name, f"{name}({ast.unparse(arguments)}) does not begin with q, k, v"
            case ast.ClassDef(name=name):
                yield node.lineno, name, f"{name} is a class; write {ANSWER.format('attend')} that calls it"
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() | ast.Call() | ast.Name()):
                yield node.lineno, name, f"{name} is no def; write {ANSWER.format(name)} that calls it"
            case ast.If() | ast.Try() | ast.With():
                for one in node.body:
                    if isinstance(one, ast.FunctionDef):
                        yield one.lineno, one.name, f"{one.name} stands inside another statement; move it out"
            case _:
                pass
