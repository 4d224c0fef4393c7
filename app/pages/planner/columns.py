"""The planner's table: a kernel a row."""

from collections.abc import Callable, Sequence

from flashscope.app.look.theme import Theme
from flashscope.app.pages.compare.list_model import ListColumn
from flashscope.app.plots.marks import mark_icon
from flashscope.app.words.glossary import with_line
from flashscope.app.words.learn.planning import (
    NOTHING,
    bound_text,
    forecast_error_text,
    forecast_tip,
    ledger_tip,
    time_text,
    tokens_text,
)
from flashscope.app.words.units import bytes_text
from flashscope.profiles.results.planner.ledger import Ledger
from flashscope.profiles.results.planner.outlook import Prospect

WIDTHS = (101, 84, 84, 84, 84, 84, 60, 107, 94, 100, 92, 194)
ProspectColumn = ListColumn[Prospect]


def prospect_columns(theme: Callable[[], Theme], layers: Callable[[], int]) -> Sequence[ProspectColumn]:
    """The columns, in the colours in use and for a model of so many layers."""
    return (
        ProspectColumn(
            "kernel",
            lambda one: one.kernel,
            tip=lambda one: with_line(one.kernel, one.reason),
            icon=lambda one: mark_icon(one.kernel, theme()),
        ),
        _held("attention", lambda held: held.attention),
        _held("S, P, state", lambda held: held.workspace.nbytes),
        _held("cache", lambda held: held.cache.nbytes),
        _held("weights", lambda held: held.weights.nbytes),
        _held("in all", lambda held: held.total),
        ProspectColumn(
            "fits",
            lambda one: one.fits if one.ledger else None,
            _fits,
            tip=lambda one: one.reason,
            colour=lambda one: (theme().ok if one.fits else theme().error) if one.ledger else "",
        ),
        ProspectColumn(
            "longest context",
            lambda one: one.longest.tokens if one.longest else None,
            lambda one: tokens_text(one.longest.tokens) if one.longest else NOTHING,
            right=True,
            tip=lambda one: one.reason or f"One token more does not fit: {bound_text(one)} take most",
        ),
        ProspectColumn("bound by", bound_text, tip=lambda one: one.reason),
        _forecast("forecast, layer", lambda: 1, layers),
        _forecast("forecast, all", layers, layers),
        ProspectColumn(
            "forecast's error",
            _relative_error,
            lambda one: forecast_error_text(one.forecast),
            right=True,
            tip=lambda one: forecast_tip(one, layers()),
        ),
    )


def _held(title: str, part: Callable[[Ledger], int]) -> ProspectColumn:
    def raw(one: Prospect) -> float | None:
        return part(one.ledger) if one.ledger else None

    def text(one: Prospect) -> str:
        return bytes_text(part(one.ledger)) if one.ledger else NOTHING

    return ProspectColumn(
        title, raw, text, right=True, tip=lambda one: ledger_tip(one.ledger) if one.ledger else one.reason
    )


def _forecast(title: str, count: Callable[[], int], layers: Callable[[], int]) -> ProspectColumn:
    return ProspectColumn(
        title,
        lambda one: one.forecast.ms if one.forecast else None,
        lambda one: time_text(one.forecast, count()),
        right=True,
        tip=lambda one: forecast_tip(one, layers()),
    )


def _fits(one: Prospect) -> str:
    if one.ledger is None:
        return NOTHING
    return "✓ fits" if one.fits else "× no"


def _relative_error(one: Prospect) -> float | None:
    told = one.forecast
    return told.high / told.ms if told is not None and told.high is not None else None
