"""What a user does while the page is being drawn, whose parts are prepared step by step."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QComboBox

from flashscope.app.pages.profile.page import ProfilePage
from flashscope.app.widgets import paint_turns
from flashscope.app.widgets.paint_turns import WAITS
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.events import Reading, Readings
from tests.app.bench import Bench
from tests.matrix import chosen
from tests.profiles.sessions import T0, make_plan, script, session_of

KERNELS = ("standard", "flash1", "flash2")
LENGTHS = (256, 512, 1024)
PLAN = Plan(
    backend="cuda",
    kernels=KERNELS,
    problems=tuple(Problem(seqlen_q=n, seqlen_k=n, head_dim=d) for d in (64, 128) for n in LENGTHS),
)
EVERY = 3  # of the turns is one test
TURNS = 30  # at least as many as a page of three kernels takes with one step a turn


def hide_a_kernel(page: ProfilePage) -> None:
    page.plots.panel.kernel_toggled.emit("flash1", False)


def choose_a_baseline(page: ProfilePage) -> None:
    page.plots.context.baseline_chosen.emit("flash2")


def choose_problems(page: ProfilePage) -> None:
    choose_last(page.plots.context.curves)


def choose_last(box: QComboBox) -> None:
    """Choose the last entry of a list, as it stands there."""
    if box.count():
        box.activated.emit(box.count() - 1)


def choose_a_quantity(page: ProfilePage) -> None:
    page.plots.cells[0].quantity_chosen.emit("max-error")


def swap_two_quantities(page: ProfilePage) -> None:
    page.plots.cells[0].quantity_chosen.emit("throughput")


def move_the_crosshair(page: ProfilePage) -> None:
    page.plots.move_cursor(512)


def show_another_session(page: ProfilePage) -> None:
    page.controller._shown.session = session_of(
        script(Plan(backend="cuda", kernels=("simt",), problems=PLAN.problems))
    )
    page.show_session(page.controller.session)


def show_no_session(page: ProfilePage) -> None:
    page.controller._shown.session = None
    page.show_session(None)
    page.form.kernels.choose(("standard",))
    page.form.kernels.choose(("flash1", "flash2"))


def on_show(page: ProfilePage) -> list[Any]:
    """All that the plots and the legend say."""
    plots = page.plots
    drawn: list[Any] = [
        plots.panel.kernels,
        plots.context.curves.currentText(),
        plots.context.baseline.currentText(),
    ]
    for kernel in plots.panel.kernels:
        row = plots.panel._rows[kernel]
        drawn.append(
            (kernel, row.button.isChecked(), [value.text() for value in row.values], row.reason.text())
        )
    for card in plots.cells:
        for kernel, curves in card.plot._curves.items():
            if curves.curve.isVisible():
                x, y = curves.curve.getData()
                drawn.append(
                    (card.quantity.key, kernel, [] if x is None else [*x], [] if y is None else [*y])
                )
    return drawn


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(hide_a_kernel, marks=pytest.mark.matrix),
        pytest.param(choose_a_baseline, marks=pytest.mark.matrix),
        pytest.param(choose_problems, marks=pytest.mark.matrix),
        pytest.param(choose_a_quantity, marks=pytest.mark.matrix),
        pytest.param(swap_two_quantities, marks=pytest.mark.matrix),
        pytest.param(move_the_crosshair, marks=pytest.mark.matrix),
        show_another_session,
        pytest.param(show_no_session, marks=pytest.mark.matrix),
    ],
    ids=lambda act: act.__name__,
)
@chosen("first", range(EVERY), {0})
def test_what_is_done_while_the_page_is_half_drawn_is_drawn(
    bench: Bench, act: Callable[[ProfilePage], None], first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paint_turns, "TURN_S", -1.0)  # every step fills its turn
    page = bench.page
    for turns in range(first, TURNS, EVERY):
        page.controller._shown.session = session_of(script(PLAN))
        page.show_session(page.controller.session)
        page.plots.show_quantities(["footprint", "runtime", "speed-up", "throughput"])
        for _ in range(turns):
            if not page._turns.idle:
                page._turns._next()
        act(page)
        bench.drawn()
        shown = on_show(page)
        page._turns.start()
        page.refresh()
        bench.drawn()
        assert shown == on_show(page), f"{turns} turns before"


@pytest.mark.matrix
def test_a_kernel_hidden_before_another_session_came_and_went_is_on_show_as_its_button_says(
    bench: Bench,
) -> None:
    first = session_of(script(PLAN))
    bench.page.show_session(first)
    bench.drawn()
    bench.page.plots.panel.button("flash2").click()
    bench.drawn()
    bench.page.show_session(
        session_of(script(Plan(backend="cuda", kernels=("simt",), problems=PLAN.problems)))
    )
    bench.page.show_session(first)
    bench.drawn()
    shown = bench.page.plots.cells[0].plot._curves["flash2"].curve.isVisible()
    assert bench.page.plots.panel.button("flash2").isChecked() == shown


@pytest.mark.matrix
def test_all_lanes_end_at_the_newest_reading_also_of_one_that_came_while_they_were_drawn(
    bench: Bench,
) -> None:
    bench.sweep(script(PLAN)[:6])  # it goes on
    session, strip = bench.controller.session, bench.page.bottom.strip
    assert session is not None

    def read(second: int) -> None:
        more = Readings(
            readings=(Reading(t_ns=T0 + second * 10**9, memory_used=1, utilisation=1.0, power_w=1.0),)
        )
        session.apply(more)
        bench.page.take_events([more])

    read(100)
    while strip.lanes["memory_used"].property(WAITS):
        bench.page._turns._next()
    read(200)
    bench.drawn()
    ends = {
        field: lane.curve.getData()[0][-1] for field, lane in strip.lanes.items() if strip.offered(lane.lane)
    }
    assert ends == dict.fromkeys(ends, 200.0)


@pytest.mark.matrix
@chosen("first", range(EVERY), {0})
@chosen("box", ["baseline", "curves"], {"curves"})
def test_a_choice_from_a_list_of_the_session_before_harms_nothing(
    bench: Bench, box: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paint_turns, "TURN_S", -1.0)  # every step fills its turn
    page = bench.page
    for turns in range(first, TURNS, EVERY):
        for plan in (PLAN, make_plan(("simt", "flash3"), LENGTHS)):
            bench.drawn()
            page.controller._shown.session = session_of(script(plan))
            page.show_session(page.controller.session)
        for _ in range(turns):
            if not page._turns.idle:
                page._turns._next()
        choose_last(getattr(page.plots.context, box))
        bench.drawn()
        assert page.plots.baseline in {"simt", "flash3"}
        assert page.plots.context.baseline.currentData() == page.plots.baseline
