"""The bar under the page while a recording is played: play, pause, scrub, speed, and out again."""

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, QTimer

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.control.playback import SPEEDS, Playback
from flashscope.app.look.theme import Theme
from flashscope.app.widgets.buttons import icon_button, recolour
from flashscope.app.widgets.plain import set_tip
from flashscope.app.widgets.scrubber import Scrubber, ScrubberMark
from flashscope.app.widgets.transport import PLAY, TransportBar
from flashscope.app.words.results.progress import NS, elapsed_text
from flashscope.profiles.results.model.recorded_events import RecordedEvents

ICONS = {
    "replay.start": "fa6s.backward-fast",
    "replay.back": "fa6s.backward-step",
    "replay.play": PLAY,
    "replay.forward": "fa6s.forward-step",
    "replay.end": "fa6s.forward-fast",
}
WORDS = (
    ("play", "Play or pause the replay", "Space"),
    ("back", "Replay: go to the previous point", "Left"),
    ("forward", "Replay: go to the next point", "Right"),
    ("start", "Replay: go to the start", "Home"),
    ("end", "Replay: go to the end", "End"),
    ("faster", "Replay faster", "+; ="),
    ("slower", "Replay slower", "-"),
)
MS = 1_000_000
MOST_VALUES = 1 << 30  # of a slider: a longer recording has coarser ones than milliseconds
TICK = (10.0, 4.0)  # pixels above the groove


class MomentScrubber(Scrubber):
    """Over the time of a recording; ticks where points ended."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Moment of the replay", "Drag to scrub. Ticks: a point ended")
        self._start = 0
        self._unit = MS
        self._ends: tuple[int, ...] = ()

    def show_events(self, events: RecordedEvents) -> None:
        """Span this recording."""
        whole = events.end_ns - events.start_ns
        self._start, self._unit = events.start_ns, max(MS, -(-whole // MOST_VALUES))
        self._ends = tuple(map(self.value_of, events.ends))
        self.setRange(0, -(-whole // self._unit))

    def value_of(self, t_ns: int) -> int:
        """Where a moment of the session's clock is."""
        return (t_ns - self._start) // self._unit

    def moment_of(self, value: int) -> int:
        """The moment there, in ns of the session's clock."""
        return self._start + value * self._unit

    def ticks(self) -> Iterable[ScrubberMark]:
        """A mark for each point that ended."""
        return (ScrubberMark(value, self.theme.dim, *TICK) for value in self._ends)


class ReplayBar(TransportBar):
    """On show as long as the controller replays.

    Attributes:
        scrubber: Where the replay is.
        offered: What a user can do with a replay, by key.
        leave: Ends the replay.
    """

    scrubber: MomentScrubber

    def __init__(self, controller: Controller, theme: Theme) -> None:
        self._controller = controller
        self._playback: Playback | None = None  # the one followed
        self._held = False  # it was playing when the scrubber was taken hold of
        self.offered = self._make_actions()
        super().__init__(MomentScrubber(theme), self.offered, ICONS, SPEEDS)
        self.setAccessibleName("Replay")
        set_tip(self.speed, "Playing speed (+, -)")
        self.leave = icon_button("fa6s.stop", "Leave the replay", controller.cancel)
        set_tip(self.leave, "Leave the replay, which shows the whole session (Esc, Esc)")
        self.lay_out(self.leave)
        self.setContentsMargins(0, -4, 0, -4)
        for control in (*self.buttons.values(), self.speed, self.leave):
            control.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # the mouse leaves the focus where the keys are
        self.sought.connect(self._seek)
        self.speed_chosen.connect(self._set_speed)
        self.scrubber.sliderPressed.connect(self._hold)
        self.scrubber.sliderReleased.connect(self._let_go)
        self._turn = QTimer(self, interval=0, singleShot=True)
        self._turn.timeout.connect(self._appear)
        self.hide()
        controller.running_changed.connect(lambda _running: self._follow())
        self.apply_theme(theme)
        self._follow()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the icons and the scrubber."""
        super().apply_theme(theme)
        recolour(self.leave, theme)

    def go_to_point(self, index: int) -> None:
        """Show the moment at which the point of this index ended, if it did and a replay is on."""
        if self._playback is not None:
            ended = self._playback.events.end_of(index)
            if ended is not None:
                self._playback.seek(ended)

    def go_to_moment(self, at_s: float) -> None:
        """Show this moment, in seconds since the session began, if a replay is on."""
        self._do(lambda playback: playback.seek(playback.session.t0_ns + round(at_s * NS)))

    def take_keys(self) -> None:
        """Have the keys play: they would mean something else to a box with the focus."""
        if self._playback is not None and self.isVisible():
            self.scrubber.setFocus()

    def _make_actions(self) -> dict[str, Action]:
        do = {
            "play": lambda playback: playback.set_playing(not playback.playing),
            "back": lambda playback: playback.step(-1),
            "forward": lambda playback: playback.step(1),
            "start": lambda playback: playback.seek(playback.events.start_ns),
            "end": lambda playback: playback.seek(playback.events.end_ns),
            "faster": lambda playback: playback.change_speed(1),
            "slower": lambda playback: playback.change_speed(-1),
        }
        return {
            f"replay.{key}": Action(
                f"replay.{key}", title, partial(self._do, do[key]), "Sweep", keys, possible=self._possible
            )
            for key, title, keys in WORDS
        }

    def _possible(self) -> bool:
        return self._controller.replaying

    def _do(self, act: Callable[[Playback], None]) -> None:
        if self._playback is not None:
            act(self._playback)

    def _seek(self, value: int) -> None:
        self._do(lambda playback: playback.seek(self.scrubber.moment_of(value)))

    def _set_speed(self, speed: float) -> None:
        self._do(lambda playback: playback.set_speed(speed))

    def _hold(self) -> None:
        """Play no further while the scrubber is held."""
        self._held = self._playback is not None and self._playback.playing
        self._do(lambda playback: playback.set_playing(False))

    def _let_go(self) -> None:
        if self._held:
            self._do(lambda playback: playback.set_playing(not playback.at_end))

    def _follow(self) -> None:
        """Another replay, or none."""
        self._playback = playback = self._controller.playback
        self._turn.start()
        if playback is not None:
            playback.changed.connect(self._show)
            with QSignalBlocker(self.scrubber):
                self.scrubber.show_events(playback.events)
            self.leave_room(_place(playback.events, playback.events.end_ns))
            self._show()

    def _appear(self) -> None:
        """Be there or not, in a turn of its own: every plot above gets another height."""
        if self._playback is None:
            self._give_keys_up()
        self.setVisible(self._playback is not None)
        self.take_keys()

    def _give_keys_up(self) -> None:
        """Leave the focus to nobody: the next in line would be a button, which Space presses."""
        focused = self.window().focusWidget()
        if focused is not None and self.isAncestorOf(focused):
            focused.clearFocus()

    def _show(self) -> None:
        playback = self._playback
        if playback is None:
            return
        with QSignalBlocker(self.scrubber), QSignalBlocker(self.speed):
            self.scrubber.setValue(self.scrubber.value_of(playback.at_ns))
            self.speed.setCurrentIndex(SPEEDS.index(playback.speed))
        self.scrubber.update()
        self.where.setText(_place(playback.events, playback.at_ns))
        self.show_playing(playback.playing)


def _place(events: RecordedEvents, t_ns: int) -> str:
    """The time since the start, and the whole time."""
    passed, whole = ((t - events.start_ns) / NS for t in (t_ns, events.end_ns))
    return f"{elapsed_text(passed)} / {elapsed_text(whole)}"
