"""Small arithmetic over the sizes of a problem, as a declaration writes it; read as a tree, never run."""

import ast
import operator
from collections.abc import Callable, Collection, Mapping, Sequence

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
KNOWN = f"+ - * / // %, a comparison, a if b else c, {', '.join(_FUNCTIONS)}"


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


def sizes_with(problem: Problem, defines: Sequence[tuple[str, str]]) -> dict[str, Number]:
    """The same, and what a file defines: names and expressions, each over sizes and what stands before it.

    Raises:
        InputError: One of them is no whole number from 0.
    """
    sizes = sizes_of(problem)
    for name, text in defines:
        sizes[name] = evaluate_whole(text, sizes)
    return sizes


def check(text: str, names: Sequence[str] = ()) -> str:
    """The expression, after it is clear that it is made of what can be evaluated.

    Args:
        text: The expression.
        names: What it may name beside sizes.

    Raises:
        InputError: It is none, or names what is not known; the text says what is.
    """
    _tree(text, (*SIZES, *names))
    return text


def evaluate(text: str, sizes: Mapping[str, Number]) -> Number:
    """The value of an expression.

    Raises:
        InputError: It has none: it divides by 0, or is larger than any size.
    """
    return _evaluated(_tree(text, sizes), text, sizes)


def evaluate_whole(text: str, sizes: Mapping[str, Number]) -> int:
    """The value of an expression that must be a whole number from 0.

    Raises:
        InputError: As `evaluate`, or it is none.
    """
    value = evaluate(text, sizes)
    if value != int(value) or value < 0:
        raise InputError(f"{text} is {value}, which is no whole number from 0.")
    return int(value)


def _tree(text: str, names: Collection[str]) -> ast.expr:
    if len(text) > LONGEST:
        raise InputError(f"An expression has {LONGEST} characters at most, not {len(text)}.")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{text!r} is no expression like ceil_div(Nq, 64) * H.") from error
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not any(node is one for one in called) and node.id not in names:
            raise InputError(f"{node.id} is no size; there are {', '.join(names)}.")
        if isinstance(node, ast.expr) and not _is_known(node):
            raise InputError(f"{ast.unparse(node)[:60]} is none of {KNOWN}.")
    return tree


def _is_known(node: ast.expr) -> bool:
    """Whether an expression is one of those that `_value` gives a value."""
    match node:
        case ast.Constant(value=bool() | int() | float()) | ast.Name() | ast.IfExp():
            return True
        case ast.BinOp(op=op):
            return type(op) in _BINARY
        case ast.UnaryOp(op=ast.USub()):
            return True
        case ast.Compare(ops=[op]):
            return type(op) in _COMPARED
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return name in _FUNCTIONS and not any(isinstance(one, ast.Starred) for one in arguments)
        case _:
            return False


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
            value = sizes[name]
        case ast.BinOp(left=left, op=op, right=right):
            value = _BINARY[type(op)](_value(left, sizes), _value(right, sizes))
        case ast.UnaryOp(operand=operand):
            value = -_value(operand, sizes)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            value = _value(body if _value(test, sizes) else orelse, sizes)
        case ast.Compare(left=left, ops=[compared], comparators=[right]):
            value = int(_COMPARED[type(compared)](_value(left, sizes), _value(right, sizes)))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            value = _FUNCTIONS[name](*(_value(one, sizes) for one in arguments))
        case _:
            raise InputError(f"{ast.unparse(node)[:60]} is none of {KNOWN}.")
    if not abs(value) <= LARGEST:
        raise InputError("A value on the way is larger than any size.")
    return value
