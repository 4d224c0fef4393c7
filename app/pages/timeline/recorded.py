"""The empty Timeline: what it would show, and the ways to have it, recorded here or with the program."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtWidgets import QPushButton

from flashscope.app.control.bundled import clocked_recording, cpu_clocked_recording, inside_recording
from flashscope.app.pages.timeline.record_bar import RECORD
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.empty_view import EmptyView
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.inside.timelines import NEEDS, NOTHING_YET


class BundledTimelines(NamedTuple):
    """Timelines that come with the program.

    Attributes:
        key: Of the action that opens them.
        text: What the button says.
        title: What the action is called.
        tip: What they are of.
        kernels: Which of its timelines are shown first, side by side.
        find: Their file; None: this copy has none.
    """

    key: str
    text: str
    title: str
    tip: str
    kernels: Sequence[str]
    find: Callable[[], Path | None]


RECORDED: Sequence[BundledTimelines] = (
    BundledTimelines(
        "recorded",
        "Open recorded: flash2 beside flash3 on an H200",
        "Open recorded timelines: flash2 beside flash3 on an H200",
        "flash2 beside flash3 at N = 1k, flash3 causal at N = 2k and decoding, and both backward passes, on "
        "an H200; they come with the program",
        ("flash2", "flash3"),
        inside_recording,
    ),
    BundledTimelines(
        "recorded-steps",
        "Open recorded: flash3-a beside flash3 on an H200",
        "Open recorded timelines: flash3-a beside flash3 on an H200",
        "flash3-a beside flash3 at N = 2k, flash1 beside flash2 at N = 1k, causal, backward and decoding, on "
        "an H200; they come with the program",
        ("flash3-a", "flash3"),
        clocked_recording,
    ),
    BundledTimelines(
        "recorded-cpu",
        "Open recorded: flash1 beside flash2 on a CPU",
        "Open recorded timelines: flash1 beside flash2 on a CPU",
        "flash1 beside flash2 at N = 1k on a CPU; they come with the program",
        ("flash1", "flash2"),
        cpu_clocked_recording,
    ),
)


class EmptyTimelines(EmptyView):
    """Words and the ways on where there is no timeline.

    Attributes:
        record: Records one here.
        recorded: A button for each of `RECORDED`, hidden where this copy has none.

    Args:
        ask: Records one.
        show: Opens one of `RECORDED`.
    """

    def __init__(self, ask: Callable[[], None], show: Callable[[BundledTimelines], None]) -> None:
        super().__init__(NOTHING_YET, NEEDS)
        record = text_button("Record a timeline", "Record a timeline", ask, "primary")
        self.record = does(record, RECORD)
        self.recorded = [_opening(one, show) for one in RECORDED]
        self.add(self.record, *self.recorded)
        for button, one in zip(self.recorded, RECORDED, strict=True):
            button.setHidden(one.find() is None)  # shown before it had a place it was a window


def _opening(one: BundledTimelines, show: Callable[[BundledTimelines], None]) -> QPushButton:
    button = does(text_button(one.text, one.title, partial(show, one)), f"timeline.{one.key}")
    set_tip(button, one.tip)
    return button
