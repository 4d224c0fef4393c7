"""The table of passes on several ranks: the columns of what `ranks` prints, but for what the box says."""

from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from flashscope.app.pages.compare.list_model import ListColumn
from flashscope.app.words.figures import NOTHING
from flashscope.app.words.glossary import line_of
from flashscope.app.words.ranks import HEADINGS, pass_cells, percent_text, points_text
from flashscope.profiles.results.model.ranks import (
    ModelledPass,
    RanksPass,
    efficiency_of,
    exposed_of,
    held_of,
)
from flashscope.profiles.wire.ranks import PassMeasured

WIDTHS = (92, 66, 78, 78, 78, 116, 108, 78, 86, 96, 118, 166)
MODEL = 5  # the column of the model


class PassRow(NamedTuple):
    """A pass, and the model of it where there is one."""

    told: RanksPass
    beside: ModelledPass | None


def pass_columns() -> Sequence[ListColumn[PassRow]]:
    """A column for each heading, sorted by figures."""
    return (
        ListColumn("scheme", lambda row: row.told.asked.scheme),
        ListColumn("N", lambda row: row.told.asked.problem.seqlen, _cell("N"), right=True),
        _figure("runtime", lambda one: median(one.ms)),
        _figure("alone", lambda one: median(one.alone_ms) if one.alone_ms else None),
        _figure("efficiency", efficiency_of),
        ListColumn("model", _model, _model_text, right=True, tip=_model_tip),
        _figure("limit of the mask", lambda one: one.limit),
        _figure("transfer", lambda one: max(rank.transfer_ms for rank in one.ranks)),
        _figure("exposed", exposed_of),
        _figure("sent by a rank", lambda one: max(rank.sent_bytes for rank in one.ranks)),
        _figure("memory of a rank", held_of),
        ListColumn("errors", _used, _judged_text, tip=lambda _row: line_of("share of what passes")),
    )


def _figure(title: str, raw: Callable[[PassMeasured], float | None]) -> ListColumn[PassRow]:
    return ListColumn(title, lambda row: raw(row.told.measured), _cell(title), right=True)


def _cell(title: str) -> Callable[[PassRow], str]:
    place = HEADINGS.index(title)
    return lambda row: pass_cells(*row.told)[place]


def _judged_text(row: PassRow) -> str:
    """Whether it is right, and what of its errors' bounds it uses."""
    return ", ".join(pass_cells(*row.told)[-2:])


def _used(row: PassRow) -> float:
    return max(error.used for error in row.told.measured.errors)


def _model(row: PassRow) -> float | None:
    return None if row.beside is None else row.beside.found.efficiency


def _model_text(row: PassRow) -> str:
    """The model's efficiency, and how far what was measured is off it."""
    one = row.beside
    if one is None:
        return NOTHING
    return f"{percent_text(one.found.efficiency)} ({points_text(one.off)})"


def _model_tip(row: PassRow) -> str:
    if row.beside is None:
        return ""
    fewer = len(row.beside.base.measured.ranks)
    return f"From the rates on {fewer} GPUs; in brackets, in percentage points, what was measured less that."
