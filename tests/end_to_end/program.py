"""Runs `main.py` as a user would, as a process of its own; or its commands inside this one."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / ".src"  # from where `flashscope` is imported
PYTHONPATH = os.pathsep.join((str(SOURCES), str(ROOT)))  # for children that run code of the tests
TIMEOUT_S = 240


def environment(home: Path | None = None, **others: str) -> dict[str, str]:
    """The environment without a display, with the user's data kept in `home`."""
    kept = {k: v for k, v in os.environ.items() if k not in {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}}
    kept |= {"FLASHSCOPE_HOME": str(home)} if home else {}
    return kept | others


def run(*arguments: str, home: Path | None = None, **others: str) -> subprocess.CompletedProcess[str]:
    """Run the program to its end."""
    return subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env=environment(home, **others),
        cwd=ROOT,
    )


def inside(*arguments: str, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The same without a process of its own, most of whose time is its imports."""
    from flashscope.app.cli import main  # noqa: PLC0415 - conftest.py needs the paths above alone

    out, told = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    folder = Path.cwd()
    os.chdir(ROOT)
    kept = mock.patch.dict(os.environ, {"FLASHSCOPE_HOME": str(home)} if home else {})
    try:
        with kept, redirect_stdout(out), redirect_stderr(told):
            code = main(arguments)
    finally:
        os.chdir(folder)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return subprocess.CompletedProcess(arguments, code, *(_text(stream) for stream in (out, told)))


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def document(done: subprocess.CompletedProcess[str]) -> Any:
    """The one JSON document on stdout; anything beside it fails."""
    assert done.stdout.endswith("\n")
    assert done.stdout.count("\n") == 1, done.stdout
    return msgspec.json.decode(done.stdout)


@contextmanager
def started(
    *arguments: str, home: Path | None = None, script: Path = ROOT / "main.py", **others: str
) -> Iterator[subprocess.Popen[str]]:
    """The running program; its stderr can be read line by line. It is killed if it still runs at the end."""
    with subprocess.Popen(
        [sys.executable, str(script), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(home, **others),
        cwd=ROOT,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
