import csv
import io
import math

import msgspec
import pytest

from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.formats.export import to_csv, to_json
from flashscope.profiles.results.model.curves import mask_words
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.events import RanksReady
from flashscope.profiles.wire.measurement import OutputError
from tests.profiles import rank_results
from tests.profiles.sessions import session_of
from tests.profiles.store import builders

FROZEN = [
    *("kernel", "backend", "seqlen", "seqlen_k", "batch", "heads", "head_dim", "dtype", "causal", "status"),
    *("reason", "predicted_bytes", "runtime_ms_median", "runtime_ms_q1", "runtime_ms_q3", "samples", "cold"),
    *("tflops", "footprint_bytes", "allocator_peak_bytes", "max_abs_error", "error_bound", "note"),
    *("kv_heads", "window", "kept_share", "block_mask", "dense_tflops"),
]
"""The columns that programs outside read; they keep their names and, in CSV, their places."""


def test_the_columns_that_others_read_keep_their_names_and_places() -> None:
    session = session_of(builders.whole_sweep())
    points = msgspec.json.decode(to_json(session))["points"]
    assert all(list(point)[: len(FROZEN)] == FROZEN for point in points)
    (heading,) = (line for line in to_csv(session).splitlines() if line.startswith("kernel,"))
    assert heading.split(",")[: len(FROZEN)] == FROZEN


def test_the_json_document_has_a_column_and_a_figure_for_every_quantity_of_a_point() -> None:
    session = session_of(builders.whole_sweep())
    document = msgspec.json.decode(to_json(session, "a.flashscope"))
    assert list(document) == [
        *("session", "points", "ceilings", "drift", "parts", "efficiency", "landscapes", "audits", "ranks"),
    ]
    names = {name for quantity in QUANTITIES.values() for name in quantity.names}
    assert all(names <= set(point) for point in document["points"])
    assert document["session"]["file"] == "a.flashscope"
    assert document["points"][1]["runtime_ms_median"] is None
    figures = document["points"][0]["figures"]
    assert figures["runtime"]["source"] == "perf_counter"
    assert figures["peak_bytes"]["missing"] == "nothing tells the peak here"


def test_a_figure_that_this_version_does_not_know_is_kept() -> None:
    session = session_of(builders.whole_sweep())
    figures = msgspec.json.decode(to_json(session))["points"][0]["figures"]
    assert figures["a-key-of-a-newer-version"]["value"] == 7.5


def test_a_figure_that_is_not_a_number_is_null_in_json() -> None:
    session = session_of(builders.whole_sweep())
    measured = session.points[2].measurement
    assert measured is not None
    assert measured.correctness is not None
    nan = OutputError(output="O", error=math.nan, bound=1.0)
    correctness = msgspec.structs.replace(measured.correctness, outputs=(nan,))
    session.points[2].measurement = msgspec.structs.replace(measured, correctness=correctness)
    assert msgspec.json.decode(to_json(session))["points"][2]["max_abs_error"] is None


def test_the_csv_begins_with_what_was_measured_and_reads_back_as_a_table() -> None:
    session = session_of(builders.whole_sweep())
    session.note = "two\nlines"
    lines = to_csv(session).splitlines()
    header = [line for line in lines if line.startswith("#")]
    assert "# note: two lines" in header
    assert "# device: A CPU" in header
    table = list(csv.DictReader(io.StringIO("\n".join(lines[len(header) :]))))
    assert [row["status"] for row in table] == ["done", "oom", "wrong", "pending"]
    assert table[1]["runtime_ms_median"] == ""
    assert float(table[0]["runtime_ms_median"]) == 1.375


def test_a_window_that_keeps_all_keys_is_no_mask() -> None:
    assert mask_words(causal=False, window=(-1, -1), blocks="") == ""
    assert mask_words(causal=True, window=(-1, -1), blocks="") == "causal"
    assert mask_words(causal=False, window=(-1, 4), blocks="") == "window -1,4"


def test_a_session_without_points_has_a_line_of_csv_and_a_document_for_each_pass_on_ranks() -> None:
    started = builders.plan_started(Plan(backend="cpu", kernels=(), problems=()))
    session = session_of([started, RanksReady(result=rank_results.result())])
    lines = [line for line in to_csv(session).splitlines() if not line.startswith("#")]
    assert lines[0].startswith("scheme,pass,backend,seqlen")
    assert lines[1].startswith("zigzag,forward,cuda,65536,True,2,60.0,110.0,0.91")
    (found,) = msgspec.json.decode(to_json(session))["ranks"]
    assert found["passes"][0]["efficiency"] == pytest.approx(110 / 120)
    assert [one["ranks"] for one in found["model"]] == [8, 64, 512]
