"""The Stepper on a stage: its mode, or a few panels of it, at the step that a stop names."""

from collections.abc import Sequence
from typing import Protocol, cast

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import Staging
from flashscope.app.pages.stepper.backwards import Backwards
from flashscope.app.pages.stepper.mode_board import ModeBoard
from flashscope.app.pages.stepper.modes import Modes
from flashscope.app.pages.stepper.options_bar import OptionsBar
from flashscope.app.pages.stepper.player import Player
from flashscope.app.pages.stepper.tracing import Tracing
from flashscope.app.pages.stepper.transport import Transport
from flashscope.app.pages.stepper.visits import Visits
from flashscope.app.stage.numbers import step_numbers
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.modes import BACKWARD, MODES
from flashscope.app.stepper.presets import PRESETS, preset_of
from flashscope.app.stepper.recorded import newest_backward, newest_trace
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.app.words.inside.tracing import broken
from flashscope.app.words.results.provenance import Provenance, of_kept, of_machine
from flashscope.kernels.workload.backward_trace import BackwardTrace
from flashscope.kernels.workload.trace import Fault, Trace
from flashscope.profiles.results.model.session import Session


class Stepper(Protocol):
    """A mode that walks through a trace.

    Attributes:
        bar: What is traced, and where the trace came from.
        modes: What is drawn, by modes.
        player: Moves on by itself, step by step.
        transport: The controls that move through the steps.
        below: What these stand in.
        visits: What other views have it show.
        backwards: Shows backward passes.
        story: What is walked through, None before the first trace.
        position: The step on show, None before the first trace.
        view: What the mode shows, None before the first trace.
    """

    bar: OptionsBar
    modes: Modes
    player: Player
    transport: Transport
    below: QWidget
    visits: Visits
    backwards: Backwards
    story: SteppedTrace | None
    position: Cursor | None
    view: StepView | None

    def ask(self) -> None:
        """Ask for the trace that the bar describes."""

    def seek(self, at: int) -> None:
        """Go to a step."""

    def show_trace(self, trace: Trace) -> None:
        """Walk through a trace."""

    def show_mode(self, key: str) -> None:
        """Draw what is walked through in another mode."""


