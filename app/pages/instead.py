"""Where else something is, on a page of points: what a session without points holds, and the way there."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton

from flashscope.app.pages.registry import title_of
from flashscope.app.widgets.plain import button_text
from flashscope.app.words.results.holding import holding_text, view_instead
from flashscope.profiles.results.model.session import Session

NOWHERE = "Show another view"  # the name of a lead that has nowhere to go, and is hidden


class LeadButton(QPushButton):
    """Leads to the view that shows what a session without points holds; hidden where there is none.

    Signals:
        view_chosen: Show this view (its key).

    Args:
        role: One of the stylesheet's, empty: the usual.
    """

    view_chosen = Signal(str)

    def __init__(self, role: str = "") -> None:
        super().__init__()
        self._view = ""
        self.setProperty("role", role or None)
        self.clicked.connect(lambda _checked=False: self.view_chosen.emit(self._view))
        self.follow(None)

    def follow(self, session: Session | None) -> None:
        """Lead to what this session holds."""
        self._view = view_instead(session)
        name = f"Show {title_of(self._view)}" if self._view else NOWHERE
        self.setText(button_text(name))
        self.setAccessibleName(name)
        self.setVisible(bool(self._view))


def instead_text(session: Session | None) -> str:
    """What is said of a session that has no points; empty: it has points, or there is none."""
    if session is None or session.points:
        return ""
    view = view_instead(session)
    return f"No points; {holding_text(session)}{f': see {title_of(view)}' if view else ''}."


def elsewhere_text(session: Session | None) -> str:
    """Where else a session without points has something; empty: it has points, or nothing anywhere."""
    return instead_text(session) if view_instead(session) else ""
