"""The window: rail, pages, top bar, status bar, log, errors; and the way in and out."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QChildEvent, QEvent, QObject, QTimer
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from flashscope.app.control.appearance import Appearance, appearance_of
from flashscope.app.control.chores import wait_for_all
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.control.presence import Presence
from flashscope.app.control.resuming import Resumer
from flashscope.app.control.session_names import SessionNames
from flashscope.app.control.settings import Settings
from flashscope.app.look.theme import Theme
from flashscope.app.pages.base import Page
from flashscope.app.pages.own.asking import why_not_run
from flashscope.app.pages.registry import PLACES, SHOWING, START, VIEWS, place_of
from flashscope.app.shell.closing import may_close
from flashscope.app.shell.device_actions import DeviceActions
from flashscope.app.shell.drops import Drops
from flashscope.app.shell.edit_actions import EditActions
from flashscope.app.shell.editor.actions import StoryActions
from flashscope.app.shell.file_actions import FileActions
from flashscope.app.shell.finding import Finding
from flashscope.app.shell.full_screen import FullScreen
from flashscope.app.shell.inside_actions import InsideActions
from flashscope.app.shell.notices import Notices
from flashscope.app.shell.paged_window import PagedWindow
from flashscope.app.shell.presenter.actions import StageActions
from flashscope.app.shell.presenter.frame import StageFrame
from flashscope.app.shell.presenter.presenter import Stage
from flashscope.app.shell.presenter.venue import Venue
from flashscope.app.shell.queue_actions import QueueActions
from flashscope.app.shell.tour import Tour
from flashscope.app.shell.window_actions import HelpActions, SweepActions, ViewActions
from flashscope.app.stage.story import ENDING
from flashscope.app.widgets.focus_home import FocusHome
from flashscope.app.widgets.frame.error_line import ErrorLine
from flashscope.app.widgets.frame.log_panel import LogPanel
from flashscope.app.widgets.frame.place_bar import PlaceBar
from flashscope.app.widgets.frame.place_tabs import PlaceTabs, Tab
from flashscope.app.widgets.frame.rail import Rail
from flashscope.app.widgets.frame.status_bar import StatusBar
from flashscope.app.widgets.frame.top_bar import TopBar
from flashscope.app.widgets.frame.typing_guard import belongs_to_input, press_focused
from flashscope.app.widgets.split import Split
from flashscope.app.words.results.holding import view_instead
from flashscope.profiles.results.model.session import Session

SMALLEST = (600, 340)  # what 200 % leaves of a 1280 x 720 screen, less its panels
FIRST_SIZE = (1280, 800)
SWITCH_S = 0.0005  # for which a thread of Python's may keep the window's waiting, whenever it needs Python


class MainWindow(FocusHome, PagedWindow):
    """One window over one controller, the host of its pages.

    Attributes:
        notices: What it says of the session on show and of what happens.
        stage: Presents what is on show, or a story.
        presenting: What a speaker can do.
        connecting: What leads to the devices of another machine, and back.
        writing: What one can do who writes a story.
        drops: Shows where dragged files would land, and takes them.
        tour: Five steps through all this, for the first start.
    """

    def __init__(self, controller: Controller, appearance: Appearance, settings: Settings) -> None:
        super().__init__(controller, appearance, settings)
        self._started = self._agreed = False
        self._measured = False  # whether what ends next is a sweep
        self._last: dict[str, str] = {}  # the view that each place showed last
        self.setWindowTitle("Flashscope")
        self.setMinimumSize(*SMALLEST)
        self.setAcceptDrops(True)
        theme = appearance.theme
        self._make_parts(theme)
        self._lay_out()
        self._offer_actions()
        self._connect()
        appearance.dress(self, bare=[self.stack])
        self.apply_theme(theme)
        self.show_page(START)

    @property
    def focus_home(self) -> Page:
        """The page in front."""
        return self.page

    @property
    def aside(self) -> tuple[QWidget, QWidget] | None:
        """The tour, after the control that it is at."""
        callout = self.tour.callout
        return None if callout.target is None else (callout, callout.target)

    def open_path(self, path: Path) -> None:
        """Show a session file as soon as it is read; what is wrong with it is told in the error line.

        A story is opened where it is edited.
        """
        if path.suffix.lower() == ENDING:
            self.writing.edit(path)
        else:
            self.controller.open_session(path)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour what is painted by hand."""
        for part in (
            self.top_bar,
            self.rail,
            self.log,
            self.errors,
            self._stage_frame,
            self.tour,
            self.drops.sheet,
        ):
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
            QTimer.singleShot(0, self.controller.start)
            self.ahead.begin()

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask once when a sweep runs or waits; stop everything and wait for it."""
        if not self._agreed and not may_close(self, self.controller):
            event.ignore()
            return
        if not self.writing.close(agreed=self._agreed):
            event.ignore()
            return
        if not self.stage.on:
            self.settings.geometry = self.saveGeometry()
        self.hide()
        self._measured = False  # nobody is to be told of what ends now
        self._resumer.wait()
        self.controller.close()
        self.ahead.stop()
        self.pages.close()
        self.presence.wait()
        self._files.stop()
        wait_for_all(self)
        super().closeEvent(event)

    @guarded()
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Show what local files would do."""
        self.drops.enter(event)

    @guarded()
    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Show what they would do there."""
        self.drops.move(event)

    @guarded()
    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Show it no more."""
        super().dragLeaveEvent(event)
        self.drops.leave()

    @guarded()
    def dropEvent(self, event: QDropEvent) -> None:
        """Do it."""
        self.drops.drop(event)

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

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Return press a button that has the focus."""
        if not press_focused(event, self.focusWidget()):
            super().keyPressEvent(event)

    def _dress_dialog(self, child: QObject) -> None:
        if isinstance(child, QWidget) and child.isWindow():
            self.appearance.dress(child)

    def _make_parts(self, theme: Theme) -> None:
        self.top_bar = TopBar(self.controller, self.registry)
        self.rail = Rail(PLACES)
        self.tabs = PlaceTabs(self.registry)
        self._place_bar = PlaceBar(self.tabs)
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
        self._resumer = Resumer(self.controller, partial(why_not_run, self))
        self._files = FileActions(self, self.controller, self.errors, self.open_path)
        full_screen = FullScreen(self)
        self._view = ViewActions(
            full_screen,
            self.show_place,
            self.show_page,
            log=self.log,
            errors=self.errors,
            appearance=self.appearance,
            settings=self.settings,
        )
        venue = Venue(self, full_screen, self.appearance, self.settings)
        chrome = self.top_bar, self.rail, self._place_bar, self.log, self.status
        self.stage = Stage(self, venue, self._stage_frame, chrome)
        self.stage.changed.connect(lambda: self.controller.watch_own.hold(self.stage.on))
        self.presenting = StageActions(self.stage, self.errors)
        self.writing = StoryActions(self, self.stage, self.errors)
        self.tour = Tour(
            self, self.stage, rail=self.rail, tabs=self.tabs, top_bar=self.top_bar, errors=self.errors
        )
        sessions = SessionNames(self.controller.sessions_dir, self.settings, self.open_path, self)
        finding = Finding(sessions, self.pages, self.stage)
        self._help = HelpActions(self, self.registry, self.settings, self.tour, finding)
        leaves = self.tour.leave, self.stage.back
        self._sweep = SweepActions(full_screen, leaves, self.controller, self._resumer, self.errors)
        self._queue = QueueActions(self, self.controller, self.errors)
        self.connecting = DeviceActions(self, self.controller, self.settings, self.errors)
        self.drops = Drops(self, self.writing.edit, self.connecting.name, self.errors.show_error)
        self._edit = EditActions(self.controller, self.errors)
        self._inside = InsideActions(self.controller, lambda: self.view, self.show_page, self.notice)
        groups = (
            *(self._files, self._edit, self._sweep, self._queue, self.connecting, self._inside),
            *(self._view, self.presenting, self.writing),
        )
        actions = [action for group in groups for action in group.offered()]
        for action in (*actions, *self.presenting.walking(), *self._help.offered()):
            self.addAction(self.registry.add(action))

    def _lay_out(self) -> None:
        split = Split(self.stack, self.log)
        split.setSizes([600, 160])
        split.setStretchFactor(0, 1)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.rail)
        beside = QVBoxLayout()
        beside.setSpacing(0)
        beside.addWidget(self._place_bar)
        beside.addWidget(split, 1)
        middle.addLayout(beside, 1)
        body = QWidget()
        self._column = column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top_bar)
        self._stage_frame = StageFrame()
        column.addWidget(self._stage_frame.sentence)
        column.addLayout(middle, 1)
        column.addWidget(self._stage_frame.foot)
        column.addWidget(self.status)
        self.setCentralWidget(body)

    def join(self, page: Page) -> None:
        """Be the host of a page."""
        page.join(self)

    def show_top(self, page: QWidget) -> None:
        """Scroll a page back to where it begins."""
        for frame in (one for one in self._frames.values() if one.widget() is page):
            frame.verticalScrollBar().setValue(0)

    def trigger(self, key: str) -> None:
        """Do what an action does, whichever page brought it."""
        action = self.registry.find(key)
        if action is not None:
            action.trigger()

    def notice(self, text: str) -> None:
        """Say something in the message line."""
        self.errors.show_notice(text)

    def offer(self, text: str, title: str, act: Callable[[], None]) -> None:
        """Say something in the message line, with a button of this title, unless an error is told there."""
        self.notices.offer(text, title, act)

    def share(self, view: str, shared: QWidget) -> None:
        """Have what all views of a place share stand beside its tabs."""
        self._place_bar.share(place_of(view).key, shared)
        self._mark(self.view)

    def form_shown(self, opened: bool) -> None:
        """Offer Run while the form of a sweep is open, else what opens it."""
        self.top_bar.form_shown(opened)

    def block_run(self, reason: str) -> None:
        """Let Run say why it cannot be pressed; an empty reason lets it be pressed."""
        self.top_bar.block_run(reason)

    def resume(self, path: Path) -> None:
        """Go on with the sweep of a session file."""
        self._resumer.resume(path)

    def export_each(self, paths: Sequence[Path]) -> None:
        """Ask in which format and where to, and write a file of each of these sessions."""
        self._files.export_each(paths)

    def _connect(self) -> None:
        self.rail.chosen.connect(self.show_place)
        self.tabs.chosen.connect(self.show_page)
        self.page_comes.connect(self._mark)
        self.page_comes.connect(lambda _view: self.errors.leave_view())
        self.page_refused.connect(self.errors.show_error)
        self.top_bar.home_requested.connect(lambda: self.show_page(START))
        self.appearance.changed.connect(self.apply_theme)
        self.controller.running_changed.connect(self._running_changed)
        self.controller.occupied_changed.connect(lambda _reason: self.registry.refresh())
        self.controller.queue.changed.connect(self.registry.refresh)
        self.controller.devices.changed.connect(self.registry.refresh)
        self.status.queue_wanted.connect(partial(self.trigger, "queue"))
        self.controller.session_changed.connect(self._session_changed)

    def show_place(self, key: str) -> None:
        """Bring a place to the front, with the view that it showed last."""
        place = next(place for place in PLACES if place.key == key)
        self.show_page(self._last.get(key, place.views[0].key))

    def _mark(self, view: str) -> None:
        """Show in the rail and the tabs where one is."""
        place = place_of(view)
        self._last[place.key] = view
        self.rail.show_place(place.key)
        self.top_bar.page_shown(has_form=VIEWS[view].page_key == SHOWING)
        staging = self.page.staging
        self.top_bar.follow(staging.changed, lambda: staging.provenance)
        self._place_bar.show_place(place.key if (on := self.controller.session) and on.points else "")
        self.tabs.show_view(place.title, [Tab(one.key, one.title) for one in place.views], view)
        self._column.activate()  # once, or the plots that come are laid out for each part that does

    def _running_changed(self, running: bool) -> None:
        """What went wrong before is over once a sweep was started; keys change."""
        self.registry.refresh()
        if running and not self.controller.unasked:
            self.errors.hide()
        if running:
            self.pages.make(SHOWING)
        ended, self._measured = self._measured and not running, self.controller.measuring
        if ended and not self.controller.aside:
            QTimer.singleShot(0, self, self.tell_of_sweep)

    def _session_changed(self, session: Session | None) -> None:
        self.registry.refresh()
        self._mark(self.view)
        if session is not None and self.page.gives_way:
            self.show_page(view_instead(session) or SHOWING)


def build_window(controller: Controller, theme: Theme) -> MainWindow:
    """The window over a controller, in a theme; not shown yet. Needs a QApplication."""
    sys.setswitchinterval(SWITCH_S)
    appearance = appearance_of()
    settings = Settings()
    appearance.use(theme)
    appearance.zoom(settings.scale)
    appearance.finish()
    return MainWindow(controller, appearance, settings)
