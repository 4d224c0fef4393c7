"""The page of a sweep as far as its form goes: what is to run, where, and how that begins."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal

from flashscope.app.control.controller import Controller
from flashscope.app.control.own.shelf import OwnShelf
from flashscope.app.control.presets import OwnPreset, Presets
from flashscope.app.control.settings import Settings
from flashscope.app.look.theme import Theme
from flashscope.app.pages.base import Page
from flashscope.app.pages.host import Host
from flashscope.app.pages.own.bringing import Bringing
from flashscope.app.pages.own.taking import taken, without_own
from flashscope.app.pages.own.watching import WatchStarter
from flashscope.app.pages.profile.form import SweepForm
from flashscope.app.pages.profile.form.adapting import adapted
from flashscope.app.pages.profile.form.device_box import DeviceBox
from flashscope.app.pages.profile.form.preset_menu import PresetButton
from flashscope.app.pages.profile.form.reasons import left_out, out_of_range
from flashscope.app.pages.profile.plots_view import PlotsView
from flashscope.app.pages.profile.presetting import Presetting
from flashscope.app.widgets.clipboard import copy_text
from flashscope.app.words.command_line import command_line
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.presets import preset_plan, with_those_at
from flashscope.profiles.plan.request import Request, own_of


class FormPage(Page):
    """Has the form beside what it shows, or put away.

    Attributes:
        form: What the next sweep is to do.
        device: Where.
        own: The kernels of the user's own that it offers.
        bringing: Brings them.
        watching: Has one of them measured at each save of its file.
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
        self.presets = Presets(self)
        self.preset_button = PresetButton(self.presets)
        self.form.begin_with(self.device, self.preset_button)
        self.presetting = Presetting(self.presets, controller.edits, self.form)
        self.own = OwnShelf(self)
        self.bringing = Bringing(self.own, controller.edits, self.form)
        self.watching = WatchStarter(
            controller.watch_own, self.own, self.bringing, self.form.request, parent=self.form
        )
        self.form_open = True
        self._settings: Settings | None = None
        self._last_backend = ""  # where the form's sweep was to run at the last start, until that is tried
        self._connect_presets()
        self._connect_own()

    def _connect_own(self) -> None:
        kernels, bringing = self.form.kernels, self.bringing
        self.own.changed.connect(lambda: kernels.own.show_shelf(self.own))
        self.form.bring_requested.connect(bringing.choose)
        kernels.own.remove_wanted.connect(bringing.remove)
        kernels.own.watch_wanted.connect(self.watching.start)
        self.watching.begun.connect(partial(self.page_requested.emit, "watch"))
        self.watching.noticed.connect(self.noticed)
        bringing.brought.connect(self._take_brought)
        bringing.left.connect(partial(kernels.tick, on=False))
        bringing.noticed.connect(self.noticed)
        bringing.failed.connect(self.controller.error_raised)
        bringing.look()

    def _take_brought(self, names: tuple[str, ...]) -> None:
        """Have kernels of the user's own in the sweep, and show it."""
        self.form.kernels.tick(names, on=True)
        self.new_sweep()

    def take_kernels(self, paths: Sequence[Path]) -> None:
        """Bring what these files hold into the form."""
        self.bringing.bring(paths)

    def _connect_presets(self) -> None:
        button = self.preset_button
        button.chosen.connect(self.use_preset)
        button.built_in.connect(self.run_preset)
        button.unreadable.connect(lambda why: self.controller.error_raised.emit(why, ""))
        button.save_wanted.connect(self.presetting.save)
        button.rename_wanted.connect(self.presetting.rename)
        button.delete_wanted.connect(self.presetting.delete)
        self.presetting.failed.connect(self.controller.error_raised)

    def join(self, host: Host) -> None:
        """Let the form say what it said at the last start, and remember what it says."""
        super().join(host)
        self._settings = host.settings
        self._last_backend = host.settings.form_backend
        self._recall(self.form.backend)
        self._try_last_backend()
        self.controller.machine_found.connect(lambda _machine: self._try_last_backend())
        self.form.changed.connect(self._remember)

    def plan(self) -> Plan:
        """The Plan of the form.

        Raises:
            ValueError: The form cannot run; `form.blocked_reason` says why.
        """
        if self.form.blocked_reason is not None:
            raise ValueError(self.form.blocked_reason)
        self.own.register()
        return self.form.request().plan()

    def run(self) -> None:
        """Start the form's sweep, let it wait where another one runs, or say why it cannot start."""
        if self.form.blocked_reason is not None:
            self.controller.error_raised.emit(self.form.blocked_reason, "")
            return
        plan = self.plan()
        self.bringing.may_run(plan.own, go_on=partial(self._begin, plan), again=self.run)

    def _begin(self, plan: Plan) -> None:
        self.form.tell_changes(())
        self.controller.run(plan, self.form.runs.chosen())

    def run_preset(self, name: str) -> None:
        """Measure a preset's problems on the form's backend and by its protocol, with all kernels there."""
        asked = self.form.request()
        plan = preset_plan(name, asked.backend, asked.protocol, seed=asked.seed)
        machine = self.controller.machine
        device = machine.device(asked.backend) if machine is not None else None
        self.controller.run(with_those_at(device, plan), self.form.runs.chosen())

    def set_backend(self, backend: Backend) -> None:
        """Follow what was chosen; another backend brings what the form said last of it, or its defaults."""
        if backend != self.form.backend:
            self._recall(backend)
        self.form.set_machine(self.controller.machine)

    def use_session(self) -> None:
        """Fill the form with the parameters of the problems on show, and say which these are."""
        session, curve = self.controller.session, self.plots.curve
        if session is None or curve is None:
            return
        problems = self.plots.problems()
        asked, changed = self._fill(Request.of_plan(session.plan, problems), session.plan.own)
        missing = [*left_out(problems), *out_of_range(asked, self.form.request())]
        self.form.tell_changes([*changed, *missing])
        if changed:
            self.open_form(True)
        self.noticed.emit(
            " ".join([f"The form has the parameters of {curve.label}.", *missing, *_told(changed)])
        )

    def use_preset(self, preset: OwnPreset) -> None:
        """Fill the form from one of the user's own presets, and open it."""
        if preset.request is not None:
            _, changed = self._fill(preset.request, own_of(preset.request.kernels))
            self.form.runs.choose(preset.runs)
            self.form.tell_changes(changed)
            self.new_sweep()
            self.noticed.emit(" ".join([f"The form has the preset {preset.name}.", *_told(changed)]))

    def _fill(self, request: Request, own: Sequence[OwnKernel]) -> tuple[Request, list[str]]:
        """Fill the form as this machine can run it; with what, and what that changed."""
        request, left = taken(request, own, self.own)
        shown, changed = adapted(request, self.controller.machine)
        changed = [*left, *changed]
        if self.controller.machine is not None and shown.backend != self.controller.backend:
            self.controller.choose_backend(shown.backend)
        self.form.show_request(shown)
        return shown, changed

    def _recall(self, backend: Backend) -> None:
        """Let the form say what it said last of a backend; of another one than now, else its defaults."""
        known = self._settings.form(backend) if self._settings is not None else None
        if known is not None:
            request, runs = known
            self.form.show_request(request)
            self.form.runs.choose(runs)
        elif backend != self.form.backend:
            self.form.show_request(Request.of(backend))

    def _try_last_backend(self) -> None:
        """Choose the device of the last start, once it is known whether this machine has it."""
        machine, last = self.controller.machine, self._last_backend
        if machine is not None and last:
            self._last_backend = ""
            for device in machine.devices:
                if device.backend == last != self.controller.backend:
                    self.controller.choose_backend(device.backend)

    def _remember(self) -> None:
        """Keep what the form says, unless that is no sweep."""
        request = without_own(self.form.request())
        if self._settings is not None and request.kernels and request.seqlens and not self.form.masking.error:
            self._settings.keep_form(request, self.form.runs.chosen())

    def offer_presets(self) -> None:
        """Bring the form to the front, and open its presets."""
        self.new_sweep()
        self.preset_button.open()

    def save_preset(self) -> None:
        """Keep what the form says under a name."""
        self.presetting.save()

    def new_counted_sweep(self) -> None:
        """Bring the form to the front, with the parameters of what is on show and with hardware counters."""
        self.use_session()
        self.form.inputs["counters"].choose(True)
        self.new_sweep()

    def copy_command_line(self) -> None:
        """Put the form's sweep on the clipboard as a command line."""
        place = self.controller.devices.place
        devices = place.options if place is not None else ()
        copy_text(command_line(self.form.request(), self.form.runs.chosen(), devices))
        self.noticed.emit("The sweep is on the clipboard as a command line.")

    def toggle_form(self) -> None:
        """Open the form, or close it."""
        self.open_form(not self.form_open)

    def open_form(self, opened: bool) -> None:
        """Have the form beside the views, with all that it says, or put it away."""
        if opened is not self.form_open:
            if opened:
                self.bringing.look()
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


def _told(changed: Sequence[str]) -> list[str]:
    """That the form says what was changed, where something was."""
    return ["What was changed for this machine, the form says."] if changed else []
