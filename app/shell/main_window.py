"""The window: rail, pages, top bar, status bar, log, errors; and the way in and out."""

import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QChildEvent, QEvent, QObject, QRect, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.control.actions import ActionRegistry
from app.control.chores import wait_for_all
from app.control.controller import Controller
from app.control.guard import guarded
from app.control.presence import Presence
from app.control.resuming import Resumer
from app.control.settings import Settings
from app.look.appearance import Appearance, appearance_of
from app.look.theme import Theme
from app.pages.base import Page
from app.pages.registry import KEYS, PAGES, START, page_class, title_of
from app.shell.ahead import Ahead
from app.shell.closing import ask_to_close
from app.shell.edit_actions import EditActions
from app.shell.file_actions import FileActions
from app.shell.full_screen import FullScreen
from app.shell.notices import Notices
from app.shell.pages import Pages
from app.shell.stage import Stage
from app.shell.stage_actions import StageActions
from app.shell.stage_frame import StageFrame
from app.shell.stage_venue import Venue
from app.shell.tour import Tour
from app.shell.window_actions import HelpActions, SweepActions, ViewActions
from app.widgets.error_line import ErrorLine
from app.widgets.keyed import name_keys
from app.widgets.log_panel import LogPanel
from app.widgets.rail import Rail
from app.widgets.scrolling import Scrolling
from app.widgets.split import Split
from app.widgets.status_bar import StatusBar
from app.widgets.top_bar import TopBar
from app.widgets.typing_guard import belongs_to_input
from profiles.results.session import Session

if TYPE_CHECKING:  # their plots take half a second to load
    from app.pages.compare import ComparePage
    from app.pages.profile import ProfilePage
    from app.pages.sessions import SessionsPage
    from app.pages.start import StartPage

SMALLEST = (600, 340)  # what 200 % leaves of a 1280 x 720 screen, less its panels
FIRST_SIZE = (1280, 800)
SWITCH_S = 0.0005  # for which a thread of Python's may keep the window's waiting, whenever it needs Python


