"""What draws a mode of the Stepper: the page hands it every step, and asks it for words."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.stage.numbers import step_numbers
from flashscope.app.stepper.numbers import power
from flashscope.app.stepper.step_view import StepView
from flashscope.app.widgets.card import Card
from flashscope.kernels.workload.backward_trace import BackwardTrace
from flashscope.kernels.workload.trace import Fault, Trace
from flashscope.profiles.results.model.curves import counted_noun

SENTENCE = "Step {step} of {steps}."
LETTERS = {"m": "m", "alpha": "α", "l": "ℓ", "o": "O"}


class OwnTrace(NamedTuple):
    """A recording that a mode walks in the place of the trace on show.

    Attributes:
        trace: The recording.
        what: What it is of, for the badge.
        source: Where it came from, for the bar.
        at: The step on show, counted from 0.
        sentence: What is said of that on a stage.
    """

    trace: BackwardTrace
    what: str
    source: str
    at: int
    sentence: str


class ModeBoard(QWidget):
    """What stands between the bars of the page; a mode extends it, and says in `_arrange` what goes where.

    Attributes:
        only: The panels that a stage shows, by their names in stories; empty: all.
        told: What a stop that is made of it says, with blanks; empty: `sentence` as it is then.
        narrowest: The width that it has at least, in pixels at 100 %.

    Signals:
        tile_chosen: A tile was clicked (its index in running order).
        row_chosen: A row of the current tile was clicked (its number in the tile).
        row_sought: A row is to be watched (its number in the problem).
        step_sought: A step is to be shown (its index).
        beside_wanted: Another trace is to be recorded beside the one on show (TraceRequest); it comes by
            `take_beside`.
        changed: What it shows is other than it was at the same step.
    """

    tile_chosen = Signal(int)
    row_chosen = Signal(int)
    row_sought = Signal(int)
    step_sought = Signal(int)
    beside_wanted = Signal(object)
    changed = Signal()

    narrowest = 344  # what the widest panel needs: the others go under one another

    def __init__(self) -> None:
        super().__init__()
        self.only: tuple[str, ...] = ()
        self.told = SENTENCE

    @property
    def cards(self) -> Sequence[Card]:
        """What stands on a stage without its frame."""
        return ()

    @property
    def shown(self) -> Sequence[QWidget]:
        """What may fill a stage alone."""
        return ()

    def show_view(self, view: StepView) -> None:
        """Show a step; `view.story` has the steps as the mode lays them out."""
        raise NotImplementedError

    def paint_in_turns(self) -> None:
        """Paint another trace part by part where all at once takes too long; this class paints at once."""

    def words(self) -> str:
        """All that is on show, in words."""
        raise NotImplementedError

    def apply_theme(self, theme: Theme) -> None:
        """Repaint in other colours."""
        raise NotImplementedError

    @property
    def own(self) -> OwnTrace | None:
        """What it walks in the place of the trace on show; None: it walks that, or has nothing yet."""
        return None

    @property
    def below(self) -> QWidget | None:
        """Controls of its own that stay in view under it; None: it has none."""
        return None

    @property
    def scrubber(self) -> QWidget | None:
        """What takes the keys in the place of the page's scrubber; None: that does."""
        return None

    def own_result(self) -> tuple[str, str]:
        """What comes of it, with exponents in HTML, and the stylesheet's role of that; of `own` alone."""
        return "", "dim"

    def seek_own(self, at: int) -> None:
        """Go to a step of `own`, once it is there."""
        del at

    @property
    def beside(self) -> str:
        """What stands beside the trace on show, for the badge; empty: nothing."""
        return ""

    @property
    def fault(self) -> Fault:
        """What it breaks on purpose; empty: nothing."""
        return ""

    @property
    def settled(self) -> bool:
        """Whether every trace that it needs beside the one on show is there, or will not be."""
        return True

    def take_fault(self, fault: Fault) -> None:
        """Break what is on show in this way, where it breaks anything."""
        del fault

    def take_motion(self, key: str) -> bool:
        """Do what a motion of the transport means in the mode; False: it moves through the steps."""
        del key
        return False

    def role(self, view: StepView) -> str:
        """The stylesheet's role of the result: whether it is good or bad."""
        recording = view.recording
        return "ok" if math.isfinite(recording.max_error) and not recording.fault else "error"

    def take_limit(self, nbytes: int | None) -> None:
        """Learn how much shared memory a block of this machine's GPU has; None: there is no GPU."""

    def take_beside(self, trace: Trace | None) -> None:
        """Have the trace that was wanted; None: it could not be recorded."""

    def offer_traces(self, traces: Sequence[Trace]) -> None:
        """Learn which traces the session on show has, one of which may be what is wanted."""

    def result(self, view: StepView) -> str:
        """Equality with the exact result, measured, once the last step is done; exponents in HTML."""
        recording = view.recording
        if not view.cursor.ended:
            return ""
        rows = counted_noun(recording.seqlen_q, "row")
        return f"max |O − exact| = {power(recording.max_error)} over {rows}, measured"

    def sentence(self, view: StepView) -> str:
        """What is said of a step on a stage where the stop says nothing."""
        known = step_numbers(view)
        told = [f"{letter} = {known[name]}" for name, letter in LETTERS.items() if name in known]
        numbers = ", ".join(told).replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
        return f"Step {known['step']} of {known['steps']}{': ' if told else ''}{numbers}."

    def take_stage(self, panels: Sequence[str]) -> None:
        """Be on a stage: show these panels alone; without names those that are usual there."""
        del panels

    def leave_stage(self) -> None:
        """Be on a stage no longer: show all there is."""

    def fill_with(self, card: QWidget | None) -> None:
        """Let one of what is shown have all the room; None: they share it."""
        del card

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """As narrow as its widest part, whatever stands side by side now."""
        return QSize(px(self.narrowest), super().minimumSizeHint().height())

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put what is in it where there is room now."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Put what is in it side by side or under one another, as the width has room."""
