"""What other programs read of a session: each format read back by a reader of its own."""

import io
import json
import math
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from msgspec.structs import replace

from flashscope.app.control.bundled import bundled_sessions
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.profiles.results.formats import parquet as parquet_module
from flashscope.profiles.results.formats.export import to_csv, to_json
from flashscope.profiles.results.formats.json_groups import clocks_of, energy_of
from flashscope.profiles.results.formats.parquet import to_parquet
from flashscope.profiles.results.formats.perfetto import COUNTERS, DEVICE, KERNELS, to_perfetto
from flashscope.profiles.results.formats.schema import SCHEMA, session_schema
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load
from flashscope.profiles.wire.measurement import Figure, Sample
from tests.app.hostile import hostile_events
from tests.profiles.sessions import session_of
from tests.profiles.store import builders

SHARES = ("sm_share", "tensor_share", "dram_share")
IN_JSON_ALONE = {"figures", "ledger", "traffic", "energy", "clocks", "rejected", "why"}
HOSTILE = "=<script>alert(1)</script>\x1b]0;owned\x07\u202e]]>&lt;\"'"


def lesson() -> Session:
    """The smaller of the recordings of a real GPU."""
    return load(bundled_sessions()[0])


def hostile() -> Session:
    return session_of(hostile_events(HOSTILE))


def half_done() -> Session:
    """A session with points of many kinds, some of them never reached."""
    return session_of(builders.whole_sweep())


SESSIONS = (lesson, hostile, half_done, builders.resumed)


def test_the_schema_beside_the_code_is_that_of_the_code() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == session_schema(), "python -m tests.schemas"


@pytest.mark.parametrize("make", SESSIONS)
def test_every_json_document_is_as_the_schema_says(make: Any) -> None:
    found = jsonschema.validators.validator_for(session_schema())(session_schema())
    document = json.loads(to_json(make(), "a.flashscope"))
    assert not [error.message for error in found.iter_errors(document)]


def test_the_schema_refuses_a_point_without_a_column() -> None:
    document = json.loads(to_json(half_done()))
    del document["points"][0]["tflops"]
    with pytest.raises(jsonschema.ValidationError, match="tflops"):
        jsonschema.validate(document, session_schema())


def test_json_has_the_ceilings_of_each_part_and_why_each_point_takes_as_long() -> None:
    session = lesson()
    assert json.loads(to_json(session))["ceilings"] == []
    session.ceilings[1] = builders.CEILINGS
    document = json.loads(to_json(session))
    (ceilings,) = document["ceilings"]
    assert (ceilings["part"], ceilings["rates"]["copy_gbs"]["figure"]["value"]) == (1, 40.0)
    assert ceilings["rates"]["exp_gexps"]["figure"]["missing"] == "ValueError: no"
    for point in document["points"]:
        why = point["why"]
        assert (why is None) == (point["status"] != "done")
        if why is not None:
            assert why["runtime_ms"] == point["runtime_ms_median"]
            assert [part["load"] for part in why["parts"]] == ["products", "bytes", "exponentials"]


GROUPS = ("ledger", "energy", "clocks")


def grouped(point: dict[str, Any]) -> list[dict[str, Any]]:
    """Every figure that stands in a group of a point."""
    groups = [point[group] for group in GROUPS] + list(point["traffic"].values())
    return [point["rejected"]["samples"], *(figure for group in groups for figure in group.values())]


@pytest.mark.parametrize("make", SESSIONS)
def test_every_figure_of_a_group_has_a_value_or_the_reason_why_not(make: Any) -> None:
    for point in json.loads(to_json(make()))["points"]:
        for figure in grouped(point):
            assert (figure["value"] is None) == bool(figure["missing"]), figure


def test_a_figure_that_a_file_holds_without_value_or_reason_says_that_nothing_told_it() -> None:
    state = lesson().cells[0]
    assert state.measurement is not None
    silent = replace(
        state.measurement, figures={"temperature_c": Figure(), "energy_mj": Figure(value=math.nan)}
    )
    row = PointRow.of("cuda", state).with_measurement(silent)
    assert clocks_of(row)["temperature_c"].missing == "nothing told it beside the samples"
    assert energy_of(row)["energy_mj"].missing == "nan is no figure"


