"""The files that this process records.

A process loses its locks on a file when it closes that file anywhere; SQLite knows, and keeps its own from
it. So these are not to be looked at past SQLite.
"""

from pathlib import Path

Identity = tuple[int, int]
_recorded: set[Identity] = set()


def identity(path: Path) -> Identity:
    """What stays the same when a file is renamed: its device and inode."""
    found = path.stat()
    return found.st_dev, found.st_ino


def note_recording(recorded: Identity) -> None:
    """Note that this process records a file from now on."""
    _recorded.add(recorded)


def forget_recording(recorded: Identity) -> None:
    """Note that it does no more."""
    _recorded.discard(recorded)


def is_recorded_here(path: Path) -> bool:
    """Whether this process records the file of this name, if there is one."""
    try:
        return identity(path) in _recorded
    except OSError:
        return False
