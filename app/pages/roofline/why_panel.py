"""Why the chosen point takes as long as it does: a sentence, and what is behind it on a click."""

from itertools import zip_longest

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProgressBar, QPushButton, QVBoxLayout, QWidget

from flashscope.app.look.zoom import keep
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import PlainLabel, button_text
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.words.devices.roofline import part_heading, part_lines, spot_lines, spot_title
from flashscope.profiles.results.theory.roofline import Spot
from flashscope.profiles.results.theory.why import MOST_LOADS, LoadShare

WIDTH = 320
BAR_PX = 6
HINT = "Click a point to see what binds it."


class PartRow(QWidget):
    """One load alone: a button with its time, a bar of its share, and what it was computed from."""

    def __init__(self) -> None:
        super().__init__()
        self._heading = ""
        self.button = QPushButton()
        self.button.setAccessibleName("What one load alone would take")
        self.button.setCheckable(True)
        self.button.setProperty("role", "fold")
        self.button.toggled.connect(self._open)
        self.bar = QProgressBar(textVisible=False)
        keep(self.bar, self.bar.setFixedHeight, BAR_PX)
        self.lines = PlainLabel(wordWrap=True)
        self.lines.setProperty("role", "dim")
        self.lines.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.lines.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        for widget in (self.button, self.bar, self.lines):
            column.addWidget(widget)

    def show_part(self, part: LoadShare) -> None:
        """Write another load's."""
        self._heading = part_heading(part)
        self.bar.setVisible(part.share is not None)
        self.bar.setValue(min(100, round(100 * min(part.share or 0, 1))))
        self.bar.setAccessibleName(self._heading)
        self.lines.setText("\n".join(part_lines(part)))
        self._open(self.button.isChecked())

    def _open(self, opened: bool) -> None:
        self.lines.setVisible(opened)
        self.button.setText(button_text(f"{'▾' if opened else '▸'} {self._heading}"))
        self.button.setAccessibleName(f"{self._heading}; what it is computed from")


class WhyPanel(Card):
    """Shows one point, or how to choose one."""

    def __init__(self) -> None:
        super().__init__("Why?")
        self.point, self.sentence, self.figures = (PlainLabel(wordWrap=True) for _ in range(3))
        self.point.setProperty("role", "readout")
        self.sentence.setProperty("role", "title")
        self.figures.setProperty("role", "dim")
        self.parts = [PartRow() for _ in range(MOST_LOADS)]
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(10)
        for widget in (self.point, self.sentence, *self.parts, self.figures):
            column.addWidget(widget)
        column.addStretch(1)
        self.body.addWidget(Scrolling(content), 1)
        keep(self, self.setMinimumWidth, WIDTH)
        self.show_spot(None)

    def show_spot(self, spot: Spot | None) -> None:
        """Show this point; None: say how to choose one."""
        self.point.setText(HINT if spot is None else spot_title(spot))
        for widget in (self.sentence, self.figures, *self.parts):
            widget.setVisible(spot is not None)
        if spot is None:
            return
        self.sentence.setText(spot.why.sentence)
        self.figures.setText("\n".join(spot_lines(spot)))
        for row, part in zip_longest(self.parts, spot.why.parts):
            row.setVisible(part is not None)
            if part is not None:
                row.show_part(part)
