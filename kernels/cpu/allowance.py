"""What of this machine a process may use: cores by its affinity, memory by its control groups (cgroups).

A container's limits are those of its control groups. Files and their meaning: the kernel's documents
admin-guide/cgroup-v2 and admin-guide/cgroup-v1/memory.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path("/")
ESCAPED = {"\\040": " ", "\\011": "\t", "\\012": "\n", "\\134": "\\"}  # in /proc/self/mountinfo


class Files(NamedTuple):
    """Where one version of control groups tells of memory: limit, use, and a line of memory.stat."""

    limit: str
    used: str
    reclaimable: str


VERSIONS = {
    "cgroup2": Files("memory.max", "memory.current", "inactive_file"),
    "cgroup": Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


class Group(NamedTuple):
    """A control group that this process is in, and the files that tell of its memory."""

    folder: Path
    files: Files

    def limit(self) -> int | None:
        """The most bytes that its processes may hold together, None: no limit."""
        return _number(self.folder / self.files.limit)

    def free(self) -> int | None:
        """Bytes that can be had before the limit: what caches of files hold is given back first."""
        limit, used = self.limit(), _number(self.folder / self.files.used)
        if limit is None or used is None:
            return None
        return max(limit - used + self._reclaimable(), 0)

    def _reclaimable(self) -> int:
        lines = (line.split() for line in _text(self.folder / "memory.stat").splitlines())
        return next((int(value) for name, value in lines if name == self.files.reclaimable), 0)


def usable_cores() -> frozenset[int]:
    """The numbers of the logical cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def memory_groups(root: Path = ROOT) -> tuple[Group, ...]:
    """The control groups whose limits of memory hold for this process, from its own up.

    Args:
        root: Where the system's files are; tests have others.
    """
    paths = dict(_own_paths(root))
    return tuple(group for mount in _mounts(root) for group in _groups(root, mount, paths))


def allowed_memory(total: int, groups: Sequence[Group]) -> int:
    """Bytes that this process may hold, of so many that the machine has."""
    return min([total, *(limit for one in groups if (limit := one.limit()) is not None)])


def free_memory(available: int, groups: Sequence[Group]) -> int:
    """Bytes that this process can have, of so many that are free on the machine."""
    return min([available, *(free for one in groups if (free := one.free()) is not None)])


class _Mount(NamedTuple):
    """A hierarchy of control groups: its version, which part of it is mounted, and where."""

    version: str
    part: Path
    point: Path


def _mounts(root: Path) -> Iterator[_Mount]:
    """The hierarchies that may limit memory."""
    for line in _text(root / "proc/self/mountinfo").splitlines():
        fields, _, kind = line.partition(" - ")
        version, _, options = (*kind.split(" "), "", "")[:3]
        if version == "cgroup2" or (version == "cgroup" and "memory" in options.split(",")):
            part, point = (Path(_plain(one)) for one in (*fields.split(" "), *["/"] * 5)[3:5])
            yield _Mount(version, part, point)


def _own_paths(root: Path) -> Iterator[tuple[str, Path]]:
    """In each version's hierarchy of memory, the path of this process's own group."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, controllers, path = (*line.split(":", 2), "", "")[:3]
        if number == "0" and not controllers:
            yield "cgroup2", Path(path)
        elif "memory" in controllers.split(","):
            yield "cgroup", Path(path)


def _groups(root: Path, mount: _Mount, paths: dict[str, Path]) -> Iterator[Group]:
    """The process's own group and those around it, as far as they are mounted."""
    own, point = paths.get(mount.version, mount.part), root / str(mount.point).lstrip("/")
    below = own.relative_to(mount.part) if own.is_relative_to(mount.part) else Path()
    for part in (below, *below.parents):
        if (point / part / VERSIONS[mount.version].limit).exists():
            yield Group(point / part, VERSIONS[mount.version])


def _plain(path: str) -> str:
    for escaped, character in ESCAPED.items():
        path = path.replace(escaped, character)
    return path


def _number(file: Path) -> int | None:
    """The number in a file; None where it says `max`, or nothing."""
    text = _text(file).strip()
    return int(text) if text.isdecimal() else None


def _text(file: Path) -> str:
    """What a file of the system holds, nothing where it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
