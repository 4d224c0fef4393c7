"""The Audit page: the attention calls of a step of a model, and what switching gains."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.audit.columns import WIDTHS, CallRow, call_columns
from flashscope.app.pages.audit.dialog import AuditDialog
from flashscope.app.pages.audit.recorded import AUDIT_TIP, EmptyAudits, RecordedAudits
from flashscope.app.pages.audit.running import RunningAudit
from flashscope.app.pages.base import Page
from flashscope.app.pages.compare.table import ListTable
from flashscope.app.report.sentences import worst_check
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.words.learn.audits import (
    audit_head,
    gains_texts,
    step_text,
)
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.kernels.workload.audit import ModelAudit
from flashscope.kernels.workload.device import Device
from flashscope.profiles.results.compare.switching import Switching, switchings_of
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.audits import AuditAsked
from flashscope.profiles.wire.events import AuditReady, Event, PlanFinished

LEAST_PX = 160
NO_DEVICE = "What this machine has is not known yet."
AuditedSteps = list[tuple[ModelAudit, Switching]]


class AuditPage(Page):
    """A sentence over a table, and beside it what follows.

    Attributes:
        found: Every step of every audit of the session on show.
    """

    key = "audit"

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self.found: AuditedSteps = []
        self._checked = ""
        self._stale = True
        self._chores = Chores(self)
        self.sentence, self.head, self.gains = (PlainLabel(wordWrap=True) for _ in range(3))
        self.steps, self.models = DropDown(), RecordedAudits()
        self.audit = text_button("Audit …", AUDIT_TIP, self.ask)
        self.table = ListTable("Attention calls", call_columns(), WIDTHS, spread=True)
        self.stack = QStackedWidget()
        self._lay_out()
        self.steps.currentIndexChanged.connect(self._show_step)
        self.models.path_chosen.connect(self._open)
        controller.events_arrived.connect(self._take_events)
        for changed in (controller.auditing.changed, controller.occupied_changed, controller.running_changed):
            changed.connect(self._block)
        controller.machine_found.connect(self._block)
        self._block()
        self.show_session(controller.session)

    def _lay_out(self) -> None:
        self.sentence.setProperty("role", "title")
        self.sentence.setAccessibleName("What a step spends in attention")
        self.head.setProperty("role", "dim")
        self.steps.setAccessibleName("Step on show")
        self.gains.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.gains.setAlignment(Qt.AlignmentFlag.AlignTop)
        card = Card("What switching gains")
        card.body.addWidget(Scrolling(self.gains), 1)
        keep(card, card.setMinimumHeight, LEAST_PX)
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(12, 8, 12, 10)
        column.setSpacing(8)
        column.addWidget(Lines((self.sentence, self.audit, self.models, self.steps), (self.sentence,), 8))
        column.addWidget(self.table, 2)
        column.addWidget(card, 3)
        column.addWidget(self.head)
        self.empty = EmptyAudits(self._open, self.ask)
        self.stack.addWidget(self.empty)
        self.stack.addWidget(full)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(RunningAudit(self.controller.auditing))
        outer.addWidget(self.stack)

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        return [
            Action(
                "audit.ask", "Audit a model", self.ask, "Audit", "A", possible=lambda: not self._why_no_audit
            ),
            Action("audit.next", "Choose the next step", self._step(1), "Audit", "N"),
            Action("audit.before", "Choose the step before", self._step(-1), "Audit", "P"),
        ]

    @property
    def _why_no_audit(self) -> str:
        """Why no model can be audited now, in one sentence; empty: one can."""
        controller = self.controller
        why = controller.why_no_sweep or controller.others_measure or controller.auditing.waits_for
        return why or ("" if self._device else NO_DEVICE)

    @property
    def _device(self) -> Device | None:
        machine = self.controller.machine
        return machine.device(self.controller.backend) if machine else None

    def ask(self) -> None:
        """Ask for a model, and audit it."""
        device = self._device
        if device is None or self._why_no_audit:
            return
        dialog = AuditDialog(device, self)
        dialog.accepted.connect(lambda: self._begin(dialog.asked))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _begin(self, asked: AuditAsked) -> None:
        """Audit it, unless something else has begun to measure since the model was asked for."""
        if why := self._why_no_audit:
            self.controller.error_raised.emit(why, "")
        else:
            self.controller.auditing.ask(asked)

    def _block(self) -> None:
        """Offer no audit while something else measures."""
        why = self._why_no_audit
        for button in (self.audit, self.empty.audit):
            button.setEnabled(not why)
            set_tip(button, why or AUDIT_TIP)

    def show_session(self, session: Session | None) -> None:
        """Show another session's audits, or how to make one."""
        del session
        self._refresh()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Work out what has changed while another page was in front."""
        super().showEvent(event)
        if self._stale:
            self._refresh()

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Wait for what is being worked out."""
        self._chores.wait()
        super().closeEvent(event)

    def _open(self, path: Path) -> None:
        """Show an audit that comes with the program, here."""
        self.controller.open_session(path, partial(self.page_requested.emit, self.key))

    def _refresh(self) -> None:
        self._stale = not self.isVisible()
        self.models.show_file(self.controller.path)
        session = self.controller.session
        audits = list(session.audits) if session else []
        if session is None or not audits:
            self._chores.forget()
            self._show_found([], "")
        elif not self._stale:
            self._chores.do_instead(
                partial(_worked_out, audits, rows(session)), lambda told: self._show_found(*told)
            )

    def _take_events(self, events: Sequence[Event]) -> None:
        if any(isinstance(event, AuditReady | PlanFinished) for event in events):
            self._refresh()

    def _show_found(self, found: AuditedSteps, checked: str) -> None:
        """List the steps, and show the first, or the one that was on show.

        Args:
            found: The steps.
            checked: How right the replays are.
        """
        self._checked = checked
        before = max(self.steps.currentIndex(), 0)
        self.found = found
        self.steps.blockSignals(True)
        self.steps.clear()
        self.steps.addItems([f"{cut_short(audit.model, MOST_OF_NAME)}, {one.phase}" for audit, one in found])
        self.steps.setCurrentIndex(before if before < len(found) else 0)
        self.steps.blockSignals(False)
        self.stack.setCurrentIndex(int(bool(found)))
        self._show_step()

    def _show_step(self) -> None:
        number = self.steps.currentIndex()
        if not 0 <= number < len(self.found):
            self.table.list.set_rows([])
            return
        audit, found = self.found[number]
        calls = [one for one in audit.calls if one.phase == found.phase]
        self.table.list.set_rows([CallRow(*pair) for pair in zip(calls, found.calls, strict=True)])
        self.sentence.setText(f"{step_text(found)}.")
        self.head.setText(f"{audit_head(audit)}. Replays: {self._checked}")
        self.gains.setText("\n\n".join(gains_texts(audit, found)))

    def _step(self, by: int) -> Callable[[], None]:
        def go() -> None:
            if self.found:
                self.steps.setCurrentIndex((self.steps.currentIndex() + by) % len(self.found))

        return go


def _worked_out(audits: Sequence[ModelAudit], measured: Sequence[PointRow]) -> tuple[AuditedSteps, str]:
    """The steps, and how right the replays are."""
    steps = [(audit, found) for audit in audits for found in switchings_of(audit, measured)]
    return steps, worst_check(measured)
