"""What a test of the window leaves going: it would warn, tick or work in the tests that follow."""

import gc

from PySide6.QtCore import QObject, QThreadPool, QTimer
from shiboken6 import isValid


def going_on() -> list[QObject]:
    """Timers that tick and pools that work, of those made since `gc.freeze`."""
    made = [one for one in gc.get_objects() if issubclass(type(one), QTimer | QThreadPool) and isValid(one)]
    return [one for one in made if (_ticks(one) if isinstance(one, QTimer) else one.activeThreadCount())]


def finish(pools: list[QObject], patience_ms: int) -> None:
    """Wait for what works: a pool whose task has told its result counts it until its thread is back."""
    for pool in pools:
        if isinstance(pool, QThreadPool):
            pool.waitForDone(patience_ms)


def _ticks(timer: QTimer) -> bool:
    """Whether it does; one of `QTimer.singleShot` is nobody's and ends by itself."""
    return timer.isActive() and not (timer.isSingleShot() and timer.parent() is None)


def named(one: QObject) -> str:
    """What it is, of what, and how often it ticks."""
    period = f" every {one.interval()} ms" if isinstance(one, QTimer) else ""
    return f"{type(one).__name__} of {type(one.parent()).__name__}{period}"
