"""What every test of watching stands on: no file was agreed to yet, and questions have their answer."""

import pytest

from flashscope.kernels.own import consent
from tests.app.questions import Questions


@pytest.fixture(autouse=True)
def nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consent, "_named", set())


@pytest.fixture(autouse=True)
def questions(monkeypatch: pytest.MonkeyPatch) -> Questions:
    return Questions(monkeypatch)
