"""Sessions that are told in the Library to be runs of one plan."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.store import load, sessions_dir
from flashscope.profiles.wire.events import PlanStarted
from tests.app.fakes import CPU_MACHINE, PLAN, sweep
from tests.app.pages.sessions.conftest import listed, names
from tests.app.runs import write
from tests.matrix import chosen


def record(name: str, minute: int, *, plan: Plan = PLAN, python: str = CPU_MACHINE.python) -> Path:
    """A session that knows of no other."""
    path = sessions_dir() / f"{name}.flashscope"
    first, *rest = sweep(plan, replace(CPU_MACHINE, python=python, free_bytes={"cpu": minute}))
    assert isinstance(first, PlanStarted)
    at = f"2026-11-21T10:{minute:02}:00+00:00"
    write(path, [replace(first, session_id=f"{minute:032x}", started_at=at), *rest])
    return path


def join_all(page: SessionsPage, qtbot: QtBot, *files: Path) -> None:
    listed(page, qtbot, len(files))
    page.table.choose(files)
    page._buttons["join"].click()
    page.controller.edits.wait()


def marks(*files: Path) -> list[tuple[int, int] | None]:
    found = [load(file).run_mark for file in files]
    return [None if mark is None else (mark.run, mark.of) for mark in found]


def test_sessions_of_one_plan_and_machine_become_one_row_and_are_alone_again_when_that_is_undone(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    later, first, last = record("b", 5), record("a", 1), record("c", 9)
    join_all(page, qtbot, later, first, last)
    qtbot.waitUntil(lambda: len(names(page)) == 1)
    assert names(page)[0].endswith(" · 3 runs")
    assert marks(first, later, last) == [(1, 3), (2, 3), (3, 3)]
    window.trigger("undo")
    qtbot.waitUntil(lambda: len(names(page)) == 3)
    assert marks(first, later, last) == [None] * 3
    window.trigger("redo")
    qtbot.waitUntil(lambda: len(names(page)) == 1)
    page.table.choose([page.model.row_at(0).key])
    assert not page._buttons["join"].isEnabled()


@chosen("what", ["plan", "machine"], {"plan"})
def test_those_of_another_plan_or_machine_stay_as_they_are_and_why_is_said(
    page: SessionsPage, window: MainWindow, qtbot: QtBot, what: str
) -> None:
    one = record("a", 1)
    if what == "plan":
        other = record("b", 2, plan=replace(PLAN, kernels=PLAN.kernels[:1]))
    else:
        other = record("b", 2, python="3.99")
    join_all(page, qtbot, one, other)
    told = {"plan": "has another plan", "machine": "was measured on another machine"}[what]
    qtbot.waitUntil(lambda: told in window.errors.text)
    assert marks(one, other) == [None, None]


@pytest.mark.matrix
def test_a_session_that_is_there_twice_is_joined_with_none(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    one, other = record("a", 1), record("b", 2)
    listed(page, qtbot, 2)
    page.table.choose([one, other])
    other.write_bytes(one.read_bytes())
    page._buttons["join"].click()
    page.controller.edits.wait()
    qtbot.waitUntil(lambda: "there twice" in window.errors.text)
    assert marks(one) == [None]
