"""The Planner page: a model on a device, how long a context fits, and what its attention would take."""

from collections.abc import Sequence
from contextlib import suppress

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.base import Page
from flashscope.app.pages.compare.table import ListTable
from flashscope.app.pages.planner.columns import WIDTHS, prospect_columns
from flashscope.app.pages.planner.crossing_card import CrossingCard
from flashscope.app.pages.planner.crossing_search import CrossingSearch
from flashscope.app.pages.planner.form import PlannerForm, listed_name
from flashscope.app.pages.planner.memory_card import MemoryCard
from flashscope.app.pages.planner.staging import PlannerStaging
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.clipboard import copy_text
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.widgets.row_table import ROW_PX
from flashscope.app.words.command_line import plan_line
from flashscope.app.words.learn.planning import NOT_RECORDED, outlook_summary, recorded_text, source_text
from flashscope.app.words.results.provenance import of_session
from flashscope.installation import PROGRAM
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.audited import AuditedPlan, planned
from flashscope.profiles.plan.models import MODELS
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.planner.crossing import recorded_crossing
from flashscope.profiles.results.planner.ledger import layer_problem
from flashscope.profiles.results.planner.outlook import KERNELS, Outlook, outlook

NO_SESSION = "Without a session there is nothing to forecast from: run a sweep or open a recording."
NOTHING_ON_RECORD = "No session is on show that would tell; find it here by measuring."
NO_COMMAND_OF_AUDIT = f"{PROGRAM} plan --audit FILE plans the model of an audit: name its session."
NO_COMMAND = "A model with changed numbers has no command; choose a published one."
LINES = len(KERNELS) + 2  # of the table: its heading, its rows, and a scroll bar


