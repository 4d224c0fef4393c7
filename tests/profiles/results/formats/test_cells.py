"""A text in CSV stays a text: for a spreadsheet, for a terminal and for whoever reads it back."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.profiles.results.formats.cells import cell, comment
from flashscope.profiles.results.formats.export import to_csv
from flashscope.profiles.results.model.session import Session
from tests.profiles.sessions import session_of
from tests.profiles.store import builders

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3+A1", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1+1"]
NUMBERS = ["-1,-1", "-1", "+2.5", "1e3", "0"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_quoted(text: str) -> None:
    assert str(cell(text))[0] in "'\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("value", ["flash2", "a = b", "", *NUMBERS, -5, -0.5, None])
def test_what_no_spreadsheet_computes_stays_as_it_is(value: object) -> None:
    assert cell(value) == value


@given(st.text(max_size=20))
def test_no_cell_begins_a_formula(text: str) -> None:
    told = str(cell(text))
    assert not told.startswith(("=", "@", "\t", "\r", "\n"))
    assert not told.startswith(("+", "-")) or not told.strip("+-.,0123456789")


@given(st.text(st.sampled_from("=+-@,; \ta1'\x1b\n"), max_size=20))
def test_a_comment_is_one_line_and_none_of_its_parts_is_a_formula(text: str) -> None:
    line = comment("note", text)
    assert line.count("\n") == 1
    assert line.endswith("\n")
    parts = line.replace(";", ",").split(",")[1:]
    assert not [part for part in parts if part.startswith(("=", "@"))]
    assert not [part for part in parts if part[:1] in {"+", "-"} and part[1:2].isalpha()]


def hostile(text: str) -> Session:
    session = session_of(builders.whole_sweep())
    session.note = f"a,{text}"
    for state in session.points:
        state.point = replace(state.point, kernel=text)
        state.reason = text
    return session


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_whole_session_is_a_formula(text: str) -> None:
    written = to_csv(hostile(text))
    table = [line for line in csv.reader(io.StringIO(written)) if line and not line[0].startswith("#")]
    cells = [each for line in table for each in line if each.strip("-+.0123456789e")]
    assert len(table) > 1
    assert not [each for each in cells if each.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    assert ",=" not in written
