"""What files of kernels declare, read without running them and away from the window's thread."""

import re
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NamedTuple

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import is_taken
from flashscope.kernels.own.files import SUFFIXES, kernels_folder, read_file
from flashscope.kernels.own.references import declared, declared_by_package, package_kernels
from flashscope.kernels.workload.errors import InputError

_LINE = re.compile(r", line (\d+)")
GONE = "No installed package offers {} any more, which {} is from."
MOST_FILES = 100  # of the user's folder, and kernels of packages


class Unreadable(NamedTuple):
    """A file, or an entry point of a package, that declares no kernel.

    Attributes:
        file: Its name.
        text: What is wrong, in one sentence.
        detail: The line of the file that it is about, with its number; empty where it is about none.
    """

    file: str
    text: str
    detail: str = ""


class Sources(NamedTuple):
    """What some files declare: kernels, and what is wrong with the others."""

    kernels: tuple[OwnKernel, ...]
    faults: tuple[Unreadable, ...]


def is_source(path: Path) -> bool:
    """Whether a file is one that a kernel may be in, by its name."""
    return path.suffix in SUFFIXES


def read_files(references: Sequence[str]) -> Sources:
    """What these files declare; nothing of them runs, and no kernel of theirs may run for that.

    Args:
        references: Paths, with `:function` behind them where one of several is meant.
    """
    return _parted(list(map(_read, references)))


def _parted(found: Sequence[OwnKernel | Unreadable]) -> Sources:
    return Sources(
        tuple(one for one in found if isinstance(one, OwnKernel)),
        tuple(one for one in found if isinstance(one, Unreadable)),
    )


def read_folder() -> Sources:
    """The same of the files in the user's folder, in the order of their names."""
    folder = kernels_folder()
    try:
        paths = sorted(path for path in folder.iterdir() if is_source(path) and path.is_file())
    except OSError:  # there is none, or it may not be read: there are no kernels in it
        paths = []
    return read_files([str(path) for path in paths[:MOST_FILES]])


def read_around() -> Sources:
    """What lies in the user's folder, and what installed packages offer; the folder's first."""
    folder = read_folder()
    offered = _parted([_of_package(point) for point in package_kernels()[:MOST_FILES]])
    return Sources((*folder.kernels, *offered.kernels), (*folder.faults, *offered.faults))


def read_again(kernels: Sequence[OwnKernel]) -> Sources:
    """What the files of these declare now, of a package by what it offers, under their names here."""
    return _parted([_of_package_again(own) if own.module else _read(own.reference) for own in kernels])


def _of_package_again(own: OwnKernel) -> OwnKernel | Unreadable:
    offered = (point for point in package_kernels() if point.module == own.module)
    point = next((point for point in offered if point.attr in {"", own.function}), None)
    return _of_package(point, own.name) if point else Unreadable(own.name, GONE.format(own.module, own.name))


def _of_package(point: EntryPoint, name: str = "") -> OwnKernel | Unreadable:
    try:
        return _named(declared_by_package(point, name=name))
    except InputError as error:
        return Unreadable(point.name, f"{_package(point)}: {error}")


def _package(point: EntryPoint) -> str:
    return f"package {point.dist.name}" if point.dist is not None else f"entry point {point.name}"


def _read(reference: str) -> OwnKernel | Unreadable:
    try:
        return _named(declared(reference))
    except InputError as error:
        path = Path(reference)
        return Unreadable(path.name, str(error), _source_line(path, str(error)))


def _named(own: OwnKernel) -> OwnKernel:
    """Raises InputError where its name or path cannot be used."""
    if is_taken(own.name):
        raise InputError(f"{own.path}: {own.name} is the name of a kernel that is here already; use another.")
    if "," in own.reference:
        raise InputError(f"{own.path} has a comma in its path, which stands between kernels; move the file.")
    return own


def _source_line(path: Path, text: str) -> str:
    """The line of a file that a sentence speaks of."""
    found = _LINE.search(text)
    try:
        lines = read_file(path).decode("utf-8", "replace").splitlines() if found else []
    except InputError:
        return ""
    number = int(found[1]) if found else 0
    return f"{number}: {lines[number - 1]}" if 0 < number <= len(lines) else ""
