"""What a plot over N shows is of its quantity alone, whatever it showed before."""

from collections.abc import Sequence
from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from flashscope.app.look.theme import DARK
from flashscope.app.plots.sweep.sweep_card import SweepCard
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import FOOTPRINT, RUNTIME, SPEEDUP, THROUGHPUT
from tests.app.fakes import sweep
from tests.matrix import in_rounds
from tests.profiles.sessions import session_of

IN_FLIGHT = {
    "footprint": 9e6,
    "runtime": 4e4,
    "speed-up": 30.0,
    "throughput": 200.0,
}  # far off what is measured
SESSIONS = [session_of(sweep(points=points)) for points in (1, 3)] + [session_of(sweep())]
Act = Quantity | Session | bool | str
QUANTITIES = FOOTPRINT, RUNTIME, SPEEDUP, THROUGHPUT
acts = st.lists(
    st.sampled_from([*QUANTITIES, *SESSIONS, True, False, "still", "log"]),
    max_size=8,
)


def do(card: SweepCard, act: Act) -> None:
    """Show another quantity or session, begin or end a point (True or False), or go on and off a stage."""
    if isinstance(act, Quantity):
        card.set_quantity(act)
    elif isinstance(act, Session):
        card.show_rows(act, rows(act), "standard")
    elif isinstance(act, bool):
        card.show_flight({(512, "flash2"): IN_FLIGHT[card.quantity.key]} if act else {})
    elif act == "log":
        card.plot.toggle_log()
    else:
        card.plot.hold_still(True)
        card.plot.hold_still(False)


def ranges_after(done: Sequence[Act], quantity: Quantity) -> object:
    """What the axes show of a quantity of the whole sweep after all of this, once nothing is in flight."""
    card = SweepCard(FOOTPRINT, DARK)
    for act in (*done, quantity, SESSIONS[-1], False):
        do(card, act)
    shown = card.plot.viewRange()
    card.close()
    card.deleteLater()
    return shown


@pytest.mark.parametrize("width", [120.0, 180.0, 260.0, 600.0])
def test_the_length_at_the_crosshair_has_a_label_on_a_stage_however_few_fit(
    qapp: QApplication, width: float
) -> None:
    lengths = [2**k for k in range(9, 19)]
    plot = SweepCard(RUNTIME, DARK).plot
    axis = plot._x_axis
    axis.set_seqlens(lengths)
    plot.hold_still(True)
    alone = axis.tickValues(7.0, 20.0, width)[0][1]
    for seqlen in lengths:
        plot.set_cursor_at(seqlen)
        ((_, places),) = axis.tickValues(7.0, 20.0, width)
        assert log2(seqlen) in places
        assert places == sorted(set(places))
        assert len(places) >= len(alone) - 1
    plot.hold_still(False)
    assert axis.tickValues(7.0, 20.0, width)[0][1] == alone, "off a stage labels stay where they are"


@pytest.mark.matrix
@in_rounds(4)
@settings(max_examples=20)
@given(done=acts, quantity=st.sampled_from(QUANTITIES))
def test_no_range_outlives_its_quantity(
    turn: int, qapp: QApplication, done: list[Act], quantity: Quantity
) -> None:
    assert qapp
    assert ranges_after(done, quantity) == ranges_after([], quantity)


def test_a_value_in_flight_is_of_the_quantity_on_show(qapp: QApplication) -> None:
    assert qapp
    card = SweepCard(FOOTPRINT, DARK)
    for act in (SESSIONS[0], True, THROUGHPUT, SESSIONS[-1]):
        do(card, act)
    assert card.plot.viewRange() == ranges_after([], THROUGHPUT)
