"""A timeline as a trace for ui.perfetto.dev has every bar on its lane, under the window's names."""

import json
from collections import Counter
from typing import Any

from flashscope.kernels.workload.timeline import stages_of
from flashscope.profiles.results.formats.perfetto import to_perfetto
from flashscope.profiles.results.formats.perfetto_timeline import timelines_to_perfetto
from flashscope.profiles.results.model.session import Session
from tests.app.timelines import made_timeline
from tests.profiles.sessions import session_of
from tests.profiles.store import builders

WARPGROUPS = "warpgroup 1", "warpgroup 2"


def events(document: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(document)["traceEvents"]
    return found


def test_every_bar_is_a_slice_with_its_stage_tile_and_times() -> None:
    timeline = made_timeline()
    slices = [one for one in events(timelines_to_perfetto([timeline])) if one.get("cat") == "stage"]
    assert len(slices) == len(timeline.stage.numpy())
    assert Counter(one["name"] for one in slices) == {
        name: 32 if name != "store" else 8 for name in stages_of("forward")
    }
    assert slices[1] == {
        "ph": "X",
        "name": "QKᵀ",
        "cat": "stage",
        "pid": 1,
        "tid": 0,
        "ts": 0.25,
        "dur": 0.25,
        "args": {"head": 0, "i": 0, "j": 0},
    }
    store = next(one for one in slices if one["name"] == "store")
    assert store["args"] == {"head": 0, "i": 0}


def test_lanes_are_tracks_named_as_in_the_window_and_blocks_hold_their_bars() -> None:
    timeline = made_timeline(rows=2, lanes=WARPGROUPS, row_kind="SM")
    told = events(timelines_to_perfetto([timeline]))
    names = {one["tid"]: one["args"]["name"] for one in told if one["name"] == "thread_name"}
    assert names == {
        0: "SM 0, warpgroup 1",
        1: "SM 0, warpgroup 2",
        2: "SM 1, warpgroup 1",
        3: "SM 1, warpgroup 2",
    }
    blocks = [one for one in told if one.get("cat") == "block"]
    assert [one["name"] for one in blocks[:2]] == ["head 0, block i 0", "head 0, block i 1"]
    for bar in (one for one in told if one.get("cat") == "stage"):
        around = [
            block
            for block in blocks
            if block["tid"] == bar["tid"]
            and block["ts"] <= bar["ts"]
            and bar["ts"] + bar["dur"] <= block["ts"] + block["dur"]
        ]
        assert len(around) == 1
        assert around[0]["name"].startswith(f"head {bar['args']['head']},")


def test_blocks_of_a_backward_pass_have_keys_and_its_track_names_the_pass() -> None:
    told = events(timelines_to_perfetto([made_timeline(passes="backward")]))
    blocks = [one for one in told if one.get("cat") == "block"]
    assert [one["name"] for one in blocks[:2]] == ["head 0, block j 0", "head 0, block j 1"]
    (process,) = (one["args"]["name"] for one in told if one["name"] == "process_name")
    assert process.startswith("flash2 with clocks, N = 64, backward")


def test_two_timelines_are_two_processes_from_the_same_moment_on() -> None:
    document = timelines_to_perfetto([made_timeline("flash1"), made_timeline("flash2")])
    told = events(document)
    names = {one["pid"]: one["args"]["name"] for one in told if one["name"] == "process_name"}
    assert [name.split()[0] for name in names.values()] == ["flash1", "flash2"]
    for process in names:
        assert min(one["ts"] for one in told if one["pid"] == process and "ts" in one) == 0
    about = json.loads(document)["otherData"]
    assert "without, medians of 3 in turns" in about["1 flash1"]


def test_a_session_is_written_with_its_timelines_behind_kernels_and_telemetry() -> None:
    session: Session = session_of(builders.whole_sweep())
    found = [one for one in events(to_perfetto(session)) if one["pid"] == 3]
    assert [one["name"] for one in found if one.get("cat") == "stage"] == ["load", "QKᵀ", "store", "QKᵀ"]
