"""The benchmarks of several devices run in miniature on a CPU, and say what they are for."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from flashscope.profiles.store import load
from tests.benchmarks import neighbour_bench, split_bench
from tests.end_to_end import program
from tests.end_to_end.sshd import WITHOUT

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


@pytest.mark.skipif(WITHOUT is not None, reason=str(WITHOUT))
def test_a_window_is_led_to_a_host_by_ssh_to_the_first_point_and_its_steps_are_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "steps.png"
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.connect_bench", "--ssh", str(picture)],
        cwd=program.ROOT,
        env={**program.environment(tmp_path), "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=program.TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [line.split("  ")[-1] for line in done.stdout.splitlines()] == [
        "named",
        "connected",
        "the first point",
    ]
    assert picture.stat().st_size > 0


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
