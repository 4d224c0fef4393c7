"""A model audited from the window by real processes: asked for, run, replayed, kept and shown."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.appearance import appearance_of
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.pages.audit import AuditPage
from flashscope.app.pages.audit.dialog import AuditDialog
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.store import load, sessions_dir
from tests.end_to_end.test_audit import LLAMA

WAIT_MS = 240_000


@pytest.fixture
def real(qapp: QApplication, qtbot: QtBot, home: Path) -> Iterator[MainWindow]:
    appearance_of()
    window = build_window(Controller(LocalEngine, sessions_dir()), DARK)
    with qtbot.waitSignal(window.controller.machine_found, timeout=WAIT_MS):
        window.show()
    yield window
    window.close_unasked()
    window.deleteLater()


@pytest.mark.transformers
@pytest.mark.matrix  # it takes many seconds
@pytest.mark.timeout(400)
def test_a_model_is_audited_from_the_window(real: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA | {"num_hidden_layers": 1}))
    controller, page = real.controller, real.pages["audit"]
    assert isinstance(page, AuditPage)
    real.show_page("audit")
    page.ask()
    dialog = page.findChild(AuditDialog)
    assert dialog is not None
    dialog.model.setText(str(tmp_path))
    dialog.tokens.setValue(32)
    failed: list[str] = []
    controller.error_raised.connect(lambda reason, _details: failed.append(reason))
    dialog.accept()
    assert controller.occupied
    qtbot.waitUntil(lambda: bool(page.found or failed), timeout=WAIT_MS)
    assert not failed
    assert page.stack.currentIndex() == 1
    qtbot.waitUntil(lambda: not controller.measuring, timeout=WAIT_MS)
    assert not controller.occupied
    assert controller.path is not None
    (kept,) = load(controller.path).audits
    assert kept.architecture == "LlamaForCausalLM"
