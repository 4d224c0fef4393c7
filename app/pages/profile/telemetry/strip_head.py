"""What stands over the lanes of a device: its name, what ran at the pointer, and the ruler."""

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from flashscope.app.figures.spans import Span
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.profile.telemetry.lane_row import BRIEF_PX, LEFT_PX
from flashscope.app.plots.timeline.ruler import Ruler
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.units import seqlen_text


class StripHead(QWidget):
    """Two lines of words beside the ruler, as wide as those of the lanes under it.

    Attributes:
        name: Of the device; empty: there is but one.
        ruler: The time, and what ran when.
        upper: The moment at the pointer, or the device's name where there are several.
        running: What ran at that moment.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.ruler = Ruler(theme)
        self.upper, self.running = ElidedLabel(), ElidedLabel()
        self.running.setProperty("role", "unit")
        self.name, self._brief = "", False
        words = QWidget()
        keep(words, lambda: words.setFixedWidth(px(BRIEF_PX if self._brief else LEFT_PX)))
        self._words = words
        lines = QVBoxLayout(words)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(0)
        lines.addWidget(self.upper)
        lines.addWidget(self.running)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(words)
        row.addWidget(self.ruler, 1)

    def be_brief(self, brief: bool) -> None:
        """Be as wide as the few words of a stage, or of all."""
        self._brief = brief
        self._words.setFixedWidth(px(BRIEF_PX if brief else LEFT_PX))

    def show_name(self, name: str, details: str) -> None:
        """Name the device; empty: there is but one."""
        self.name = name
        self.upper.setText(name)
        set_tip(self.upper, details or name)

    def tell(self, at_s: float | None, span: Span | None) -> None:
        """Say what ran at a moment; None: the pointer is nowhere."""
        moment = "" if at_s is None else f"{at_s:.2f} s"
        length = f"N = {seqlen_text(span.seqlen)}" if span else ""
        idle = "" if at_s is None else "nothing runs"
        kernels = ", ".join(span.kernels) if span else idle
        if self.name:
            self.running.setText(" · ".join(filter(None, (moment, length, kernels))))
        else:
            self.upper.setText(" · ".join(filter(None, (moment, length))))
            self.running.setText(kernels)
