"""The mode Lanes: standard, flash1 and flash2 beside each other, in lock-step."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.stepper.mode_board import ModeBoard
from flashscope.app.plots.stepper.lane_panel import LanePanel, Surroundings
from flashscope.app.plots.stepper.matrix_picture import Pictures
from flashscope.app.plots.stepper.memory_panel import HOPPER_SHARED_BYTES
from flashscope.app.stepper.lane_state import WholeMatrices, stepped_alike
from flashscope.app.stepper.lanes import LaneKey
from flashscope.app.stepper.lock_step import OTHER, LockStep, beside, is_beside, under
from flashscope.app.stepper.step_view import StepView
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import PlainLabel, escaped
from flashscope.app.widgets.term_label import TermFormula
from flashscope.app.words.inside.tracing import MEMORIES
from flashscope.app.words.plain import unbroken
from flashscope.app.words.units import bytes_text
from flashscope.kernels.workload.trace import Trace

KEYS: tuple[LaneKey, ...] = ("standard", "flash1", "flash2")
GAP = 8  # pixels
SIDE_BY_SIDE = 860  # pixels that three lanes need
LEAST = 256, 300  # pixels of a lane off a stage
MODEL = "Bytes are a model: by tile, caches ignored."
FAILED = "The trace of the other loop order could not be recorded: its m, ℓ and O are missing here."


class LanesBoard(ModeBoard):
    """Three lanes under a sentence.

    Attributes:
        panels: One a lane.
        said: What the lanes have moved, in a sentence.
        sources: What is computed and what is a model.
    """

    narrowest = 290  # a lane: the others go under it

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.panels = tuple(LanePanel(theme, key) for key in KEYS)
        self.said, self.sources = PlainLabel(wordWrap=True), PlainLabel(wordWrap=True)
        self.sources.setProperty("role", "dim")
        for label in (self.said, self.sources):
            label.setMinimumWidth(1)
        self._cards = [_card(panel) for panel in self.panels]
        self._story: LockStep | None = None
        self._limit: int | None = None
        self._traces: Sequence[Trace] = ()
        self.told = ""
        self._staged = False
        self._missing = False  # the trace beside could not be recorded
        self._lay_out()

    @property
    def cards(self) -> Sequence[Card]:
        """One a lane."""
        return self._cards

    @property
    def shown(self) -> Sequence[QWidget]:
        """Any of them may fill a stage."""
        return self._cards

    def show_view(self, view: StepView) -> None:
        """Move all lanes to a step."""
        if not isinstance(view.story, LockStep):
            raise TypeError("Lanes walk a trace in lock-step")
        if view.story is not self._story:
            self._begin(view.story)
        for panel, card in zip(self.panels, self._cards, strict=True):
            panel.show_view(view)
            card.set_unit(escaped(panel.does(view) if self._staged else panel.activity(view)))
        self.said.setText(unbroken(self._told(view.story, view.cursor.at)))

    def words(self) -> str:
        """The sentence, each lane, and what is a model."""
        lanes = (panel.accessibleDescription() for panel in self.panels)
        return "\n".join((self.said.text(), *lanes, self.sources.text()))

    def apply_theme(self, theme: Theme) -> None:
        """Repaint every lane in other colours."""
        for panel in self.panels:
            panel.apply_theme(theme)

    def take_limit(self, nbytes: int | None) -> None:
        """Draw what is on the chip of a GPU against this much room."""
        self._limit = nbytes
        self._set_around()

    def offer_traces(self, traces: Sequence[Trace]) -> None:
        """Take the trace beside the one on show from these where it is among them."""
        self._traces = traces

    def take_beside(self, trace: Trace | None) -> None:
        """Let the lane that has waited for its trace show its state."""
        story = self._story
        if story is None:
            return
        shown = story.recording.trace
        if trace is not None and is_beside(shown, trace):
            recording = under(shown, trace)
            self._panel(recording.order).take_story(stepped_alike(recording))
        self._missing = trace is None
        self._say_sources()
        for panel in self.panels:
            if trace is None:
                panel.give_up()
            if panel.view is not None:
                panel.show_view(panel.view)

    def sentence(self, view: StepView) -> str:
        """What standard and flash2 have moved; where S or P passes stands in the lane."""
        return view.story.short_sentence(view.cursor.at) if isinstance(view.story, LockStep) else ""

    def take_stage(self, panels: Sequence[str]) -> None:
        """Have the stage say what the labels say here."""
        del panels
        self._take_stage(on=True)

    def leave_stage(self) -> None:
        """Say it here again."""
        self._take_stage(on=False)
        self.fill_with(None)

    def fill_with(self, card: QWidget | None) -> None:
        """Let one lane have all the room; None: all share it."""
        for one in self._cards:
            one.setVisible(card is None or one is card)

    def _arrange(self) -> None:
        """Put the lanes under one another where they have no room side by side."""
        wide = self._staged or self.width() >= px(SIDE_BY_SIDE)
        for panel in self.panels:
            panel.setMinimumSize(*map(px, LEAST))
        way = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if self._row.direction() != way:
            self._row.setDirection(way)

    def _lay_out(self) -> None:
        self._row = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._row.setSpacing(GAP)
        for card in self._cards:
            self._row.addWidget(card, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(self.said)
        column.addLayout(self._row, 1)
        column.addWidget(self.sources)
        keep(self, self._arrange)

    def _take_stage(self, *, on: bool) -> None:
        self._staged = on
        self.said.setVisible(not on)
        self.sources.setVisible(not on)
        self._arrange()
        view = self.panels[0].view
        if view is not None:
            self.show_view(view)

    def _begin(self, story: LockStep) -> None:
        """Take up another trace: its own lane, whole S and P, and the trace beside it.

        The same one again, as after another mode, keeps what it has.
        """
        recording, before = story.recording, self._story
        self._story, self._missing = story, False
        if before is not None and before.recording is recording:
            self._panel(recording.order).take_story(story)
            if self._panel(OTHER[recording.order]).story is None:
                self._find_beside(story)
            return
        whole = WholeMatrices.of(recording)
        standard = self._panel("standard")
        standard.whole, standard.memory.pictures = whole, Pictures.of(whole)
        for panel in self.panels:
            panel.take_story(story if panel.key == recording.order else None)
        self._set_around()
        self._find_beside(story)
        self._say_sources()

    def _find_beside(self, story: LockStep) -> None:
        """Take the trace beside from the session on show, or have it recorded."""
        trace = story.recording.trace
        for one in self._traces:
            if is_beside(trace, one) and self._walks(story, one):
                recording = under(trace, one)
                self._panel(recording.order).take_story(stepped_alike(recording))
                return
        self.beside_wanted.emit(beside(trace))

    @staticmethod
    def _walks(story: LockStep, trace: Trace) -> bool:
        """Whether a recorded trace goes through the tiles in the order of its lane."""
        walk = story.lanes[trace.request.order].walk
        return bool(np.array_equal(trace.tile.numpy(), walk.tile))

    def _panel(self, key: str) -> LanePanel:
        return next(panel for panel in self.panels if panel.key == key)

    def _set_around(self) -> None:
        """Name the memories of the device that the trace is of."""
        backend = self._story.recording.request.backend if self._story is not None else "cpu"
        memory, chip = MEMORIES[backend]
        known, hopper = self._limit, f"{bytes_text(HOPPER_SHARED_BYTES)} (Hopper)"
        room = "" if backend == "cpu" else hopper if known is None else bytes_text(known)
        for panel in self.panels:
            panel.setting = Surroundings(memory, chip, room)
            panel.update()

    def _told(self, story: LockStep, at: int) -> str:
        passing = story.remark(at, self.panels[0].setting.memory)
        return " ".join(filter(None, (passing, story.sentence(at))))

    def _say_sources(self) -> None:
        """Say where the state of each lane is from."""
        if self._story is None:
            return
        trace = self._story.recording.trace
        told = [f"standard’s S, P and O from S of the trace on show ({trace.device})"]
        for panel in self.panels[1:]:
            if panel.story is not None:
                shown = panel.story.recording.trace
                kernel = shown.request.kernel
                of = f"the trace of {kernel}" if kernel not in {"", panel.key} else "its trace"
                told.append(f"{panel.key} from {of} ({shown.device})")
        if self._missing:
            told.append(FAILED)
        self.sources.setText(f"{MODEL} Computed: {'; '.join(told)}.")


def _card(panel: LanePanel) -> Card:
    card = Card(panel.key, "…", label=TermFormula)
    card.body.addWidget(panel, 1)
    return card
