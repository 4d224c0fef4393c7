"""Keeps an error inside the method in which it happened, where Qt would let it out somewhere else.

Qt calls an overridden method in the middle of its own work, and no exception can pass through that. PySide
keeps it and raises it out of whichever call comes back to Python next, together with all that its frames
held, such as a painter on a surface that is gone by then: the process does not survive that.
"""

import sys
from collections.abc import Callable
from functools import wraps
from types import NoneType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def guarded(otherwise: Callable[[], Any] = NoneType) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Marks a method that Qt or pyqtgraph calls: no exception leaves it, `sys.excepthook` is told of it.

    Out of a method that a pool of threads calls it would leave without a word.

    Args:
        otherwise: Makes what is answered then; None unless given.
    """

    def guard(method: Callable[P, T]) -> Callable[P, T]:
        @wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return method(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - whatever it is, Qt must not meet it
                sys.excepthook(type(error), error, error.__traceback__)
                answer: T = otherwise()
                return answer

        return call

    return guard