class PlannerPage(Page):
    """A form over a sentence, a plot, a table and the crossing.

    Attributes:
        found: What it shows, None before the first.
    """

    key = "planner"

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self.found: Outlook | None = None
        self._session: Session | None = None  # what is forecast from
        self._rows: Sequence[PointRow] | None = None
        self._cautions: dict[str, tuple[str, ...]] = {}  # of audited models, by their names in the list
        self._waits = True  # for the page to be shown
        self.form, self.memory, self.crossing = PlannerForm(), MemoryCard(theme), CrossingCard()
        self.finding = CrossingSearch(controller, self)
        self.table = ListTable(
            "Kernels", prospect_columns(lambda: self.theme, self._layers), WIDTHS, spread=True
        )
        self.sentence, self.source = PlainLabel(wordWrap=True), PlainLabel(wordWrap=True)
        self._lay_out()
        self._connect()
        self._session_changed()

    def _lay_out(self) -> None:
        self.sentence.setProperty("role", "title")
        self.source.setProperty("role", "dim")
        self.sentence.setAccessibleName("How long a context fits")
        self.copy_button = text_button("Copy command", "Copy this plan as a command line", self.copy_command)
        does(self.copy_button, "planner.copy")
        below = QHBoxLayout()
        below.addWidget(self.source, 1)
        below.addWidget(self.copy_button, alignment=Qt.AlignmentFlag.AlignTop)
        keep(self.table, self._size_table, ROW_PX * LINES)
        aside = self.form, self.table, self.copy_button, self.crossing, self.sentence, self.source
        self.staging = PlannerStaging(self, self.controller, aside, lambda: self._session)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 10)
        column.setSpacing(8)
        column.addWidget(self.sentence)
        column.addWidget(self.form)
        column.addWidget(self.memory, 1)
        column.addWidget(self.table)
        column.addLayout(below)
        column.addWidget(self.crossing)

    def _size_table(self, height: int) -> None:
        self.table.setFixedHeight(height)

    def _connect(self) -> None:
        controller = self.controller
        self.form.changed.connect(self._changed)
        controller.machine_found.connect(lambda _machine: self._offer_devices())
        controller.running_changed.connect(lambda _running: self._session_changed())
        controller.occupied_changed.connect(lambda _reason: self._show_search())
        self.crossing.pressed.connect(self.search)
        self.finding.reported.connect(self.crossing.show_found)
        self.finding.ended.connect(self._session_changed)
        self.let_export([self.memory.export_button.exporter])

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        return [
            Action(
                "planner.find",
                "Find where tiled overtakes standard, or stop",
                self.search,
                "Planner",
                "F",
                possible=lambda: self.finding.active or not self.controller.why_no_sweep,
            ),
            Action("planner.model", "Choose the model", self.form.models.setFocus, "Planner", "M"),
            Action("planner.copy", "Copy the plan as a command line", self.copy_command, "Planner"),
            Action("planner.picture", "Copy the plot as a picture", self._copy_picture, "Planner"),
        ]

    def search(self) -> None:
        """Search on this machine where a tiled kernel overtakes standard, or stop that."""
        if self.finding.active:
            self.finding.cancel()
        elif not self.controller.why_no_sweep:
            self.finding.start(self.form.model(), self.form.setting())
        self._show_search()

    def copy_command(self) -> None:
        """Put the plan on the clipboard as a command line."""
        model = self.form.model()
        if self.form.published not in MODELS:
            self.noticed.emit(NO_COMMAND_OF_AUDIT)
            return
        if model != self.form.published:
            self.noticed.emit(NO_COMMAND)
            return
        copy_text(plan_line(model, self.form.setting()))
        self.noticed.emit("The plan is on the clipboard as a command line.")

    def show_session(self, session: Session | None) -> None:
        """Forecast from another session."""
        del session
        self._session_changed()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour what is painted by hand."""
        super().apply_theme(theme)
        self.memory.apply_theme(theme)
        self.table.list.draw_anew()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Work out what has changed meanwhile."""
        super().showEvent(event)
        if self._waits:
            self._work_out()

    def _layers(self) -> int:
        return self.found.model.layers if self.found else 1

    def _session_changed(self) -> None:
        """Take another session, or the points that a sweep has added to it."""
        self._show_search()
        session = self.controller.session
        if self.finding.active or (self._session is not None and self.finding.ran(session)):
            return  # a search's own sweeps are too short to forecast from, if there is anything else
        if self._session is not session:
            self._session = session
            self._offer_devices()
            self._offer_models()
            self.staging.changed.emit()
        self._rows = None
        self._changed()

    def _offer_devices(self) -> None:
        machines = (self.controller.machine, self._session.machine if self._session else None)
        found = [machine.device("cuda") for machine in machines if machine]
        self.form.offer_devices([device for device in found if device and device.memory_bytes > 0])

    def _offer_models(self) -> None:
        """Offer what the session's audits are of, those that are decoders."""
        found: list[AuditedPlan] = []
        for audit in self._session.audits if self._session else ():
            with suppress(InputError):
                found.append(planned(audit))
        self._cautions = {listed_name(one.model): one.cautions for one in found}
        self.form.offer_models([one.model for one in found])

    def _changed(self) -> None:
        self._waits = True
        if self.isVisible():
            self._work_out()

    def _work_out(self) -> None:
        self._waits = False
        model, setting, places = self.form.model(), self.form.setting(), self.form.places
        if self._session is not None and self._rows is None:
            self._rows = rows(self._session)
        try:
            self.found = outlook(model, setting, places.words, self._rows, places.device)
        except InputError as error:
            self.sentence.setText(str(error))
            return
        self.sentence.setText(outlook_summary(self.found))
        self.staging.changed.emit()
        self.memory.show_outlook(self.found)
        self.table.list.set_rows(self.found.prospects)
        cautions = self._cautions.get(self.form.published.name, ())
        self.source.setText(" ".join((self._source(self.found), *cautions)))
        self._show_crossing(self.found)

    def _source(self, found: Outlook) -> str:
        if self._session is None:
            return NO_SESSION
        badge = of_session(self._session, "saved").badge
        return source_text(found, badge)

    def _show_crossing(self, found: Outlook) -> None:
        crossed = recorded_crossing(
            self._rows or (), KERNELS[1:], layer_problem(found.model, found.setting, 1)
        )
        without = NOT_RECORDED if self._session else NOTHING_ON_RECORD
        self.crossing.show_recorded(recorded_text(crossed) if crossed else without)
        self._show_search()

    def _show_search(self) -> None:
        self.crossing.show_active(self.finding.active, self.controller.why_no_sweep)

    def _copy_picture(self) -> None:
        self.memory.export_button.exporter.copy()