def test_a_point_has_its_ledger_its_traffic_by_tier_and_what_was_rejected() -> None:
    session = load(next(path for path in bundled_sessions() if path.stem == "h200-traffic"))
    point = json.loads(to_json(session))["points"][0]
    held = ("input_bytes", "output_bytes", "workspace_bytes")
    assert point["ledger"]["footprint"]["value"] == sum(point["ledger"][key]["value"] for key in held)
    formula, counters, ncu = (point["traffic"][tier] for tier in ("formula", "counters", "ncu"))
    assert formula["tile_io_bytes"]["source"].startswith("loads and stores of the algorithm's loops")
    assert counters["dram_bytes"]["value"] == point["dram_bytes"]
    assert counters["dram_bytes"]["source"].startswith("PM sampling")
    assert ncu["dram_bytes"]["source"] == "Nsight Compute, 3 runs"
    assert ncu["dram_bytes"]["value"] == pytest.approx(point["dram_bytes"], rel=0.02)
    silent = json.loads(to_json(lesson()))["points"][0]["traffic"]
    assert silent["ncu"]["dram_bytes"] | {"missing": ""} == msgspec.to_builtins(Figure())
    assert "selfcheck --out" in silent["ncu"]["dram_bytes"]["missing"]
    uncounted = silent["counters"]["l2_bytes"]
    assert (uncounted["value"], uncounted["missing"]) == (
        None,
        "not counted: the sweep ran without --counters",
    )


def test_rejected_samples_are_counted_by_their_reason_and_not_where_there_were_none() -> None:
    session = lesson()
    state, refused = session.cells[0], session.cells[-2]
    assert state.measurement is not None
    samples = (Sample(1.0), Sample(2.0, "throttled: heat"), Sample(3.0, "throttled: heat"))
    state.measurement = replace(state.measurement, samples=samples)
    points = json.loads(to_json(session))["points"]
    rejected = points[0]["rejected"]
    assert (rejected["samples"]["value"], rejected["reasons"]) == (2, {"throttled: heat": 2})
    assert refused.status == "will-not-fit"
    none = points[-2]["rejected"]["samples"]
    assert (none["value"], none["missing"]) == (None, "the point is will-not-fit")


def test_parquet_reads_back_as_the_points_and_every_timed_run() -> None:
    parquet = pytest.importorskip(
        "pyarrow.parquet", reason='pyarrow is not installed: pip install -e ".[parquet]"'
    )
    session = lesson()
    table = parquet.read_table(io.BytesIO(to_parquet(session, "a.flashscope")))
    points = msgspec.json.decode(to_json(session))["points"]
    assert table.column_names == [*(name for name in points[0] if name not in IN_JSON_ALONE), "runs"]
    for read, point, state in zip(table.to_pylist(), points, session.cells, strict=True):
        runs = read.pop("runs")
        assert read == {name: value for name, value in point.items() if name not in IN_JSON_ALONE}
        samples = state.measurement.samples if state.measurement else ()
        assert runs == [msgspec.structs.asdict(sample) for sample in samples]
    told = table.schema.metadata
    assert told[b"device"] == b"NVIDIA H200"
    assert b"10 repeats" in told[b"protocol"]
    assert json.loads(told[b"session"])["machine"]["driver"] == session.machine.driver


@pytest.mark.parametrize("make", [hostile, half_done])
def test_parquet_takes_any_text_and_any_gap(make: Any) -> None:
    parquet = pytest.importorskip(
        "pyarrow.parquet", reason='pyarrow is not installed: pip install -e ".[parquet]"'
    )
    session = make()
    table = parquet.read_table(io.BytesIO(to_parquet(session)))
    assert table.num_rows == session.plan.cells


def test_without_pyarrow_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_module, "installed", lambda _: False)
    with pytest.raises(UnsupportedError, match=r'pip install -e "\.\[parquet\]"'):
        to_parquet(half_done())


def test_pandas_reads_the_csv_as_numbers_and_gaps(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    session, file = lesson(), tmp_path / "table.csv"
    file.write_text(to_csv(session), encoding="utf-8")
    table = pandas.read_csv(file, comment="#")
    points = msgspec.json.decode(to_json(session))["points"]
    assert list(table["kernel"]) == [point["kernel"] for point in points]
    for name in ("runtime_ms_median", "footprint_bytes", "tflops"):
        read = [None if pandas.isna(value) else value for value in table[name]]
        assert read == [point[name] for point in points]


def test_pandas_reads_the_csv_of_a_hostile_session_as_one_line_a_point(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    session, file = hostile(), tmp_path / "table.csv"
    file.write_text(to_csv(session), encoding="utf-8")
    assert len(pandas.read_csv(file, comment="#")) == session.plan.cells


def traced(session: Session) -> list[dict[str, Any]]:
    """The events of a session's trace, each of a form that the format knows."""
    document = json.loads(to_perfetto(session))
    assert document["displayTimeUnit"] in {"ms", "ns"}
    for event in document["traceEvents"]:
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert isinstance(event["args"], dict)
        match event["ph"]:
            case "X":
                assert event["dur"] >= 0
                assert isinstance(event["tid"], int)
            case "C":
                assert all(isinstance(value, int | float) for value in event["args"].values())
            case "M":
                assert event["name"] in {"process_name", "thread_name"}
                assert isinstance(event["args"]["name"], str)
            case other:
                assert other == "B"
        assert event["ph"] == "M" or event["ts"] >= 0
    return list(document["traceEvents"])


INNER = "run", "stage"  # slices that stand in others: of a sampling, or of a timeline's block


@pytest.mark.parametrize("make", SESSIONS)
def test_a_trace_is_of_the_trace_event_format_and_slices_of_a_track_nest(make: Any) -> None:
    tracks = defaultdict(list)
    for event in traced(make()):
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], event["cat"]))
    for slices in tracks.values():
        stretches = sorted(one[:2] for one in slices if one[2] not in INNER)
        assert all(before[1] <= after[0] + 1e-3 for before, after in pairwise(stretches))
        runs = [one[:2] for one in slices if one[2] in INNER]
        assert all(
            any(start - 1e-3 <= run[0] and run[1] <= end + 1e-3 for start, end in stretches) for run in runs
        )


