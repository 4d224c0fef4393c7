"""A window of pages: one is in front, the others are made when they are looked up."""

import traceback
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QRect, Signal
from PySide6.QtWidgets import QMainWindow, QStackedWidget

from flashscope.app.control.actions import ActionRegistry
from flashscope.app.control.appearance import Appearance
from flashscope.app.control.controller import Controller
from flashscope.app.control.garbage import Garbage
from flashscope.app.control.settings import Settings
from flashscope.app.pages.base import Page
from flashscope.app.pages.registry import KEYS, START, VIEWS, page_class, title_of
from flashscope.app.pages.staging import Staging
from flashscope.app.shell.pages import Pages
from flashscope.app.shell.start_up.ahead import Ahead
from flashscope.app.widgets.keyed import name_keys
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.profiles.results.model.session import Session


class PagedWindow(QMainWindow):
    """What a window is to those who walk through its pages; whoever makes one lays out `stack`.

    Attributes:
        controller: Everything that is not drawing.
        appearance: The theme in use.
        settings: What is remembered between starts.
        registry: Everything a user can do.
        pages: All pages, by key. They are made one by one when the window has been painted, or when one is
            looked up.
        view: The key of the view in front: a page, or one of its forms.
        ahead: Loads and makes the pages once the window is on the screen.
        stack: Has the pages, the one in front on show.

    Signals:
        page_comes: This view will be in front (str).
        page_shown: This view is in front (str).
        page_refused: A page cannot be made: one sentence, and details (str, str).
    """

    page_comes = Signal(str)
    page_shown = Signal(str)
    page_refused = Signal(str, str)

    def __init__(self, controller: Controller, appearance: Appearance, settings: Settings) -> None:
        super().__init__()
        self.controller, self.appearance, self.settings = controller, appearance, settings
        controller.setParent(self)  # what its signals hold goes with the window
        self.pages = Pages(KEYS, self._make_page, self._take_page)
        self.registry = ActionRegistry(self, KEYS, self.pages.complete)
        self.ahead = Ahead(self, self.pages, self._settle, lambda: controller.measuring)
        self._garbage = Garbage(self)
        self.view = START
        self.stack = QStackedWidget()
        self._frames: dict[str, Scrolling] = {}
        self._untold: dict[str, Session] = {}  # the sweep that a page is to be told of once it is made

    @property
    def page(self) -> Page:
        """The page in front."""
        return self.pages[VIEWS[self.view].page_key]

    @property
    def staging(self) -> Staging:
        """What the view in front does on a stage."""
        return self.page.staging_of(self.view)

    def show_page(self, key: str) -> None:
        """Bring a view to the front; one that cannot be made is told of, as often as it is asked for."""
        page = VIEWS[key].page_key
        try:
            self.pages.make(page)
        except Exception as error:
            if key == START:
                raise
            self.page_refused.emit(
                f"{title_of(key)} cannot be opened ({type(error).__name__}: {error}); "
                "the other views can. Copy the details to report it.",
                "".join(traceback.format_exception(error)),
            )
            return
        self.view = key
        self.page.show_view(key)
        self.page_comes.emit(key)
        self.stack.setCurrentWidget(self._frames[page])
        self.page_shown.emit(key)
        self.registry.show_page(page)
        self.page.come_to_front()

    def show_files(self, key: str, paths: Sequence[Path]) -> None:
        """Bring a page to the front, and let it show these sessions beside each other."""
        self.pages[key].show_files(paths)
        self.show_page(key)

    def put_away(self) -> None:
        """Have the page in front out of sight, in the turn that brings another one."""
        self.stack.currentWidget().hide()

    def let_scroll(self, scrolls: bool) -> None:
        """Let what has no room scroll, or have every page take the room there is, as on a stage."""
        for frame in self._frames.values():
            frame.let_scroll(scrolls)

    def tell_of_sweep(self) -> None:
        """Tell the pages that follow sweeps of the one that has ended; one that is missing, once made."""
        session = self.controller.sweep
        if session is None:
            return
        for key in (view.page_key for view in VIEWS.values() if view.follows):
            if key in self.pages.missing:
                self._untold[key] = session
                self.ahead.make(key)
            else:
                self.pages[key].take_sweep(session)

    def join(self, page: Page) -> None:
        """Let a page that was made connect itself to this window."""
        raise NotImplementedError

    def _settle(self, key: str) -> None:
        """Have a page that is not on show polished and laid out, so that nobody waits for it."""
        self._frames[key].resize(self.stack.size())
        self._frames[key].grab(QRect(0, 0, 1, 1))

    def _make_page(self, key: str) -> Page:
        if key != START:
            self.ahead.wait()  # two threads that load what needs each other may be given halves of it
        self.appearance.finish()
        return page_class(key)(self.controller, self.appearance.theme)

    def _take_page(self, page: Page) -> None:
        self._frames[page.key] = Scrolling(page)
        self.stack.addWidget(self._frames[page.key])
        for action in page.actions_offered():
            self.addAction(self.registry.add(action, page.key))
        self.join(page)
        self.appearance.dress(self._frames[page.key], page.large)
        page.apply_theme(self.appearance.theme)
        name_keys(self, self.registry)
        self.registry.refresh()
        if page.key in self._untold:
            page.take_sweep(self._untold.pop(page.key))
