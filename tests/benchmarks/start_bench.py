"""From start to a visible window, beside a bare one: python -m tests.benchmarks.start_bench [TIMES].

Needs Xvfb and xwininfo. Starts both in turns on a virtual display without a window manager, and prints in
seconds when each window was seen first: the bare one, the splash, the program's. A first round warms caches.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.virtual_display import Display, virtual_display, windows_of

ROOT = Path(__file__).parents[2]
BARE = """
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([])
window = QMainWindow()
window.setWindowTitle("bare")
window.resize(1280, 800)
window.show()
app.exec()
"""
PROGRAMS = {("-c", BARE): ("bare window",), ("main.py",): ("splash", "window")}
SEEN = {  # in a line of xwininfo
    "bare window": re.compile(r'"bare": .* 1280x800'),
    "splash": re.compile(r'"Flashscope is starting": '),
    "window": re.compile(r'"Flashscope": .* 1280x800'),
}
PATIENCE_S, POLL_S = 60, 0.005


def seen(display: Display, arguments: tuple[str, ...], windows: tuple[str, ...]) -> dict[str, float]:
    """When windows were seen first, in seconds from the program's start."""
    found: dict[str, float] = {}
    with TemporaryDirectory() as home:
        surroundings = os.environ | {
            "DISPLAY": display.name,
            "QT_QPA_PLATFORM": "xcb",
            "FLASHSCOPE_HOME": home,
        }
        begun = time.perf_counter()
        program = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, env=surroundings)
        while len(found) < len(windows) and time.perf_counter() - begun < PATIENCE_S:
            tree = windows_of(display)
            for window in windows:
                if SEEN[window].search(tree):
                    found.setdefault(window, time.perf_counter() - begun)
            time.sleep(POLL_S)
        program.terminate()
        program.wait()
    return found


def main(times: int) -> None:
    """Start both so often, and tell the medians."""
    taken: dict[str, list[float]] = {}
    with virtual_display() as display:
        for number in range(times + 1):
            for arguments, windows in PROGRAMS.items():
                for window, seconds in seen(display, arguments, windows).items():
                    taken.setdefault(window, []).extend([seconds] if number else [])
    for window, values in taken.items():
        spread = f"{min(values):.2f} .. {max(values):.2f}"
        sys.stdout.write(f"{window:12} {median(values):.2f} s ({spread}, {len(values)} starts)\n")


if __name__ == "__main__":
    main(*map(int, [*sys.argv[1:], "5"][:1]))
