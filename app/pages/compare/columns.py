"""The columns of the pairs and of the points without a partner."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from PySide6.QtGui import QIcon

from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.look.theme import Theme
from flashscope.app.pages.compare.findings import Alone, Findings
from flashscope.app.pages.compare.list_model import ListColumn
from flashscope.app.plots.compare.tones import tone_colour
from flashscope.app.plots.marks import mark_icon
from flashscope.app.widgets.row_table import Raw
from flashscope.app.words.glossary import line_of
from flashscope.app.words.kinds import words_of
from flashscope.app.words.results.pairs import lone_text
from flashscope.app.words.results.verdicts import interval_text, pair_ratio_text, spoken, verdict_reason
from flashscope.app.words.units import thousands
from flashscope.profiles.results.compare import Pair
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.wire.measurement import Figure

ABSENT = "–"
Numbered = tuple[int, Pair]
Take = Callable[[Pair], Figure | None]
PairColumn = ListColumn[Numbered]


class PairTableContext(NamedTuple):
    """What the tables write about: read anew by every cell, so that columns need not be made anew."""

    findings: Callable[[], Findings]
    theme: Callable[[], Theme]


def pair_columns(shown: PairTableContext) -> list[PairColumn]:
    """Session, which point, both figures, the ratio and what it means."""

    def figure(row: Numbered, take: Take) -> str:
        value = _value(take(row[1]))
        return ABSENT if value is None else words_of(shown.findings().comparison.quantity).text(value)

    def tip(row: Numbered) -> str:
        return verdict_reason(row[1])

    def number(title: str, raw: Callable[[Pair], Raw], text: Callable[[Numbered], str]) -> PairColumn:
        return ListColumn(title, lambda row: raw(row[1]), text, right=True, tip=tip)

    def side(title: str, take: Take) -> PairColumn:
        return number(title, lambda pair: _value(take(pair)), lambda row: figure(row, take))

    return [
        ListColumn("session", lambda row: _name(shown.findings(), row[0]), middle=True),
        ListColumn(
            "kernel",
            lambda row: row[1].kernel,
            tip=lambda row: line_of(row[1].kernel),
            icon=lambda row: _icon(row[1].kernel, shown.theme()),
        ),
        ListColumn("problem", lambda row: _problem(shown.findings(), row[1].base)),
        number("N", lambda pair: pair.base.seqlen, lambda row: thousands(row[1].base.seqlen)),
        side("baseline", lambda pair: pair.base_figure),
        side("here", lambda pair: pair.other_figure),
        number("ratio", lambda pair: pair.ratio, lambda row: pair_ratio_text(row[1].ratio) or ABSENT),
        number("95% interval", lambda pair: pair.ratio_low, lambda row: interval_text(row[1]) or ABSENT),
        ListColumn(
            "verdict",
            lambda row: spoken(row[1]).word,
            lambda row: "{0.glyph} {0.word}".format(spoken(row[1])),
            tip=tip,
            colour=lambda row: tone_colour(spoken(row[1]).tone, shown.theme()),
        ),
    ]


def alone_columns(shown: PairTableContext) -> list[ListColumn[Alone]]:
    """Whose point, which one, and what is nearest to it in the other session."""

    def session(title: str, number: Callable[[Alone], int]) -> ListColumn[Alone]:
        def name(row: Alone) -> str:
            return _name(shown.findings(), number(row))

        return ListColumn(title, name, middle=True, tip=name)

    def icon(row: Alone) -> QIcon:
        return _icon(row.lone.row.kernel, shown.theme())

    return [
        session("only in", lambda row: row.session),
        session("not in", lambda row: row.beside),
        ListColumn(
            "kernel", lambda row: row.lone.row.kernel, tip=lambda row: line_of(row.lone.row.kernel), icon=icon
        ),
        ListColumn("problem", lambda row: _problem(shown.findings(), row.lone.row)),
        ListColumn(
            "N", lambda row: row.lone.row.seqlen, lambda row: thousands(row.lone.row.seqlen), right=True
        ),
        ListColumn("status", lambda row: STATUS_MARKS[row.lone.row.status].word),
        ListColumn("why", _nearest, tip=_nearest),
    ]


def _nearest(row: Alone) -> str:
    return lone_text(row.lone)


def _name(findings: Findings, session: int) -> str:
    return findings.members[session].name


def _problem(findings: Findings, row: PointRow) -> str:
    return findings.curves[row.problem].label


def _value(figure: Figure | None) -> float | None:
    return None if figure is None else figure.value


@cache
def _icon(kernel: str, theme: Theme) -> QIcon:
    return mark_icon(kernel, theme)
