"""Pictures of a session where there is no window."""

from typing import Any

from PySide6.QtWidgets import QApplication

from app.look.fonts import load_fonts, ui_font
from app.look.picture import Look
from app.pages.profile.pictures import session_picture
from app.shell.application import make_application
from app.words.provenance import of_session
from profiles.results.session import Session


def picture(kind: str, session: Session, look: dict[str, Any]) -> bytes:
    """The picture as a file of that kind; `look` are the fields of a Look that were chosen."""
    application = QApplication.instance() or make_application()
    load_fonts()
    if isinstance(application, QApplication):
        application.setFont(ui_font())
    return session_picture(kind, session, of_session(session, "saved"), Look(**look))
