"""The page of a sweep as far as its form goes: what is to run, where, and how that begins."""

from PySide6.QtCore import Signal

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import Theme
from flashscope.app.pages.base import Page
from flashscope.app.pages.profile.form import SweepForm
from flashscope.app.pages.profile.form.device_box import DeviceBox
from flashscope.app.pages.profile.form.reasons import left_out, out_of_range
from flashscope.app.pages.profile.plots_view import PlotsView
from flashscope.app.widgets.clipboard import copy_text
from flashscope.app.words.command_line import command_line
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.presets import preset_plan
from flashscope.profiles.plan.request import Request


class FormPage(Page):
    """Has the form beside what it shows, or put away.

    Attributes:
        form: What the next sweep is to do.
        device: Where.
        form_open: Whether the form is there.
        plots: What is on show of the session, whose parameters the form can take.

    Signals:
        run_blocked: Why the form's sweep cannot run now, empty when it can (str).
        form_shown: The form was opened or closed (bool).
    """

    run_blocked = Signal(str)
    form_shown = Signal(bool)

    plots: PlotsView

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.form = SweepForm(controller.backend, theme)
        self.device = DeviceBox(controller)
        self.form.begin_with(self.device)
        self.form_open = True

    def plan(self) -> Plan:
        """The Plan of the form.

        Raises:
            ValueError: The form cannot run; `form.blocked_reason` says why.
        """
        if self.form.blocked_reason is not None:
            raise ValueError(self.form.blocked_reason)
        return self.form.request().plan()

    def run(self) -> None:
        """Start the form's sweep, let it wait where another one runs, or say why it cannot start."""
        if self.form.blocked_reason is not None:
            self.controller.error_raised.emit(self.form.blocked_reason, "")
            return
        self.controller.run(self.plan(), self.form.runs.chosen())

    def run_preset(self, name: str) -> None:
        """Measure a preset's problems on the form's backend and by its protocol, with all kernels."""
        asked = self.form.request()
        plan = preset_plan(name, asked.backend, asked.protocol, seed=asked.seed)
        self.controller.run(plan, self.form.runs.chosen())

    def set_backend(self, backend: Backend) -> None:
        """Follow what was chosen."""
        self.form.set_backend(backend)
        self.form.set_machine(self.controller.machine)

    def use_session(self) -> None:
        """Fill the form with the parameters of the problems on show, and say which these are."""
        session, curve = self.controller.session, self.plots.curve
        if session is None or curve is None:
            return
        problems = self.plots.problems()
        asked = Request.of_plan(session.plan, problems)
        self.form.show_request(asked)
        missing = [*left_out(problems), *out_of_range(asked, self.form.request())]
        self.noticed.emit(" ".join([f"The form has the parameters of {curve.label}.", *missing]))

    def new_counted_sweep(self) -> None:
        """Bring the form to the front, with the parameters of what is on show and with hardware counters."""
        self.use_session()
        self.form.inputs["counters"].choose(True)
        self.new_sweep()

    def copy_command_line(self) -> None:
        """Put the form's sweep on the clipboard as a command line."""
        copy_text(command_line(self.form.request(), self.form.runs.chosen()))
        self.noticed.emit("The sweep is on the clipboard as a command line.")

    def toggle_form(self) -> None:
        """Open the form, or close it."""
        self.open_form(not self.form_open)

    def open_form(self, opened: bool) -> None:
        """Have the form beside the views, with all that it says, or put it away."""
        if opened is not self.form_open:
            self.form_open = opened
            self.form_shown.emit(opened)

    def new_sweep(self) -> None:
        """Bring the form to the front, ready for the keys."""
        self.open_form(True)
        self.page_requested.emit(self.key)
        self.form.setFocus()

    def follow_free_memory(self) -> None:
        """Let the dry run know how much memory is free now."""
        telemetry, live = self.controller.telemetry, self.controller.live_readings
        used = live[-1].memory_used if live else None
        if telemetry is not None and telemetry.memory_total is not None and used is not None:
            self.form.set_free_bytes(telemetry.memory_total - used)
