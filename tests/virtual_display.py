"""A virtual X display for a real window, and what stands on it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

PATIENCE_S = 60


class Display(NamedTuple):
    """A virtual display that nothing else uses, and its server."""

    name: str
    server: subprocess.Popen[bytes]


@contextmanager
def virtual_display() -> Iterator[Display]:
    """A display of its own, until this ends; it has no window manager."""
    read_end, write_end = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1600x1000x24", "-noreset"],  # noqa: S607 - wherever it is installed
        pass_fds=[write_end],
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    try:
        with os.fdopen(read_end) as number:
            name = f":{number.readline().strip()}"
        yield Display(name, server)
    finally:
        server.terminate()
        server.wait()


def windows_of(display: Display) -> str:
    """The windows of a display with titles and sizes; less than all when one is closed while this looks."""
    tree = ["xwininfo", "-root", "-tree", "-display", display.name]
    return subprocess.run(tree, check=False, capture_output=True, text=True, timeout=PATIENCE_S).stdout
