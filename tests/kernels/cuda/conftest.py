"""What the tests on a GPU share."""

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def cp() -> Any:
    """CuPy, imported only where a test really runs."""
    return import_module("cupy")
