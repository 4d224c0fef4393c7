"""A machine of the kernel's own making, in a network namespace, and the cable that leads to it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

IP = shutil.which("ip") or ""
NAME, HERE, THERE = f"fs{os.getpid()}", "198.51.100.1", "198.51.100.2"  # addresses that are nobody's


def _obstacle() -> str:
    if not IP or os.geteuid() != 0:
        return "root and iproute2 are needed for a network namespace"
    for verb in ("add", "del"):
        tried = subprocess.run([IP, "netns", verb, NAME], check=False, capture_output=True, text=True)
        if tried.returncode != 0:
            return f"no network namespace can be made: {tried.stderr.strip()}"
    return ""


WITHOUT = _obstacle()


class Cable:
    """Leads to the machine.

    Attributes:
        inside: A command that runs another one there.
    """

    inside = (IP, "netns", "exec", NAME)

    def pull(self) -> None:
        """Let nothing through, and tell nobody."""
        _ip("-n", NAME, "link", "set", f"{NAME}b", "down")

    def plug(self) -> None:
        """Let everything through."""
        _ip("-n", NAME, "link", "set", f"{NAME}b", "up")


@contextmanager
def cable() -> Iterator[Cable]:
    """A machine at THERE, and this one at HERE."""
    _ip("netns", "add", NAME)
    try:
        _ip("link", "add", f"{NAME}a", "type", "veth", "peer", f"{NAME}b", "netns", NAME)
        _ip("addr", "add", f"{HERE}/30", "dev", f"{NAME}a")
        _ip("-n", NAME, "addr", "add", f"{THERE}/30", "dev", f"{NAME}b")
        for end in (("link", "set", f"{NAME}a"), ("-n", NAME, "link", "set", "lo")):
            _ip(*end, "up")
        made = Cable()
        made.plug()
        yield made
    finally:
        _ip("netns", "del", NAME)


def _ip(*words: str) -> None:
    subprocess.run([IP, *words], check=True)
