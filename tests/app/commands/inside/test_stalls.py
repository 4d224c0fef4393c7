"""`stalls`: a session's stall profiles in a terminal and as JSON, and those that are sampled first."""

import json
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.app.cli import main
from flashscope.app.commands.hosts import Hosts
from flashscope.app.commands.inside import stalls
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.store import Recorder, load
from flashscope.profiles.store.keeping import keep
from flashscope.profiles.wire.events import Event, RequestFailed, StallsProgress, StallsReady
from tests.app.stall_profiles import FEWER, LINES, profile
from tests.profiles.store import builders

Printed = pytest.CaptureFixture[str]
SESSION = builders.plan_started().session_id


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A session with the stalls of two steps."""
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    for one in (profile("flash3-a", samples=FEWER, took_ms=1.25), profile("flash3-b")):
        keep(path, one, SESSION)
    return path


def test_each_profile_is_a_sentence_a_table_of_reasons_and_its_lines(file: Path, capsys: Printed) -> None:
    assert main(["stalls", str(file)]) == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert first.startswith("flash3-a · N = 4k, d = 64, 64 heads · NVIDIA H100 80GB HBM3\n")
    assert "60.0% of the samples stall for “barrier”" in first
    assert "what a warp waits for" in first
    assert "From flash3-a to flash3-b: 1.25 ms to 1.00 ms." in second
    changed = next(line.split() for line in second.splitlines() if line.startswith("long scoreboard "))
    assert changed == ["long", "scoreboard", "5.0%", "20.0%", "+15.0"]
    hot = next(line.split() for line in second.splitlines() if line.startswith(f"{LINES[0]} "))
    assert hot[:3] == [f"{LINES[0]}", "85.0%", "barrier"]


def test_sentences_and_lines_of_source_stand_under_the_begin_of_their_heading(
    file: Path, capsys: Printed
) -> None:
    assert main(["stalls", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    for heading, row in (("what a warp waits for", "barrier "), ("source", f"{LINES[0]} ")):
        at = next(place for place, line in enumerate(lines) if line.rstrip().endswith(heading))
        begin = lines[at].index(heading)
        below = next(line for line in lines[at + 1 :] if line.startswith(row))
        assert below[begin - 1] == " "
        assert below[begin] != " "


def test_json_has_shares_by_reason_and_line_and_what_changed(file: Path, capsys: Printed) -> None:
    assert main(["stalls", str(file), "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["stall_profiles"]
    assert (first["kernel"], first["before"], first["samples"]) == ("flash3-a", None, 100)
    assert second["reasons"] == {"barrier": 0.5, "selected": 0.25, "long_scoreboard": 0.2, "membar": 0.05}
    assert second["lines"]["70"] == {"selected": 10, "membar": 5}
    assert second["before"]["kernel"] == "flash3-a"
    assert second["before"]["change"]["long_scoreboard"] == pytest.approx(0.15)
    assert (second["interval_cycles"], second["launches"]) == (128, 2)


def test_samples_behind_the_end_of_the_source_are_listed_without_its_words(
    tmp_path: Path, capsys: Printed
) -> None:
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    keep(path, replace(profile(), line=Array.of(np.array([900_000] * 4, np.int32))), SESSION)
    assert main(["stalls", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["900000", "100.0%", "barrier"]


def test_a_session_without_any_says_how_to_have_some(tmp_path: Path, capsys: Printed) -> None:
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    assert main(["stalls", str(path)]) == 1
    assert "has no stall profiles: --sample KERNELS takes some" in capsys.readouterr().err
    assert main(["stalls", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"stall_profiles": []}


class Sampler:
    """In place of an engine: answers each request at once."""

    def __init__(self, answers: Sequence[Event | int]) -> None:
        self.asked: list[StallRequest] = []
        self.events: SimpleQueue[Event | int] = SimpleQueue()
        self.engine = self
        self._answers = list(answers)

    def stalls(self, request: StallRequest) -> None:
        self.asked.append(request)
        self.events.put(StallsProgress(done=2, total=4))
        self.events.put(self._answers.pop(0))


def sampling(monkeypatch: pytest.MonkeyPatch, *answers: Event | int) -> Sampler:
    made = Sampler(answers)

    @contextmanager
    def driver(_hosts: Hosts) -> Any:
        yield made, made.events

    monkeypatch.setattr(stalls, "local_driver", driver)
    return made


def test_what_is_sampled_is_kept_in_the_file_and_printed(
    file: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sampling(monkeypatch, *(StallsReady(profile=profile("flash3-c")) for _ in range(2)))
    arguments = ["--sample", "flash3-c", "--head-dim", "64", "--mask", "both"]
    assert main(["stalls", str(file), *arguments]) == 0
    assert [(one.kernel, one.problem.causal, one.problem.head_dim) for one in made.asked] == [
        ("flash3-c", False, 64),
        ("flash3-c", True, 64),
    ]
    assert [one.request.kernel for one in load(file).stalls] == ["flash3-a", "flash3-b", *["flash3-c"] * 2]
    printed, told = capsys.readouterr()
    assert "flash3-c, causal: sampling" in told
    assert printed.startswith("flash3-a")


def test_a_session_that_cannot_keep_them_is_refused_before_anything_is_sampled(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sampling(monkeypatch)
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    assert main(["stalls", str(recorder.path), "--sample", "flash2"]) == 1
    assert "is being recorded" in capsys.readouterr().err
    recorder.close()
    assert main(["stalls", "h100-stalls", "--sample", "flash2"]) == 1
    assert "comes with the program and stays as it is" in capsys.readouterr().err
    assert made.asked == []


def test_a_refusal_is_told_with_its_remedy_and_what_was_kept_stays(
    file: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = RequestFailed(request="stalls", reason="Run as root.")
    sampling(monkeypatch, StallsReady(profile=profile("flash3-c")), refused)
    assert main(["stalls", str(file), "--sample", "flash3-c,flash2"]) == 1
    assert "flash2: Run as root." in capsys.readouterr().err
    assert len(load(file).stalls) == 3


def test_a_signal_ends_it_by_the_shells_convention(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sampling(monkeypatch, 2)
    assert main(["stalls", str(file), "--sample", "flash2"]) == 130


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("--sample torch-flash", "torch-flash has no source in CUDA of its own"),
        ("--sample=", "name at least one kernel"),
        ("--sample flash2 --head-dim 0", "'0' is not a whole number from 1"),
        ("--head-dim 64", "--head-dim belongs to --sample"),
        ("--mask causal", "--mask belongs to --sample"),
        ("--mask some", "some"),
    ],
)
def test_what_cannot_be_sampled_is_refused_in_a_line(
    arguments: str, told: str, file: Path, capsys: Printed
) -> None:
    assert main(["stalls", str(file), *arguments.split()]) == 2
    assert told in capsys.readouterr().err
