"""The Stepper on a stage: a few of its panels, at the step that a stop names."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from app.pages.staging import Staging
from app.pages.stepper.tracing import Tracing
from app.stage.numbers import step_numbers
from app.stage.scene import Scene
from app.stage.story import Stop
from app.stepper.presets import PRESETS, preset_of
from app.words.provenance import Provenance, of_machine

if TYPE_CHECKING:
    from app.pages.stepper.page import StepperPage

PANELS = ("formulas", "scores")
SENTENCE = "Step {step} of {steps}."


class StepperStaging(Staging):
    """Shows one to four of the panels."""

    def __init__(self, page: "StepperPage", tracing: Tracing) -> None:
        super().__init__(page, page.key, page.controller, (page.bar, page.transport))
        self._page = page
        self._step: int | None = None  # where to go once the trace is there
        tracing.recorded.connect(self._go)

    @property
    def scene(self) -> Scene:
        """The numbers of the step on show."""
        view = self._page.view
        return Scene(numbers=step_numbers(view) if view is not None else {})

    @property
    def provenance(self) -> Provenance:
        """The session's that has the trace, or else what recorded it now."""
        story, session = self._page.story, self.controller.session
        if story is None or (session is not None and story.recording.trace in session.traces):
            return super().provenance
        return of_machine(self.controller.machine, story.recording.trace.request.backend)

    @property
    def source(self) -> str:
        """What recorded the trace."""
        return self._page.bar.source.text()

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """The panels, each on its card."""
        return self._page.board.shown

    @property
    def stop(self) -> Stop:
        """The step on show, of a preset; any other problem is not in a story."""
        position, key = self._page.position, self._preset()
        step = None if position is None or not key else position.at
        panels = self._page.board.only
        return replace(super().stop, preset=key, step=step, panels=panels, sentence=SENTENCE)

    def show_stop(self, stop: Stop) -> None:
        """Walk the preset to the step; what is on show already is not recorded anew."""
        super().show_stop(stop)
        page, self._step = self._page, stop.step
        page.player.set_playing(False)
        page.board.show_only(stop.panels or PANELS)
        if stop.preset and stop.preset != self._preset():
            if self.controller.measuring:
                page.bar.follow_backend("cpu")  # the GPU would have the stage empty until its end
            page.bar.choose_preset(stop.preset)
            page.ask()
        else:
            self._go()

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Show one panel, or all of the stop."""
        self._page.board.fill_with(exhibit)

    def leave(self) -> None:
        """Show every panel."""
        super().leave()
        self._page.board.show_only(())

    def _go(self) -> None:
        if self._step is not None:
            self._page.seek(self._step)

    def _preset(self) -> str:
        """The preset on show in the order it is meant for; empty for anything else."""
        story = self._page.story
        if story is None:
            return ""
        request = story.recording.trace.request
        key = preset_of(request)
        meant = next((preset.order for preset in PRESETS if preset.key == key), None)
        return key if key is not None and request.order == meant else ""
