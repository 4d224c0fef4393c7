"""The first run: five steps through the window, each on the real control."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from PySide6.QtCore import QMetaObject, QObject, QTimer, SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.look.theme import Theme
from app.pages.registry import title_of
from app.widgets.callout import Callout, reveal

if TYPE_CHECKING:
    from app.pages.profile import ProfilePage
    from app.shell.main_window import MainWindow

AGAIN = "The tour can be taken again: Menu, Help, Take the tour."


class Step(NamedTuple):
    """One step.

    Attributes:
        page: The page that has the control; empty: it stands beside every page.
        says: What to do, and what that shows.
        target: The control, None where there is none.
        signals: One of them is heard when it is used.
        done: Whether it has been used then.
        shows: The page that shows what comes of it; empty: the one in front.
    """

    page: str
    says: str
    target: Callable[[], QWidget | None]
    signals: Callable[[], list[SignalInstance]]
    done: Callable[[], bool] = lambda: True
    shows: str = ""


def steps_of(window: "MainWindow") -> Sequence[Step]:
    """The five. What a page has is looked up when its step comes: before, the page need not be there."""
    controller, rail = window.controller, window.rail
    return (
        Step(
            "start",
            "Open this recording: a sweep measured on an H200, which needs no GPU here.",
            lambda: window.start_page.recording,
            lambda: [controller.session_changed],
            lambda: controller.session is not None,
        ),
        Step(
            "profile",
            "Click into a plot: every curve is read at that N, and the sentence at the top follows.",
            lambda: _profile(window).plots.cells[0],
            lambda: _crosshair(window),
        ),
        _pressed(
            "profile",
            "Open the results: every figure of the sweep. Telemetry is what the GPU did meanwhile.",
            lambda: _profile(window).bottom.tabs.button(1),
        ),
        _pressed(
            "",
            "Open the Stepper: it shows, block by block, why tiling gives the same result.",
            lambda: rail.button("stepper"),
        ),
        Step(
            "",
            "Run a sweep on this machine; press Esc twice to cancel it.",
            lambda: window.top_bar.run,
            lambda: [controller.running_changed],
            lambda: controller.running,
            shows="profile",
        ),
    )


def _pressed(page: str, says: str, button: Callable[[], QAbstractButton]) -> Step:
    """The step of a button that stays down, be it by a click or by its key."""
    return Step(
        page,
        says,
        button,
        lambda: [button().clicked, button().toggled],
        lambda: button().isChecked(),
    )


def _profile(window: "MainWindow") -> "ProfilePage":
    return cast("ProfilePage", window.pages["profile"])


def _crosshair(window: "MainWindow") -> list[SignalInstance]:
    """A click into a plot, or the keys: the pointer alone moves the crosshair on its way elsewhere, too."""
    actions = (window.registry.find(f"profile.{key}") for key in ("next", "back"))
    clicks = [card.plot.scene().sigMouseClicked for card in _profile(window).plots.cells]
    return [*clicks, *(action.triggered for action in actions if isinstance(action, QAction))]


class Tour(QObject):
    """Walks the steps, each until its control is used or Next is pressed; everything else can be used, too.

    Attributes:
        at: The step on show, from 0; None: none is.
        callout: What shows it.
    """

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self.at: int | None = None
        self._window, self._steps = window, steps_of(window)
        self._heard: list[QMetaObject.Connection] = []
        self.callout = Callout(window.centralWidget(), window.appearance.theme)
        self._new = QTimer(self, interval=0, singleShot=True)
        self._new.timeout.connect(self._reveal)
        self.callout.passed.connect(self._go_on)
        self.callout.skipped.connect(self.leave)
        self.callout.moved.connect(self._point)
        window.registry.changed.connect(self._point)  # another page is in front
        window.stage.changed.connect(self._make_way)

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
        """End it; whether it was on show."""
        if self.at is None:
            return False
        self._forget()
        self.at = None
        had_keys = self.callout.isAncestorOf(self._window.focusWidget())
        self.callout.leave()
        if had_keys:
            self._window.page.setFocus()
        self._window.errors.show_notice(AGAIN)
        return True

    def _show(self, at: int) -> None:
        self._forget()
        self.at = at
        step = self._steps[at]
        self._heard = [signal.connect(partial(self._hear, step)) for signal in step.signals()]
        self._point()

    def _forget(self) -> None:
        for connection in self._heard:
            QObject.disconnect(connection)
        self._heard = []

    def _hear(self, step: Step, *_said: object) -> None:
        if step.done():
            self._window.show_page(step.shows or self._window.page.key)
            self._go_on()

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
        here = step.page in {"", self._window.page.key}
        says = step.says if here else f"Go to the {title_of(step.page)} page: this step is there."
        forth = "Next" if self.at + 1 < len(self._steps) else "Done"
        self.callout.say(f"{self.at + 1} of {len(self._steps)}", says, forth)
        target = self._target(step)
        if target is not self.callout.target:
            self._new.start()
        self.callout.point_at(target)

    def _reveal(self) -> None:
        """Scroll to what is pointed at from now on; its page is laid out by now."""
        if self.callout.target is not None:
            reveal(self.callout.target)

    def _target(self, step: Step) -> QWidget | None:
        window = self._window
        if step.page in {"", window.page.key}:
            return step.target()
        return window.top_bar.home if step.page == "start" else window.rail.button(step.page)

    def _make_way(self) -> None:
        if self._window.stage.on:
            self.leave()
