"""Scores typed by hand are read as they stand, or refused with what is wrong and where."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.stepper.own_scores import EXAMPLE, OwnScores, ScoresError, read_scores
from flashscope.app.stepper.presets import PRESETS
from flashscope.kernels.cpu.trace import record


@pytest.mark.parametrize(
    ("text", "rows", "block"),
    [
        ("1,3 | 2,0.5", [(1, 3, 2, 0.5)], 2),
        ("1 3 2 0.5 7", [(1, 3, 2, 0.5, 7)], 2),
        ("[1, 3, 2 | .5]", [(1, 3, 2, 0.5)], 3),
        ("1, 2\n−3, 4e2", [(1, 2), (-3, 400)], 2),
        ("1|2; 3|4 ;\n", [(1, 2), (3, 4)], 1),
        ("1|2; 3 4", [(1, 2), (3, 4)], 1),
        ("7", [(7,)], 1),
    ],
)
def test_rows_tiles_and_numbers_are_read_as_they_are_typed(
    text: str, rows: list[tuple[float, ...]], block: int
) -> None:
    assert read_scores(text) == OwnScores(tuple(tuple(map(float, row)) for row in rows), block)


@pytest.mark.parametrize(
    ("text", "told", "place"),
    [
        ("", f"Type scores, such as {EXAMPLE}.", ""),
        ("1,2\n3,x5", "Row 2: “x5” is no number.", "x5"),
        ("1,,2", "Row 1: a number is missing beside a comma.", ""),
        ("1,2|", "Row 1: a number is missing beside a bar.", ""),
        ("1,2; 3", "Row 2 has 1 score, row 1 has 2.", "3"),
        ("1,2|3,4; 1|2,3,4", "The bars of row 2 stand elsewhere than those of row 1.", "1|2,3,4"),
        ("1,3|2|4", "Tile 2 has 1 score and tile 1 has 2: only the last may be shorter.", "1,3|2|4"),
        ("1|2,3", "Tile 2 has 2 scores and tile 1 has 1: only the last may be shorter.", "1|2,3"),
        ("1, nan", "Row 1: “nan” is no number.", "nan"),
        ("1, inf", "Row 1: “inf” is beyond 1e+30, float32's room.", "inf"),
        (" ".join(["1"] * 513), "Row 1 has 513 scores; at most 512 are traced.", " ".join(["1"] * 513)),
        (";".join(["2"] * 33), "There are 33 rows; at most 32 are traced.", "2"),
    ],
)
def test_what_is_no_scores_is_refused_with_its_place(text: str, told: str, place: str) -> None:
    with pytest.raises(ScoresError) as refused:
        read_scores(text)
    start, length = refused.value.at
    assert (str(refused.value), text[start : start + length]) == (told, place)


@given(st.text(alphabet="12.-e,|; \nx[]", max_size=24))
def test_anything_typed_is_read_or_refused_at_a_place_in_it(text: str) -> None:
    try:
        read = read_scores(text)
    except ScoresError as error:
        start, length = error.at
        assert 0 <= start <= start + length <= len(text)
    else:
        assert len({len(row) for row in read.rows}) == 1
        assert 1 <= read.block <= len(read.rows[0])


def test_the_slides_scores_are_the_slides_example() -> None:
    slide = next(preset for preset in PRESETS if preset.key == "slide")
    assert read_scores(EXAMPLE).request("cpu", "flash1") == slide.make("cpu", "flash1")


@pytest.mark.parametrize("order", ["flash1", "flash2"])
def test_a_trace_of_several_rows_holds_exactly_the_scores_typed(order: str) -> None:
    typed = read_scores("1,3 | 2,0.5; 0,1 | 5,-2; 9,9 | 9,9")
    trace = record(typed.request("cpu", "flash1" if order == "flash1" else "flash2"))
    scores = np.full((4, 4), np.nan)
    for (i, j), tile in zip(trace.tile.numpy(), trace.s.numpy(), strict=True):
        scores[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = tile
    assert scores[:3].tolist() == [list(row) for row in typed.rows]
    weights = np.exp(np.asarray(typed.rows)) / np.exp(np.asarray(typed.rows)).sum(axis=1, keepdims=True)
    assert trace.output.numpy()[:, 0] == pytest.approx(weights @ [1, 2, 3, 4], rel=1e-6)
