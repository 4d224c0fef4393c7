"""Files that stand in their place whole or not at all."""

import os
import stat
import tempfile
from pathlib import Path

from flashscope.profiles.store.errors import TakenFileError, explain_os
from flashscope.profiles.store.sidecars import holds_session

WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def write_atomically(target: Path, content: bytes, *, replace: bool) -> None:
    """Write a file beside its place, then move it there, with the mode of what it replaces.

    Args:
        target: The file to make.
        content: What it is to hold.
        replace: Whether one that is there may go.

    Raises:
        TakenFileError: There is one already, and it may not go: a session, a device or what may only be read
            never may.
        SessionFileError: It cannot be written; what was there is as it was.
    """
    try:
        if not replace:
            target.touch(exist_ok=False)  # from here on the name is ours
        elif target.exists():
            _check_replaceable(target)
        try:
            _place(target, content)
        except BaseException:
            if not replace:
                target.unlink()
            raise
    except FileExistsError as error:
        raise TakenFileError(f"{target} exists already; name another file or remove it.") from error
    except OSError as error:
        raise explain_os(error, target) from error


def _check_replaceable(target: Path) -> None:
    if not target.is_file() and not target.is_dir():
        raise TakenFileError(f"{target} is no plain file; name another one.")
    if not (target.stat().st_mode & WRITABLE and os.access(target, os.W_OK)):
        raise TakenFileError(f"{target} may only be read; change its permissions, or name another file.")
    if target.is_file() and holds_session(target):
        raise TakenFileError(f"{target} is a session, which nothing is written over; name another file.")


def _place(target: Path, content: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix=".flashscope-", dir=target.parent) as folder:
        part = Path(folder) / "part"
        part.write_bytes(content)
        if target.exists():
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        part.replace(target)
