"""A launch in slow motion on its page: what runs, how far it is, its tiles, and what ends it."""

from PySide6.QtCore import QElapsedTimer, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar

from flashscope.app.control.inside.live_launch import LiveLaunch
from flashscope.app.look.theme import Theme
from flashscope.app.plots.timeline.live_grid import LiveGrid
from flashscope.app.plots.timeline.sm_rows import SmRows
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.keyed import does
from flashscope.app.words.inside.live import BOARDS, ended_text, progress_text, stopped_text, title_of
from flashscope.kernels.workload.live import LiveRequest
from flashscope.profiles.wire.live_events import LiveEnded, LiveStarted, LiveTiles

END, END_WORDS = "timeline.live.end", "End the launch in slow motion, or put its board away (Esc)"
TICK_MS = 100  # between two looks at the clock
NS_IN_MS = 1_000_000


class LiveBoard(Card):
    """Shows the launch that runs, or ran last.

    Attributes:
        grid: The tiles.
        rows: The SMs of a GPU.
        told: How far it is, or what came of it.
        open: Whether there is a launch to show.
        aside: Whether something else is shown nevertheless, as a story's stop on a stage.

    Signals:
        shown_changed: It is to be on show, or no longer.

    Args:
        launch: What runs.
        theme: The colours in use.
    """

    shown_changed = Signal()

    def __init__(self, launch: LiveLaunch, theme: Theme) -> None:
        super().__init__("Live", BOARDS)
        self.open = self.aside = self._brief = False
        self._launch, self._begun = launch, QElapsedTimer()
        self._request: LiveRequest | None = None
        self._started: LiveStarted | None = None
        self._done = 0
        self.grid, self.rows = LiveGrid(theme), SmRows(theme)
        self.told, self.bar = ElidedLabel(), QProgressBar(textVisible=False)
        self.told.setAccessibleName("How far the launch is")
        self.bar.setAccessibleName("Tiles that are done")
        self.end = does(text_button("Cancel", END_WORDS, self.put_away), END)
        line = QHBoxLayout()
        line.addWidget(self.told, 1)
        line.addWidget(self.end)
        self.body.addLayout(line)
        self.body.addWidget(self.bar)
        pictures = QHBoxLayout()
        pictures.setSpacing(16)
        pictures.addWidget(self.grid, 3)
        pictures.addWidget(self.rows, 2)
        self.body.addLayout(pictures, 1)
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self._tell)
        launch.changed.connect(self._follow)
        launch.began.connect(self._begin)
        launch.progressed.connect(self._light)
        launch.ended.connect(self._end)
        launch.stopped.connect(self._stop)

    @property
    def in_front(self) -> bool:
        """Whether it is to be on show."""
        return self.open and not self.aside

    def put_aside(self, aside: bool) -> None:
        """Let something else be shown, or no longer; the launch goes on."""
        self.aside = aside
        self.shown_changed.emit()

    def be_brief(self, brief: bool) -> None:
        """Leave to the sentence of a stage what is launched, or say it here."""
        self._brief = brief
        self._name()

    @property
    def request(self) -> LiveRequest | None:
        """What the launch is of that is in front; None: none is."""
        return self._request if self.in_front else None

    @property
    def said(self) -> str:
        """What it shows, for a stage; empty: there is nothing."""
        return title_of(self.request) if self.request is not None else ""

    def put_away(self) -> None:
        """End the launch; or, where it has ended, put its board away."""
        self.back()

    def back(self) -> bool:
        """The same; whether there was anything to end or put away."""
        if self._launch.asked is not None:
            self.told.setText("Ending …")
            self._timer.stop()
            self._launch.give_up()
            return True
        was, self.open = self.open, False
        if was:
            self.shown_changed.emit()
        return was

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self.grid.apply_theme(theme)
        self.rows.apply_theme(theme)

    def _follow(self) -> None:
        """Another launch is asked for, or none any more."""
        request = self._launch.asked
        self.end.setText("Cancel" if request is not None else "Close")
        if request is not None:
            self._request, self._started, self._done = request, None, 0
            self._name()
            self.told.setText("Waiting for the worker …")
            self.bar.setRange(0, 0)
            self.open = True
        self.shown_changed.emit()

    def _name(self) -> None:
        """Say in the title what is launched."""
        told = "Live" if self._request is None else title_of(self._request)
        self.set_title("" if self._brief else told)

    def _begin(self, started: LiveStarted) -> None:
        self._started = started
        self.bar.setRange(0, started.tiles)
        self.bar.setValue(0)
        self.grid.begin(started)
        self.rows.begin(started)
        self._begun.start()
        self._timer.start()
        self._tell()

    def _light(self, tiles: LiveTiles) -> None:
        lit = tiles.tile.numpy()
        self._done += len(lit)
        self.bar.setValue(self._done)
        self.grid.light(lit)
        self.rows.light(tiles)

    def _tell(self) -> None:
        if self._started is not None:
            elapsed_ns = self._begun.elapsed() * NS_IN_MS
            self.told.setText(progress_text(self._started, self._done, elapsed_ns))
            self.rows.tick(elapsed_ns)

    def _end(self, ended: LiveEnded) -> None:
        self.rows.tick(ended.took_ns)
        self._rest(ended_text(self._tiles, ended))

    def _stop(self, reason: str) -> None:
        self._rest(stopped_text(self._done, self._tiles, reason))

    @property
    def _tiles(self) -> int:
        """Of the launch, as far as it has told."""
        return 0 if self._started is None else self._started.tiles

    def _rest(self, text: str) -> None:
        self._timer.stop()
        self.grid.rest()
        if not self.bar.maximum():
            self.bar.setRange(0, 1)
        self.told.setText(text)
