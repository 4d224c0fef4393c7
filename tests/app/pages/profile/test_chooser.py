"""Any quantity in any of the four plots."""

from collections.abc import Sequence

import pytest

from flashscope.app.pages.profile.plots_view import CELLS
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.events import Event
from tests.app.bench import Bench
from tests.profiles.sessions import make_plan, script, session_of

EVENTS = script(make_plan(("standard", "flash2")))
RUNNING = script(make_plan(("standard", "flash2")), stop_before=3, in_flight=True)


def keys(bench: Bench) -> list[str]:
    return [card.quantity.key for card in bench.page.plots.cells]


def pick(bench: Bench, place: int, title: str) -> None:
    """Open the list of a plot and click on a quantity."""
    chooser = bench.page.plots.cells[place].chooser
    chooser.menu().aboutToShow.emit()
    (action,) = (action for action in chooser.menu().actions() if action.text() == title)
    action.trigger()


def test_every_quantity_is_offered_and_the_one_on_show_is_marked(bench: Bench) -> None:
    chooser = bench.page.plots.cells[1].chooser
    chooser.menu().aboutToShow.emit()
    actions = [action for action in chooser.menu().actions() if not action.isSeparator()]
    assert {action.data() for action in actions} == set(QUANTITIES)
    assert [action.data() for action in actions if action.isChecked()] == ["runtime"]
    assert chooser.accessibleName() == "Quantity of this plot: Runtime"


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
        plots.toggle_log()
        plots.toggle_log()
        assert keys(bench)[0] == key


def test_keys_that_are_not_known_leave_the_plots_as_they_are(bench: Bench) -> None:
    for kept in (
        [],
        ["runtime"],
        ["runtime"] * 4,
        ["runtime", "footprint", "throughput", "from-a-newer-version"],
    ):
        bench.page.plots.show_quantities(kept)
        assert keys(bench) == [quantity.key for quantity in CELLS]


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


def test_the_list_says_what_a_quantity_is_and_which_way_is_better(bench: Bench) -> None:
    chooser = bench.page.plots.cells[0].chooser
    chooser.menu().aboutToShow.emit()
    said = {action.data(): action.toolTip() for action in chooser.menu().actions()}
    assert said["footprint"].startswith(
        "Inputs, outputs and workspace as really held. Lower is better. Dotted: "
    )
    assert said["throughput"].endswith("Higher is better.")
    assert said["sm_clock_mhz"] == QUANTITIES["sm_clock_mhz"].about


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
