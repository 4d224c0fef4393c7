"""Pictures of a session where there is no window."""

from typing import Any

from PySide6.QtWidgets import QApplication

from flashscope.app.look.fonts import load_fonts, ui_font
from flashscope.app.look.picture import PictureOptions
from flashscope.app.pages.profile.pictures import session_picture
from flashscope.app.shell.start_up.application import make_application
from flashscope.app.words.results.provenance import of_session
from flashscope.profiles.results.model.session import Session


def picture_bytes(kind: str, session: Session, look: dict[str, Any]) -> bytes:
    """The picture as a file of that kind; `look` are the fields of a Look that were chosen."""
    application = QApplication.instance() or make_application()
    load_fonts()
    if isinstance(application, QApplication):
        application.setFont(ui_font())
    return session_picture(kind, session, of_session(session, "saved"), PictureOptions(**look))
