"""What the Stepper says while a trace is recorded, waits or cannot be had."""

from typing import Protocol

from flashscope.app.pages.stepper.options_bar import OptionsBar
from flashscope.app.pages.stepper.player import Player
from flashscope.app.pages.stepper.tracing import Tracing
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.inside.tracing import NO_TRACE_YET


class Speaking(Protocol):
    """What walks through a trace.

    Attributes:
        bar: What is traced.
        message: Stands where there is no trace yet.
        player: Moves on by itself.
        story: What is walked through, None before the first trace.
    """

    bar: OptionsBar
    message: PlainLabel
    player: Player
    story: SteppedTrace | None

    def show_as_before(self) -> None:
        """Show again what was there."""

    def show_choice(self) -> None:
        """Let the bar describe what is on show."""


class Telling:
    """Says it in the place of a trace, or beside the one on show.

    Attributes:
        next: Names the trace that waits for the end of the sweep.

    Args:
        page: Where it is said.
        tracing: Tells what becomes of a trace.
    """

    def __init__(self, page: Speaking, tracing: Tracing) -> None:
        self.next = ""
        self._page, self._tracing = page, tracing
        tracing.begun.connect(self._begin)
        tracing.held_back.connect(self._wait)
        tracing.failed.connect(self._give_up)

    def say(self, text: str, role: str = "dim") -> None:
        """Say something: where a trace will be, or at the end of the bar."""
        if self._page.story is None:
            self._page.message.setText(text)
        else:
            self._page.bar.show_result(text, role)

    def _begin(self) -> None:
        self._page.player.set_playing(False)
        wanted = self._tracing.wanted
        self.say(
            f"Recording the trace on {'the GPU' if wanted and wanted.backend == 'cuda' else 'the CPU'} …"
        )

    def _wait(self) -> None:
        """Stay with what is on show; the trace that waits is named."""
        page = self._page
        self.next = f"Next: {page.bar.preset.currentText()} on the GPU, when the sweep has ended"
        self.say(f"{self.next}. Choose CPU above to have it now." if page.story is None else self.next)
        page.show_choice()

    def _give_up(self) -> None:
        """Show again what was there: the message line says why nothing else is."""
        self._page.message.setText(NO_TRACE_YET)
        self._page.show_as_before()
