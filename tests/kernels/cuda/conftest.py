"""What the tests on a GPU share."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from tests.kernels import report


@pytest.fixture
def cp() -> Any:
    """CuPy, imported only where a test really runs."""
    return import_module("cupy")


@pytest.fixture(autouse=True)
def _report(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Hand on what the test compared with the oracle."""
    report.taken()
    yield
    for share in report.taken():
        record_property(report.PROPERTY, list(share))
