"""The lines of a file that the reason of a version speaks of."""

import pytest

from flashscope.app.pages.watch.side_by_side import lines_of


@pytest.mark.parametrize(
    ("reason", "lines"),
    [
        ("mine.py, line 6: '(' was never closed: return (", ("6",)),
        ("mine-v6 raised NameError: name 'vv' is not defined in line 11: return p @ vv", ("11",)),
        ("rows does not compile: rows.cu, line 7: expected a ';': int x", ("7",)),
        ("O differs from the float64 oracle", ()),
    ],
)
def test_the_lines_that_a_reason_speaks_of_are_found(reason: str, lines: tuple[str, ...]) -> None:
    assert lines_of(reason) == lines
