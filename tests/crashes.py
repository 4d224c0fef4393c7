"""Where a worker of pytest's stood that crashed: its last words would be lost among thousands of lines."""

import faulthandler
import os
import resource
import tempfile
from pathlib import Path

import pytest

FOLDER = "FLASHSCOPE_TEST_CRASHES"
"""Names to workers the folder of their last words."""
MOST_LINES = 24  # of a worker: what it was at, and who called that


class LastWords:
    """Of workers, a file each, in which the traceback of a signal is written that ends one."""

    def __init__(self, config: pytest.Config) -> None:
        self._made: tempfile.TemporaryDirectory[str] | None = None
        if worker := getattr(config, "workerinput", None):
            path = Path(os.environ[FOLDER]) / f"{worker['workerid']}.txt"
            self._file = path.open("w", encoding="utf-8")  # for good: faulthandler writes to its descriptor
            faulthandler.enable(self._file)
        else:
            self._made = tempfile.TemporaryDirectory(prefix="flashscope-crashes-")
            os.environ[FOLDER] = self._made.name

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """What workers said that crashed; of one that said nothing another process has made an end."""
        crashed = [
            one for one in terminalreporter.stats.get("failed", []) if "crashed while" in str(one.longrepr)
        ]
        if not crashed or self._made is None:
            return
        terminalreporter.section("workers that crashed")
        for path in sorted(Path(self._made.name).iterdir()):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines()[:MOST_LINES]:
                terminalreporter.line(f"{path.stem}: {line}")
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        terminalreporter.line(f"The largest process had {most:.1f} GiB; nothing above: it was killed.")
