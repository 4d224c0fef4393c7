"""The Claims page: what five documents claim of attention, each number with its experiment."""

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import Theme
from flashscope.app.pages.base import Page
from flashscope.app.pages.claims.columns import MEASURED, NOT_YET, WIDTHS, ClaimRow, claim_columns
from flashscope.app.pages.claims.detail import ClaimDetail
from flashscope.app.pages.claims.staging import ClaimsStaging
from flashscope.app.pages.claims.testing import Testing
from flashscope.app.pages.compare.table import ListTable
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel, button_text, set_tip
from flashscope.app.words.learn.claims import A_SWEEP_MEASURES, BEING_TESTED, claims_summary, where_text
from flashscope.kernels.workload.device import Device
from flashscope.profiles.claims import CLAIM_VERDICTS, CLAIMS, DOCUMENTS, ClaimResult

TEST, STOP = "Test all", "Stop"
NAMES = {TEST: "Put every claim to the test", STOP: "Stop testing"}
TIP = "Put every claim to the test, or stop"
EVERY_DOCUMENT, EVERY_VERDICT = "all documents", "all verdicts"


class ClaimsPage(Page):
    """A sentence over a table and the detail of one row.

    Attributes:
        rows: Every claim with what came of it so far.
    """

    key = "claims"

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self.rows = [ClaimRow(claim) for claim in CLAIMS]
        self.testing = Testing(self)
        self.sentence, self.source, self.detail = (
            PlainLabel(wordWrap=True),
            PlainLabel(wordWrap=True),
            ClaimDetail(),
        )
        self.table = ListTable("Claims", claim_columns(lambda: self.theme), WIDTHS)
        self.table.list.set_rows(self.rows)
        self.documents, self.verdicts = DropDown(), DropDown()
        self.button = does(text_button(TEST, NAMES[TEST], self.test, "primary"), "claims.test")
        self._lay_out()
        self.staging = ClaimsStaging(controller, self._device)
        self._connect()
        self._tell()

    def _lay_out(self) -> None:
        self.sentence.setProperty("role", "title")
        self.sentence.setAccessibleName("What came of the claims")
        self.source.setProperty("role", "dim")
        self.documents.setAccessibleName("Document on show")
        self.verdicts.setAccessibleName("Verdict on show")
        self.documents.addItems([EVERY_DOCUMENT, *(f"{one.number} {one.title}" for one in DOCUMENTS)])
        self.documents.setSizeAdjustPolicy(DropDown.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.documents.setMinimumContentsLength(len(EVERY_DOCUMENT))
        self.verdicts.addItems([EVERY_VERDICT, *CLAIM_VERDICTS, NOT_YET])
        head = Lines((self.sentence, self.documents, self.verdicts, self.button), (self.sentence,), 8)
        below = QHBoxLayout()
        below.setSpacing(8)
        below.addWidget(self.table, 7)
        below.addWidget(self.detail, 4)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 10)
        column.setSpacing(8)
        column.addWidget(head)
        column.addLayout(below, 1)
        column.addWidget(self.source)

    def _connect(self) -> None:
        self.testing.tested.connect(self._take)
        self.testing.ended.connect(self._end)
        self.table.picked.connect(lambda number: self.detail.show_row(self.rows[number]))
        for choice in (self.documents, self.verdicts):
            choice.currentIndexChanged.connect(lambda _index: self.table.list.set_filter(self._wanted))
        self.controller.machine_found.connect(lambda _machine: self._tell())
        for changed in (self.controller.running_changed, self.controller.occupied_changed):
            changed.connect(lambda _now: self._tell())

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        return [
            Action(
                "claims.test",
                TIP,
                self.test,
                "Claims",
                "T",
                possible=lambda: not self._why_not,
            ),
            Action("claims.next", "Choose the next claim", lambda: self.table.step(1), "Claims", "N"),
            Action("claims.before", "Choose the claim before", lambda: self.table.step(-1), "Claims", "P"),
        ]

    @property
    def _why_not(self) -> str:
        """Why the claims can be neither tested now nor that be stopped; empty: they can."""
        if self.testing.active:
            return ""
        return A_SWEEP_MEASURES if self.controller.measuring else self.controller.others_measure

    def test(self) -> None:
        """Test all claims anew, or stop that; nothing while something else measures."""
        if self.testing.active:
            self.testing.cancel()
        elif not self._why_not:
            self.rows[:] = [ClaimRow(claim) for claim in CLAIMS]
            self.table.list.set_rows(self.rows)
            self.testing.start(self._device())
            self.controller.occupy(self, BEING_TESTED)
        self._tell()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        super().apply_theme(theme)
        self.table.list.draw_anew()

    def _device(self) -> Device | None:
        """The GPU that measures, None without one."""
        machine = self.controller.machine
        return machine.device("cuda") if machine else None

    def _end(self) -> None:
        self.controller.occupy(self, "")
        self._tell()

    def _take(self, number: int, finding: ClaimResult) -> None:
        row = self.rows[number] = ClaimRow(CLAIMS[number], finding)
        if self.verdicts.currentIndex():
            self.table.list.set_rows(self.rows)
        else:
            self.table.list.draw_anew()  # and leaves the table where it was scrolled to
        if number in self.table.chosen():
            self.detail.show_row(row)
        self._tell()

    def _wanted(self, row: ClaimRow) -> bool:
        document, verdict = self.documents.currentIndex(), self.verdicts.currentText()
        fits = not document or row.claim.document == DOCUMENTS[document - 1].number
        return fits and (verdict == EVERY_VERDICT or row.verdict.endswith(verdict))

    def _tell(self) -> None:
        """Say how it stands, and what the button does."""
        found = [(row.claim, row.finding) for row in self.rows if row.finding]
        self.table.setColumnHidden(MEASURED, not found)  # its room is the claims' until then
        self.sentence.setText(claims_summary(found))
        waits = self._why_not
        self.source.setText(waits or where_text(self._device()))
        self.button.setEnabled(not waits)
        set_tip(self.button, waits or TIP)
        text = STOP if self.testing.active else TEST
        self.button.setText(button_text(text))
        self.button.setAccessibleName(NAMES[text])
        self.staging.changed.emit()
