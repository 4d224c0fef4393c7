"""What is on the screen while the rest of the program is still being loaded."""

import sys

from PySide6.QtCore import QDeadlineTimer, QRect, Qt, QThread
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QApplication

from flashscope.app.look.assets import ASSETS
from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.widgets.plain import PlainLabel

WIDTH, HEIGHT, ICON = 360, 200, 72
NAME_PX, WORDS_PX = 26, 14
LONGEST_MS = 200  # until the display has the splash


def bare_application() -> QApplication:
    """The one QApplication, with its name and icon and no look yet."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(sys.argv[:1])
        app.setApplicationName("Flashscope")
        app.setDesktopFileName("flashscope")
        app.setWindowIcon(QIcon(str(ASSETS / "icon.svg")))
    return app


def show_splash() -> PlainLabel:
    """Name and icon in the middle of the screen, on show until it is closed.

    No QSplashScreen: its `show` takes a second, waiting for what is not there before it returns.
    """
    app = bare_application()
    splash = PlainLabel()
    splash.setPixmap(_picture(app))
    splash.setWindowFlags(Qt.WindowType.SplashScreen | Qt.WindowType.FramelessWindowHint)
    splash.setWindowTitle("Flashscope is starting")
    splash.adjustSize()
    splash.move(app.primaryScreen().geometry().center() - splash.rect().center())
    splash.show()
    waited = QDeadlineTimer(LONGEST_MS)
    while not (splash.windowHandle().isExposed() or waited.hasExpired()):
        app.processEvents()
        QThread.msleep(1)
    splash.repaint()  # nothing else paints it while modules are loaded
    return splash


def _picture(app: QApplication) -> QPixmap:
    light = app.styleHints().colorScheme() == Qt.ColorScheme.Light
    theme, ratio = LIGHT if light else DARK, app.devicePixelRatio()
    picture = QPixmap(round(WIDTH * ratio), round(HEIGHT * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(QColor(theme.panel))
    painter = QPainter(picture)
    app.windowIcon().paint(painter, QRect((WIDTH - ICON) // 2, 28, ICON, ICON))
    for text, top, pixels, colour in (
        ("Flashscope", 112, NAME_PX, theme.text),
        ("Starting …", 154, WORDS_PX, theme.dim),
    ):
        font = app.font()
        font.setPixelSize(pixels)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(QRect(0, top, WIDTH, 32), Qt.AlignmentFlag.AlignCenter, text)
    painter.end()
    return picture
