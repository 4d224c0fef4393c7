"""`main.py timeline` records what a window's Timeline would, says it, and keeps it."""

import json
import shutil
from pathlib import Path

import pytest

from flashscope.app.cli import main
from flashscope.kernels.workload.timeline import STAGES, stages_of
from flashscope.profiles.store import load
from tests.end_to_end import program

SMALL = ("--backend", "cpu", "--heads", "1", "--seqlen", "64", "--head-dim", "16", "--rounds", "2")
BUNDLED = program.ROOT / "assets" / "sessions" / "cpu-timelines.flashscope"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return Path(shutil.copy(BUNDLED, tmp_path / "mine.flashscope"))


def test_it_says_where_each_kernel_spends_its_time_and_what_the_clocks_cost() -> None:
    done = program.inside("timeline", "flash1", "flash2", "flash1", *SMALL)
    assert done.returncode == 0, done.stderr
    problem, headline, *table = done.stdout.splitlines()
    assert problem.startswith("N = 64, d = 16, 1 head, float32, on ")
    assert headline
    assert all(stage in table[0] for stage in stages_of("forward"))
    assert [line.split()[0] for line in table[1:]] == ["flash1", "flash2", "flash1:", "flash2:"]
    assert done.stderr.count("round") == 4


@pytest.mark.matrix
def test_one_document_has_the_numbers_and_its_shares_make_up_the_time(session: Path) -> None:
    done = program.inside("timeline", "flash2", *SMALL, "--causal", "--json", "--into", str(session))
    (one,) = program.document(done)["timelines"]
    assert sum(one["shares"].values()) + one["waits"] == pytest.approx(1, abs=1e-6)
    assert one["problem"]["causal"] is True
    *before, kept = load(session).timelines
    assert len(before) == len(load(BUNDLED).timelines)
    assert (kept.span_ns, kept.build, kept.begin.shape[0]) == (one["span_ns"], one["build"], one["bars"])


def test_a_trace_for_perfetto_has_a_slice_for_each_bar(tmp_path: Path) -> None:
    out = tmp_path / "flash2.json"
    found = program.document(program.inside("timeline", "flash2", *SMALL, "--json", "--perfetto", str(out)))
    slices = [one for one in json.loads(out.read_bytes())["traceEvents"] if one["ph"] == "X"]
    stages = [one for one in slices if one["name"] in STAGES]
    assert len(stages) == found["timelines"][0]["bars"] > 0


@pytest.mark.matrix
def test_a_trace_for_perfetto_stands_on_stdout_alone() -> None:
    done = program.run("timeline", "flash2", *SMALL, "--perfetto", "-")
    assert any(one["name"] in STAGES for one in json.loads(done.stdout)["traceEvents"])


def test_a_file_that_is_there_stays_unless_it_may_be_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine.json"
    out.write_text("mine")
    assert main(["timeline", "flash2", *SMALL, "--perfetto", str(out)]) == 2
    assert "--force" in capsys.readouterr().err
    assert out.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("flash3", *SMALL), 2, "timeline: flash3 is not implemented on the cpu backend"),
        pytest.param(
            ("flash2", *SMALL, "--pass", "backward"),
            2,
            "timeline: flash2: On a CPU",
            marks=pytest.mark.matrix,
        ),
        pytest.param(("flash2", *SMALL, "--seqlen", "4m"), 2, "bars", marks=pytest.mark.matrix),
        (("flash2", *SMALL, "--seqlen", "1k,2k"), 2, "1k,2k is not"),
        (("flash9", *SMALL), 2, "flash9"),
        (("flash2", *SMALL, "--sms", "4"), 2, "A CPU has no SMs"),
        (("flash2", *SMALL, "--sms", "0"), 2, "--sms"),
        (("flash2", *SMALL, "--json", "--perfetto", "-"), 2, "--json"),
        (("flash2", *SMALL, "--into", "nothing.flashscope"), 1, "nothing.flashscope"),
        (("flash2", *SMALL, "--into", "cpu-timelines"), 1, "comes with the program and stays as it is"),
        (("flash2", *SMALL, "--perfetto", "nowhere/a.json"), 2, "there is no folder nowhere"),
        (("flash2", *SMALL, "--perfetto", "."), 2, "is a folder"),
        ((), 2, "flash1, flash2, flash3"),
    ],
)
def test_what_cannot_be_recorded_is_said_in_one_line(words: tuple[str, ...], code: int, told: str) -> None:
    done = program.inside("timeline", *words)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert told in done.stderr
    assert "Traceback" not in done.stderr
