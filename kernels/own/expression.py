"""Small arithmetic over the sizes of a problem, as a declaration writes it; read as a tree, never run."""

import ast
import operator
from collections.abc import Callable, Mapping

from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import UNBOUNDED, Problem

Number = int | float
LARGEST = 1 << 62  # in size, of any value on the way
LONGEST = 400  # characters

SIZES: Mapping[str, str] = {
    "B": "batch",
    "H": "heads of Q",
    "Hk": "heads of K and V",
    "N": "sequence length (keys)",
    "Nq": "query rows",
    "Nk": "keys",
    "D": "head dim",
    "group": "query heads that share a key/value head",
    "itemsize": "bytes of an element",
    "causal": "1 or 0",
    "left": "left side of the window, -1 unbounded",
    "right": "right side of the window, -1 unbounded",
    "scale": "the factor on the scores, a float",
}
"""What an expression may name."""

_BINARY: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_COMPARED: Mapping[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "ceil_div": lambda count, step: -(-count // step),
    "round_up": lambda count, step: -(-count // step) * step,
    "min": lambda first, *rest: min((first, *rest)),
    "max": lambda first, *rest: max((first, *rest)),
}


def sizes_of(problem: Problem) -> dict[str, Number]:
    """The sizes of a problem by the names of `SIZES`."""
    left, right = problem.window or (UNBOUNDED, UNBOUNDED)
    return {
        "B": problem.batch,
        "H": problem.heads,
        "Hk": problem.key_heads,
        "N": problem.seqlen,
        "Nq": problem.seqlen_q,
        "Nk": problem.seqlen_k,
        "D": problem.head_dim,
        "group": problem.heads // problem.key_heads,
        "itemsize": problem.itemsize,
        "causal": int(problem.causal),
        "left": left,
        "right": right,
        "scale": problem.softmax_scale,
    }


def check(text: str) -> str:
    """The expression, after it is clear that it can be evaluated.

    Raises:
        InputError: It is none, or names what is not known; the text says what is.
    """
    _evaluated(_tree(text), text, dict.fromkeys(SIZES, 1))
    return text


def evaluate(text: str, sizes: Mapping[str, Number]) -> Number:
    """The value of an expression.

    Raises:
        InputError: It has none: it divides by 0, or is larger than any size.
    """
    return _evaluated(_tree(text), text, sizes)


def evaluate_whole(text: str, sizes: Mapping[str, Number]) -> int:
    """The value of an expression that must be a whole number from 0.

    Raises:
        InputError: As `evaluate`, or it is none.
    """
    value = evaluate(text, sizes)
    if value != int(value) or value < 0:
        raise InputError(f"{text} is {value}, which is no whole number from 0.")
    return int(value)


def _tree(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise InputError(f"An expression has {LONGEST} characters at most, not {len(text)}.")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{text!r} is no expression like ceil_div(Nq, 64) * H.") from error


def _evaluated(node: ast.expr, text: str, sizes: Mapping[str, Number]) -> Number:
    try:
        value = _value(node, sizes)
    except ZeroDivisionError as error:
        raise InputError(f"{text} divides by 0 here.") from error
    except (TypeError, OverflowError) as error:
        raise InputError(f"{text} cannot be evaluated ({error}).") from error
    except RecursionError as error:
        raise InputError(f"{text[:40]!r} is nested too deep.") from error
    return value


def _value(node: ast.expr, sizes: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=bool() | int() | float() as number):
            value: Number = number
        case ast.Name(id=name):
            if name not in sizes:
                raise InputError(f"{name} is no size; there are {', '.join(sizes)}.")
            value = sizes[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            value = _BINARY[type(op)](_value(left, sizes), _value(right, sizes))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = -_value(operand, sizes)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            value = _value(body if _value(test, sizes) else orelse, sizes)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
            value = int(_COMPARED[type(op)](_value(left, sizes), _value(right, sizes)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            value = _FUNCTIONS[name](*(_value(one, sizes) for one in arguments))
        case _:
            known = ", ".join(_FUNCTIONS)
            raise InputError(
                f"{ast.unparse(node)[:60]} is none of + - * / // %, a comparison, a if b else c, {known}."
            )
    if not abs(value) <= LARGEST:
        raise InputError("A value on the way is larger than any size.")
    return value
