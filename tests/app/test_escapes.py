"""No text of a file reaches a terminal, a spreadsheet or an XML reader as anything but text."""

import ast
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from flashscope import app
from flashscope.app.cli import main
from flashscope.app.commands.messages import say, say_json, tell
from flashscope.app.plots.export.button import ExportButton
from tests.app.bench import save
from tests.app.hostile import hostile_file
from tests.app.rig import Rig

CONTROLS = "=\x1b]0;owned\x07\x9b31m\x7f\x08\u202e\u2066\ufffe\x00<script>]]>&lt;"
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
SOURCE = Path(app.__file__).parent
FORMS: tuple[list[str], ...] = ([], ["--json"], ["--csv"], ["--against", "standard"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return hostile_file(tmp_path / "a\x1b[31m.flashscope", CONTROLS)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0] if form else "table")
def test_a_saved_session_prints_no_escape(
    file: Path, form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(file), *form]) == 0
    printed = capsys.readouterr()
    assert "owned" in printed.out
    assert not HARMFUL.findall(printed.out + printed.err)


@pytest.mark.parametrize(
    "arguments", [["show", "no\x1b[31m"], ["show", "\x9b.flashscope"], ["sweep", "\x1b["]]
)
def test_no_error_repeats_an_escape(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) != 0
    printed = capsys.readouterr()
    assert printed.err
    assert not HARMFUL.findall(printed.out + printed.err)


def test_json_holds_what_it_held(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({CONTROLS: CONTROLS})
    assert msgspec.json.decode(capsys.readouterr().out) == {CONTROLS: CONTROLS}


def test_lines_and_tabs_are_printed_and_halves_of_characters_are_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("a\n\tb\udce9")
    tell("c\udce9")
    assert capsys.readouterr() == ("a\n\tb\N{REPLACEMENT CHARACTER}\n", "c\N{REPLACEMENT CHARACTER}\n")


def prints(path: Path) -> bool:
    """Whether a module prints by itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return bool({"print", "sys.stdout.write", "sys.stderr.write"} & set(calls))


@pytest.mark.matrix
def test_one_module_prints_for_all_commands() -> None:
    commands = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if prints(path)}
    assert commands == {"commands/messages.py", "shell/start_up/run.py", "shell/start_up/application.py"}


@pytest.mark.matrix
def test_every_plot_of_a_hostile_session_is_valid_svg(
    file: Path, rig: Rig, qtbot: QtBot, tmp_path: Path
) -> None:
    window = rig.window()
    rig.open(file)
    window.show_page("profile")
    page = window.pages["profile"]
    buttons = page.findChildren(ExportButton)
    assert len(buttons) >= 5
    for number, button in enumerate(buttons):
        path = tmp_path / f"{number}.svg"
        save(button, "svg", path)
        root = ET.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314 - written here
        assert not root.findall(".//{*}script")
        assert not HARMFUL.findall(path.read_text(encoding="utf-8"))
