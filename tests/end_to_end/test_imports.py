"""What a fresh interpreter holds after importing the program, command by command."""

import subprocess
import sys
from functools import cache

import pytest

from tests.end_to_end import program
from tests.matrix import chosen


@cache  # several tests ask for what one interpreter holds
def modules_after(script: str) -> frozenset[str]:
    seen = subprocess.run(
        [sys.executable, "-c", f"{script}\nimport sys\nprint(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
        cwd=program.SOURCES,
        env=program.environment(QT_QPA_PLATFORM="offscreen"),
        timeout=program.TIMEOUT_S,
    )
    return frozenset(name.partition(".")[0] for name in seen.stdout.splitlines()[-1].split())


def app_modules() -> list[str]:
    files = (program.ROOT / "app").rglob("*.py")
    names = (f"flashscope.{'.'.join(path.relative_to(program.ROOT).with_suffix('').parts)}" for path in files)
    return sorted(name.removesuffix(".__init__") for name in names)


def test_the_whole_app_is_imported_without_cupy_or_torch() -> None:
    found = modules_after("\n".join(f"import {name}" for name in app_modules()))
    assert "PySide6" in found
    assert not found & {"cupy", "cupyx", "torch"}


@chosen(
    "command",
    ["sweep", "show", "inside.trace", "kernels", "doctor", "window", "shots", "export", "plan"],
    {"sweep", "export"},
)
def test_a_command_is_imported_without_qt_or_a_gpu_library(command: str) -> None:
    found = modules_after(f"import flashscope.app.commands.program, flashscope.app.commands.{command}")
    assert not found & {"PySide6", "pyqtgraph", "cupy", "torch"}


@pytest.mark.cluster
@chosen("command", ["sweep", "resume", "serve", "window"], {"sweep", "serve"})
def test_dask_is_imported_for_nobody_who_measures_here(command: str) -> None:
    found = modules_after(f"import flashscope.app.commands.program, flashscope.app.commands.{command}")
    assert not found & {"dask", "distributed", "tornado", "cryptography"}


@pytest.mark.cluster
def test_what_starts_the_processes_of_a_host_imports_no_dask_itself() -> None:
    assert not modules_after("import flashscope.profiles.cluster.host.serving") & {"dask", "distributed"}


@chosen("command", ["kernels", "doctor", "window", "shots", "export"], {"window", "export"})
def test_a_command_that_prints_no_table_is_imported_without_what_draws_them(command: str) -> None:
    assert "rich" not in modules_after(
        f"import flashscope.app.commands.program, flashscope.app.commands.{command}"
    )


@chosen(
    "module",
    [
        "flashscope.app.commands.program",
        "flashscope.profiles.worker.child",
        "flashscope.profiles.wire.events",
        "flashscope.profiles.plan.plan",
        "flashscope.kernels.workload.problem",
        "flashscope.kernels.catalogue.spec",
    ],
    {"flashscope.app.commands.program", "flashscope.profiles.worker.child"},
)
def test_messages_and_the_start_of_a_child_are_imported_without_what_is_slow(module: str) -> None:
    slow = {"numpy", "email"}  # the latter with importlib.metadata
    assert not modules_after(f"import {module}") & {*slow, "PySide6", "cupy", "torch"}


def test_a_window_without_arguments_is_on_its_way_before_there_is_a_parser() -> None:
    slow = {"click", "email"}  # the latter with importlib.metadata
    assert not modules_after("import flashscope.app.cli, flashscope.app.commands.window") & slow
