"""The Claims page: tests in the background, stops, filters, and shows what came of a claim."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.claims import ClaimsPage
from flashscope.app.pages.claims.columns import NOT_YET
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.claims import CLAIMS
from flashscope.profiles.claims.assess import assess
from tests.app.rig import Rig

FEW = tuple(one for one in CLAIMS if one.key in {"004-44", "004-121", "004-56", "004-253", "000-9"})


@pytest.fixture
def page(rig: Rig, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> ClaimsPage:
    for module in ("flashscope.app.pages.claims.page", "flashscope.app.pages.claims.testing"):
        monkeypatch.setattr(f"{module}.CLAIMS", FEW)
    found = window.pages["claims"]
    assert isinstance(found, ClaimsPage)
    window.show_page("claims")
    return found


def run_all(qtbot: QtBot, page: ClaimsPage) -> ClaimsPage:
    with qtbot.waitSignal(page.testing.ended):
        page.test()
    return page


def cells(page: ClaimsPage, column: int) -> list[str]:
    listed = page.table.list
    return [str(listed.data(listed.index(row, column))) for row in range(listed.rowCount())]


def test_before_any_test_every_claim_is_listed_without_a_verdict(page: ClaimsPage) -> None:
    assert cells(page, 0) == [NOT_YET] * len(FEW)
    assert "none has been put to the test yet" in page.sentence.text()
    assert page.button.text() == "Test all"


def test_the_claims_have_the_room_of_what_is_measured_until_something_is(
    qtbot: QtBot, page: ClaimsPage
) -> None:
    qtbot.waitUntil(lambda: room_left(page) <= 0)
    assert page.table.isColumnHidden(3)
    width = page.table.columnWidth(2)
    run_all(qtbot, page)
    qtbot.waitUntil(lambda: room_left(page) <= 0)
    assert not page.table.isColumnHidden(3)
    assert page.table.columnWidth(2) <= width


def room_left(page: ClaimsPage) -> int:
    """Pixels of the table beside its columns."""
    return page.table.viewport().width() - page.table.horizontalHeader().length()


def test_where_a_claim_stands_is_told_by_document_and_line(page: ClaimsPage) -> None:
    assert "document 000, line 9" in cells(page, 1)


def test_a_test_gives_every_claim_its_verdict_never_by_colour_alone(qtbot: QtBot, page: ClaimsPage) -> None:
    run_all(qtbot, page)
    assert cells(page, 0) == [
        "✓ holds",
        "✓ holds",
        "– cannot be tested",
        "× does not hold",
        "× does not hold",
    ]
    assert "recordings of an H200" in page.source.text()
    assert page.button.text() == "Test all"


def test_a_chosen_claim_shows_its_experiment_what_was_measured_and_from_where(
    qtbot: QtBot, page: ClaimsPage
) -> None:
    run_all(qtbot, page)
    page.table.selectRow(3)
    told = {name: label.text() for name, label in page.detail.parts.items()}
    assert "1.0936" in told["measured"]
    assert told["source"] == "run here: NumPy"
    assert page.detail.verdict.text() == "× does not hold"
    assert "Deep Dive (004, lines 121, 157)" in page.detail.place.text()


@pytest.mark.matrix
def test_the_detail_on_show_follows_the_test(qtbot: QtBot, page: ClaimsPage) -> None:
    page.table.selectRow(0)
    assert page.detail.parts["measured"].text() == NOT_YET
    run_all(qtbot, page)
    assert "times as long" in page.detail.parts["measured"].text()


def test_stopping_leaves_the_rest_untested_and_a_new_test_starts_afresh(
    qtbot: QtBot, page: ClaimsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop_after_one(*given: object) -> object:
        page.testing.cancel()
        return assess(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("flashscope.app.pages.claims.testing.assess", stop_after_one)
    run_all(qtbot, page)
    assert cells(page, 0) == [NOT_YET] * len(FEW)
    monkeypatch.setattr("flashscope.app.pages.claims.testing.assess", assess)
    run_all(qtbot, page)
    assert NOT_YET not in cells(page, 0)


def test_while_it_tests_the_button_stops_it(qtbot: QtBot, page: ClaimsPage) -> None:
    with qtbot.waitSignal(page.testing.ended):
        page.test()
        assert page.button.text() == "Stop"
        QTest.mouseClick(page.button, Qt.MouseButton.LeftButton)
    assert page.button.text() == "Test all"


def test_documents_and_verdicts_are_filtered(qtbot: QtBot, page: ClaimsPage) -> None:
    run_all(qtbot, page)
    page.verdicts.setCurrentText("holds")
    assert cells(page, 0) == ["✓ holds", "✓ holds"]
    page.documents.setCurrentIndex(5)
    assert cells(page, 1) == ["document 004, line 44"]
    page.verdicts.setCurrentIndex(0)
    assert len(cells(page, 1)) == 4


@pytest.mark.matrix
def test_a_window_that_closes_in_the_middle_waits_for_one_experiment_alone(
    page: ClaimsPage, window: MainWindow, home: Path
) -> None:
    page.test()
    window.close_unasked()
    assert len([row for row in page.rows if row.finding]) < len(FEW)
