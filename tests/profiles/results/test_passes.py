"""What results say of a backward pass, and that it never stands in for a forward pass."""

import json
from dataclasses import replace
from typing import Any

import jsonschema
import msgspec
import pytest
from msgspec import structs

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.words.results.headline import headline_text, ratio_words
from flashscope.app.words.results.progress import flight_text
from flashscope.app.words.results.provenance_header import session_header
from flashscope.app.words.units import thousands
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.problem import PASSES, Passes, Problem
from flashscope.profiles.plan.plan import Plan, Point
from flashscope.profiles.results.compare.document import PointSaid, comparison_schema
from flashscope.profiles.results.compare.nearest import Neighbours
from flashscope.profiles.results.compare.pairing import pairings
from flashscope.profiles.results.findings.headline import headline
from flashscope.profiles.results.formats.export import to_csv, to_json
from flashscope.profiles.results.formats.schema import session_schema
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.results.planner.crossing import recorded_crossing
from flashscope.profiles.results.planner.forecast import forecast
from flashscope.profiles.results.quantities.registry import FOOTPRINT, QUANTITIES, THROUGHPUT
from flashscope.profiles.results.theory.bytes_moved import BACKWARD
from flashscope.profiles.results.theory.formulas import tile_io_bytes
from flashscope.profiles.results.theory.roofline import roofline
from flashscope.profiles.results.theory.why import why
from flashscope.profiles.store import load
from flashscope.profiles.wire.ceilings import EXPONENTIALS, Ceiling, Ceilings, matmul_key
from flashscope.profiles.wire.measurement import Correctness, Figure, Measurement, OutputError, Sample
from tests.profiles.sessions import session_of
from tests.profiles.store import builders

RATE = Ceiling(figure=Figure(value=1000.0, source="a load"))
CEILINGS = Ceilings(rates={matmul_key("float16"): RATE, EXPONENTIALS: RATE})
CHECKED = Correctness(outputs=(OutputError(output="dQ", error=0.1, bound=0.2),), rows=9, passed=True)


def problem_of(passes: Passes, n: int = 1024) -> Problem:
    return Problem(seqlen_q=n, seqlen_k=n, head_dim=128, dtype="float16", passes=passes)


def row(passes: Passes, ms: float = 1.0, kernel: str = "flash2", n: int = 1024) -> PointRow:
    return PointRow(
        point=Point(index=0, kernel=kernel, problem=problem_of(passes, n)),
        backend="cuda",
        status="done",
        reason="",
        predicted_bytes=0,
        sampling_ns=None,
        measurement=Measurement(
            samples=tuple(Sample(ms * (1 + k / 1000)) for k in range(10)),
            timer="CUDA events",
            cold=True,
            figures={"kept_bytes": Figure(value=7, source="shapes and dtypes")},
            correctness=CHECKED,
        ),
        cache_bytes=60 << 20,
        part=1,
    )


def with_problems(*problems: Problem) -> Session:
    whole = session_of(builders.whole_sweep())
    plan = Plan(backend="cpu", kernels=("standard", "flash2"), problems=problems)
    whole.plan, whole.points = plan, [PointState(point, 1) for point in plan.points()]
    return whole


def test_the_rate_counts_the_operations_of_the_pass() -> None:
    forward, backward, both = (THROUGHPUT.figure(row(one)) for one in PASSES)
    assert forward and backward and both  # noqa: PT018 - three figures
    values = [float(one.value or 0) for one in (forward, backward, both)]
    assert [value / values[0] for value in values] == pytest.approx([1, 2.5, 3.5])


def test_passes_stand_on_curves_of_their_own_which_say_which() -> None:
    curves = by_curve([row(one, n=n) for one in PASSES for n in (512, 1024)])
    assert [curve.label for curve in curves] == [
        "d 128, no mask",
        "d 128, backward, no mask",
        "d 128, forward + backward, no mask",
    ]
    assert [len(members) for members in curves.values()] == [2, 2, 2]


def test_deterministic_gradients_stand_on_a_curve_of_their_own() -> None:
    usual = row("backward")
    problem = structs.replace(usual.problem, deterministic=True)
    curves = by_curve([usual, replace(usual, point=structs.replace(usual.point, problem=problem))])
    assert [curve.label for curve in curves] == [
        "d 128, backward, no mask",
        "d 128, deterministic backward, no mask",
    ]


def test_few_query_rows_stand_on_a_curve_of_their_own_over_the_number_of_keys() -> None:
    def decoded(queries: int, n: int) -> PointRow:
        whole = row("forward", n=n)
        problem = structs.replace(whole.problem, seqlen_q=queries)
        return replace(whole, point=structs.replace(whole.point, problem=problem))

    points = [decoded(queries, n) for queries in (1, 16) for n in (512, 1024)]
    curves = by_curve([*points, row("forward", n=512)])
    assert [curve.label for curve in curves] == [
        "d 128, 1 query row, no mask",
        "d 128, 16 query rows, no mask",
        "d 128, no mask",
    ]
    assert [[one.seqlen for one in members] for members in curves.values()] == [[512, 1024]] * 2 + [[512]]
    told = headline(points[:2], 1024, None)
    assert told is not None
    assert headline_text(told).startswith("1 query row: flash2 ")
    among = headline(points[:2], 1024, None, label="d 128, 1 query row, no mask")
    assert headline_text(among).startswith("d 128, 1 query row, no mask: flash2 ")


