"""Any quantity in any of the four plots."""

from collections.abc import Iterator, Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from flashscope.app.pages.profile.four_plots import CELLS
from flashscope.app.plots.sweep.quantity_list import GROUPS, IN_SIGHT, MORE, QuantityList
from flashscope.app.widgets.pick_list import ASIDE_ROLE
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.events import Event
from tests.app.bench import Bench
from tests.profiles.sessions import make_plan, script, session_of

Key = Qt.Key
FIRST = [quantity.key for quantity in CELLS]
TITLED = {quantity.title: quantity for quantity in QUANTITIES.values()}
EVENTS = script(make_plan(("standard", "flash2")))
RUNNING = script(make_plan(("standard", "flash2")), stop_before=3, in_flight=True)


@pytest.fixture
def unswept(shared_bench: Bench) -> Bench:
    """One page for the tests that run no sweep, each of which begins with the same four plots."""
    shared_bench.page.plots.show_quantities(FIRST)
    return shared_bench


def keys(bench: Bench) -> list[str]:
    return [card.quantity.key for card in bench.page.plots.cells]


def opened(bench: Bench, place: int) -> QuantityList:
    """The list of a plot, as a click on its title shows it."""
    chooser = bench.page.plots.cells[place].chooser
    chooser.menu().aboutToShow.emit()
    return chooser.quantities


def lines(offered: QuantityList) -> list[tuple[str, str]]:
    """What stands in the list, and the word at the right of it."""
    items = [offered.list.item(place) for place in range(offered.list.count())]
    return [(item.text(), item.data(ASIDE_ROLE)) for item in items]


def titles(offered: QuantityList) -> list[str]:
    return [text for text, _ in lines(offered)]


