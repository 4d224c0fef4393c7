"""The columns of the strip of versions, and of two versions' figures side by side."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtGui import QIcon

from flashscope.app.control.own.watch import OwnWatch, ToldVersion
from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.look.theme import Theme
from flashscope.app.pages.compare.list_model import ListColumn
from flashscope.app.plots.status_marks import status_icon
from flashscope.app.words.own.versions import (
    HEADINGS,
    change_texts,
    commit_parts,
    doubts_of,
    times_text,
    version_lines,
)
from flashscope.app.words.own.watching import STAGE_WORDS, VersionStage, ratio_cells
from flashscope.profiles.watching.versions import RIGHT, CellChange, Version
from flashscope.profiles.watching.watching import InFlight

WIDTHS = (60, 84, 110, 84, 160, 214, 206, 150)
CHANGE_WIDTHS = (64, 110, 110, 130, 150)
GLYPHS = {RIGHT: "done", "unreadable": "failed"}
STAGE_GLYPHS: dict[VersionStage, str] = {"waits": "pending", "checked": "running", "timed": "running"}


class VersionRow(NamedTuple):
    """A version in the strip.

    Attributes:
        number: Of the version.
        told: What became of it; None: it has not ended.
        stage: How far it is then.
    """

    number: int
    told: ToldVersion | None
    stage: VersionStage = "waits"

    @property
    def version(self) -> Version | None:
        """The version, once it has ended."""
        return self.told.version if self.told else None


def version_rows(watch: OwnWatch) -> list[VersionRow]:
    """A row for each save, in their order."""
    found = [VersionRow(one.version.number, one) for one in watch.told]
    if watch.in_flight is not None:
        found.append(VersionRow(watch.in_flight.number, None, _stage(watch.in_flight)))
    if watch.waiting is not None:
        found.append(VersionRow(watch.waiting.number, None, "waits"))
    return sorted(found, key=lambda row: row.number)


def _stage(flying: InFlight) -> VersionStage:
    return "timed" if flying.checked else "checked"


def version_columns(theme: Callable[[], Theme]) -> Sequence[ListColumn[VersionRow]]:
    """The columns; the theme is that in use when a cell is drawn."""

    def icon(row: VersionRow) -> QIcon:
        version = row.version
        glyph = STAGE_GLYPHS[row.stage] if version is None else GLYPHS.get(version.verdict, version.verdict)
        known = glyph if glyph in STATUS_MARKS else "failed"
        return status_icon(known, colour(row) or theme().text, theme().on_accent)

    def colour(row: VersionRow) -> str:
        version = row.version
        if version is None or version.verdict == "cancelled":
            return theme().dim
        return theme().ok if version.right else theme().error

    return (
        ListColumn("version", lambda row: row.number, lambda row: f"v{row.number}", tip=_tip),
        ListColumn("saved at", _saved_at, tip=_tip),
        ListColumn("verdict", _verdict, icon=icon, colour=colour, tip=_tip),
        ListColumn("verdict after", _after, _after_text, right=True, tip=_tip),
        ListColumn("runtime", _median, _times, tip=_tip),
        ListColumn("as fast as the one before", lambda row: _ratio(row, 0), tip=_tip),
        ListColumn("as fast as the peer", lambda row: _ratio(row, 1), tip=_tip),
        ListColumn("why", _why, tip=_tip),
    )


def change_columns() -> Sequence[ListColumn[CellChange]]:
    """What `versions --between` prints of two versions, a column each."""

    def column(place: int) -> ListColumn[CellChange]:
        return ListColumn(HEADINGS[place], lambda change: change_texts(change)[place])

    return tuple(map(column, range(len(HEADINGS))))


def _saved_at(row: VersionRow) -> str:
    return row.version.saved_at[11:19] if row.version else ""


def _verdict(row: VersionRow) -> str:
    return row.version.verdict if row.version else STAGE_WORDS[row.stage]


def _after(row: VersionRow) -> float | None:
    return row.told.timing.verdict_s if row.told else None


def _after_text(row: VersionRow) -> str:
    return f"{row.told.timing.verdict_s:.1f} s" if row.told else ""


def _median(row: VersionRow) -> float | None:
    cells = row.version.cells if row.version else ()
    return next((cell.times.median for cell in cells if cell.times and cell.status == "done"), None)


def _times(row: VersionRow) -> str:
    cells = row.version.cells if row.version else ()
    return "; ".join(times_text(cell.times) for cell in cells if cell.times and cell.status == "done")


def _ratio(row: VersionRow, which: int) -> str:
    return ratio_cells(row.version)[which] if row.version else ""


def _why(row: VersionRow) -> str:
    version = row.version
    if version is None:
        return ""
    return version.reason or "; ".join((*doubts_of(version), *commit_parts(version)))


def _tip(row: VersionRow) -> str:
    return "\n".join(version_lines(row.version)) if row.version else ""
