"""From what a user names to what it declares: a file, here or in the user's folder, or an entry point."""

import hashlib
import re
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from flashscope.home import in_home
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import is_taken
from flashscope.kernels.own.commit import commit_of
from flashscope.kernels.own.consent import allow
from flashscope.kernels.own.cuda_file import read_cuda
from flashscope.kernels.own.files import (
    CUDA,
    PYTHON,
    SUFFIXES,
    checked_bytes,
    kernels_folder,
    read_file,
    told_path,
)
from flashscope.kernels.own.functions import LONGEST_NAME
from flashscope.kernels.own.python_file import read_python
from flashscope.kernels.own.spec import admit
from flashscope.kernels.workload.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

GROUP = "flashscope.kernels"
_UNUSUAL = re.compile(r"[^A-Za-z0-9._-]+")
_NAMING = {CUDA: "// flashscope: name = ...", PYTHON: 'FLASHSCOPE = {"name": ...}'}


def is_reference(text: str) -> bool:
    """Whether a text names a file rather than a kernel of ours: it ends as sources do, in capitals or not."""
    path = text.rpartition(":")[0] or text
    return any(one.lower().endswith(SUFFIXES) for one in (text, path))


def read_reference(text: str, *, name: str = "") -> OwnKernel:
    """What a kernel declares that the user names; it is found by its name and may run from now on.

    To be called with what the user says, never with what a file says.

    Raises:
        InputError: As `introduced`.
    """
    own = introduced(text, name=name)
    allow(own)
    return own


def introduced(text: str, *, name: str = "") -> OwnKernel:
    """What a kernel declares; it is found by its name from now on, but may not run for that.

    Args:
        text: `my.cu`, `my.py`, `my.py:function`, the name of a file in `kernels_folder`, or that of an entry
            point of the group `flashscope.kernels`.
        name: What it is to be called; empty: as it declares, else as its file.

    Raises:
        InputError: There is no such kernel, or its declaration is wrong; the text says what and where.
    """
    return admitted(declared(text, name=name))


def admitted(own: OwnKernel) -> OwnKernel:
    """The kernel, which is found by its name from now on, but may not run for that.

    Raises:
        InputError: Its path cannot be written in a list, or its name is one of ours.
    """
    if "," in own.reference:
        raise InputError(f"{own.path} has a comma in its path, which stands between kernels; move the file.")
    if is_taken(own.name):
        taken = f"{own.path}: {own.name} is the name of a kernel that is here already"
        raise InputError(f"{taken}; declare another: {_NAMING[CUDA if own.launches else PYTHON]}.")
    admit((own,))
    return own


def declared(text: str, *, name: str = "") -> OwnKernel:
    """The same; nothing else follows from it.

    Raises:
        InputError: As `introduced`.
    """
    if is_reference(text):
        file, _, function = text.rpartition(":") if not text.lower().endswith(SUFFIXES) else (text, "", "")
        return declared_in(in_home(Path(file)), function, name=name)
    for suffix in SUFFIXES:
        path = kernels_folder() / f"{text}{suffix}"
        if path.is_file():
            return declared_in(path, name=name)
    for point in _entry_points():
        if point.name == text:
            return declared_by_package(point, name=name or text)
    named = text.strip() or "An empty name"
    raise InputError(
        f"{named} is no .cu or .py file, none in {kernels_folder()}, and no package offers it as {GROUP}."
    )


def own_names() -> tuple[str, ...]:
    """The names that need no path: of the files in the user's folder, and of packages' entry points."""
    folder = kernels_folder()
    files = (
        sorted(path.stem for path in folder.glob("*") if path.suffix in SUFFIXES) if folder.is_dir() else []
    )
    return tuple(dict.fromkeys((*files, *(point.name for point in _entry_points()))))


def declared_in(path: Path, function: str = "", *, name: str = "", module: str = "") -> OwnKernel:
    """What a file declares of its kernel, or of that of a function of it.

    Raises:
        InputError: It declares nothing that can be used; the text says what and where.
    """
    return declared_by(read_file(path), path, function, name=name, module=module)


def declared_by(
    data: bytes, path: Path, function: str = "", *, name: str = "", module: str = ""
) -> OwnKernel:
    """What a file with these bytes declares.

    Raises:
        InputError: It declares nothing that can be used; the text says what and where.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text; save it as UTF-8.") from error
    fields, usual = _read(text, path, function)
    of_file = path.stem if usual else f"{path.stem}-{function}"
    called = name or fields.pop("name", "") or _named_by(of_file, path)
    commit = commit_of(path, data)
    return _made(
        fields
        | {
            "name": called,
            "path": told_path(path),
            "sha256": hashlib.sha256(data).hexdigest(),
            "module": module,
            "commit": commit.id if commit else "",
            "differs": commit.differs if commit else None,
        },
        path,
    )


def _named_by(file: str, path: Path) -> str:
    """The name that a file's own makes, in the signs that names have.

    Raises:
        InputError: Nothing of it is left.
    """
    made = _UNUSUAL.sub("-", file).strip("-._")[:LONGEST_NAME]
    if not made:
        why = f"{path}: {file!r} holds no letter and no digit that a kernel's name is made of (A-Z, a-z, 0-9)"
        raise InputError(f"{why}; declare one: {_NAMING[path.suffix]}.")
    return made


def _read(text: str, path: Path, function: str) -> tuple[dict[str, Any], bool]:
    """The fields of an OwnKernel, and whether it is the one that the file stands for."""
    if path.suffix == CUDA and not function:
        return read_cuda(text, path.name), True
    if path.suffix == PYTHON:
        return read_python(text, path.name, function)
    if path.suffix.lower() in SUFFIXES and path.suffix not in SUFFIXES:
        raise InputError(f"{path.name} ends in {path.suffix}: write .cu and .py in small letters; rename it.")
    raise InputError(f"{path.name}{function and ':'}{function} is neither a .cu file nor a .py file.")


def with_source(own: OwnKernel) -> OwnKernel:
    """The same with the text of its file, for a session that is to keep it.

    Raises:
        InputError: The file has changed.
    """
    return msgspec.structs.replace(own, source=checked_bytes(own).decode("utf-8"))


def _made(fields: dict[str, object], path: Path) -> OwnKernel:
    try:
        return OwnKernel(**fields)  # type: ignore[arg-type]
    except ValueError as error:
        raise InputError(f"{path}: {error}.") from error


def package_kernels() -> "tuple[EntryPoint, ...]":
    """The entry points by which installed packages offer kernels, each name once."""
    return tuple({point.name: point for point in _entry_points()}.values())


def declared_by_package(point: "EntryPoint", *, name: str = "") -> OwnKernel:
    """The kernel of an entry point: its module's file is found, and read; the package is not imported.

    Raises:
        InputError: There is no such file, or it declares nothing that can be used.
    """
    path = file_of_module(point.module)
    if path is None:
        raise InputError(f"The entry point {point.name} names {point.module}, which has no Python file.")
    return declared_in(path, point.attr, name=name or point.name, module=point.module)


def _entry_points() -> "EntryPoints":
    """Of all installed packages, those that offer kernels."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow, and most processes ask for none

    return entry_points(group=GROUP)


def file_of_module(module: str) -> Path | None:
    """The file of a module, found as an import finds it, without importing those above it."""
    top, *below = module.split(".")
    found = PathFinder.find_spec(top)
    for name in below:
        if found is None or found.submodule_search_locations is None:
            return None
        found = PathFinder.find_spec(f"{found.name}.{name}", found.submodule_search_locations)
    return Path(found.origin) if found and found.origin and found.has_location else None
