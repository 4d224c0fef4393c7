"""The files of kernels of the user's own: where they are, what they hold, what hash they have."""

import hashlib
import os
from pathlib import Path

from flashscope.home import in_home, own_home
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.workload.errors import InputError

CUDA, PYTHON = ".cu", ".py"
SUFFIXES = (CUDA, PYTHON)
LARGEST = 1 << 20  # bytes of a file


def kernels_folder() -> Path:
    """Where files are that are called by name: `$FLASHSCOPE_HOME/kernels`, or the user's data folder's."""
    import platformdirs  # noqa: PLC0415 - not needed where the variable is set

    return (own_home() or platformdirs.user_data_path("flashscope", appauthor=False)) / "kernels"


def file_of(own: OwnKernel) -> Path:
    """The file of a kernel."""
    return in_home(Path(own.path))


def is_there(own: OwnKernel) -> bool:
    """Whether its file is there; a path that no file system takes, as of a hostile session, names none."""
    return os.path.isfile(file_of(own))  # noqa: PTH113 - where a Path would raise it says no


def told_path(path: Path) -> str:
    """A file's absolute path; below the user's folder it begins with `~`, so that a session tells no name."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - links stay as the user named them
    try:
        return str(Path("~") / whole.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(whole)


def read_file(path: Path) -> bytes:
    """What a file holds.

    Raises:
        InputError: It is none, cannot be read, or is larger than a source is.
    """
    try:
        if not path.is_file():
            raise InputError(
                f"{path} is {'a folder' if path.is_dir() else 'not there'}; name a .cu or .py file."
            )
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > LARGEST:
        raise InputError(f"{path} is larger than {LARGEST >> 20} MiB, which no source is.")
    return data


def sha256_of(path: Path) -> str | None:
    """The hash of a file's bytes in hex; None where it cannot be read."""
    try:
        return hashlib.sha256(read_file(path)).hexdigest()
    except InputError:
        return None


def kept_bytes(own: OwnKernel) -> bytes | None:
    """What a kernel's file held, from the text that was kept; None: none was, or it has another hash."""
    if own.source is None:
        return None
    data = own.source.encode("utf-8", "surrogatepass")
    return data if hashlib.sha256(data).hexdigest() == own.sha256 else None


def checked_bytes(own: OwnKernel) -> bytes:
    """The bytes that were declared: those that were kept, else those of the file.

    Raises:
        InputError: None were kept, and the file is not there or has changed.
    """
    if (kept := kept_bytes(own)) is not None:
        return kept
    data = read_file(file_of(own))
    if hashlib.sha256(data).hexdigest() != own.sha256:
        raise InputError(f"{own.path} has changed since {own.name} was read from it; start again.")
    return data
