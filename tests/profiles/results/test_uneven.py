"""What results say of sequences of different lengths and of keys in pages."""

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from msgspec import structs
from pyarrow import parquet

from flashscope.app.words.results.headline import headline_text
from flashscope.kernels.catalogue.ladder import FLASH2, LADDER
from flashscope.kernels.catalogue.traffic import LoopTraffic, Tiles, flash2_io
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.plan.problem_words import layout_words, place_words
from flashscope.profiles.plan.request import Request, lengths_of
from flashscope.profiles.results.compare.pairing import pairings
from flashscope.profiles.results.findings.headline import headline
from flashscope.profiles.results.formats.export import to_csv, to_json
from flashscope.profiles.results.formats.parquet import to_parquet
from flashscope.profiles.results.formats.schema import session_schema
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.planner.crossing import recorded_crossing
from flashscope.profiles.results.planner.forecast import Forecast, forecast
from flashscope.profiles.results.quantities.surroundings import SURROUNDINGS
from flashscope.profiles.results.theory import formulas as theory
from flashscope.profiles.results.theory.bytes_moved import (
    GATHERED,
    MOST_LENGTHS,
    S_AND_P_UNEVEN,
    SHARED_UNEVENLY,
    TOO_MANY_LENGTHS,
    compulsory,
    tile_io,
)
from flashscope.profiles.results.theory.why import why
from flashscope.profiles.wire.measurement import Figure
from tests.profiles.results.test_passes import row as row_of
from tests.profiles.results.test_passes import with_problems

RAGGED = Problem(
    seqlen_q=300,
    seqlen_k=512,
    batch=3,
    heads=2,
    causal=True,
    query_lengths=(300, 0, 7),
    key_lengths=(400, 512, 33),
)
ALONE = [
    structs.replace(RAGGED, batch=1, seqlen_q=q, seqlen_k=k, query_lengths=None, key_lengths=None)
    for q, k in ((300, 400), (7, 33))
]
PADDING = 2 * (3 * 300 - 307) * (64 * 4 + 4)
WITH_FORMULA = [spec.name for spec in LADDER if "cpu" in spec.dtypes and spec.traffic is not None]


def row(kernel: str, backend: Backend, **changed: Any) -> PointRow:
    made = row_of("forward", kernel=kernel)
    problem = structs.replace(RAGGED, **changed)
    return replace(made, backend=backend, point=structs.replace(made.point, problem=problem))


@pytest.mark.parametrize("name", WITH_FORMULA)
def test_formulas_are_sums_over_the_sequences_and_what_padding_is_written(name: str) -> None:
    for formula in (theory.tile_io_bytes, theory.compulsory_dram_bytes):
        own = [formula(name, one, "cpu") for one in ALONE]
        assert formula(name, RAGGED, "cpu") == sum(filter(None, own)) + PADDING


def test_pages_change_no_formula_on_a_gpu() -> None:
    paged = structs.replace(RAGGED, page_size=64)
    for formula in (theory.tile_io_bytes, theory.compulsory_dram_bytes):
        assert formula("flash2", paged, "cuda") == formula("flash2", RAGGED, "cuda")


def test_where_no_formula_holds_there_is_a_reason() -> None:
    for figure in (tile_io, compulsory):
        assert figure(row("flash2", "cpu", page_size=64)).missing == GATHERED
        assert figure(row("flash2", "cpu")).missing != GATHERED
    assert tile_io(row("flash3", "cuda")).missing == SHARED_UNEVENLY
    assert tile_io(row("flash2", "cuda")).value is not None
    assert compulsory(row("standard", "cuda")).missing == S_AND_P_UNEVEN


