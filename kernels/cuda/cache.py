"""Machine code kept between processes, beside CuPy's in the folder of its cache, or in memory as CuPy does.

CuPy reads CUPY_CACHE_DIR as it is imported, and makes that folder; it reads CUPY_CACHE_IN_MEMORY at each
compilation (cupy/cuda/compiler.py).
"""

import hashlib
import os
import secrets
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

FOLDER, IN_MEMORY = "CUPY_CACHE_DIR", "CUPY_CACHE_IN_MEMORY"
ENDING = ".cubin"

_in_memory: dict[str, Path] = {}


def machine_code(key: str, make: Callable[[], bytes]) -> Path:
    """A file that holds the machine code of a key: one that was kept and is whole, else what is made now.

    Args:
        key: All that the code depends on, as a digest in hex.
        make: Compiles it.
    """
    folder = cache_folder()
    if folder is None:
        return _file_in_memory(key, make)
    for path in folder.glob(f"flashscope_{key}_*{ENDING}"):
        if _whole(path):
            return path
    code = make()
    try:
        return _stored(folder, key, code)
    except OSError as error:
        warnings.warn(f"No machine code can be kept in {folder}: {error.strerror}.", stacklevel=2)
        return _file_in_memory(key, lambda: code)


def cache_folder() -> Path | None:
    """Where CuPy keeps machine code; None: in memory alone."""
    asked = os.environ.get(IN_MEMORY, "")
    if asked.isdecimal() and int(asked) == 1:
        return None
    return Path(os.environ.get(FOLDER, Path.home() / ".cupy" / "kernel_cache"))


@cache
def settle_cache() -> str:
    """Before CuPy is imported: keep machine code in memory where the folder cannot be used.

    Returns:
        Why that is so, in a sentence with the remedy; empty where the folder can be used.
    """
    folder = cache_folder()
    trouble = "" if folder is None else _trouble(folder)
    if not trouble:
        return ""
    os.environ |= {IN_MEMORY: "1", FOLDER: tempfile.gettempdir()}  # where CuPy has no folder to make
    return (
        f"The kernel cache {folder} cannot be used: {trouble}. Every process compiles its kernels anew; "
        f"name a folder of your own in {FOLDER}."
    )


def _trouble(folder: Path) -> str:
    """Why this process cannot use a folder, as a clause; empty: it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        foreign = next((path for path in folder.glob(f"*{ENDING}") if not os.access(path, os.R_OK)), None)
    except OSError as error:
        return error.strerror or str(error)
    return f"{foreign.name} there is another user's, and may not be read" if foreign else ""


def _whole(path: Path) -> bool:
    """Whether a file holds what its name says; one that does not is said, and goes."""
    try:
        if path.stem.rpartition("_")[2] == _digest(path.read_bytes()):
            return True
        path.unlink()
    except OSError:  # another user's
        return False
    warnings.warn(f"{path} was damaged; its kernel is compiled anew.", stacklevel=3)
    return False


def _stored(folder: Path, key: str, code: bytes) -> Path:
    """Keep the code under a name that tells what is in it, whole or not at all, for every user to read."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"flashscope_{key}_{_digest(code)}{ENDING}"
    part = folder / f".flashscope-{secrets.token_hex(8)}"
    try:
        with part.open("xb") as file:
            file.write(code)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def _file_in_memory(key: str, make: Callable[[], bytes]) -> Path:
    """A file without a folder, open for as long as the process lives: CuPy loads code from a path."""
    if key not in _in_memory:
        code, number = make(), os.memfd_create("flashscope")
        with open(number, "wb", closefd=False) as file:
            file.write(code)
        _in_memory[key] = Path(f"/proc/self/fd/{number}")
    return _in_memory[key]


def _digest(code: bytes) -> str:
    return hashlib.sha256(code).hexdigest()
