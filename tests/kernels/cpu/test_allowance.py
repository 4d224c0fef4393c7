"""What a process may use of a machine, by files as the kernel writes them."""

import os
from pathlib import Path

import pytest

from flashscope.kernels.cpu.allowance import allowed_memory, free_memory, memory_groups, usable_cores

GIB = 1 << 30
V1 = "35 31 0:32 {part} {point} rw,relatime - cgroup cgroup rw,memory\n"
V2 = "35 31 0:32 {part} {point} rw,relatime shared:4 - cgroup2 cgroup2 rw\n"


def system(root: Path, mount: str, own: str, files: dict[str, object]) -> Path:
    """A root folder with these lines in /proc/self, and these files."""
    told = {"proc/self/mountinfo": mount, "proc/self/cgroup": own} | files
    for name, text in told.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}")
    return root


def test_a_limit_of_version_2_bounds_total_and_free_memory(tmp_path: Path) -> None:
    folder = "sys/fs/cgroup/user.slice/job"
    files: dict[str, object] = {
        f"{folder}/memory.max": 2 * GIB,
        f"{folder}/memory.current": GIB,
        f"{folder}/memory.stat": f"anon 1\nactive_file 7\ninactive_file {GIB // 4}\n",
    }
    root = system(tmp_path, V2.format(part="/", point="/sys/fs/cgroup"), "0::/user.slice/job\n", files)
    groups = memory_groups(root)
    assert allowed_memory(64 * GIB, groups) == 2 * GIB
    assert free_memory(50 * GIB, groups) == GIB + GIB // 4
    assert free_memory(GIB, groups) == GIB  # the machine itself has no more


def test_a_limit_of_version_1_bounds_total_and_free_memory(tmp_path: Path) -> None:
    folder = "sys/fs/cgroup/memory/job"
    files: dict[str, object] = {
        f"{folder}/memory.limit_in_bytes": GIB,
        f"{folder}/memory.usage_in_bytes": GIB // 2,
        f"{folder}/memory.stat": f"inactive_file 0\ntotal_inactive_file {GIB // 8}\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": 9223372036854771712,  # no limit
        "sys/fs/cgroup/memory/memory.usage_in_bytes": 9 * GIB,
    }
    mount = "36 31 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    mount += V1.format(part="/", point="/sys/fs/cgroup/memory")
    groups = memory_groups(system(tmp_path, mount, "5:cpu:/else\n4:memory:/job\n0::/\n", files))
    assert allowed_memory(64 * GIB, groups) == GIB
    assert free_memory(50 * GIB, groups) == GIB // 2 + GIB // 8


@pytest.mark.parametrize("mount", [V1, V2])
def test_inside_a_container_its_own_group_is_what_is_mounted(tmp_path: Path, mount: str) -> None:
    files: dict[str, object] = {
        f"run/my groups/{name}": value
        for name, value in {
            "memory.max": GIB,
            "memory.current": 0,
            "memory.limit_in_bytes": GIB,
            "memory.usage_in_bytes": 0,
        }.items()
    }
    own = "4:memory:/docker/1234\n0::/docker/1234\n"
    root = system(tmp_path, mount.format(part="/docker/1234", point="/run/my\\040groups"), own, files)
    assert allowed_memory(64 * GIB, memory_groups(root)) == GIB


def test_the_tightest_of_the_groups_around_a_process_holds(tmp_path: Path) -> None:
    files: dict[str, object] = {
        "cg/a/memory.max": 2 * GIB,
        "cg/a/memory.current": 2 * GIB - 5,
        "cg/a/b/memory.max": GIB,
        "cg/a/b/memory.current": 0,
        "cg/a/b/c/memory.max": "max",
        "cg/a/b/c/memory.current": 0,
    }
    groups = memory_groups(system(tmp_path, V2.format(part="/", point="/cg"), "0::/a/b/c\n", files))
    assert allowed_memory(64 * GIB, groups) == GIB
    assert free_memory(50 * GIB, groups) == 5


@pytest.mark.parametrize("mount", ["", "nonsense\n", V2.format(part="/", point="/cg"), "1 2 3 - cgroup2\n"])
def test_a_system_that_tells_nothing_limits_nothing(tmp_path: Path, mount: str) -> None:
    groups = memory_groups(system(tmp_path, mount, "nonsense\n", {"cg/memory.max": "soon"}))
    assert allowed_memory(GIB, groups) == GIB
    assert free_memory(7, groups) == 7


def test_a_group_that_goes_away_limits_no_longer(tmp_path: Path) -> None:
    root = system(tmp_path, V2.format(part="/", point="/cg"), "0::/a\n", {"cg/a/memory.max": 5})
    groups = memory_groups(root)
    (root / "cg/a/memory.max").unlink()
    assert allowed_memory(GIB, groups) == GIB


def test_only_the_cores_that_a_process_may_run_on_count() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert usable_cores() == {min(before)}
    finally:
        os.sched_setaffinity(0, before)
