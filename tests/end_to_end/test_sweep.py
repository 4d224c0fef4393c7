import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from flashscope.profiles.store import SessionFileError, check_place, load
from tests.end_to_end import program

SMALL = ("sweep", "--backend", "cpu", "--heads", "1", "--head-dim", "16", "--repeats", "3")
LONG = ("sweep", "--backend", "cpu", "--seqlen", "256:4096", "--heads", "4", "--head-dim", "64")


def footprints(points: list[dict[str, Any]], kernel: str) -> list[int]:
    return [p["footprint_bytes"] for p in points if p["kernel"] == kernel]


def test_a_cpu_sweep_measures_every_kernel_and_saves_what_it_prints(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    done = program.run(
        *("sweep", "--backend", "cpu", "--kernels", "standard,flash1,flash2", "--seqlen", "512:2048"),
        *("--heads", "1", "--head-dim", "96", "--repeats", "3", "--out", str(path), "--json"),
    )
    assert done.returncode == 0, done.stderr
    points = program.document(done)["points"]
    assert len(points) == 9
    assert all({"runtime_ms_median", "tflops", "figures"} <= set(point) for point in points)
    assert {point["status"] for point in points} == {"done"}
    assert all(point["max_abs_error"] < 1e-4 for point in points)
    assert all(point["samples"] >= 3 for point in points)
    *_, before, last = footprints(points, "standard")
    assert last / before == pytest.approx(4, rel=0.1)
    for kernel in ("flash1", "flash2"):
        *_, before, last = footprints(points, kernel)
        assert last / before == pytest.approx(2, rel=0.1)
    shown = program.document(program.inside("show", str(path), "--json"))
    assert shown["points"] == points


@pytest.mark.matrix
def test_progress_goes_to_stderr_one_line_a_point_with_the_time_left(tmp_path: Path) -> None:
    done = program.run(*SMALL, "--seqlen", "32,64", "--kernels", "flash2", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 of 2  flash2  N = 32" in done.stderr
    assert "2 of 2  flash2  N = 64, a few seconds left" in done.stderr
    assert "drift check  flash2  N = 32: " in done.stderr


@pytest.mark.matrix
def test_masks_and_grouped_heads_come_back_from_the_file_with_the_kernel_that_auto_chose(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.flashscope"
    done = program.run(
        *(
            "sweep",
            "--backend",
            "cpu",
            "--kernels",
            "auto",
            "--seqlen",
            "40,80",
            "--heads",
            "4",
            "--repeats",
            "3",
        ),
        *("--kv-heads", "2", "--window", "-1,8", "--out", str(path), "--json"),
    )
    assert done.returncode == 0, done.stderr
    assert "auto chose flash2, the fastest of ours that takes this: flash3 is not" in done.stderr
    points = program.document(done)["points"]
    assert [(p["kernel"], p["kv_heads"], p["window"]) for p in points] == [("flash2", 2, [-1, 8])] * 2
    assert all(0.5 < p["kept_share"] < 1 and p["max_abs_error"] < 1e-4 for p in points)
    assert {(p.kv_heads, p.window) for p in load(path).plan.problems} == {(2, (-1, 8))}
    assert '"-1,8"' in program.run("show", str(path), "--csv").stdout


@pytest.mark.matrix
def test_heads_that_cannot_be_shared_are_refused_in_one_line(tmp_path: Path) -> None:
    done = program.run(*SMALL, "--heads", "4", "--kv-heads", "3", "--seqlen", "32", home=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1] == (
        "python main.py sweep: kv_heads must divide the 4 heads, not be 3."
    )


@pytest.mark.matrix
def test_a_sweep_without_out_is_saved_among_the_sessions(tmp_path: Path) -> None:
    done = program.run(*SMALL, "--seqlen", "32", home=tmp_path)
    (saved,) = (tmp_path / "sessions").iterdir()
    assert f"Saved as {saved}" in done.stdout
    assert load(saved).outcome == "finished"


@pytest.mark.matrix
def test_the_automatic_backend_is_one_that_works_here(tmp_path: Path) -> None:
    done = program.run("sweep", "--seqlen", "64", "--repeats", "3", "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {p["status"] for p in program.document(done)["points"]} == {"done"}


@pytest.mark.matrix
def test_a_sweep_with_points_that_cannot_run_says_why_exits_1_and_still_writes_its_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.flashscope"
    done = program.run(*SMALL, "--kernels", "flash2,simt", "--seqlen", "32", "--out", str(path), "--json")
    assert done.returncode == 1
    points = program.document(done)["points"]
    assert [point["status"] for point in points] == ["done", "unsupported"]
    assert "not implemented on the cpu backend" in points[1]["reason"]
    assert load(path).outcome == "finished"


def test_ctrl_c_keeps_the_points_measured_so_far_and_leaves_no_child(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    with program.started(*LONG, "--out", str(path), "--json") as process:
        wait_for_line(process, "4 of ")  # the three of the first N took turns and are done
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=program.TIMEOUT_S)
    assert process.returncode == 130
    assert printed.count("\n") == 1
    session = load(path)
    assert session.outcome == "cancelled"
    assert [s.status for s in session.points[:3]] == ["done"] * 3
    assert psutil.wait_procs(children, timeout=60)[1] == []


@pytest.mark.matrix
def test_killing_the_main_process_keeps_every_point_it_had_told_of(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    with program.started(*LONG, "--out", str(path)) as process:
        wait_for_line(process, "4 of ")
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate()
    shown = program.run("show", str(path), "--json")
    statuses = [point["status"] for point in program.document(shown)["points"]]
    assert statuses[:3] == ["done"] * 3
    assert "interrupted" in statuses[3:6]
    assert set(statuses[6:]) == {"pending"}
    assert "running" not in statuses
    assert psutil.wait_procs(children, timeout=60)[1] == []


def test_a_sweep_that_cannot_create_its_file_measures_nothing_and_says_so_in_one_line(
    tmp_path: Path,
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    done = program.inside(*SMALL, "--seqlen", "32", home=blocked)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{blocked}" in done.stderr
    assert "cannot be used" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_place_that_may_be_written_is_left_without_a_trace_of_the_look(tmp_path: Path) -> None:
    check_place(tmp_path / "new" / "folder" / "a.flashscope")
    assert list((tmp_path / "new" / "folder").iterdir()) == []


@pytest.mark.parametrize("length", [247, 248, 255, 256, 300])
def test_a_name_is_too_long_when_its_journal_has_no_room(tmp_path: Path, length: int) -> None:
    path = tmp_path / f"{'n' * (length - len('.flashscope'))}.flashscope"
    if length == 247:  # and 8 more make 255
        check_place(path)
    else:
        with pytest.raises(SessionFileError, match="too long"):
            check_place(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.matrix
def test_a_path_longer_than_sqlite_takes_is_refused_before_the_sweep(tmp_path: Path) -> None:
    folder = tmp_path / ("d" * 240) / ("e" * 240)
    folder.mkdir(parents=True)
    done = program.run(*SMALL, "--seqlen", "32", "--out", str(folder / "a.flashscope"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "choose a shorter path" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.matrix
def test_two_sweeps_that_start_at_once_are_both_saved(tmp_path: Path) -> None:
    arguments = (*SMALL, "--seqlen", "32", "--kernels", "flash2")
    with (
        program.started(*arguments, home=tmp_path) as first,
        program.started(*arguments, home=tmp_path) as second,
    ):
        told = [process.communicate(timeout=program.TIMEOUT_S)[0] for process in (first, second)]
    names = {line.removeprefix("Saved as ") for text in told for line in text.splitlines() if "Saved" in line}
    assert len(names) == 2
    assert {load(Path(name)).outcome for name in names} == {"finished"}


@pytest.mark.matrix
def test_of_two_sweeps_into_one_file_the_second_stops_and_leaves_the_first_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    arguments = (*SMALL, "--seqlen", "32", "--kernels", "flash2", "--out", str(path))
    with program.started(*arguments) as first, program.started(*arguments) as second:
        told = [process.communicate(timeout=program.TIMEOUT_S) for process in (first, second)]
        codes = [first.returncode, second.returncode]
    assert sorted(codes) == [0, 1]
    won, lost = told[codes.index(0)], told[codes.index(1)]
    assert f"Saved as {path}" in won[0]
    assert lost[0] == ""
    assert "name another file" in lost[1]
    assert load(path).outcome == "finished"


@pytest.mark.matrix
def test_a_file_replaced_during_the_sweep_is_left_alone_and_the_sweep_is_saved_beside_it(
    tmp_path: Path,
) -> None:
    path, other = tmp_path / "a.flashscope", tmp_path / "other"
    other.write_text("mine")
    with program.started(*LONG, "--out", str(path)) as process:
        wait_for_line(process, "4 of ")
        other.replace(path)
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=program.TIMEOUT_S)
    saved = tmp_path / "a-2.flashscope"
    assert path.read_text() == "mine"
    assert f"Saved as {saved}" in printed
    assert "was moved or replaced" in told
    assert [state.status for state in load(saved).points[:3]] == ["done"] * 3


@pytest.mark.matrix
def test_a_file_overwritten_during_the_sweep_is_not_called_saved(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    with program.started(*LONG, "--out", str(path)) as process:
        wait_for_line(process, "4 of ")
        path.write_bytes(b"mine" * 5000)
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=program.TIMEOUT_S)
    assert "Saved as" not in printed
    assert "the sweep is not saved" in told
    assert "Traceback" not in told


def wait_for_line(process: subprocess.Popen[str], beginning: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(beginning):
            return
    pytest.fail(f"the sweep ended before it said {beginning!r}")


@pytest.mark.matrix  # it takes seconds
def test_the_peers_preset_prints_ratios_and_saves_what_show_prints_again(tmp_path: Path) -> None:
    path = tmp_path / "peers.flashscope"
    done = program.run(
        *("sweep", "--preset", "peers", "--backend", "cpu", "--kernels", "standard,flash2"),
        *("--repeats", "5", "--time-cap", "3", "--no-verify", "--out", str(path)),
    )
    assert done.returncode == 0, done.stderr
    assert "TFLOP/s, without ratios: torch-flash was not measured" in done.stdout
    assert "geometric mean" not in done.stdout
    assert len(load(path).cells) == 2 * 18
    assert "Drift check: At the end N = 128 took, of its first time: standard " in done.stdout
    against = program.run("show", str(path), "--against", "standard").stdout
    mean = next(line for line in against.splitlines() if line.startswith("geometric mean"))
    assert mean.split()[2] == "1.00×"
    assert "flash2: 18 of 18 problems compared, worst" in against
    assert "(95% of its rounds' resamples: " in against
    assert "d 128, causal" in program.run("show", str(path)).stdout
    assert program.run("show", str(path), "--csv").stdout.count("\nflash2,") == 18
