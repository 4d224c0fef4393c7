"""The Python file of a kernel of the user's own, run in the worker that measures it and nowhere else."""

import inspect
import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.library.own.beside import find_beside, taken_from_elsewhere
from flashscope.kernels.own.files import checked_bytes, file_of, sha256_of, told_path
from flashscope.kernels.own.references import file_of_module
from flashscope.kernels.workload.errors import InputError, KernelError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

MOST_SAID = 300  # characters of what an error says, and of its line: a session keeps both

RELATIVE = " A file of one's own is in no package: import what lies beside it by its name, without dots."

_loaded: dict[tuple[str, str], ModuleType] = {}  # by path and hash
_names: dict[tuple[str, str], str] = {}  # of what was compiled, the same


def function_of(own: OwnKernel, name: str) -> Callable[..., Any]:
    """A function of a kernel's file, which is run as a module once a process.

    Raises:
        InputError: The file is not there any more, or is other than the one declared, or no module's.
        KernelError: It raised, or has no such function.
    """
    key = own.path, own.sha256
    if key not in _loaded:
        _loaded[key] = called(own, lambda: _load(own))
    function = getattr(_loaded[key], name, None)
    if not callable(function):
        raise KernelError(f"{own.name}: {own.path} has no function {name} once it has run.")
    return function  # type: ignore[no-any-return]


@contextmanager
def run_anew(own: OwnKernel) -> Iterator[None]:
    """Within, the file is run once more: nothing is there that its functions kept from earlier runs."""
    key, module = (own.path, own.sha256), _loaded.pop((own.path, own.sha256), None)
    try:
        yield
    finally:
        if module is not None:
            _loaded[key] = sys.modules[module.__name__] = module


def keywords_of(own: OwnKernel, problem: Problem, inputs: Inputs) -> dict[str, Any]:
    """The keyword arguments that the function takes, for a problem; a page table is an array of its kind."""
    known = {
        "causal": problem.causal,
        "scale": problem.softmax_scale,
        "window": problem.window,
        "block_mask": problem.block_mask,
        "query_lengths": problem.query_lengths,
        "key_lengths": problem.key_lengths,
        "page_table": inputs.page_table,
    }
    return {name: known[name] for name in own.keywords}


def called(own: OwnKernel, call: Callable[[], Any]) -> Any:
    """What a call into the user's code returns.

    Raises:
        MemoryError: Memory ran out.
        KernelError: It raised anything else, or wanted to exit; the text says what, and in which line.
        KeyboardInterrupt: The user wants to end what runs.
    """
    try:
        return call()
    except (MemoryError, KernelError, KeyboardInterrupt):
        raise
    except BaseException as error:
        first = _shortened((str(error).splitlines() or [""])[0].rstrip("."))
        what = f"{type(error).__name__}{first and ': '}{first}"
        remedy = RELATIVE if isinstance(error, ImportError) and "relative import" in first else ""
        raise KernelError(f"{own.name} raised {what}{_where(own, error)}.{remedy}") from error


def _load(own: OwnKernel) -> ModuleType:
    """Run the file: as the module that its package has, or as one of its own."""
    if own.module:
        found = file_of_module(own.module)
        if found is None or told_path(found) != own.path:
            raise InputError(f"{own.path}, which {own.name} is from, is not the file of {own.module} here.")
        checked_bytes(replace(own, source=None))  # a package's module is imported from its file
        return import_module(own.module)
    code, path = checked_bytes(own), file_of(own)  # what was hashed is what runs
    module = ModuleType(f"flashscope_own_{own.sha256[:16]}")
    module.__file__ = str(path)
    if path.is_file():  # on another machine it may be another folder
        find_beside(path.parent)
        if told := taken_from_elsewhere(code, path.parent):
            raise KernelError(f"{own.name} {told}")
    sys.modules[module.__name__] = module  # dataclasses and Triton look themselves up
    try:
        exec(compile(code, _named(own, code), "exec"), module.__dict__)  # noqa: S102 - the user named this file to be run
    except BaseException:
        del sys.modules[module.__name__]
        raise
    return module


def _named(own: OwnKernel, code: bytes) -> str:
    """What code of a kernel's file is said to be from: its lines are found there, whatever the file holds.

    A version that the file holds no more has a name of its own: Triton and others read a function's source
    again, by this name.
    """
    path = file_of(own)
    name = str(path) if sha256_of(path) == own.sha256 else f"{path}#{own.sha256[:12]}"
    lines = code.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[name] = (len(code), None, lines, name)
    _names[own.path, own.sha256] = name
    return name


def _where(own: OwnKernel, error: BaseException) -> str:
    """The last line of the user's file that the error went through, with its text."""
    file = _names.get((own.path, own.sha256), str(file_of(own)))
    if isinstance(error, SyntaxError) and error.filename == file:
        return f" in line {error.lineno}: {_shortened((error.text or '').strip())}"
    lines = (
        [one.lineno for one in inspect.getinnerframes(error.__traceback__) if one.filename == file]
        if (error.__traceback__)
        else []
    )
    if not lines:
        return ""
    text = _shortened(linecache.getline(file, lines[-1]).strip())
    return f" in line {lines[-1]}: {text}"


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]} …"
