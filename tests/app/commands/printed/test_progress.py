"""How far a sweep is, on stderr: lines in a pipe, one bar on a terminal."""

import io
import re
from typing import get_args

import pytest
from rich.console import Console

from flashscope.app.commands.printed.progress import Display, ProgressBar, ProgressLines, progress_display
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import (
    Event,
    FailedStatus,
    LogLine,
    PlanStarted,
    PointFailed,
    PointMeasured,
    PointStarted,
)
from tests.app.fakes import sweep


def follow(display: Display, events: list[Event]) -> None:
    first, *rest = events
    assert isinstance(first, PlanStarted)
    session = Session.begin(first)
    for event in rest:
        session.apply(event)
        display.report(session, event)


def drawn_by_bar(events: list[Event]) -> str:
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=100, color_system=None)
    follow(ProgressBar(console), events)
    return terminal.getvalue()


def test_a_pipe_gets_a_line_for_every_start_and_end_of_a_point(capsys: pytest.CaptureFixture[str]) -> None:
    follow(ProgressLines(), sweep())
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1 of 6  standard  N = 256"
    assert sum(line.startswith("6 of 6") for line in lines) == 2
    assert not any("\x1b" in line for line in lines)


def test_a_test_runs_in_a_pipe_and_gets_lines(capsys: pytest.CaptureFixture[str]) -> None:
    first, *_ = sweep()
    assert isinstance(first, PlanStarted)
    progress_display().report(
        Session.begin(first), LogLine(level="warning", source="worker", text="careful\x1b[2J")
    )
    assert capsys.readouterr().err == "worker: careful\N{REPLACEMENT CHARACTER}[2J\n"


def test_a_terminal_gets_one_bar_with_the_count_the_time_and_what_is_in_flight() -> None:
    drawn = drawn_by_bar(sweep())
    assert "0 of 6" in drawn
    assert "6 of 6" in drawn
    assert "standard · N = 256" in drawn
    assert " left" in drawn
    assert "\x1b[?25l" in drawn, "the cursor is hidden while the bar moves"
    assert drawn.count("\x1b[?25l") == drawn.count("\x1b[?25h"), "and there again at the end"


def test_between_two_events_the_bar_tells_how_long_a_point_has_run_and_how_long_is_left() -> None:
    now = 0.0
    terminal = io.StringIO()
    bar = ProgressBar(Console(file=terminal, force_terminal=True, width=120, color_system=None), lambda: now)
    started = [k for k, event in enumerate(sweep()) if isinstance(event, PointStarted)]
    follow(bar, sweep()[: started[1] + 1])
    told = []
    for now in (0.0, 2.0, 65.0):  # noqa: B007 - the bar's clock
        terminal.truncate(0)
        bar._progress.refresh()
        drawn = terminal.getvalue()
        told.append(
            re.findall(r"(about \S+|a few seconds) left (\S+) into .* · N = 256 · prepare", drawn)[-1]
        )
    bar._progress.stop()
    assert [into for _, into in told] == ["0:00", "0:02", "1:05"]
    assert told[0][0].startswith("about ")
    assert told[0][0] > told[1][0]
    assert told[2][0] == "a few seconds"


@pytest.mark.parametrize("status", sorted({*get_args(FailedStatus)} - {"cancelled", "interrupted"}))
def test_the_bar_moves_on_where_points_fail(status: FailedStatus) -> None:
    assert counted(drawn_by_bar(failing(status))) == set(range(7))


def test_what_is_cancelled_is_not_counted_as_done() -> None:
    assert counted(drawn_by_bar(failing("cancelled"))) == {0}


def counted(drawn: str) -> set[int]:
    """The counts that stood before the bar; the lines above it number the points."""
    return {int(count) for count in re.findall(r"(\d) of 6 (?:[━╸╺]| {4})", drawn)}


def failing(status: FailedStatus) -> list[Event]:
    """A sweep of which every point ends like this."""
    ends = (
        PointFailed(index=e.index, t_ns=e.t_ns, status=status, reason="So it is.")
        if isinstance(e, PointMeasured)
        else e
        for e in sweep()
    )
    return list(ends)


def test_trouble_stands_above_the_bar() -> None:
    *before, last = sweep()
    drawn = drawn_by_bar([*before, LogLine(level="error", source="worker", text="[red]gone[/red]"), last])
    assert "worker: [red]gone[/red]\n" in drawn
