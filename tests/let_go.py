"""What tests of windows leave: it goes in Qt's thread, before another may collect it."""

import gc

import pytest


def of_qt(item: pytest.Item | None) -> bool:
    """Whether a test has an application of Qt's."""
    return isinstance(item, pytest.Function) and "qapp" in item.fixturenames


def let_go() -> None:
    """Delete what is to be deleted, and the Python halves of it."""
    from PySide6.QtCore import QCoreApplication, QEvent  # noqa: PLC0415 - few selections of tests have windows

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QCoreApplication.sendPostedEvents()
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
