"""How far the audit of a model is, and what ends it."""

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from flashscope.app.control.auditing import Auditing
from flashscope.app.look.zoom import keep
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import set_tip

BAR_PX = 160
WAITS = "The replay of its calls begins when what is in the way has ended"
END, FORGET = "End the audit of the model", "Replay no calls, and forget the audit"


class RunningAudit(QWidget):
    """A line while a model's process runs or the replay of its calls waits; hidden at other times.

    Args:
        auditing: Runs it.
    """

    def __init__(self, auditing: Auditing) -> None:
        super().__init__()
        self._auditing = auditing
        self.text = ElidedLabel()
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName("How far the audit is")
        keep(self.bar, self.bar.setFixedWidth, BAR_PX)
        self.cancel = text_button("Cancel", END, auditing.cancel)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 0)
        row.setSpacing(8)
        row.addWidget(self.text, 1)
        row.addWidget(self.bar)
        row.addWidget(self.cancel)
        auditing.progressed.connect(self._tell)
        auditing.changed.connect(self._show_state)
        self._show_state()

    def _show_state(self) -> None:
        asked, waits_for = self._auditing.asked, self._auditing.waits_for
        if asked is not None:
            self.text.set_texts(f"{asked.model}: its process starts …")
            self.bar.setRange(0, 0)
        elif waits_for:
            self.text.set_texts(f"The model is audited. {WAITS}: {waits_for}", f"{WAITS}.")
        self.bar.setVisible(asked is not None)
        set_tip(self.cancel, END if asked is not None else FORGET)
        self.setVisible(bool(asked is not None or waits_for))

    def _tell(self, text: str, done: int, total: int) -> None:
        self.text.set_texts(f"{done + 1} of {total}: {text}")
        self.bar.setRange(0, total)
        self.bar.setValue(done)
