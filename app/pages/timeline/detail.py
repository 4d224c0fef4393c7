"""The line under the timelines: the bar that is pointed at or chosen, and where it leads."""

from collections.abc import Callable

from PySide6.QtWidgets import QHBoxLayout, QWidget

from flashscope.app.plots.show_all import show_all_button
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import set_tip

HINT = "Point at a bar to read it, click it to keep it. The wheel zooms, dragging moves."
SOURCE_WORDS = "This stage in the source"
STEP_WORDS = "Step through this tile"
STEP, SOURCE = "timeline.step", "timeline.source"


class DetailLine(QWidget):
    """Says what a bar is.

    Attributes:
        words: What it is.
        step: Leads to its tile in the Stepper.
        source: Leads to the stage in the source that ran.
        everything: Shows all of the time, while a part of it is on show.

    Args:
        to_step: What the one does.
        to_source: What the other does.
        to_all: Shows all of the time.
    """

    def __init__(
        self, to_step: Callable[[], None], to_source: Callable[[], None], to_all: Callable[[], None]
    ) -> None:
        super().__init__()
        self.words = ElidedLabel(HINT)
        self.words.setAccessibleName("The bar that is pointed at")
        self.step = does(text_button(STEP_WORDS, STEP_WORDS, to_step, "link"), STEP)
        self.source = does(text_button(SOURCE_WORDS, SOURCE_WORDS, to_source, "link"), SOURCE)
        self.everything = show_all_button("the timelines", to_all, "timeline.all")
        keeps = self.everything.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)  # or what stands above would move with the zoom
        self.everything.setSizePolicy(keeps)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self.words, 1)
        row.addWidget(self.step)
        row.addWidget(self.source)
        row.addWidget(self.everything)
        self.show_bar("")

    def show_bar(self, text: str, no_step: str | None = None) -> None:
        """Show what a bar is, or how to read one.

        Args:
            text: The bar; empty: none.
            no_step: Why its tile cannot be stepped through; None: the bar is not chosen and leads nowhere.
        """
        self.words.setText(text or HINT)
        for button in (self.step, self.source):
            button.setVisible(no_step is not None)
        self.step.setEnabled(not no_step)
        set_tip(self.step, no_step or "Trace this head, and show it at this tile in the Stepper")
