"""What happens when the X server goes away.

Qt asks most things through XCB and ends its event loop when the connection breaks, but a few, such as a
window's title, through Xlib. Whichever of the two looks at the connection first decides, and Xlib left alone
ends the process before anything is saved or told.
"""

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtGui import QGuiApplication

_Handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


@contextmanager
def left_in_order(app: QGuiApplication, leave: Callable[[], object]) -> Iterator[None]:
    """Call `leave` and end the process with code 1 when, within it, Xlib is the first to find no display.

    Nothing after that would be safe: Xlib's next request would write into a buffer that it has given up.
    Does nothing on another platform than X11.
    """
    if app.platformName() != "xcb":
        yield
        return

    def lost(_display: int | None) -> int:
        try:
            leave()
        finally:
            os._exit(1)

    handler = _Handler(lost)
    set_handler = ctypes.CDLL("libX11.so.6").XSetIOErrorHandler
    set_handler.restype = ctypes.c_void_p
    qts_own = set_handler(handler)
    try:
        yield
    finally:
        set_handler(ctypes.c_void_p(qts_own))