def test_the_formulas_of_very_many_sequences_look_at_those_of_one_length_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Counter[Problem]()

    def counting(problem: Problem, tiles: Tiles) -> int:
        asked[problem] += 1
        return flash2_io(problem, tiles)

    counted = replace(FLASH2, traffic=LoopTraffic(counting))
    monkeypatch.setattr(theory, "find_kernel", lambda _name: counted)
    lengths = tuple(i % 65 for i in range(65_000))
    many = structs.replace(RAGGED, batch=65_000, query_lengths=None, key_lengths=lengths)
    few = structs.replace(many, batch=65, key_lengths=lengths[:65])
    assert theory.tile_io_bytes("flash2", many, "cpu") == 1000 * (
        theory.tile_io_bytes("flash2", few, "cpu") or 0
    )
    assert set(asked.values()) == {2}  # of many, and of few
    assert many.flops == 1000 * few.flops
    assert many.kept_share == few.kept_share


def test_no_formula_holds_the_window_over_too_many_different_lengths() -> None:
    lengths = tuple(range(1, MOST_LENGTHS + 2))
    n = {"seqlen_q": len(lengths), "seqlen_k": len(lengths), "batch": len(lengths)}
    for figure in (tile_io, compulsory):
        assert figure(row("flash2", "cpu", **n, query_lengths=lengths, key_lengths=lengths)).missing == (
            "the different lengths of this batch are too many to be counted here"
        )
        few = lengths[:10] * (len(lengths) // 10)
        alike = n | {"batch": len(few), "query_lengths": few, "key_lengths": few}
        assert figure(row("flash2", "cpu", **alike)).missing != TOO_MANY_LENGTHS


def spread(n: int = 512, page_size: int | None = None, queries: int = 0) -> Problem:
    asked = Request.of("cpu", batch=3, lengths="spread", page_size=page_size, queries=queries)
    return asked.problem(n)


def of(problem: Problem, ms: float = 1.0, kernel: str = "flash2") -> PointRow:
    made = row_of("forward", ms, kernel)
    return replace(made, point=structs.replace(made.point, problem=problem))


FULL = structs.replace(spread(), query_lengths=None, key_lengths=None)


def test_each_layout_has_a_curve_of_its_own_that_says_which() -> None:
    layouts = (FULL, spread(), spread(1024), spread(page_size=64), spread(queries=1), RAGGED)
    curves = by_curve([of(problem) for problem in layouts])
    assert [curve.label for curve in curves] == [
        "d 64, no mask",
        "d 64, lengths spread, no mask",
        "d 64, lengths spread, pages of 64, no mask",
        "d 64, 1 query row, lengths spread, no mask",
        "d 64, 300 query rows, queries 300, 0, 7, keys 400, 512, 33, causal",
    ]
    assert [len(members) for members in curves.values()] == [1, 2, 1, 1, 1]


MANY = Problem(seqlen_q=512, seqlen_k=512, batch=6, key_lengths=(9, 512, 3, 4, 5, 6))
OTHERS = structs.replace(MANY, key_lengths=(3, 512, 3, 12, 3, 6))  # of the same sum and ends
TURNED = structs.replace(MANY, key_lengths=(3, 512, 9, 4, 5, 6))


def test_many_lengths_are_told_in_short() -> None:
    many = structs.replace(MANY, seqlen_q=1)
    assert layout_words(many) == "539 keys of 6 sequences, 3 to 512, fingerprint fc8a73"
    assert place_words(many) == f"N = 512, 1 query row, {layout_words(many)}"


def test_other_lengths_of_the_same_sum_and_ends_have_a_curve_of_their_own_that_says_so() -> None:
    curves = by_curve([of(MANY), of(OTHERS), of(TURNED), of(MANY, kernel="standard")])
    assert [len(members) for members in curves.values()] == [2, 1, 1]
    assert len({curve.label for curve in curves}) == 3


def test_no_speed_up_is_told_between_other_lengths_of_the_same_sum_and_ends() -> None:
    points = [of(MANY, 8.0, "standard"), of(OTHERS, 1.0, "flash2")]
    told = [headline(members, 512, "standard") for members in by_curve(points).values()]
    assert [(one.kernel, one.baseline) for one in told if one] == [("standard", ""), ("flash2", "")]


def test_sessions_of_other_lengths_of_the_same_sum_and_ends_say_that_these_differ() -> None:
    (found,) = pairings(with_problems(MANY), [with_problems(OTHERS)])
    assert found.pairs == ()
    assert {one.reason for one in found.base_only} == {
        f"{layout_words(OTHERS)} instead of {layout_words(MANY)}"
    }


def test_lengths_that_are_all_full_go_without_saying_even_if_they_are_spread() -> None:
    full = Request.of("cpu", batch=3, lengths="spread").problem(1)
    assert full.spreads_lengths
    assert full.even
    assert layout_words(full) == ""
    assert place_words(full) == "N = 1"


def test_a_sentence_about_them_begins_with_what_they_are() -> None:
    points = [of(spread(page_size=64), 2.0, "standard"), of(spread(page_size=64))]
    told = headline(points, 512, "standard")
    assert told is not None
    assert headline_text(told).startswith("Lengths spread, pages of 64: flash2 is 2.0× faster than standard")


def test_sessions_pair_like_with_like_and_say_how_the_nearest_differs() -> None:
    ours, theirs = with_problems(spread()), with_problems(spread(page_size=64))
    (found,) = pairings(ours, [theirs])
    assert found.pairs == ()
    assert {one.reason for one in found.base_only} == {"pages of 64 instead of no pages"}
    (back,) = pairings(with_problems(FULL), [ours])
    assert {one.reason for one in back.base_only} == {"lengths spread instead of full lengths"}
    (same,) = pairings(theirs, [theirs])
    assert len(same.pairs) == 2


def test_they_forecast_nothing_of_full_sequences_and_place_no_crossing() -> None:
    points = [of(spread(), ms, kernel) for ms, kernel in ((2.0, "standard"), (1.0, "flash2"))]
    told = forecast(points, "flash2", FULL)
    assert told == "flash2 was measured with another pass, or other query rows, lengths or pages"
    assert recorded_crossing(points, ("flash2",), FULL) is None


def test_padding_is_no_work_whose_rate_a_forecast_takes() -> None:
    roomy = structs.replace(RAGGED, seqlen_k=1024)
    for kernel in ("standard", "flash2"):
        told = forecast([of(RAGGED, 2.0, kernel)], kernel, roomy)
        assert isinstance(told, Forecast)
        assert told.ms == pytest.approx(2.0, rel=0.01)


def test_padding_counts_neither_as_exponentials_nor_as_tokens_that_energy_paid_for() -> None:
    made = of(RAGGED)
    reason = why(made, None)
    assert reason is not None
    exponentials = next(part for part in reason.parts if part.load == "exponentials")
    assert exponentials.amount == sum(one.all_kept_pairs for one in ALONE)
    assert made.measurement is not None
    energy = {"energy_mj": Figure(value=100.0, low=80.0, high=125.0, source="NVML")}
    counted = replace(made, measurement=structs.replace(made.measurement, figures=energy))
    efficiency = next(one for one in SURROUNDINGS if one.key == "efficiency").figure(counted)
    assert efficiency is not None
    assert efficiency.value == 307 / 0.1


def test_exports_carry_lengths_and_pages_as_the_schemas_have_them() -> None:
    session = with_problems(spread(page_size=64))
    document_of: dict[str, Any] = json.loads(to_json(session))
    jsonschema.validate(document_of, session_schema())
    point = document_of["points"][0]
    assert point["query_lengths"] == point["key_lengths"] == [171, 342, 512]
    assert point["page_size"] == 64
    table = csv.DictReader(line for line in to_csv(session).splitlines() if not line.startswith("#"))
    first = next(table)
    assert (first["key_lengths"], first["page_size"]) == ("171,342,512", "64")
    said = parquet.read_table(io.BytesIO(to_parquet(session))).to_pylist()[0]
    assert (said["key_lengths"], said["page_size"]) == ([171, 342, 512], 64)


def test_a_request_that_cannot_ask_for_such_lengths_says_full() -> None:
    assert lengths_of([spread(), spread(1024)]) == "spread"
    assert lengths_of([FULL]) == "full"
    assert lengths_of([RAGGED]) is None
    assert lengths_of([spread(), FULL]) is None