def test_a_sentence_about_another_pass_begins_with_it() -> None:
    told = headline([row("backward", 2.0, "standard"), row("backward")], 1024, "standard")
    assert told is not None
    assert headline_text(told).startswith("Backward: flash2 is 2.0× faster than standard at N = 1k")
    assert ratio_words(told) == "Backward: flash2: 2.0× faster at 1k"
    forward = headline([row("forward", 2.0, "standard"), row("forward")], 1024, "standard")
    assert headline_text(forward).startswith("flash2 is")


def test_a_point_in_flight_and_a_header_name_the_pass() -> None:
    session = with_problems(problem_of("both"))
    assert (
        flight_text(session.points[:1]) == f"standard · N = {thousands(1024)}, forward + backward · prepare"
    )
    assert "no mask, forward + backward, seed" in session_header(session)["problem"]
    assert "backward" not in session_header(with_problems(problem_of("forward")))["problem"]


@pytest.mark.parametrize("passes", ["backward", "both"])
def test_bytes_by_formula_are_absent_with_the_reason(passes: Passes) -> None:
    for key in ("tile_io_bytes", "compulsory_dram_bytes"):
        assert QUANTITIES[key].figure(row(passes)) == Figure(missing=BACKWARD)
    assert tile_io_bytes("flash2", problem_of(passes), "cuda") is None


@pytest.mark.parametrize(
    ("passes", "kernel", "products", "exponentials"),
    [
        ("forward", "flash2", 2, 1),
        ("backward", "flash2", 5, 1),
        ("both", "flash2", 7, 2),
        ("forward", "standard", 2, 1),
        ("backward", "standard", 4, 0),  # P was kept: neither S nor P is computed again
        ("both", "standard", 6, 1),
    ],
)
def test_what_binds_a_pass_reckons_with_what_it_computes_again(
    passes: Passes, kernel: str, products: int, exponentials: int
) -> None:
    found = why(row(passes, kernel=kernel), CEILINGS)
    assert found is not None
    multiplied, moved, raised = found.parts
    pairs = 1024 * 1024
    assert (multiplied.amount, raised.amount) == (products * 2 * 128 * pairs, exponentials * pairs)
    assert multiplied.amount_source == f"{2 * products}·d per kept pair"
    assert (moved.missing == BACKWARD) == (passes != "forward")


def test_the_roof_of_exponentials_stands_over_forward_passes_alone() -> None:
    assert EXPONENTIALS in {roof.key for roof in roofline([row("forward")], {1: CEILINGS}).roofs}
    assert EXPONENTIALS not in {roof.key for roof in roofline([row("backward")], {1: CEILINGS}).roofs}


def test_a_backward_pass_forecasts_no_forward_pass_and_places_no_crossing() -> None:
    points = [row("backward", ms, kernel) for ms, kernel in ((2.0, "standard"), (1.0, "flash2"))]
    told = forecast(points, "flash2", problem_of("forward", 4096))
    assert told == "flash2 was measured with another pass, or other query rows, lengths or pages"
    assert recorded_crossing(points, ("flash2",), problem_of("forward")) is None
    assert not isinstance(forecast(points, "flash2", problem_of("backward", 4096)), str)


def test_sessions_pair_pass_by_pass_and_the_nearest_of_another_pass_is_told_as_such() -> None:
    ours, theirs = with_problems(problem_of("forward")), with_problems(problem_of("backward"))
    (found,) = pairings(ours, [theirs])
    assert found.pairs == ()
    assert {one.reason for one in found.base_only} == {"backward instead of forward"}
    (same,) = pairings(theirs, [theirs])
    assert len(same.pairs) == 2


def test_the_nearest_has_the_same_pass_before_the_same_width() -> None:
    problem = structs.replace(problem_of("backward"), heads=4)
    wide = replace(row("backward"), point=Point(index=0, kernel="flash2", problem=problem))
    near = Neighbours([row("forward"), wide]).lone(row("backward"), "").nearest
    assert near is wide


def test_csv_and_json_carry_the_pass_as_the_schemas_have_it() -> None:
    session = with_problems(problem_of("backward"))
    document_of: dict[str, Any] = json.loads(to_json(session))
    jsonschema.validate(document_of, session_schema())
    assert {point["pass"] for point in document_of["points"]} == {"backward"}
    assert {problem["pass"] for problem in document_of["session"]["plan"]["problems"]} == {"backward"}
    head, first = [line for line in to_csv(session).splitlines() if not line.startswith("#")][:2]
    assert ("pass", "backward") in zip(head.split(","), first.split(","), strict=False)
    assert "pass" in PointSaid.__struct_encode_fields__
    assert "pass" in json.dumps(comparison_schema())
    assert msgspec.json.encode(problem_of("backward")).count(b'"pass"') == 1


@pytest.mark.parametrize("name", ["h200-backward", "h100-backward"])
def test_a_backward_pass_is_predicted_to_hold_what_the_recording_measured_of_libraries_too(name: str) -> None:
    recording = next(path for path in bundled_sessions() if path.stem == name)
    for one in rows(load(recording)):
        held = FOOTPRINT.figure(one)
        assert held is not None
        predicted = find_kernel(one.kernel).predicted_bytes(one.problem, "cuda")
        assert predicted == pytest.approx(held.value, rel=5e-3), (one.kernel, one.problem)
