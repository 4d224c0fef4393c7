"""The benchmarks of several devices run in miniature on a CPU, and say what they are for."""

import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from flashscope.profiles.store import load
from tests.benchmarks import neighbour_bench, split_bench

pytestmark = [pytest.mark.cluster, pytest.mark.matrix, pytest.mark.usefixtures("signals")]


@pytest.fixture
def signals() -> Iterator[None]:
    """A sweep hears signals in place of whoever runs it."""
    heard = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in heard.items():
        signal.signal(number, handler)


def test_a_split_sweep_is_timed_beside_one_device_and_both_are_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--backend", "cpu", "--gpus", "2", "--problems", "3", "--rounds", "1", "--out", str(tmp_path)]
    assert split_bench.main(words) == 0
    said = capsys.readouterr().out
    assert "2 devices: " in said
    assert "3 ratios, median" in said
    alone, split = (load(tmp_path / f"split-{devices}-1.flashscope") for devices in (1, 2))
    assert {one.device for one in alone.points} == {0}
    assert {one.device for one in split.points} == {0, 1}
    assert {one.status for one in (*alone.points, *split.points)} == {"done"}


def test_too_little_time_for_both_is_said_and_ends_what_runs_with_nothing_left_in_the_working_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert split_bench.main(["--backend", "cpu", "--gpus", "2", "--seconds", "0"]) == 1
    assert "too little time" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_a_device_is_measured_beside_idle_and_busy_ones_by_turns_and_kept_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words, path = ["--backend", "cpu", "--gpus", "2", "--rounds", "1"], tmp_path / "found.json"
    neighbour_bench.main(words)
    assert "back to back" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    neighbour_bench.main([*words, "--out", str(path)])
    found = msgspec.json.decode(path.read_bytes())
    assert {state: len(figures["cold"]) for state, figures in found.items()} == dict.fromkeys(
        ("idle", "products", "copies"), 1
    )