class MainWindow(QMainWindow):
    """One window over one controller.

    Attributes:
        controller: Everything that is not drawing.
        registry: Everything a user can do.
        pages: The start page and those of the rail, by key. They are made one by one when the window has been
            painted, or when one is looked up.
        notices: What it says of the session on show and of what happens.
        stage: Presents what is on show, or a story.
        presenting: What a speaker can do.
        tour: Five steps through all this, for the first start.
        ahead: Loads and makes the pages once it is on the screen.
    """

    def __init__(self, controller: Controller, appearance: Appearance, settings: Settings) -> None:
        super().__init__()
        self.controller, self.appearance, self.settings = controller, appearance, settings
        controller.setParent(self)  # what its signals hold goes with the window
        self.pages = Pages(KEYS, self._make_page, self._take_page)
        self.registry = ActionRegistry(self, KEYS, self.pages.complete)
        self._started = self._agreed = False
        self.ahead = Ahead(self, self.pages, self._settle)
        self.setWindowTitle("Flashscope")
        self.setMinimumSize(*SMALLEST)
        self.setAcceptDrops(True)
        theme = appearance.theme
        self._make_parts(theme)
        self._lay_out()
        self._offer_actions()
        self._connect()
        appearance.dress(self, bare=[self._stack])
        self.apply_theme(theme)
        self.show_page(START)

    @property
    def page(self) -> Page:
        """The page in front."""
        return self.pages[self._shown]

    def show_page(self, key: str) -> None:
        """Bring a page to the front; one that cannot be made is told of, as often as it is asked for."""
        try:
            self.pages.make(key)
        except Exception as error:
            if key == START:
                raise
            self.errors.show_error(
                f"The {title_of(key)} page cannot be opened ({type(error).__name__}: {error}); "
                "the others can. Copy the details to report it.",
                "".join(traceback.format_exception(error)),
            )
            return
        self._shown = key
        self._stack.setCurrentWidget(self._frames[key])
        self.rail.show_page(key)
        self.registry.show_page(key)
        if key == START:
            self.start_page.show_recents(self.settings.recents)

    def open_path(self, path: Path) -> None:
        """Show a session file as soon as it is read; what is wrong with it is told in the error line."""
        self.controller.open_session(path)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour what is painted by hand."""
        for part in (self.top_bar, self.rail, self.log, self.errors, self._stage_frame, self.tour):
            part.apply_theme(theme)
        for page in self.pages.made:
            page.apply_theme(theme)

    def close_unasked(self) -> None:
        """Stop what runs and close; for signals of the system."""
        self._agreed = True
        self.close()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Look at the machine once the window has been painted, not before."""
        super().showEvent(event)
        if not self._started:
            self._started = True
            self.start_page.quick.setFocus()
            QTimer.singleShot(0, self.controller.start)
            self.ahead.begin()

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask once when a sweep runs; stop everything and wait for it."""
        if self.controller.measuring and not self._agreed and not ask_to_close(self):
            event.ignore()
            return
        if not self.stage.on:
            self.settings.geometry = self.saveGeometry()
        self.hide()
        self._resumer.wait()
        self.controller.close()
        self.ahead.stop()
        for page in self.pages.made:
            page.close()
        self.presence.wait()
        self._files.stop()
        wait_for_all(self)
        super().closeEvent(event)

    @guarded()
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take one local file."""
        if _dropped(event) is not None:
            event.acceptProposedAction()

    @guarded()
    def dropEvent(self, event: QDropEvent) -> None:
        """Open the file dropped."""
        path = _dropped(event)
        if path is not None:
            event.acceptProposedAction()
            self.open_path(path)

    @guarded(bool)
    def event(self, event: QEvent) -> bool:
        """Dress a dialog; keep shortcuts silent where the key means something to what has the focus."""
        if isinstance(event, QChildEvent) and event.polished():
            self._dress_dialog(event.child())
        if event.type() == QEvent.Type.ShortcutOverride and belongs_to_input(event, self.focusWidget()):
            event.accept()
            return True
        if event.type() == QEvent.Type.DeferredDelete:
            wait_for_all(self)  # Qt would wait for their threads, which wait for Python
        return super().event(event)

    def _dress_dialog(self, child: QObject) -> None:
        if isinstance(child, QWidget) and child.isWindow():
            self.appearance.dress(child)

    def _make_parts(self, theme: Theme) -> None:
        self.top_bar = TopBar(self.controller, self.registry)
        self.rail = Rail(PAGES)
        self.log = LogPanel(theme)
        self.log.hide()
        self.errors = ErrorLine()
        self.presence = Presence(self.controller, self)
        self.status = StatusBar(self.controller, self.presence, self.errors)
        self.notices = Notices(
            self,
            self.controller,
            self.presence,
            settings=self.settings,
            log=self.log,
            errors=self.errors,
            open_path=self.open_path,
        )

    def _offer_actions(self) -> None:
        self._resumer = Resumer(self.controller)
        self._files = FileActions(self, self.controller, self.errors, self.open_path)
        full_screen = FullScreen(self)
        self._view = ViewActions(
            full_screen,
            self.show_page,
            log=self.log,
            errors=self.errors,
            appearance=self.appearance,
            settings=self.settings,
        )
        venue = Venue(self, full_screen, self.appearance, self.settings)
        self.stage = Stage(self, venue, self._stage_frame, (self.top_bar, self.rail, self.log, self.status))
        self.presenting = StageActions(self.stage, self.errors)
        self.tour = Tour(self)
        self._help = HelpActions(self, self.registry, self.settings, self.tour)
        leaves = self.tour.leave, self.stage.back
        self._sweep = SweepActions(full_screen, leaves, self.controller, self._resumer, self.errors)
        self._edit = EditActions(self.controller, self.errors)
        groups = self._files, self._edit, self._sweep, self._view, self.presenting, self._help
        actions = [action for group in groups for action in group.offered()]
        for action in actions:
            self.addAction(self.registry.add(action))

    def _lay_out(self) -> None:
        self._stack = QStackedWidget()
        self._frames: dict[str, Scrolling] = {}
        split = Split(self._stack, self.log)
        split.setSizes([600, 160])
        split.setStretchFactor(0, 1)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.rail)
        middle.addWidget(split, 1)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top_bar)
        self._stage_frame = StageFrame()
        column.addWidget(self._stage_frame.sentence)
        column.addLayout(middle, 1)
        column.addWidget(self._stage_frame.foot)
        column.addWidget(self.status)
        self.setCentralWidget(body)

    def _settle(self, key: str) -> None:
        """Have a page that is not on show polished and laid out, so that nobody waits for it."""
        self._frames[key].resize(self._stack.size())
        self._frames[key].grab(QRect(0, 0, 1, 1))

    def _make_page(self, key: str) -> Page:
        if key != START:
            self.ahead.wait()  # two threads that load what needs each other may be given halves of it
        self.appearance.finish()
        return page_class(key)(self.controller, self.appearance.theme)

    def _take_page(self, page: Page) -> None:
        self._frames[page.key] = Scrolling(page)
        self._stack.addWidget(self._frames[page.key])
        for action in page.actions_offered():
            self.addAction(self.registry.add(action, page.key))
        self._connect_page(page)
        self.appearance.dress(self._frames[page.key], page.large)
        page.apply_theme(self.appearance.theme)
        name_keys(self, self.registry)
        self.registry.refresh()

    def _connect_page(self, page: Page) -> None:
        page.page_requested.connect(self._request_page)
        page.action_requested.connect(self._request_action)
        page.file_chosen.connect(self.open_path)
        page.noticed.connect(self.errors.show_notice)
        of_page: dict[str, Callable[[Any], None]] = {
            START: self._connect_start,
            "profile": self._connect_profile,
            "compare": self._connect_compare,
            "sessions": self._connect_sessions,
        }
        if page.key in of_page:
            of_page[page.key](page)

    def _connect_start(self, page: "StartPage") -> None:
        self.start_page = page
        page.dialog_requested.connect(self._files.open_dialog)

    def _connect_profile(self, page: "ProfilePage") -> None:
        page.run_blocked.connect(self.top_bar.block_run)
        self.top_bar.block_run(page.form.blocked_reason or "")
        page.plots.show_quantities(self.settings.quantities)
        page.plots.quantities_chosen.connect(partial(setattr, self.settings, "quantities"))

    def _connect_compare(self, page: "ComparePage") -> None:
        self._compare_page = page
        page.offered.connect(self.notices.offer_comparison)

    def _connect_sessions(self, page: "SessionsPage") -> None:
        page.resume_requested.connect(self._resumer.resume)
        page.comparison_wanted.connect(self._compare)
        page.export_wanted.connect(self._files.export_each)

    def _compare(self, paths: Sequence[Path]) -> None:
        """Show these sessions on the Compare page."""
        self.pages.make("compare")
        self._compare_page.choose(paths)
        self.show_page("compare")

    def _connect(self) -> None:
        self.rail.chosen.connect(self.show_page)
        self.top_bar.home_requested.connect(lambda: self.show_page(START))
        self.appearance.changed.connect(self.apply_theme)
        self.controller.running_changed.connect(self._running_changed)
        self.controller.session_changed.connect(self._session_changed)

    def _request_page(self, key: str) -> None:
        if key in self.pages:
            self.show_page(key)

    def _request_action(self, key: str) -> None:
        action = self.registry.find(key)
        if action is not None:
            action.trigger()

    def _running_changed(self, running: bool) -> None:
        """What went wrong before is over once a sweep has started, and its plots are in view; keys change."""
        self.registry.refresh()
        if running:
            self.errors.hide()
            self.pages.make("profile", "compare")  # they follow a sweep
            self._frames["profile"].verticalScrollBar().setValue(0)

    def _session_changed(self, session: Session | None) -> None:
        if session is not None and self.page.key in {START, "sessions", "compare"}:
            self._request_page("profile")


def build_window(controller: Controller, theme: Theme) -> MainWindow:
    """The window over a controller, in a theme; not shown yet. Needs a QApplication."""
    sys.setswitchinterval(SWITCH_S)
    appearance = appearance_of()
    settings = Settings()
    appearance.use(theme)
    appearance.zoom(settings.scale)
    appearance.finish()
    return MainWindow(controller, appearance, settings)


def _dropped(event: QDropEvent) -> Path | None:
    files = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
    return Path(files[0]) if len(files) == 1 else None
