"""The comparison on show is exported as the report and the document that the command line writes."""

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog

from flashscope.app.cli import main
from flashscope.app.pages.compare.page import NOTHING_COMPARED
from flashscope.app.pages.compare.report import FILTERS
from flashscope.profiles.store import change
from tests.app.pages.compare.conftest import Desk, recorded

HTML, JSON = FILTERS


def export(desk: Desk, monkeypatch: pytest.MonkeyPatch, target: Path, kind: str) -> str:
    """Export there, return when it is written and said; returns the file name that was proposed."""
    proposed: list[str] = []

    def answer(_page: object, _title: str, name: str, _filters: str) -> tuple[str, str]:
        proposed.append(name)
        return str(target), kind

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    action = desk.window.registry.find("compare.export")
    assert action is not None
    assert action.shortcut().toString() == "E"
    action.trigger()
    desk.page._chores.wait()
    QCoreApplication.processEvents()
    return proposed[0]


@pytest.mark.matrix
def test_the_report_and_the_document_are_those_of_the_command_line(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    base, other = recorded("base"), recorded("other", times=1.2, driver="999")
    change(base, "name", "before/after")
    desk.choose(base, other)
    page, told = tmp_path / "told.html", tmp_path / "a.json"
    assert export(desk, monkeypatch, tmp_path / "a.html", HTML) == "before-after and other.html"
    assert desk.window.errors.text == "Exported the comparison to a.html."
    export(desk, monkeypatch, told, HTML)
    capfdbinary.readouterr()
    assert main(["compare", str(base), str(other), "--json", "--html", str(page)]) == 0
    assert (tmp_path / "a.html").read_bytes() == page.read_bytes()
    assert told.read_bytes() == capfdbinary.readouterr().out


@pytest.mark.matrix
def test_a_name_without_an_ending_gets_that_of_the_format_chosen(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    desk.choose(recorded("base"), recorded("other"))
    export(desk, monkeypatch, tmp_path / "a", JSON)
    assert (tmp_path / "a.json").read_bytes().startswith(b'{"format":1')
    export(desk, monkeypatch, tmp_path / "a", JSON)
    assert "exists already" in desk.window.errors.text


@pytest.mark.matrix
def test_what_cannot_be_written_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    desk.choose(recorded("base"), recorded("other"))
    export(desk, monkeypatch, tmp_path / "absent" / "a.html", HTML)
    assert "cannot be used" in desk.window.errors.text


def test_before_there_is_a_comparison_there_is_none_to_export(desk: Desk) -> None:
    desk.page.export()
    assert desk.window.errors.text == NOTHING_COMPARED
