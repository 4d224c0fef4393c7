"""The card of one claim: what it says, how it is tested, what was measured, and from where."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.look.zoom import keep
from flashscope.app.pages.claims.columns import NOT_YET, ClaimRow
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.profiles.claims import DOCUMENTS

HINT = "Choose a claim to see its experiment."
LEAST_PX = 300
ROLES = {"holds": "ok", "does not hold": "error", "cannot be tested": "dim"}
TITLES = {one.number: one.title for one in DOCUMENTS}
PARTS = ("experiment", "measured", "source")


class ClaimDetail(Card):
    """Shows one claim, or how to choose one."""

    def __init__(self) -> None:
        super().__init__(HINT)
        self.place, self.claim, self.verdict = (PlainLabel(wordWrap=True) for _ in range(3))
        self.place.setProperty("role", "dim")
        self.claim.setProperty("role", "heading")
        self.parts = {name: PlainLabel(wordWrap=True) for name in PARTS}
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(8)
        for label in (self.place, self.claim, self.verdict):
            column.addWidget(label)
        for name, label in self.parts.items():
            heading = PlainLabel(name)
            heading.setProperty("role", "unit")
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(heading)
            column.addWidget(label)
        column.addStretch(1)
        content = QWidget()
        content.setLayout(column)
        self.content = Scrolling(content)
        self.body.addWidget(self.content, 1)
        self.body.addStretch(0)
        keep(self, self.setMinimumWidth, LEAST_PX)
        self.content.hide()

    def show_row(self, row: ClaimRow) -> None:
        """Show a claim."""
        claim, finding = row.claim, row.finding
        self.set_title("")
        self.place.setText(f"{TITLES[claim.document]} ({claim.place})")
        self.claim.setText(claim.says)
        self.verdict.setText(row.verdict)
        self.verdict.setProperty("role", ROLES[finding.verdict] if finding else "dim")
        self.verdict.style().polish(self.verdict)
        told = (finding.measured, finding.source) if finding else (NOT_YET, "")
        for name, text in zip(PARTS, (claim.trial.words, *told), strict=True):
            self.parts[name].setText(text)
        self.content.show()
