import csv
import io
import math

import msgspec

from profiles.export import to_csv, to_json
from profiles.summary import PointRow
from tests.profiles.store import builders


def test_the_json_document_has_a_row_for_each_point_with_every_figure() -> None:
    session = builders.reduced(builders.whole_sweep())
    document = msgspec.json.decode(to_json(session, "a.flashscope"))
    assert list(document) == ["session", "points", "drift"]
    assert [set(point) for point in document["points"]] == [set(PointRow.__struct_fields__)] * 4
    assert document["session"]["file"] == "a.flashscope"
    assert document["points"][1]["runtime_ms_median"] is None


def test_a_figure_that_is_not_a_number_is_null_in_json() -> None:
    session = builders.reduced(builders.whole_sweep())
    measured = session.points[2].measurement
    assert measured is not None
    assert measured.correctness is not None
    correctness = msgspec.structs.replace(measured.correctness, max_abs_error=math.nan)
    session.points[2].measurement = msgspec.structs.replace(measured, correctness=correctness)
    assert msgspec.json.decode(to_json(session))["points"][2]["max_abs_error"] is None


def test_the_csv_begins_with_what_was_measured_and_reads_back_as_a_table() -> None:
    session = builders.reduced(builders.whole_sweep())
    session.note = "two\nlines"
    lines = to_csv(session).splitlines()
    header = [line for line in lines if line.startswith("#")]
    assert "# note: two lines" in header
    assert "# device: A CPU" in header
    table = list(csv.DictReader(io.StringIO("\n".join(lines[len(header) :]))))
    assert [row["status"] for row in table] == ["done", "oom", "wrong", "pending"]
    assert table[1]["runtime_ms_median"] == ""
    assert float(table[0]["runtime_ms_median"]) == 1.375
