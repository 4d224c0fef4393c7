"""What a window says beside a field, as a user sees it."""

from PySide6.QtWidgets import QWidget

from flashscope.app.widgets.remark import Remark


def remark_on(field: QWidget) -> str:
    """What is told beside a field now, empty when nothing is."""
    shown = (one for one in field.window().findChildren(Remark) if one.field is field and one.isVisible())
    return next((one.text() for one in shown), "")
