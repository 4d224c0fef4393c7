"""Questions that the window asks, answered as a test says."""

import pytest
from PySide6.QtWidgets import QMessageBox

from flashscope.app.pages.own.asking import BRING


class Questions:
    """Answers what is asked, and remembers it.

    Attributes:
        answer: The text of the button that is pressed.
        asked: Title and text of each.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answer = BRING
        self.asked: list[tuple[str, str]] = []
        monkeypatch.setattr(QMessageBox, "exec", self._exec())

    def _exec(self) -> object:
        def answer(box: QMessageBox) -> int:
            self.asked.append((box.windowTitle(), box.text()))
            next(one for one in box.buttons() if one.text() == self.answer).click()
            return 0

        return answer
