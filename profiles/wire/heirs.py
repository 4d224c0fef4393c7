"""What a child has started, known by a mark in its environment, whatever group or session it is in."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # each child imports this, and most start nothing
    from subprocess import Popen

MARK = "FLASHSCOPE_CHILD"
"""The variable that each child of an engine is started with, and that what it starts inherits."""
PASSES = 20  # what starts others while it is looked for is found by the next one


def end_group(process: "Popen[bytes]", mark: str) -> list[str]:
    """End the group that a child leads and all else that has its mark; the names of the latter.

    Until somebody has waited for the child its number is its own.
    """
    if process.returncode is None:
        with suppress(OSError):  # it has ended by now
            os.killpg(process.pid, signal.SIGKILL)
    return end_heirs(mark, process.pid)


def end_heirs(mark: str, group: int) -> list[str]:
    """End all that have this mark and are not in this group, which is ended by its number; their names.

    Linux alone shows the environment that a process was started with; elsewhere none is found. One that has
    emptied or overwritten it is not found either.
    """
    ended: dict[int, str] = {}
    for _ in range(PASSES):
        found = {pid: name for pid, name in _marked(mark, group).items() if pid not in ended}
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        ended |= found
        if not found:
            break
    return [f"{name} ({pid})" for pid, name in ended.items()]


def _marked(mark: str, group: int) -> dict[int, str]:
    """Names of the processes that have the mark."""
    found, entry = {}, f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        with suppress(OSError):  # it has ended, or is somebody else's
            if entry in (folder / "environ").read_bytes().split(b"\0") and os.getpgid(pid) != group:
                found[pid] = (folder / "comm").read_text(errors="replace").strip()
    return found
