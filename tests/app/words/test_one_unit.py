"""Columns of figures: one unit each, in the heading, and no figure that it makes unreadable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.words.figures import NOTHING, column
from flashscope.app.words.one_unit import UNITS, unit_of
from flashscope.profiles.results.model.curves import baselines
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import FOOTPRINT, QUANTITIES, RUNTIME
from flashscope.profiles.store import load
from tests.end_to_end.program import ROOT

POSITIVE = st.lists(st.floats(1e-6, 1e15), min_size=1, max_size=9)


@pytest.fixture(scope="module")
def session() -> Session:
    return load(ROOT / "assets" / "sessions" / "h200-standard-flash2.flashscope")


@pytest.mark.parametrize(
    ("values", "name"),
    [([0.05, 0.2, 0.08], "µs"), ([0.05, 3.0, 20.0], "ms"), ([2e3, 4e3, 9e5], "s"), ([], "µs"), ([0.0], "µs")],
)
def test_the_middle_value_chooses_the_unit(values: list[float], name: str) -> None:
    unit = unit_of(RUNTIME, values)
    assert unit is not None
    assert unit.name == name


def test_footprints_are_in_binary_units() -> None:
    unit = unit_of(FOOTPRINT, [1 << 30, 3 << 20, 5 << 20])
    assert unit is not None
    assert (unit.name, unit.write(3 << 20), unit.write(1 << 30)) == ("MiB", "3.00", "1024")


def test_bytes_that_are_moved_are_in_decimal_units_as_rates_are() -> None:
    unit = unit_of(QUANTITIES["dram_bytes"], [1e9, 3e6, 5e6])
    assert unit is not None
    assert (unit.name, unit.write(3e6), unit.write(1e9)) == ("MB", "3.00", "1000")


@given(POSITIVE)
def test_no_value_is_written_as_nothing(values: list[float]) -> None:
    unit = unit_of(RUNTIME, values)
    assert unit is not None
    for value in values:
        assert float(unit.write(value)) == pytest.approx(value / unit.size, rel=6e-3)


def test_every_column_of_a_session_has_its_unit_in_the_heading_and_in_no_cell(session: Session) -> None:
    found = rows(session)
    for quantity in QUANTITIES.values():
        heading, cells = column(quantity, found, baselines(found, "standard"))
        names = [unit.name for unit in UNITS.get(quantity.kind, ())]
        assert not names or any(f", {name}" in heading for name in names)
        for cell in cells:
            assert cell == NOTHING or not any(name in cell.split() for name in names)
