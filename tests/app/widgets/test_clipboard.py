"""What the clipboard gets."""

from PySide6.QtGui import QGuiApplication

from flashscope.app.widgets.clipboard import copy_text


def test_what_is_copied_controls_no_terminal() -> None:
    copy_text("a\x1b]0;title\x07b\n\tc\u202e")
    assert QGuiApplication.clipboard().text() == "a\ufffd]0;title\ufffdb\n\tc\ufffd"
