"""Lays out once what changes in many places."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtWidgets import QWidget


@contextmanager
def laid_out_once(*widgets: QWidget) -> Iterator[None]:
    """Let these, the inner ones first, lay out nothing before the end: Qt would with each part that comes."""
    layouts = [layout for widget in widgets if (layout := widget.layout()) is not None and layout.isEnabled()]
    for layout in layouts:
        layout.setEnabled(False)
    try:
        yield
    finally:
        for layout in layouts:
            layout.setEnabled(True)
            layout.invalidate()
            layout.activate()
