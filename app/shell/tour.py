"""The first run: five steps through the window, each on the real control, done by it or by Next."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from PySide6.QtCore import QMetaObject, QObject, QTimer, SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.pages.registry import START, place_of, title_of
from flashscope.app.pages.start.page import StartPage
from flashscope.app.shell.paged_window import PagedWindow
from flashscope.app.shell.presenter.presenter import Stage
from flashscope.app.widgets.frame.callout import Callout, reveal
from flashscope.app.widgets.frame.error_line import ErrorLine
from flashscope.app.widgets.frame.rail import Rail
from flashscope.app.widgets.frame.top_bar import TopBar

if TYPE_CHECKING:  # its plots take half a second to load
    from flashscope.app.pages.profile import ProfilePage

AGAIN = "The tour can be taken again: Menu, Help, Take the tour."
RUN = (
    "Run a sweep on this machine. The button here starts a quick one, which takes under 15 seconds; "
    "press Esc twice to cancel it."
)


class TourStep(NamedTuple):
    """One step.

    Attributes:
        page: The view that has the control; empty: it stands beside every view.
        says: What to do, and what that shows.
        target: The control, None where there is none.
        signals: One of them is heard when it is used.
        act: What Next does: the same; whether one of the signals will tell of it.
        done: Whether it has been used when one is heard.
        shows: The page that shows what comes of it; empty: the one in front.
        forth: What the button is called that does it.
        anywhere: Whether every other view of that place has the control, too.
    """

    page: str
    says: str
    target: Callable[[], QWidget | None]
    signals: Callable[[], list[SignalInstance]]
    act: Callable[[], bool]
    done: Callable[[], bool] = lambda: True
    shows: str = ""
    forth: str = "Next"
    anywhere: bool = False


def tour_steps(
    window: PagedWindow, rail: Rail, tabs: QWidget, run: Callable[[], QWidget]
) -> Sequence[TourStep]:
    """The five. What a page has is looked up when its step comes: before, the page need not be there."""
    controller = window.controller
    return (
        TourStep(
            START,
            "Open this recording: a sweep measured on an H200, which needs no GPU here.",
            lambda: _start(window).recording,
            lambda: [controller.session_changed],
            lambda: _press(_start(window).recording),
            lambda: controller.session is not None,
        ),
        TourStep(
            "profile",
            "Click into a plot: every curve is read at that N, and the sentence at the top follows.",
            lambda: _profile(window).plots.cells[0],
            lambda: _crosshair(window),
            lambda: _move_crosshair(window),
        ),
        TourStep(
            "profile",
            "Open the results: every figure of the sweep. Telemetry is what the GPU did meanwhile.",
            lambda: tabs,
            lambda: [window.page_shown],
            lambda: _show_results(window),
            lambda: window.view == "results",
            anywhere=True,
        ),
        _pressed(
            "",
            "Open the Stepper: it shows, block by block, why tiling gives the same result.",
            lambda: rail.button("inside"),
        ),
        TourStep(
            "",
            RUN,
            run,
            lambda: [controller.running_changed],
            lambda: not controller.running and _press(_start(window).quick),
            lambda: controller.running,
            shows="profile",
            forth="Run it",
        ),
    )


def _pressed(page: str, says: str, button: Callable[[], QAbstractButton]) -> TourStep:
    """The step of a button that stays down, be it by a click or by its key."""
    return TourStep(
        page,
        says,
        button,
        lambda: [button().clicked, button().toggled],
        lambda: _press(button()),
        lambda: button().isChecked(),
    )


def _press(button: QAbstractButton | None) -> bool:
    """Press it, as a click would; whether it is there."""
    if button is not None:
        button.click()
    return button is not None


def _start(window: PagedWindow) -> StartPage:
    return cast("StartPage", window.pages[START])


def _profile(window: PagedWindow) -> "ProfilePage":
    return cast("ProfilePage", window.pages["profile"])


def _crosshair(window: PagedWindow) -> list[SignalInstance]:
    """A click into a plot, or the keys: the pointer alone moves the crosshair on its way elsewhere, too."""
    actions = (window.registry.find(f"profile.{key}") for key in ("next", "back"))
    clicks = [card.plot.scene().sigMouseClicked for card in _profile(window).plots.cells]
    return [*clicks, *(action.triggered for action in actions if isinstance(action, QAction))]


def _move_crosshair(window: PagedWindow) -> bool:
    """To the next measured N, back from the last one."""
    plots = _profile(window).plots
    last = max((row.seqlen for row in plots.rows), default=None)
    action = window.registry.find("profile.back" if plots.seqlen == last else "profile.next")
    if isinstance(action, QAction):
        action.trigger()
    return isinstance(action, QAction)


def _show_results(window: PagedWindow) -> bool:
    window.show_page("results")
    return True


class Tour(QObject):
    """Walks the steps, each until its control is used; Next uses it. Everything else can be used, too.

    Back leads to the step before and to the view that it began in, and undoes nothing.

    Attributes:
        at: The step on show, from 0; None: none is.
        callout: What shows it.

    Args:
        window: What is walked through.
        stage: Whoever presents takes no tour.
        rail: Leads to the places.
        tabs: Lead to the views of one.
        top_bar: Has New sweep and Run.
        errors: Tells how the tour is taken again.
    """

    def __init__(
        self,
        window: PagedWindow,
        stage: Stage,
        *,
        rail: Rail,
        tabs: QWidget,
        top_bar: TopBar,
        errors: ErrorLine,
    ) -> None:
        super().__init__(window)
        self.at: int | None = None
        self._window, self._stage, self._rail, self._tabs = window, stage, rail, tabs
        self._errors, self._steps = errors, tour_steps(window, rail, tabs, lambda: top_bar.begins)
        self._heard: list[QMetaObject.Connection] = []
        self._views: dict[int, str] = {}  # the view in front when each step began
        self._asked = False  # whether Next has done the step on show, of which nothing came so far
        self.callout = Callout(window.centralWidget(), window.appearance.theme)
        self._new = QTimer(self, interval=0, singleShot=True)
        self._new.timeout.connect(self._reveal)
        self.callout.passed.connect(self._perform)
        self.callout.returned.connect(self._go_back)
        self.callout.skipped.connect(self.leave)
        self.callout.moved.connect(self._point)
        window.registry.changed.connect(self._point)  # another page is in front
        stage.changed.connect(self._make_way)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.callout.apply_theme(theme)
        self._point()

    def begin_first(self) -> None:
        """Begin, unless it has been shown on an earlier start."""
        if not self._window.settings.tour_shown:
            self.begin()

    def begin(self) -> None:
        """Show the first step; the keys go to its Next."""
        self._window.settings.tour_shown = True
        self._window.show_page(self._steps[0].page)
        self._show(0)
        self.callout.next.setFocus()

    def leave(self) -> bool:
        """End the tour; whether it was on show."""
        if self.at is None:
            return False
        self._forget()
        self.at = None
        had_keys = self.callout.isAncestorOf(self._window.focusWidget())
        self.callout.leave()
        if had_keys:
            self._window.page.setFocus()
        self._errors.show_notice(AGAIN)
        return True

    def _show(self, at: int) -> None:
        self._forget()
        self.at, self._asked = at, False
        self._views[at] = self._window.view
        step = self._steps[at]
        self._heard = [signal.connect(partial(self._hear, step)) for signal in step.signals()]
        self._point()

    def _forget(self) -> None:
        for connection in self._heard:
            QObject.disconnect(connection)
        self._heard = []

    def _hear(self, step: TourStep, *_said: object) -> None:
        if step.done():
            self._finish(step)

    def _finish(self, step: TourStep) -> None:
        if step.shows:
            self._window.show_page(step.shows)
        self._go_on()

    def _perform(self) -> None:
        """Do what the step says; where nothing has come of that, as of a file that is gone, go on."""
        if self.at is None:
            return
        step = self._steps[self.at]
        if not self._here(step):
            self._window.show_page(step.page)
        elif self._asked:
            self._go_on()
        else:
            self._asked = True
            if not step.act():
                self._finish(step)

    def _go_back(self) -> None:
        if self.at:
            self._window.show_page(self._views[self.at - 1])
            self._show(self.at - 1)

    def _go_on(self) -> None:
        if self.at is not None and self.at + 1 < len(self._steps):
            self._show(self.at + 1)
        else:
            self.leave()

    def _point(self) -> None:
        """Show the step beside its control, or beside what leads to the page that has it."""
        if self.at is None:
            return
        step = self._steps[self.at]
        here = self._here(step)
        says = step.says if here else f"Go to {self._lacking(step)}: this step is there."
        place = f"{self.at + 1} of {len(self._steps)}"
        self.callout.say(place, says, step.forth if here else "Go there", back=self.at > 0)
        target = self._target(step)
        if target is not self.callout.target:
            self._new.start()
        self.callout.point_at(target, apart=not here)

    def _reveal(self) -> None:
        """Scroll to what is pointed at from now on; its page is laid out by now."""
        if self.callout.target is not None:
            reveal(self.callout.target)

    def _here(self, step: TourStep) -> bool:
        return step.page in {"", self._window.view} or (step.anywhere and self._in_place(step))

    def _in_place(self, step: TourStep) -> bool:
        return place_of(step.page) is place_of(self._window.view)

    def _lacking(self, step: TourStep) -> str:
        """What leads to the view of a step is called so: its place, or its tab where that is in front."""
        return title_of(step.page) if self._in_place(step) else place_of(step.page).title

    def _target(self, step: TourStep) -> QWidget | None:
        if self._here(step):
            return step.target()
        return self._tabs if self._in_place(step) else self._rail.button(place_of(step.page).key)

    def _make_way(self) -> None:
        if self._stage.on:
            self.leave()
