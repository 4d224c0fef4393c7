"""Conditions of the preprocessor, and of C++ where they are made of defines alone.

Understood are whole numbers, names, `defined(NAME)`, `! && ||`, parentheses and one comparison at a time; a
`!` before a comparison is not, since Python binds it otherwise.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from flashscope.kernels.cuda.reading.errors import SourceError

TOKEN = re.compile(r"\s*(\d+|\w+|&&|\|\||[=!<>]=|[<>!()])")
PYTHON = {"&&": " and ", "||": " or ", "!": " not "}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
NAME = re.compile(r"[A-Za-z_]\w*")


def is_known(text: str, known: Mapping[str, int]) -> bool:
    """Whether a condition asks for nothing but what is known, and for something at all."""
    tokens = _tokens(text)
    names = [token for token in tokens or () if NAME.fullmatch(token)]
    return bool(names) and all(name in known for name in names)


def never(name: str) -> bool:
    """Nothing is defined where C++ stands."""
    raise SourceError(f"defined({name}) stands outside a directive")


def condition_value(text: str, value: Callable[[str], int], defined: Callable[[str], bool] = never) -> int:
    """The value of a condition, from the values of its names.

    Raises:
        SourceError: It has a name without a value, or is not understood.
    """
    replaced = re.sub(r"\bdefined\s*\(\s*(\w+)\s*\)", lambda found: str(int(defined(found[1]))), text)
    tokens = _tokens(replaced)
    if tokens is None:
        raise SourceError(f"the condition {text.strip()!r} is not understood")
    return int(_evaluated("".join(_in_python(token, value) for token in tokens), text))


def _tokens(text: str) -> list[str] | None:
    """None where something else stands in it."""
    found = list(TOKEN.finditer(text))
    return [one[1] for one in found] if TOKEN.sub("", text).strip() == "" else None


def _in_python(token: str, value: Callable[[str], int]) -> str:
    return str(value(token)) if NAME.fullmatch(token) else PYTHON.get(token, token)


def _evaluated(python: str, text: str) -> bool | int:
    try:
        return _walk(ast.parse(python.strip(), mode="eval").body)
    except (SyntaxError, TypeError) as error:
        raise SourceError(f"the condition {text.strip()!r} is not understood") from error


def _walk(node: ast.expr) -> bool | int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.BoolOp(op=ast.And()):
            return all(_walk(value) for value in node.values)
        case ast.BoolOp():
            return any(_walk(value) for value in node.values)
        case ast.UnaryOp(op=ast.Not(), operand=operand) if not isinstance(operand, ast.Compare):
            return not _walk(operand)
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            return COMPARISONS[type(comparison)](_walk(left), _walk(right))
        case _:
            raise TypeError
