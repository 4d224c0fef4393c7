"""A function in place of a kernel: what it takes is read off its signature."""

import inspect
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Any

from flashscope.kernels.catalogue.own_kernel import ArrayKind, OwnKernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.own.python_file import KEYWORDS, POSITIONAL, POSITIONAL_BACKWARD
from flashscope.kernels.own.spec import spec_of
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import DTYPES, Backend, Feature, Passes

IMPLEMENTATION = "flashscope.kernels.library.own.callable"
IMPLEMENTATION_BACKWARD = "flashscope.kernels.library.own.callable_backward"
SEEN_IN_SHAPES: tuple[Feature, ...] = ("gqa",)  # no keyword tells a function of them
LONGEST_NAME = 60
_UNUSUAL = re.compile(r"[^A-Za-z0-9._-]+")
NO_BYTES = sha256().hexdigest()  # a function's file is not kept: there is nothing to compare it with


@dataclass(frozen=True)
class FunctionSpec(KernelSpec):
    """A kernel that is a function of this process.

    Attributes:
        function: What is called with the arrays, and with the keywords that it takes.
    """

    function: Callable[..., Any] = field(kw_only=True)


def spec_of_function(
    function: Callable[..., Any], arrays: ArrayKind, backend: Backend, passes: Passes
) -> FunctionSpec:
    """The spec of a function.

    Args:
        function: f(q, k, v, *, causal, scale, ...) -> O, or (O, LSE); of gradients f(q, k, v, output, lse,
            grad_output, *, causal, scale, ...) -> (dQ, dK, dV). It is given such of these keywords as it
            takes: causal, scale, window, block_mask, query_lengths, key_lengths, page_table; a mask or layout
            whose keyword it does not take is unsupported.
        arrays: The kind of arrays that it is given.
        backend: Where they lie.
        passes: What it computes: `forward` or `backward`.

    Raises:
        InputError: It cannot be called so.
    """
    name = _name(function)
    keywords = _keywords(function, name, POSITIONAL if passes == "forward" else POSITIONAL_BACKWARD)
    own = OwnKernel(
        name=name,
        path=_file(function) or name,
        sha256=NO_BYTES,
        function=name,
        backward=name if passes == "backward" else "",
        arrays=arrays,
        keywords=keywords,
        idea=f"the function {name}",
        backends=(backend,),
        dtypes=DTYPES,
        features=(*SEEN_IN_SHAPES, *(of for word in keywords if (of := KEYWORDS[word]) is not None)),
    )
    base, dtypes = spec_of(own), {backend: DTYPES}
    backward = base.backward and replace(
        base.backward, dtypes=dtypes, implementation={backend: IMPLEMENTATION_BACKWARD}
    )
    declared = {one.name: getattr(base, one.name) for one in fields(base)}
    changed = {"dtypes": dtypes, "implementation": {backend: IMPLEMENTATION}, "backward": backward}
    return FunctionSpec(**(declared | changed), function=function)


def _name(function: Callable[..., Any]) -> str:
    """The function's own name as kernels are named, `lambda` of one that has none."""
    given = str(getattr(function, "__name__", type(function).__name__))
    return _UNUSUAL.sub("-", given).strip("-._")[:LONGEST_NAME] or "function"


def _keywords(function: Callable[..., Any], name: str, tensors: Sequence[str]) -> tuple[str, ...]:
    """Those of our keywords that a function takes; none where it does not tell its signature.

    Raises:
        InputError: It does not take the tensors by their place, or asks for something that we do not know.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of a library's own code
        return ()
    kinds = inspect.Parameter
    given = signature.parameters.values()
    if any(one.kind is kinds.VAR_KEYWORD for one in given):
        keywords = tuple(KEYWORDS)
    else:
        by_name = [one.name for one in given if one.kind in {kinds.KEYWORD_ONLY, kinds.POSITIONAL_OR_KEYWORD}]
        keywords = tuple(word for word in KEYWORDS if word in by_name)
    try:
        signature.bind(*tensors, **dict.fromkeys(keywords))
    except TypeError as error:
        asked = f"{name}({', '.join(tensors)}, *, causal, scale, ...)"
        raise InputError(f"The function {name} cannot be called as {asked}: {error}.") from None
    return keywords


def _file(function: Callable[..., Any]) -> str:
    """The file of a function's source, by which an error in it is told with its line; empty without one."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_filename if code is not None and os.path.isfile(code.co_filename) else ""  # noqa: PTH113