def test_a_trace_names_its_tracks_and_holds_every_run_and_reading() -> None:
    session = lesson()
    events = traced(session)
    names = [event["args"]["name"] for event in events if event["ph"] == "M"]
    assert names == ["Kernels on NVIDIA H200", *session.plan.kernels, "Telemetry of NVIDIA H200"]
    runs = [event for event in events if event.get("cat") == "run"]
    samples = [one for state in session.points if state.measurement for one in state.measurement.samples]
    assert sorted(run["args"]["ms"] for run in runs) == sorted(sample.ms for sample in samples)
    assert all(run["dur"] == pytest.approx(run["args"]["ms"] * 1e3, abs=1e-3) for run in runs)
    counters = [event for event in events if event["ph"] == "C"]
    read = [title for field, title in COUNTERS.items() if getattr(session.readings[0], field) is not None]
    assert set(COUNTERS.values()) - set(read) == {
        COUNTERS[share] for share in SHARES
    }  # it is from before these
    assert {event["name"] for event in counters} == set(read)
    assert len(counters) == len(read) * len(session.readings)
    assert {event["pid"] for event in counters} == {DEVICE}


def test_shares_of_a_gpu_are_counters_of_a_trace() -> None:
    session = lesson()
    known = replace(session.readings[0], sm_share=0.5, tensor_share=0.25, dram_share=0.125)
    session.readings[:] = [known]
    counters = {event["name"]: event["args"]["value"] for event in traced(session) if event["ph"] == "C"}
    assert [counters[COUNTERS[share]] for share in SHARES] == [0.5, 0.25, 0.125]


def test_every_format_has_the_word_for_how_far_a_point_can_be_trusted() -> None:
    session = lesson()
    slices = [event["args"] for event in traced(session) if event["ph"] == "X" and "trust" in event["args"]]
    assert {one["trust"] for one in slices} == {"solid"}
    points = json.loads(to_json(session))["points"]
    assert {point["trust"] for point in points} == {"solid", None}
    assert all(point["energy"]["energy_mj"]["missing"] for point in points)
    assert all(point["clocks"]["sm_clock_mhz"]["value"] for point in points if point["status"] == "done")
    done = [point["rejected"] for point in points if point["status"] == "done"]
    assert all((one["samples"]["value"], one["reasons"]) == (0, {}) for one in done)
    lines = [line for line in to_csv(session).splitlines() if not line.startswith("#")]
    place = lines[0].split(",").index("trust")
    assert {line.split(",")[place] for line in lines[1:] if ",done," in line} == {"solid"}


def test_a_slice_says_what_became_of_its_point() -> None:
    session = lesson()
    (refused,) = (
        event
        for event in traced(session)
        if event["args"].get("status") == "will-not-fit" and event["pid"] == KERNELS
    )
    assert refused["args"]["reason"]


def test_the_formats_tell_in_which_part_of_a_resumed_session_a_point_was_measured() -> None:
    session = builders.resumed()
    document = json.loads(to_json(session))
    assert [point["part"] for point in document["points"]] == [1, 2, 2, 2]
    assert [one["index"] for part in document["parts"] for one in part["again"]] == [1, 2]
    slices = [event["args"] for event in traced(session) if event["ph"] == "X"]
    assert {(one["part"], one.get("part_check", False)) for one in slices} == {
        (1, False),
        (2, False),
        (2, True),
    }
    parquet = pytest.importorskip(
        "pyarrow.parquet", reason='pyarrow is not installed: pip install -e ".[parquet]"'
    )
    table = parquet.read_table(io.BytesIO(to_parquet(session)))
    assert table.column("part").to_pylist() == [1, 2, 2, 2]
