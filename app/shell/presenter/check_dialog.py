"""The list of what is right before a talk, and of what is still to be done."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QVBoxLayout, QWidget

from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import px
from flashscope.app.shell.presenter.checks.of_story import story_findings
from flashscope.app.shell.presenter.checks.of_venue import idle_finding, screen_findings
from flashscope.app.stage.story import Story
from flashscope.app.widgets.buttons import DialogButtons
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.profiles.plan.machine import ProbeFinding

WIDTH, HEIGHT = 620, 420
LOOKED_AT = 10  # readings: a second
CHECKING = "Checking …"
ALL_RIGHT = "All is ready."
Probing = Callable[[], Sequence[ProbeFinding]]


class CheckDialog(QDialog):
    """Looks in the background, and again on demand.

    Args:
        parent: The window.
        title: Of the story.
        look: What takes a while, for any thread.
        look_here: What is looked at on this thread.
    """

    def __init__(self, parent: QWidget, title: str, look: Probing, look_here: Probing) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Before the talk: {title}")
        self._look, self._look_here = look, look_here
        self._chores = Chores(self)
        self.summary = PlainLabel(CHECKING, wordWrap=True)
        self.summary.setProperty("role", "title")
        self.findings: Sequence[ProbeFinding] = ()
        inner = QWidget()
        self._grid = QGridLayout(inner)
        self._grid.setColumnStretch(2, 1)
        self._grid.setHorizontalSpacing(12)
        buttons = DialogButtons(QDialogButtonBox.StandardButton.Close)
        self.again = buttons.addButton("Check again", QDialogButtonBox.ButtonRole.ActionRole)
        self.again.clicked.connect(self.check)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.summary)
        column.addWidget(Scrolling(inner), 1)
        column.addWidget(buttons)
        self.resize(px(WIDTH), px(HEIGHT))
        self.check()

    def check(self) -> None:
        """Look at everything now."""
        self.summary.setText(CHECKING)
        self.again.setEnabled(False)
        self._chores.do(self._look, self._show)

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Wait for what is being read."""
        self._chores.wait()
        super().closeEvent(event)

    def _show(self, found: Sequence[ProbeFinding]) -> None:
        self.findings = [*found, *self._look_here()]
        wrong = sum(not finding.ok for finding in self.findings)
        self.summary.setText(f"{wrong} to look at." if wrong else ALL_RIGHT)
        self.again.setEnabled(True)
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for row, finding in enumerate(self.findings):
            self._add(row, finding)
        self._grid.setRowStretch(len(self.findings), 1)

    def _add(self, row: int, finding: ProbeFinding) -> None:
        mark, name = PlainLabel("✓" if finding.ok else "▲"), PlainLabel(finding.name)
        mark.setProperty("role", "ok" if finding.ok else "warn")
        mark.setAccessibleName("right" if finding.ok else "to look at")
        told = PlainLabel("\n".join(filter(None, (finding.detail, finding.remedy))), wordWrap=True)
        for column, label in enumerate((mark, name, told)):
            self._grid.addWidget(label, row, column, Qt.AlignmentFlag.AlignTop)


def open_check(window: QWidget, controller: Controller, story: Story) -> CheckDialog:
    """The list for a story over a window."""

    def look_here() -> list[ProbeFinding]:
        readings = list(controller.live_readings)[-LOOKED_AT:]
        return [
            idle_finding(readings, sweeps=controller.measuring, backend=controller.backend),
            *screen_findings(),
        ]

    dialog = CheckDialog(window, story.title, lambda: story_findings(story, controller.machine), look_here)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
