"""What every page of the window is."""

from collections.abc import Sequence
from typing import ClassVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.control.actions import Action
from app.control.controller import Controller
from app.look.theme import Theme
from app.pages.staging import Staging
from profiles.results.session import Session


class Page(QWidget):
    """One page of the window. It talks to the controller and to no other page.

    A page may be made at any time: it begins with what the controller has then. It listens to the controller
    itself; only `session_changed` is connected here, to `show_session`.
    The Profile page brings the action `run`, which the window's Run button and Ctrl+Return trigger.

    Attributes:
        key: Stable name, unique among pages.
        controller: Intents go there, events come from there.
        theme: The colours in use.
        large: The parts of a page that is too large to take its stylesheet in one step.
        staging: What it does on a stage.

    Signals:
        page_requested: Bring another page to the front (its key).
        action_requested: Do what another page brought (the action's key).
        file_chosen: Show this session (Path).
        noticed: Something that the user should know of, in one line (str).
    """

    key: ClassVar[str]

    page_requested = Signal(str)
    action_requested = Signal(str)
    file_chosen = Signal(object)
    noticed = Signal(str)

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__()
        self.controller = controller
        self.theme = theme
        self.large: Sequence[QWidget] = ()
        self.staging = Staging(self, self.key, controller)
        controller.session_changed.connect(self.show_session)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours; the stylesheet has changed already, only what is painted by hand is left."""
        self.theme = theme
        self.staging.apply_theme(theme)

    def show_session(self, session: Session | None) -> None:
        """Show another session; None: show the empty state."""

    def back(self) -> bool:
        """Leave what fills the page, as Esc does; whether there was anything to leave."""
        return False

    def actions_offered(self) -> list[Action]:
        """What a user can do on this page."""
        return []
