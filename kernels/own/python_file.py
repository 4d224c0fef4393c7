"""What a Python file declares of its kernel, read from its syntax tree: nothing of it is imported or run.

A literal called `FLASHSCOPE` says what cannot be seen otherwise; what it leaves out follows from the
function: its keywords, the annotation of q, and the libraries that the file imports.
"""

import ast
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

import msgspec

from flashscope.kernels.catalogue.own_kernel import ArrayKind
from flashscope.kernels.catalogue.spec import FEATURES
from flashscope.kernels.own.near_misses import near_miss
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import DTYPES, Backend, Dtype, Feature

LITERAL = "FLASHSCOPE"
POSITIONAL = ("q", "k", "v")
POSITIONAL_BACKWARD = (*POSITIONAL, "output", "lse", "grad_output")
KEYWORDS: Mapping[str, Feature | None] = {
    "causal": "causal",
    "scale": None,
    "window": "window",
    "block_mask": "block_mask",
    "query_lengths": "ragged",
    "key_lengths": "ragged",
    "page_table": "paged",
}
"""Keyword arguments that a function may take, and the feature that each stands for."""
SEEN_IN_SHAPES: tuple[Feature, ...] = ("gqa", "head_dim_v")
"""Features that a function sees without a keyword."""
USUAL_BACKENDS: Mapping[ArrayKind, tuple[Backend, ...]] = {
    "numpy": ("cpu",),
    "cupy": ("cuda",),
    "torch": ("cuda", "cpu"),
}
USUAL_DTYPES: Mapping[ArrayKind, tuple[Dtype, ...]] = {
    "numpy": ("float32",),
    "cupy": ("float32", "float16"),
    "torch": DTYPES,
}
ARRAY_MODULES: Mapping[str, ArrayKind] = {
    "np": "numpy",
    "numpy": "numpy",
    "npt": "numpy",
    "cp": "cupy",
    "cupy": "cupy",
    "torch": "torch",
    "triton": "torch",
}
CHOICES: Mapping[str, tuple[str, ...]] = {
    "arrays": get_args(ArrayKind),
    "backends": get_args(Backend),
    "dtypes": DTYPES,
    "features": get_args(Feature),
}
"""What keys of the literal are one of, or hold some of."""
SUFFIX_BACKWARD = "_backward"
MOST_OF_A_LINE = 120  # characters that a message has room for
DEVICE_CODE = ("triton.", "jit")  # decorators of what runs on a GPU and is called by another function


