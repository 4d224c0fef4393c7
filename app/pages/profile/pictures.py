"""Pictures of a session for slides: one plot over N, or the four of the page, on no screen."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QWidget

from flashscope.app.control.chores import at_once
from flashscope.app.look.picture import PictureOptions
from flashscope.app.look.theme import THEMES, Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.pages.profile.four_plots import CELLS
from flashscope.app.plots.export.contents import Export
from flashscope.app.plots.export.picture import WRITERS
from flashscope.app.plots.sweep.sweep_card import SweepCard
from flashscope.app.words.plain import cut_short
from flashscope.app.words.results.headline import headline_text
from flashscope.app.words.results.provenance import Provenance
from flashscope.app.words.version import own_version
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.results.findings.headline import of_curve
from flashscope.profiles.results.model.curves import Curve, by_curve
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import QUANTITIES, favoured_baseline

CLEAR = "#00000000"
CELL = (560, 310)  # pixels of each of several plots


def session_picture(kind: str, session: Session, source: Provenance, look: PictureOptions) -> bytes:
    """The picture as a file of that kind, `svg` or `png`; it turns the zoom, so no window may be there.

    Raises:
        InputError: There are no such problems in the session.
    """
    curve, members = _curve(by_curve(rows(session)), look.curve)
    theme = THEMES[look.theme]
    theme = replace(theme, panel=CLEAR) if look.transparent else theme
    keys = [look.plot] if look.plot else [quantity.key for quantity in CELLS]
    told = {"source": f"{source.badge} · Flashscope {own_version()}"}
    with _zoomed(look.scale if kind == "png" else 1), _nowhere() as place:
        cards = [_card(key, session, members, theme, place) for key in keys]
        place.show()
        for card in cards:
            card.plot.grab()  # an axis knows how high its labels are once it has been painted
            card.plot.plotItem.layout.activate()
        export = _together(cards, session, curve, members)
        whole = replace(export, badge=source.badge, provenance={**told, **export.provenance}, scale=1)
        return at_once(WRITERS[kind](whole))()


@contextmanager
def _zoomed(factor: int) -> Iterator[None]:
    """Make what is made meanwhile as large as that, so that lines and symbols are drawn that fine."""
    before, ZOOM.factor = ZOOM.factor, factor
    try:
        yield
    finally:
        ZOOM.factor = before


@contextmanager
def _nowhere() -> Iterator[QWidget]:
    """A place for widgets on no screen, which goes with them."""
    place = QWidget()
    place.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    try:
        yield place
    finally:
        place.close()
        place.deleteLater()


def _together(
    cards: Sequence[SweepCard], session: Session, curve: Curve, members: Sequence[PointRow]
) -> Export:
    """What is drawn: a plot alone under its title, or several under the session's name."""
    exports = [export for card in cards if (export := card.make_export()) is not None]
    if len(exports) == 1:
        return exports[0]
    return replace(
        exports[0],
        title=f"{session.name or session.started_at[:10]}: {curve.label}",
        headline=headline_text(of_curve(session, members)),
        plots=[card.plot for card in cards],
        heads=[export.title for export in exports],
        across=2,
        least=QSize(*map(px, CELL)),
    )


def _curve(curves: Mapping[Curve, Sequence[PointRow]], label: str) -> tuple[Curve, Sequence[PointRow]]:
    """The curve of that label, or the first."""
    if not curves:
        raise InputError("the session has no points to draw; html and the window show what it holds")
    for curve, members in curves.items():
        if label in {"", curve.label}:
            return curve, members
    there = "; ".join(cut_short(curve.label) for curve in curves)
    raise InputError(f"there is no curve {label!r} in the session, only: {there}")


def _card(key: str, session: Session, members: Sequence[PointRow], theme: Theme, place: QWidget) -> SweepCard:
    """A plot in its place, which is on no screen."""
    card = SweepCard(QUANTITIES[key], theme)
    card.setParent(place)
    card.resize(0, 0)  # the picture says how large its plots are
    baseline = favoured_baseline(session.plan.kernels)
    card.show_rows(session, members, baseline)
    told = of_curve(session, members)
    card.show_hero(told.kernel if told is not None else "")
    card.plot.show_hint("")
    return card
