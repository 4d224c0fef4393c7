"""What every page of the window is."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.control.findable import Findable
from flashscope.app.look.theme import Theme
from flashscope.app.pages.host import Host
from flashscope.app.pages.landing import Landing
from flashscope.app.pages.staging import Staging
from flashscope.profiles.results.model.session import Session

if TYPE_CHECKING:
    from flashscope.app.plots.export.exporter import Exporter  # with it all that draws is loaded


class Page(QWidget):
    """One page of the window. It talks to the controller and to no other page.

    A page may be made at any time: it begins with what the controller has then. It listens to the controller
    itself; only `session_changed` is connected here, to `show_session`.
    The Profile page brings the action `run`, which the window's Run button and Ctrl+Return trigger.

    Attributes:
        key: Stable name, unique among pages.
        gives_way: Whether a session that is opened here is shown by the page of sessions on show.
        controller: Intents go there, events come from there.
        theme: The colours in use.
        large: The parts of a page that is too large to take its stylesheet in one step.

    Signals:
        page_requested: Bring another view to the front (its key).
        action_requested: Do what another page brought (the action's key).
        file_chosen: Show this session (Path).
        noticed: Something that the user should know of, in one line (str).
    """

    key: ClassVar[str]
    gives_way: ClassVar[bool] = False

    page_requested = Signal(str)
    action_requested = Signal(str)
    file_chosen = Signal(object)
    noticed = Signal(str)

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__()
        self.controller = controller
        self.theme = theme
        self.large: Sequence[QWidget] = ()
        self.staging = Staging(self.key, controller)
        controller.session_changed.connect(self.show_session)

    @property
    def staging(self) -> Staging:
        """What it does on a stage; it goes with the page."""
        return self._staging

    @staging.setter
    def staging(self, staging: Staging) -> None:
        staging.setParent(self)
        self._staging = staging

    def staging_of(self, view: str) -> Staging:
        """What a view of it does on a stage."""
        del view
        return self.staging

    def join(self, host: Host) -> None:
        """Connect the page to the window around it, once; a page that asks for more of it adds that."""
        self.page_requested.connect(host.show_page)
        self.action_requested.connect(host.trigger)
        self.file_chosen.connect(host.open_path)
        self.noticed.connect(host.notice)

    def let_export(self, exporters: Iterable["Exporter"]) -> None:
        """Have what these write say where it comes from, as the badge does, and tell what came of it."""
        for exporter in exporters:
            exporter.badge = lambda: self.staging.provenance.badge
            exporter.failed.connect(self.controller.error_raised)
            exporter.done.connect(self.noticed)

    def show_view(self, key: str) -> None:
        """Take the form that a view of this name shows; a page that has one form has nothing to do."""

    def come_to_front(self) -> None:
        """Bring up to date what is looked up only now; called each time the page is brought to the front."""

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours; the stylesheet has changed already, only what is painted by hand is left."""
        self.theme = theme
        self.staging.apply_theme(theme)

    def show_session(self, session: Session | None) -> None:
        """Show another session; None: show the empty state."""

    def kept(self) -> Callable[[], None]:
        """What gives back what the user sees now, after a stage has shown what its stops name."""
        return lambda: None

    def show_files(self, paths: Sequence[Path]) -> None:
        """Show these sessions beside each other, on a page that can."""

    def take_kernels(self, paths: Sequence[Path]) -> None:
        """Bring the kernels of these files into a sweep, on the page that sets sweeps up."""

    def take_sweep(self, session: Session) -> None:
        """Take note of a sweep that has ended, on a page whose view follows sweeps."""

    def landing(self, files: Sequence[Path]) -> Landing | None:
        """What becomes of recordings that are dropped on it; None: the window opens them."""

    def back(self) -> bool:
        """Leave what fills the page, as Esc does; whether there was anything to leave."""
        return False

    def actions_offered(self) -> list[Action]:
        """What a user can do on this page."""
        return []

    def findables(self) -> Iterable[Findable]:
        """What is found here by its name, and shown."""
        return ()
