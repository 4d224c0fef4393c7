"""Two versions side by side: what their figures say, the figures, and what lies between their sources."""

import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QPushButton

from flashscope.app.control.chores import Chores
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.compare.table import ListTable
from flashscope.app.pages.ladder.board import LadderBoard
from flashscope.app.pages.ladder.source_diff import SourceDiff, diff_of
from flashscope.app.pages.watch.columns import CHANGE_WIDTHS, change_columns
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.own.versions import changes_sentence, doubts_of, version_lines
from flashscope.app.words.own.watching import ALONE, SAME_SOURCES
from flashscope.kernels.cuda.reading.step import StepSource
from flashscope.kernels.own.files import PYTHON
from flashscope.profiles.watching.versions import CellChange, Version, changes

FIGURES_PX = 64  # a heading and a row
LEAST_PX = 84
_LINE = re.compile(r", line (\d+)|in line (\d+):")


class Compared(NamedTuple):
    """What is shown of two versions, or of one.

    Attributes:
        versions: These, the older first.
        found: Their figures on each problem; none of one version.
        sources: Their sources.
    """

    versions: tuple[Version, ...]
    found: Sequence[CellChange]
    sources: SourceDiff


class SideBySide(Card):
    """A sentence, why a version is not right or doubtful, a line of figures, and two columns of source.

    Attributes:
        shown: What is on show; None: nothing is.
        whole: Whether all lines are shown, not those around a change alone.
        open_button: Leads to the session of the newer one.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__("Side by side")
        self.shown: Compared | None = None
        self.sentence = PlainLabel(wordWrap=True)
        self.sentence.setProperty("role", "title")
        self.sentence.setAccessibleName("What the figures say")
        self.reason = PlainLabel(wordWrap=True)
        self.reason.setProperty("role", "error")
        self.reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.doubts = PlainLabel(wordWrap=True)
        self.doubts.setProperty("role", "dim")
        self.doubts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.figures = ListTable("Figures side by side", change_columns(), CHANGE_WIDTHS, spread=True)
        self.figures.setSortingEnabled(False)
        keep(self.figures, self.figures.setFixedHeight, FIGURES_PX)
        self.whole = QCheckBox("Whole source")
        set_tip(self.whole, "All lines, not those around a change alone (W)")
        self.open_button = does(QPushButton("Open its session"), "watch.open")
        self.open_button.setProperty("role", "link")
        self.board = LadderBoard(theme)
        keep(self.board, self.board.setMinimumHeight, LEAST_PX)
        self._wanted: tuple[tuple[Version, ...], str] | None = None
        self._chores = Chores(self)
        self.header.addWidget(self.whole)
        self.header.addWidget(self.open_button)
        for part in (self.sentence, self.reason, self.doubts, self.figures):
            self.body.addWidget(part)
        self.body.addWidget(self.board, 1)
        self.whole.toggled.connect(lambda _on: self._draw_sources())

    def show_versions(self, versions: tuple[Version, ...], file: str) -> None:
        """Show two versions of a file, the older first, or one; it takes a moment."""
        wanted = versions, file
        if wanted != self._wanted:
            self._wanted = wanted
            self._chores.do_instead(partial(compared, versions, file), partial(self._take, wanted))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self.board.apply_theme(theme)

    def close_down(self) -> None:
        """Wait for what is being worked out."""
        self._chores.wait()

    def _take(self, wanted: tuple[tuple[Version, ...], str], found: Compared) -> None:
        if wanted != self._wanted:
            return  # others were chosen meanwhile
        self.shown = found
        newer = found.versions[-1]
        self.set_title(" beside ".join(f"v{one.number}" for one in reversed(found.versions)))
        self.sentence.setText(_sentence(found))
        doubted = [(one, "; ".join(doubts_of(one))) for one in found.versions]
        _tell(self.reason, [(one, one.reason) for one in found.versions])
        _tell(self.doubts, doubted)
        self.figures.list.set_rows(found.found)
        self.figures.setVisible(bool(found.found))
        self.open_button.setVisible(bool(newer.cells))
        self._draw_sources()

    def _draw_sources(self) -> None:
        if self.shown is not None:
            single = len(self.shown.versions) == 1
            marked = lines_of(self.shown.versions[-1].reason) if single else ()
            self.board.show_reading(self.shown.sources, whole=self.whole.isChecked(), marked=marked)


def _tell(label: PlainLabel, told: Sequence[tuple[Version, str]]) -> None:
    """A line for each version of which something is told; without any no label."""
    label.setText("\n".join(f"v{one.number}: {text}" for one, text in told if text))
    label.setVisible(bool(label.text()))


def compared(versions: tuple[Version, ...], file: str) -> Compared:
    """Work out what is to be shown of these versions of a file."""
    python = file.endswith(PYTHON)
    older, newer = (versions[0] if len(versions) > 1 else None), versions[-1]
    sources = diff_of(
        _source(older, file) if older else None,
        _source(newer, file),
        python=python,
        alike_words="with the same source",
    )
    return Compared(versions, changes(older, newer) if older else (), sources)


def lines_of(reason: str) -> tuple[str, ...]:
    """The lines of its file that a reason speaks of, as numbers."""
    return tuple(dict.fromkeys(one or other for one, other in _LINE.findall(reason)))


def _source(version: Version, file: str) -> StepSource:
    return StepSource(f"v{version.number}", file, f"v{version.number}: {file}", version.source)


def _sentence(shown: Compared) -> str:
    *before, newer = shown.versions
    if not before:
        if not newer.right:
            return f"v{newer.number} is {newer.verdict}."
        return ALONE.format(newer.number) if newer.number == 1 else f"{version_lines(newer)[0]}."
    same = [] if shown.sources.hunks else [SAME_SOURCES]
    return " ".join((changes_sentence(before[0], newer, shown.found), *same))
