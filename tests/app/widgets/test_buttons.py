"""Buttons as the whole window makes them."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import (
    QApplication,
    QDialogButtonBox,
    QProxyStyle,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QWidget,
)
from pytestqt.qtbot import QtBot

from flashscope.app.widgets.buttons import DialogButtons

CLOSE = QDialogButtonBox.StandardButton.Close


class DesktopStyle(QProxyStyle):
    """Has icons on the buttons of dialogs, as many a desktop."""

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        data: QStyleHintReturn | None = None,
    ) -> int:
        if hint == QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons:
            return 1
        return super().styleHint(hint, option, widget, data)


@pytest.fixture
def desktop(qapp: QApplication) -> Iterator[None]:
    qapp.setStyle(DesktopStyle("Fusion"))
    yield
    qapp.setStyle("Fusion")


def test_a_dialogs_button_has_no_icon_whatever_the_desktop(desktop: None, qtbot: QtBot) -> None:
    plain, ours = QDialogButtonBox(CLOSE), DialogButtons(CLOSE)
    for box in (plain, ours):
        qtbot.addWidget(box)
    assert not plain.button(CLOSE).icon().isNull()
    assert ours.button(CLOSE).icon().isNull()
