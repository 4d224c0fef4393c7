"""The buttons that compile a cut, or all that fit, and how far that is."""

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import set_tip

ONE, ALL, STOP, SHIPPED = "designer.compile", "designer.compile-all", "designer.stop", "designer.shipped"
TIME = "designer.time"
TIME_TIP = "Check each cut that fits, run all in turns, and the five fastest anew; sweeps wait meanwhile"
STOPS = {
    "compile": "Compile no more; what is compiled is kept",
    "time": "Time no more; the landscape is not made, what is timed stays on show",
}
TIP = "Have the CUDA compiler say what {what} takes: registers and spills; it needs no GPU"


class CompileBar(QWidget):
    """Compile, compile all, stop, and the shipped cut.

    Signals:
        one_asked: Compile this cut.
        all_asked: Compile all that fit.
        time_asked: Time all that fit.
        stopped: Compile, or time, no more.
        shipped_asked: Go back to the shipped cut.
    """

    one_asked = Signal()
    all_asked = Signal()
    time_asked = Signal()
    stopped = Signal()
    shipped_asked = Signal()

    def __init__(self) -> None:
        super().__init__()

        def button(text: str, name: str, key: str, act: Callable[[], object], role: str = "") -> QPushButton:
            return does(text_button(text, name, act, role), key)

        self.one = button("Compile", "Compile the cut", ONE, self.one_asked.emit, "primary")
        self.every = button("Compile all that fit", "Compile all cuts that fit", ALL, self.all_asked.emit)
        self.time = button("Time all that fit", "Time all cuts that fit", TIME, self.time_asked.emit)
        self.stop = button("Stop", "Stop", STOP, self.stopped.emit)
        self.shipped = button("Shipped cut", "Go back to the shipped cut", SHIPPED, self.shipped_asked.emit)
        self.progress = ElidedLabel()
        self.progress.setProperty("role", "dim")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        parts = (self.one, self.every, self.time, self.stop, self.shipped, self.progress)
        column.addWidget(Lines(parts, (self.progress,), 8))
        self.show_work("compile")
        self.show_state("", one=False, every=False)
        self.block("")

    @property
    def actions_offered(self) -> list[Action]:
        """What the buttons do."""
        return [
            Action(ONE, "Compile the cut", self.one.click, "Designer", "C"),
            Action(ALL, "Compile all cuts that fit", self.every.click, "Designer", "L"),
            Action(STOP, "Stop compiling or timing", self.stop.click, "Designer", "X"),
            Action(SHIPPED, "Go back to the shipped cut", self.shipped.click, "Designer", "S"),
        ]

    def show_work(self, work: Literal["compile", "time"]) -> None:
        """Say of *Stop* what it would end."""
        set_tip(self.stop, STOPS[work])
        self.stop.setAccessibleName(STOPS[work].partition(";")[0])

    def show_state(self, busy: str, *, one: bool, every: bool, time: bool = False, told: str = "") -> None:
        """Show how far it is, or what can be asked.

        Args:
            busy: How far what is being done is, in words; empty: nothing is.
            one: Whether the cut can be compiled.
            every: Whether there are others that can.
            time: Whether cuts can be timed: the card is the one in use.
            told: What the compiler made of the cut; empty: it was not asked.
        """
        self.one.setEnabled(one and not busy)
        self.every.setEnabled(every and not busy)
        self.time.setVisible(time)
        self.time.setEnabled(not busy)
        self.stop.setVisible(bool(busy))
        self.progress.setText(busy or told)

    def block(self, why: str) -> None:
        """Let nothing be compiled or timed, for this reason; an empty one blocks nothing."""
        tips = (
            (self.one, TIP.format(what="this cut, and the shipped one,")),
            (self.every, TIP.format(what="each cut below that nothing refuses")),
            (self.time, TIME_TIP),
        )
        for button, tip in tips:
            button.setEnabled(button.isEnabled() and not why)
            set_tip(button, why or tip)
        if not self.progress.text():
            self.progress.setText(why)
