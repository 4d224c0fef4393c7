"""What a test of the window leaves going: it would warn, tick or work in the tests that follow."""

import gc
from collections.abc import Iterable
from itertools import chain

from PySide6.QtCore import QObject, QThreadPool, QTimer
from shiboken6 import isValid


def going_on() -> list[QObject]:
    """Timers that tick and pools that work, of those made since `gc.freeze`."""
    made = [one for one in _objects() if isinstance(one, QTimer | QThreadPool) and isValid(one)]
    return [one for one in made if (_ticks(one) if isinstance(one, QTimer) else one.activeThreadCount())]


def _objects() -> list[QObject]:
    """Those of Qt among all that garbage is looked for in, sifted without a step of Python between.

    In such a step another thread may go on. The tuple that it is making would be held here, too, and a tuple
    that somebody else holds cannot grow: Python ends that with a SystemError.
    """
    return [*filter(QObject.__instancecheck__, chain.from_iterable(map(gc.get_objects, [None])))]


def finish(pools: Iterable[QObject], patience_ms: int) -> None:
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
