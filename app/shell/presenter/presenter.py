"""Presenter mode: a window shows one page, one sentence and nothing to work with, and walks a story."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QWidget

from flashscope.app.pages.registry import VIEWS
from flashscope.app.pages.staging import Staging
from flashscope.app.shell.paged_window import PagedWindow
from flashscope.app.shell.presenter.clicks import Clicks
from flashscope.app.shell.presenter.exhibits import pointed_at
from flashscope.app.shell.presenter.fallback import FALL_BACK, NONE_FAILED, Fallback
from flashscope.app.shell.presenter.frame import Curtain, StageFrame
from flashscope.app.shell.presenter.live import LiveRuns
from flashscope.app.shell.presenter.loading import Loading
from flashscope.app.shell.presenter.places import ScrollPlaces
from flashscope.app.shell.presenter.venue import Venue
from flashscope.app.stage.blanks import fill
from flashscope.app.stage.story import GROWING, PageKey, Stop, Story
from flashscope.profiles.results.model.session import Session

DIGITS_MS = 800  # in which a second digit belongs to the first
TENTH = 10  # the stop of the digit 0
SAVED = "This stop shows a recording: nothing is run here."
RECORDING = "A recording, not run here: "
RECORDED = "Shown in its place:"
RUNNING: Sequence[PageKey] = (*GROWING, "traffic", "roofline")  # the views of a session that may run
FIRST: PageKey = "profile"  # shown where the page in front has nothing for a stage


class Stage(QObject):
    """Walks the stops of a story, or shows the page in front as it is.

    Signals:
        changed: Another stop is on show, or none any more.

    Attributes:
        on: Whether something is presented.
        story: What is walked, None: what was on show when the stage was taken.
        at: The stop on show, from 0.
        black: Whether the speaker has blackened the screen.
        window: What presents.
        venue: The audience's screen, and the speaker's.
        frame: What stands around the page.
        curtain: What makes all black.
        live: What its stops run.
        loading: Whether the stop, or the window after the last, is still to be drawn.
        fallback: What is done when a run fails.

    Args:
        window: What presents.
        venue: The audience's screen.
        frame: What stands around the page.
        chrome: What is put away.
    """

    changed = Signal()

    def __init__(
        self, window: PagedWindow, venue: Venue, frame: StageFrame, chrome: Sequence[QWidget]
    ) -> None:
        super().__init__(window.controller)
        self.on, self.at, self.black = False, 0, False
        self.story: Story | None = None
        self.window, self.venue, self.frame = window, venue, frame
        self.curtain, self.fallback = Curtain(window.centralWidget()), Fallback(window.controller)
        self.live = LiveRuns(window.controller)
        self._controller, self._registry, self._chrome = window.controller, window.registry, chrome
        self._own = Stop(FIRST)  # what was on show when the stage was taken
        self._stop: Stop | None = None  # on show, None off the stage
        self._staging: Staging | None = None  # of the view that shows it
        self._opening = False  # the session that the stop names
        self._lost = ""  # why the session that the stop names is not on show
        self._fell = False  # what the stop ran
        self._held = False  # what is painted, as it is
        self.loading = Loading(self, self._ready)
        self._places = ScrollPlaces(window, self.loading)  # first: nobody sees it scroll
        self.loading.changed.connect(self._cover)
        self._away: list[QWidget] = []
        self._view = window.view  # in front before the stage was taken, and of which session
        self._path: Path | None = None
        self._live: Session | None = None  # the sweep, where that was on show
        self._kept: dict[str, Callable[[], None]] = {}  # what gives back what each page showed
        self._alone = False
        self._clicks = Clicks(window, self.step)
        self._digits = ""
        self._pause = QTimer(self, interval=DIGITS_MS, singleShot=True)
        self._pause.timeout.connect(partial(setattr, self, "_digits", ""))
        self._follow()

    def _follow(self) -> None:
        controller = self._controller
        later = Qt.ConnectionType.QueuedConnection  # when every page shows the session
        controller.session_changed.connect(self._show, later)
        controller.not_opened.connect(lambda _path: self._apply())
        controller.error_raised.connect(lambda text, _details: self._hear(text))
        controller.running_changed.connect(lambda _running: self._refresh())
        self.fallback.changed.connect(self._fall)
        self.live.changed.connect(self._show)
        self.window.appearance.changed.connect(self._lay_ground)
        self.venue.settled.connect(lambda: self._blacken(self.black))

    def _lay_ground(self, _theme: object = None) -> None:
        """Have one colour behind all that is on the stage, that of plots."""
        palette = QPalette()
        if self.on:
            palette.setColor(QPalette.ColorRole.Window, QColor(self.window.appearance.theme.panel))
        self.window.setPalette(palette)

    @property
    def stop(self) -> Stop | None:
        """The one on show, None off the stage."""
        return self._stop

    @property
    def failed(self) -> bool:
        """Whether a run failed that this stop shows: one that names a session shows that, whatever runs."""
        return self.on and bool(self.fallback.reason) and self._session is None

    @property
    def stops(self) -> Sequence[Stop]:
        """The stops of the story."""
        return self.story.stops if self.story is not None else ()

    def enter(self, story: Story | None = None) -> None:
        """Present a story from its first stop, or what is on show."""
        if not self.on:
            self.curtain.draw(closed=True)  # before the window grows, which keeps a strip of what was there
            self._places.keep()
            self._away = [part for part in self._chrome if not part.isHidden()]
            for part in self._away:
                part.hide()
            self._view, self._path = self.window.view, self._controller.path
            self._live = self._controller.sweep if self._controller.sweep_on_show else None
            self._kept = {page.key: page.kept() for page in self.window.pages.made}
            self.on = True
            self.venue.take()
            self._lay_ground()
            self._blacken(False)
        self.story, self.at = story, 0
        self.fallback.clear()
        self.live.forget()
        if story is None:
            if not self.window.staging.possible:
                self.window.show_page(FIRST)
            self._own = self.window.staging.as_shown
        self._registry.take_stage(on=True)
        self._clicks.take(story is not None)
        self._arrive()

    def back(self) -> bool:
        """Leave the stage, or what fills the page in front; whether there was anything to leave."""
        was = self.on
        self.leave()
        return was or self.window.page.back()

    def leave(self) -> None:
        """Show everything again, once all of it is there; what runs goes on."""
        if not self.on:
            return
        self.on = self.black = self._opening = False
        self.loading.begin(covered=True)  # until the window is there again
        self._places.give_back()
        self._take_back()
        self._clicks.take(False)
        self.window.let_scroll(True)
        self._stop = None
        self.frame.show(on=False)
        for part in self._away:
            part.show()
        self.venue.give_back()
        self._lay_ground()
        self._registry.take_stage(on=False)
        for give_back in self._kept.values():
            give_back()
        self._kept.clear()
        if self.story is not None:
            self._give_back()
        self.loading.watch(self.window.page)
        self.changed.emit()

    def _give_back(self) -> None:
        """Show what a story found: the sweep that runs, or the session; and the view of it."""
        controller = self._controller
        sweep = controller.sweep  # None: one that has still to say that it began
        if self._live is not None and sweep is not None and (controller.measuring or sweep is self._live):
            controller.show_sweep()
        elif self._path is not None and self._path != controller.path:
            self._opening = True
            controller.open_session(self._path)
        self.window.show_page(self._view)

    def go(self, at: int) -> None:
        """Go to a stop; beyond either end of the story nothing changes."""
        if self.on and 0 <= at < len(self.stops) and at != self.at:
            self.at = at
            self._blacken(False)
            self.fallback.clear()
            self._arrive()

    def _arrive(self) -> None:
        self.live.arrive(self._shown_next, self.at)
        self._show()

    def run(self) -> None:
        """Run what the stop runs, or the form's sweep where the stop shows what runs."""
        stop = self._shown_next
        if stop.run:
            self.fallback.clear()
            why = self.live.again()
            self._show()
        elif self._session is not None:
            why = SAVED
        elif stop.page in RUNNING:
            why = ""
            self.window.pages.make(FIRST)
            run = self._registry.known("run")
            if run is not None:
                run.trigger()
        else:
            why = f"{VIEWS[stop.page].title} shows no sweep as it grows: nothing is run here."
        if why:
            self._tell(why)

    def step(self, by: int) -> None:
        """Go some stops on, or back; a screen that was blackened is shown first."""
        if self.black:
            self._blacken(False)
        else:
            self.go(self.at + by)

    def press_digit(self, digit: int) -> None:
        """Go to the stop of this number, or of the number that it ends; 0 alone is the tenth."""
        both = int(f"{self._digits}{digit}")
        number = both if both <= len(self.stops) else digit
        self._digits = str(number)
        self._pause.start()
        self.go((number or TENTH) - 1)

    def blacken(self) -> None:
        """Blacken the screen, or show it again."""
        self._blacken(not self.black)

    def _blacken(self, black: bool) -> None:
        self.black = black
        self._cover()

    def _cover(self) -> None:
        """Have nothing to be seen of what is not drawn yet: the stop before, or for long nothing."""
        loading, turning = self.loading, self.venue.turning
        held = loading.on and not (loading.covered or turning or self.black)
        self.curtain.draw(closed=self.black or turning or loading.covered)
        if held is not self._held:
            self._held = held
            self.window.setUpdatesEnabled(not held)
            if not held:
                self.window.repaint()  # Qt asks for no paint any more where it was refused one meanwhile

    def _ready(self) -> bool:
        """Whether all is there of the stop, or of the window after it, but what its page still draws."""
        opening = self._opening and (self.on or self._path != self._controller.path)
        if opening or self.venue.turning or self.venue.filling:
            return False
        return not self.on or (not self.live.pending and self._staging is not None and self._staging.settled)

    def toggle_pointer(self) -> None:
        """Let the pointer take the crosshair along, or leave it where the stop stands."""
        if self._staging is not None:
            self._staging.follow_pointer(not self._staging.pointed)

    def zoom(self) -> None:
        """Let the plot under the focus, else under the pointer, fill the stage; or show all of the stop."""
        if self._staging is None:
            return
        staging, self._alone = self._staging, not self._alone
        staging.fill_with(pointed_at(staging.exhibits) if self._alone else None)
        self._refresh()

    def fall_back(self) -> None:
        """Show the recording in place of a run that failed."""
        if self.failed:
            self.fallback.take(self._session)
        else:
            self._tell(NONE_FAILED)

    def _fall(self) -> None:
        """Let the recording that a stop names stand in for a run of it that failed, at once."""
        stop = self._stop
        if self.failed and stop is not None and stop.run and self.story is not None and not self._fell:
            self._fell = True
            self.live.lose(self.fallback.reason)
            self.fallback.take(self.story.fallback_of(stop))
        self._fell = self._fell and bool(self.fallback.reason)
        self._refresh()

    def _show(self) -> None:
        """Show the stop; its session, unless that is on show, is opened first, whatever runs."""
        if not self.on:
            return
        wanted, self._lost = self._session, ""
        here = wanted is None or wanted.absolute() == self._controller.path
        self._opening = not (here or self.fallback.standing_in)
        self.loading.begin(covered=self._opening or self._staging is not self._next_staging)
        if wanted is not None and self._opening:
            self._controller.open_session(wanted)
        else:
            self._apply()

    @property
    def _shown_next(self) -> Stop:
        return self.story.stops[self.at] if self.story is not None else self._own

    @property
    def _next_staging(self) -> Staging | None:
        """Of the view that the stop wants; None: its page is still to be made."""
        view = self._shown_next.page
        page = next((one for one in self.window.pages.made if one.key == VIEWS[view].page_key), None)
        return page.staging_of(view) if page is not None else None

    @property
    def _session(self) -> Path | None:
        """The file that the stop names, or that stands for what it cannot run."""
        if self.story is None:
            return None
        stop = self.story.stops[self.at]
        if not stop.run:
            return self.story.session_of(stop)
        return self.story.fallback_of(stop) if self.live.reason else self.live.file_of(self.at)

    def _apply(self) -> None:
        """Let the page show the stop with what is there."""
        self._opening = False
        if not self.on:
            return
        self._stop = self._shown_next
        page = self.window.pages[VIEWS[self._stop.page].page_key]
        self._kept.setdefault(page.key, page.kept())  # of one that was made for this stop
        staging = page.staging_of(self._stop.page)
        if staging is not self._staging:
            if self._staging is not None and self.window.page is not page:
                self.window.put_away()  # nothing has to be laid out of what is out of sight
            self._take_back()
            self._staging = staging
            staging.changed.connect(self._refresh)
        self._alone = False
        self.window.let_scroll(False)
        staging.beside = self.story.beside_of(self._stop) if self.story is not None else ()
        staging.show_stop(self._stop)  # first: a page that is shown asks for what it lacks
        self.window.show_page(self._stop.page)
        page.setFocus()
        self.loading.watch(page)
        self.frame.show(on=True)
        self._refresh()
        self.changed.emit()

    def _take_back(self) -> None:
        """Let the page be one to work with again."""
        if self._staging is not None:
            self._staging.changed.disconnect(self._refresh)
            self._staging.leave()
            self._staging = None

    def _refresh(self) -> None:
        """Say what is so now."""
        staging, frame = self._staging, self.frame
        if not self.on or staging is None or self._stop is None:
            return
        told = self._stop.sentence
        said = "" if self._lost else fill(told, staging.scene) if told else staging.sentence
        why = "RUN FAILED" if self.fallback.standing_in else "NOT RUN HERE" if self.live.reason else ""
        frame.say("" if self._alone else f"{RECORDING if why and self._stop.run else ''}{said}")
        frame.show_provenance(staging.provenance, why)
        frame.place.setText(f"{self.at + 1} / {len(self.stops)}" if self.stops else "")
        problem = staging.scene.problem if self._alone else ""  # else the sentence tells it
        frame.name_source(" · ".join(filter(None, (staging.source, problem))))
        if self._lost:  # of the session before nothing is said that the stop says of its own
            frame.tell(f"{self._lost} {RECORDED} {staging.source}." if staging.source else self._lost)
        elif self._stop.run and why:
            frame.tell(f"{self.fallback.reason or self.live.reason} {RECORDED} {staging.source}.", "warn")
        elif self.failed and not self.fallback.standing_in:
            frame.tell(f"{FALL_BACK} {self.fallback.reason}")
        self._registry.refresh()

    def _hear(self, text: str) -> None:
        """Tell what went wrong for this stop: one that shows a recording has no part in a sweep behind it."""
        if self._opening:
            self._lost = text
        if self._opening or self._session is None or self._shown_next.page == "stepper":
            self._tell(text)

    def _tell(self, text: str) -> None:
        if self.on:
            self.frame.tell(text)