class StepperStaging(Staging):
    """Shows what a mode has for a stage: of Blocks one to four panels.

    Args:
        page: What shows them.
        controller: Has the session on show.
        tracing: Tells when a trace is there.
    """

    def __init__(self, page: Stepper, controller: Controller, tracing: Tracing) -> None:
        aside = page.bar, page.below, page.visits.line
        super().__init__("stepper", controller, aside, page.modes.cards)
        self._page, self._tracing = page, tracing
        self._before = ""  # the mode that the stage came upon
        self._step: int | None = None  # where to go once the trace is there
        self._session, self._session_source = controller.session, controller.provenance
        self._left: list[tuple[Trace | BackwardTrace, Provenance]] = []  # on show still of earlier sessions
        controller.session_changed.connect(self._leave_session)
        tracing.recorded.connect(self._go)
        page.modes.changed.connect(self._take_mode)

    @property
    def settled(self) -> bool:
        """Whether the trace is there and what the mode wants beside it, or will not be."""
        tracing = self._tracing
        recorded = (tracing.wanted is None and tracing.beside is None) or tracing.waits_for_sweep
        return recorded and (self._page.story is None or self._board.settled)

    @property
    def scene(self) -> Scene:
        """The numbers of the step on show."""
        view, own = self._page.view, self._board.own
        return Scene(numbers=step_numbers(view) if view is not None and own is None else {})

    @property
    def sentence(self) -> str:
        """Which step it is, and what the mode says of it."""
        view, board = self._page.view, self._board
        if board.own is not None:
            return board.own.sentence
        return board.sentence(view) if view is not None else ""

    @property
    def provenance(self) -> Provenance:
        """The session's that has the trace, or else what recorded it now."""
        story, session, own = self._page.story, self.controller.session, self._board.own
        if own is not None:
            held = session is not None and own.trace in session.backward_traces
            return replace(self._source(own.trace, held=held), of=own.what)
        if story is None:
            return super().provenance
        trace = story.recording.trace
        source = self._source(trace, held=session is not None and trace in session.traces)
        what = f"trace of {trace.request.kernel or trace.request.order}"
        broken_trace = f"{broken(trace.request.fault)}, {what}" if trace.request.fault else what
        return replace(source, of=" beside ".join(filter(None, (broken_trace, self._board.beside))))

    def _source(self, trace: Trace | BackwardTrace, *, held: bool) -> Provenance:
        backend = trace.request.backend
        if held:
            return of_kept(super().provenance, backend, trace.device)
        left = next((source for one, source in self._left if one is trace), None)
        return left or of_machine(self.controller.machine, backend)

    def _leave_session(self, session: Session | None) -> None:
        """Know where that comes from which stays on show of the session before."""
        before, source = self._session, self._session_source
        held = [] if before is None else [*before.traces, *before.backward_traces]
        stays = [pair for pair in self._left if any(pair[0] is one for one in self._traces)]
        left = [
            (one, of_kept(source, one.request.backend, one.device)) for one in self._traces if one in held
        ]
        self._left = [*left, *stays]
        self._session, self._session_source = session, self.controller.provenance

    @property
    def _traces(self) -> list[Trace | BackwardTrace]:
        """What is on show, in the mode Backward, too."""
        page = self._page
        backward = page.backwards.board.trace if page.modes.has(BACKWARD) else None
        forward = page.story.recording.trace if page.story is not None else None
        return [one for one in (forward, backward) if one is not None]

    @property
    def source(self) -> str:
        """On what the trace was recorded: how fills more than a line."""
        story, own = self._page.story, self._board.own
        if own is not None:
            return own.trace.device
        return story.recording.trace.device if story is not None else self._page.bar.source.text()

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """The panels, each on its card."""
        return self._board.shown

    @property
    def stop(self) -> Stop:
        """The step on show, of a preset; any other problem is not in a story."""
        position, key = self._page.position, self._preset()
        own = self._board.own
        step = None if position is None or not key else position.at if own is None else own.at
        shown = self._page.modes.key
        mode = "" if shown == MODES[0].key else shown
        board = self._board
        told = replace(super().stop, mode=mode, fault=board.fault, panels=board.only, sentence=board.told)
        return replace(told, preset=key, step=step)

    def show_stop(self, stop: Stop) -> None:
        """Walk the preset to the step; what is on show already is not recorded anew."""
        if not self.on:
            self._before = self._page.modes.key
        super().show_stop(stop)
        page, self._step = self._page, stop.step
        page.player.set_playing(False)
        page.show_mode(stop.mode or MODES[0].key)
        page.modes.let_scroll(False)  # also the mode that was on show before
        self._board.take_stage(stop.panels)
        if stop.fault:
            self._board.take_fault(cast("Fault", stop.fault))  # a story names one of them
        newest = self._newest(stop)
        backward = self._newest_backward(stop)
        if backward is not None:
            page.backwards.show(backward)
            self._go()
        elif stop.preset and stop.preset != self._preset():
            if self.controller.measuring:
                page.bar.follow_backend("cpu")  # the GPU would have the stage empty until its end
            page.bar.choose_preset(stop.preset)
            page.ask()
        elif newest is not None and (page.story is None or page.story.recording.trace is not newest):
            page.show_trace(newest)
            self._go()
        else:
            self._go()

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Show one panel, or all of the stop."""
        self._board.fill_with(exhibit)

    def leave(self) -> None:
        """Show all of the mode that was on show before."""
        super().leave()
        for board in self._page.modes.boards:  # another one may have been on the stage before
            board.leave_stage()
        self._page.modes.let_scroll(True)
        self._page.show_mode(self._before)

    @property
    def _board(self) -> ModeBoard:
        return self._page.modes.board

    def _take_mode(self) -> None:
        """Have a mode that was chosen on a stage stand there as it does."""
        self.take_cards(self._page.modes.cards)
        if self.on:
            self._page.modes.let_scroll(False)
            self._board.take_stage(())

    def _go(self) -> None:
        if self._step is None:
            return
        if self._page.modes.mode.apart:
            self._board.seek_own(self._step)
        else:
            self._page.seek(self._step)

    def _newest(self, stop: Stop) -> Trace | None:
        """The trace of the session that a stop names in place of a preset; None: there is none."""
        session = self.controller.session
        named = session is not None and bool(session.traces) and stop.session and not stop.preset
        if session is None or not named:
            return None
        return newest_trace(session.traces, stop.kernels, stop.seqlen)

    def _newest_backward(self, stop: Stop) -> BackwardTrace | None:
        """The same of a backward pass, for the mode that walks those."""
        session = self.controller.session
        if session is None or not stop.session or stop.preset or not self._page.modes.mode.apart:
            return None
        return newest_backward(session.backward_traces, stop.kernels, stop.seqlen)

    def _preset(self) -> str:
        """The preset on show in the order it is meant for; empty for anything else."""
        story = self._page.story
        if story is None:
            return ""
        request = story.recording.trace.request
        key = preset_of(request)
        meant = next((preset.order for preset in PRESETS if preset.key == key), None)
        return key if key is not None and request.order == meant else ""