def press(offered: QuantityList, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(offered.query, key)


def pick(bench: Bench, place: int, title: str) -> None:
    """Open the list of a plot, type the name of a quantity and press Return."""
    offered = opened(bench, place)
    QTest.keyClicks(offered.query, title)
    press(offered, Key.Key_Return)


@pytest.mark.matrix
def test_the_main_quantities_of_five_groups_are_in_sight_and_the_rest_under_more(bench: Bench) -> None:
    offered = opened(bench, 1)
    assert lines(offered)[:2] == [("Time", ""), ("Runtime", "on show")]
    assert offered.list.currentRow() == 1
    in_sight = [title for title in titles(offered) if title not in (*GROUPS, MORE)]
    assert len(in_sight) == 10
    assert [title for title in titles(offered) if title in GROUPS] == list(GROUPS)
    offered.list.setCurrentRow(offered.list.count() - 1)
    press(offered, Key.Key_Return)
    assert sorted(titles(offered)) == sorted([*GROUPS, *(one.title for one in QUANTITIES.values())])
    for title, group in zip(titles(offered), groups_of(titles(offered)), strict=True):
        assert title in GROUPS or TITLED[title].group == group
    assert titles(opened(bench, 1))[-1] == MORE, "opened anew, the main ones are in sight"


def groups_of(told: list[str]) -> Iterator[str]:
    """The caption that each line stands under."""
    group = ""
    for title in told:
        group = title if title in GROUPS else group
        yield group


def test_a_quantity_that_is_on_show_is_in_sight_and_chosen(unswept: Bench) -> None:
    pick(unswept, 2, "Held back")
    offered = opened(unswept, 2)
    assert lines(offered)[offered.list.currentRow()] == ("Held back", "on show")
    assert unswept.page.plots.cells[2].chooser.accessibleName() == "Quantity of this plot: Held back"


def test_what_is_typed_is_found_in_every_group(unswept: Bench) -> None:
    offered = opened(unswept, 1)
    QTest.keyClicks(offered.query, "clock")
    assert lines(offered) == [("SM clock", "Device"), ("Sustained SM clock", "Device")]
    offered.query.setText("zzz")
    assert lines(offered) == [("Nothing found for “zzz”.", "")]
    press(offered, Key.Key_Return)
    assert keys(unswept)[1] == "runtime"


def test_the_arrows_pass_over_the_names_of_groups(unswept: Bench) -> None:
    offered = opened(unswept, 1)
    press(offered, *(4 * [Key.Key_Down]))
    assert titles(offered)[offered.list.currentRow()] == "Predicted footprint"
    press(offered, Key.Key_Up, Key.Key_Return)
    assert keys(unswept)[1] == "footprint"


def test_every_quantity_in_sight_is_one_that_there_is() -> None:
    assert set(IN_SIGHT) <= set(QUANTITIES)
    assert {QUANTITIES[key].group for key in IN_SIGHT} == set(GROUPS)


def test_a_chosen_quantity_is_drawn_read_out_and_remembered(bench: Bench) -> None:
    bench.sweep(EVENTS)
    with bench.qtbot.waitSignal(bench.page.plots.quantities_chosen) as chosen:
        pick(bench, 0, "SM clock")
    bench.drawn()
    assert keys(bench) == chosen.args[0] == ["sm_clock_mhz", "runtime", "speed-up", "throughput"]
    assert bench.page.plots.cards["sm_clock_mhz"].plot.scale_name == "linear"
    bench.page.plots.move_cursor(1024)
    assert bench.page.plots.panel.figure("flash2", "sm_clock_mhz") == "1940 MHz"


@pytest.mark.matrix
def test_choosing_what_another_plot_shows_swaps_the_two(bench: Bench) -> None:
    bench.sweep(EVENTS)
    pick(bench, 0, "Throughput")
    assert keys(bench) == ["throughput", "runtime", "speed-up", "footprint"]


@pytest.mark.matrix
@pytest.mark.parametrize("events", [None, RUNNING, EVENTS], ids=["before", "during", "after"])
def test_every_quantity_can_be_drawn_before_during_and_after_a_sweep(
    bench: Bench, events: Sequence[Event] | None
) -> None:
    plots = bench.page.plots
    session = session_of(events) if events else None
    for key in QUANTITIES:
        plots.show_quantities([key, *(k for k in QUANTITIES if k != key)][:4])
        plots.show_rows(session, rows(session) if session else [])
        plots.show_flight(session.in_flight if session else ())
        plots.four.toggle_log()
        plots.four.toggle_log()
        assert keys(bench)[0] == key


@pytest.mark.matrix
def test_keys_that_are_not_known_leave_the_plots_as_they_are(bench: Bench) -> None:
    for kept in (
        [],
        ["runtime"],
        ["runtime"] * 4,
        ["runtime", "footprint", "throughput", "from-a-newer-version"],
    ):
        bench.page.plots.show_quantities(kept)
        assert keys(bench) == FIRST


@pytest.mark.matrix
def test_two_quantities_of_one_unit_are_told_apart_over_their_columns(bench: Bench) -> None:
    plots = bench.page.plots
    plots.show_quantities(["throughput", "dense-throughput", "runtime", "footprint"])
    assert [label.text() for label in plots.panel._headings] == [
        "throughput",
        "dense equivalent",
        "runtime",
        "footprint",
    ]
    plots.show_quantities(["throughput", "speed-up", "runtime", "footprint"])
    assert plots.panel._headings[0].text() == "TFLOP/s"


def test_the_list_says_what_a_quantity_is_and_which_way_is_better(unswept: Bench) -> None:
    offered = opened(unswept, 0)
    items = [offered.list.item(place) for place in range(offered.list.count())]
    said = {item.text(): item.toolTip() for item in items}
    assert said["Peak footprint"].startswith(
        "Inputs, outputs and workspace as really held. Lower is better. Dotted: "
    )
    assert said["Throughput"].endswith("Higher is better.")
    assert said["SM clock"] == QUANTITIES["sm_clock_mhz"].about


@pytest.mark.matrix
def test_keys_that_are_not_four_known_ones_change_nothing(bench: Bench) -> None:
    before = keys(bench)
    for wrong in (
        ["runtime"] * 4,
        ["runtime", "samples", "kept"],
        ["no-such-key", *before],
        [*before, "kept"],
    ):
        bench.page.plots.show_quantities(wrong)
        assert keys(bench) == before
