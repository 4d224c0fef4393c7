"""A page settles in its frame, also where what its bars need decides whether it fits."""

import sys

import pytest
from PySide6.QtWidgets import QApplication

from flashscope.app.pages.stepper import StepperPage
from flashscope.app.shell.main_window import MainWindow
from tests.app.stepper.builders import random_trace

NARROW = (747, 821)
WAVERED = [(width, height) for width in (1260, 1266, 1274) for height in (520, 530, 540)]


@pytest.mark.matrix
def test_the_stepper_settles_at_sizes_at_which_its_lines_decide_whether_it_fits(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    window.show_page(page.key)
    page.show_trace(random_trace(32, block=16, head_dim=32))
    window.appearance.zoom(200)
    window.appearance.finish()
    raised: list[object] = []
    monkeypatch.setattr(sys, "excepthook", lambda *error: raised.append(error[1]))
    for size in WAVERED:
        for each in (NARROW, size):
            window.resize(*each)
            QApplication.processEvents()
        frame = window._frames[page.key]
        assert not raised, size
        assert page.height() >= page.minimumSizeHint().height(), size
        assert frame.horizontalScrollBar().maximum() == 0, size
    window.appearance.zoom(100)
    window.appearance.finish()
