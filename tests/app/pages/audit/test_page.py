"""The Audit page: the calls of a step of the session on show, what follows, and how to make an audit."""

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.audit import AuditPage
from flashscope.app.shell.main_window import MainWindow
from tests.app.rig import Rig, Save
from tests.profiles.store import builders


@pytest.fixture
def page(rig: Rig, window: MainWindow) -> AuditPage:
    found = window.pages["audit"]
    assert isinstance(found, AuditPage)
    window.show_page("audit")
    return found


@pytest.fixture
def shown(qtbot: QtBot, page: AuditPage, window: MainWindow, save: Save) -> AuditPage:
    """The page with a session that has an audit."""
    window.open_path(save(list(builders.whole_sweep()), "audited"))
    window.show_page("audit")
    qtbot.waitUntil(lambda: bool(page.found))
    return page


def cells(page: AuditPage, row: int) -> list[str]:
    listed = page.table.list
    return [str(listed.data(listed.index(row, column))) for column in range(listed.columnCount())]


def test_without_an_audit_it_says_how_to_make_one(page: AuditPage) -> None:
    assert page.stack.currentIndex() == 0
    assert page.table.list.rowCount() == 0


def test_a_session_with_an_audit_shows_the_calls_of_its_step(shown: AuditPage) -> None:
    assert shown.stack.currentIndex() == 1
    first, second = cells(shown, 0), cells(shown, 1)
    assert first[:2] == ["model.layers.0,2.self_attn", "2"]
    assert first[4:7] == ["causal", "–", "flash"]
    assert second[4:7] == ["window 16", "dropout 0.5", "math"]
    assert shown.sentence.text().startswith("prefill: a step takes 10.2 ms")
    assert "SmallForCausalLM" in shown.head.text()


def test_what_follows_says_what_no_kernel_takes_and_what_was_refused(shown: AuditPage) -> None:
    text = shown.gains.text()
    assert "no kernel here takes dropout" in text
    assert "eager: cannot be put in place: It has none." in text
    assert "Only 4 of 32 layers were built" in text


def test_another_session_takes_it_away_again(
    qtbot: QtBot, shown: AuditPage, window: MainWindow, save: Save
) -> None:
    window.open_path(save([builders.plan_started()], "other"))
    qtbot.waitUntil(lambda: not shown.found)
    assert shown.stack.currentIndex() == 0
