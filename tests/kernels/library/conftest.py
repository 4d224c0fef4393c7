"""What the tests of models share."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.program import ROOT


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of small models, imported only where a test really runs.

    pytest puts the checkout among the folders in which Python looks for modules; there Transformers would
    take our folder `kernels` for Hugging Face's package of that name.
    """
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if Path(folder).resolve() != ROOT])
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # everything is made here
    return import_module("tests.kernels.library.models")