class Said(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the literal may say; None: it does not.

    Attributes:
        function: The function of the forward pass.
        others: As in `OwnKernel`.
    """

    name: str | None = None
    idea: str = ""
    function: str | None = None
    backward: str | None = None
    arrays: ArrayKind | None = None
    backends: tuple[Backend, ...] | None = None
    dtypes: tuple[Dtype, ...] | None = None
    head_dims: tuple[int, ...] = ()
    features: tuple[Feature, ...] | None = None
    min_compute_capability: tuple[int, int] = (7, 5)
    length_multiple: int = 1


class Read(NamedTuple):
    """What was read: the fields of an OwnKernel, and whether the file stands for its function."""

    fields: dict[str, Any]
    usual: bool


def read_python(text: str, file: str, function: str = "") -> Read:
    """The declaration of a kernel in a Python file.

    Args:
        text: The file's.
        file: Its name, for messages.
        function: The function that is asked for; empty: the one that the file declares, or its only one.

    Raises:
        InputError: The file is no Python, or does not say what is needed; the text says what and where.
    """
    tree = _tree(text, file)
    said, functions = _said(tree, file), _functions(tree)
    chosen = _chosen(functions, function or said.function, file, tree)
    arrays = said.arrays or _arrays(chosen, tree, file)
    keywords = _keywords(chosen, file, POSITIONAL)
    backward = said.backward or (chosen.name + SUFFIX_BACKWARD) * (chosen.name + SUFFIX_BACKWARD in functions)
    if backward:
        if backward not in functions:
            raise InputError(f"{file} has no function {backward}, which it declares as the backward pass.")
        _keywords(functions[backward], file, POSITIONAL_BACKWARD)
    backends = said.backends or (("cuda",) if _imports(tree, "triton") else USUAL_BACKENDS[arrays])
    fields = {
        "function": chosen.name,
        "backward": backward,
        "arrays": arrays,
        "keywords": keywords,
        "idea": said.idea,
        "backends": _possible(backends, arrays, file),
        "dtypes": said.dtypes or USUAL_DTYPES[arrays],
        "head_dims": said.head_dims,
        "features": _features(said.features, keywords, file),
        "min_compute_capability": said.min_compute_capability,
        "length_multiple": said.length_multiple,
    }
    usual = chosen.name == said.function or [*_fitting(functions)] == [chosen.name]
    return Read(fields | ({"name": said.name} if said.name and usual else {}), usual)


def _tree(text: str, file: str) -> ast.Module:
    try:
        return ast.parse(text, file)
    except SyntaxError as error:
        where = f"{file}, line {error.lineno}" if error.lineno else file
        line = (error.text or "").strip()[:MOST_OF_A_LINE]
        raise InputError(f"{where}: {error.msg}{line and ': '}{line}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        why = str(error) or "too deeply nested"  # the parser's MemoryError has no text
        raise InputError(f"{file} cannot be read as Python ({why}).") from error


def _said(tree: ast.Module, file: str) -> Said:
    """What the file's literal says; nothing where it has none."""
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if name == LITERAL:
                where = f"{file}, line {node.lineno}"
                try:
                    literal = ast.literal_eval(value)
                    return msgspec.convert(literal, Said, strict=True)
                except msgspec.ValidationError as error:
                    raise InputError(f"{where}: {LITERAL} {_told(error)}.") from error
                except (ValueError, TypeError, RecursionError, MemoryError) as error:
                    raise InputError(
                        f"{where}: {LITERAL} must be a dict of literals, readable without running it."
                    ) from error
            case _:
                pass
    return Said()


def _told(error: msgspec.ValidationError) -> str:
    text = str(error).replace("Object ", "")
    for key, choices in CHOICES.items():
        if f"$.{key}" in text:
            some = "is one of" if key == "arrays" else "is a tuple of some of"
            return f"is not understood ({text}); {key} {some} {', '.join(choices)}"
    known = ", ".join(Said.__struct_fields__)
    return f"is not understood ({text}); its keys are {known}"


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _chosen(
    functions: Mapping[str, ast.FunctionDef], asked: str | None, file: str, tree: ast.Module
) -> ast.FunctionDef:
    """The function of the forward pass: the one asked for, else the only one that begins with q, k, v."""
    if asked:
        if asked not in functions:
            there = ", ".join(functions) or "none"
            raise InputError(
                f"{file} has no function {asked}; its functions are: {there}.{near_miss(tree, asked)}"
            )
        return functions[asked]
    fitting = _fitting(functions)
    if len(fitting) == 1:
        return functions[fitting[0]]
    if not fitting:
        wanted = "function f(q, k, v, *, causal, scale) at its top level"
        raise InputError(f"{file} has no {wanted}.{near_miss(tree)}")
    names = ", ".join(fitting)
    remedy = f'name one, as in {file}:{fitting[0]}, or declare {LITERAL} = {{"function": ...}}'
    raise InputError(f"{file} has several such functions ({names}); {remedy}.")


def _fitting(functions: Mapping[str, ast.FunctionDef]) -> list[str]:
    """The functions that may be meant: they begin with q, k, v and are no backward pass, nor device code."""
    return [
        name
        for name, one in functions.items()
        if _positional(one)[: len(POSITIONAL)] == POSITIONAL
        and not name.startswith("_")
        and not name.endswith(SUFFIX_BACKWARD)
        and not any(ast.unparse(mark).startswith(DEVICE_CODE) for mark in one.decorator_list)
    ]


def _positional(function: ast.FunctionDef) -> tuple[str, ...]:
    """The arguments without a default that may stand by their place."""
    arguments = function.args
    named = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    return tuple(named[: len(named) - len(arguments.defaults)])


def _keywords(function: ast.FunctionDef, file: str, positional: Sequence[str]) -> tuple[str, ...]:
    """The keywords that we fill in.

    Raises:
        InputError: It does not begin with the tensors, or asks for something that we do not know.
    """
    arguments = function.args
    where = f"{file}, line {function.lineno}: {function.name}"
    by_place = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    if tuple(by_place[: len(positional)]) != tuple(positional):
        raise InputError(f"{where} must begin with {', '.join(positional)}.")
    optional = set(by_place[len(by_place) - len(arguments.defaults) :]) if arguments.defaults else set()
    optional |= {
        one.arg
        for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is not None
    }
    found = [*by_place[len(positional) :], *(one.arg for one in arguments.kwonlyargs)]
    unknown = [name for name in found if name not in KEYWORDS and name not in optional]
    if unknown:
        raise InputError(
            f"{where} asks for {', '.join(unknown)}; what is filled in is {', '.join(KEYWORDS)}. "
            "Give others a default."
        )
    return tuple(name for name in found if name in KEYWORDS)


def _arrays(function: ast.FunctionDef, tree: ast.Module, file: str) -> ArrayKind:
    """The kind of arrays: by the annotation of q, else by what the file imports."""
    annotation = function.args.args[0].annotation if function.args.args else None
    if annotation is not None:
        root = ast.unparse(annotation).strip("'\"").partition(".")[0].partition("[")[0]
        if root in ARRAY_MODULES:
            return ARRAY_MODULES[root]
    kinds = [kind for kind in ("torch", "cupy", "numpy") if kind in get_args(ArrayKind)]
    imported = [kind for kind in kinds if _imports(tree, kind)]
    if _imports(tree, "triton") or "torch" in imported:
        return "torch"
    if len(imported) == 1:
        return "numpy" if imported == ["numpy"] else "cupy"
    what = " and ".join(imported) or "none of NumPy, CuPy and PyTorch"
    raise InputError(f'{file} imports {what}; say which arrays it takes: {LITERAL} = {{"arrays": "numpy"}}.')


def _imports(tree: ast.Module, module: str) -> bool:
    """Whether the file imports it, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        if any(name.partition(".")[0] == module for name in names):
            return True
    return False


def _possible(backends: tuple[Backend, ...], arrays: ArrayKind, file: str) -> tuple[Backend, ...]:
    able = USUAL_BACKENDS[arrays]
    wrong = [backend for backend in backends if backend not in able]
    if wrong:
        raise InputError(f"{file}: {arrays} arrays are not on {wrong[0]}; they are on {' and '.join(able)}.")
    return backends


def _features(said: tuple[Feature, ...] | None, keywords: Sequence[str], file: str) -> tuple[Feature, ...]:
    """The features it declares; else those of its keywords."""
    of_keywords = {feature for word in keywords if (feature := KEYWORDS[word]) is not None}
    if said is None:
        return tuple(feature for feature in FEATURES if feature in of_keywords)
    for feature in said:
        words = [word for word, of in KEYWORDS.items() if of == feature]
        if words and feature not in of_keywords:
            raise InputError(f"{file} declares {feature}, but its function takes no {' or '.join(words)}.")
        if not words and feature not in SEEN_IN_SHAPES:
            raise InputError(f"{file} declares {feature}, which no function of one's own is told of.")
    return said
