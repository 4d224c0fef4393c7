"""`ranks`: one sequence on several ranks from the command line."""

import json
import signal
from collections import deque
from pathlib import Path
from queue import SimpleQueue

import pytest

from flashscope.app.commands import ranks
from flashscope.app.words.ranks import where_text
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine.line_kinds import LINE_KINDS
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.formats.ranks import ranks_documents
from flashscope.profiles.store import load, rows
from flashscope.profiles.wire.events import RanksReady
from flashscope.profiles.wire.ranks import RanksAnswer, RanksEnded, RanksResult, RanksToMeasure
from tests.end_to_end import program
from tests.profiles import rank_results
from tests.profiles.store import builders

SMALL = ("ranks", "--backend", "cpu", "--seqlen", "64", "--heads", "2", "--head-dim", "16", "--repeats", "2")


def test_every_scheme_is_measured_beside_one_device_and_right() -> None:
    done = program.run(*SMALL)
    assert done.returncode == 0
    for scheme in ("ring", "zigzag", "all-gather", "ulysses"):
        assert f"{scheme}, forward" in done.stdout
        assert f"{scheme}, backward" in done.stdout
    assert "wrong" not in done.stdout
    assert "say nothing of a link" in done.stdout


def test_json_has_what_was_asked_and_each_rank() -> None:
    done = program.inside(*SMALL, "--scheme", "zigzag", "--pass", "forward", "--ranks", "4", "--json")
    (found,) = json.loads(done.stdout)
    assert found["asked"]["scheme"] == "zigzag"
    (one,) = found["passes"]
    assert [rank["rank"] for rank in one["ranks"]] == [0, 1, 2, 3]
    assert one["passed"]
    assert one["limit"] == pytest.approx(1)
    assert one["efficiency"] > 0
    assert found["model"] == []  # the host's ranks have no link


def test_what_no_scheme_takes_is_told_with_exit_code_2() -> None:
    done = program.inside(*SMALL, "--scheme", "ulysses", "--ranks", "3")
    assert done.returncode == 2
    assert "heads in equal parts" in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


def test_what_one_scheme_takes_is_measured_though_another_is_refused() -> None:
    done = program.inside(*SMALL, "--scheme", "ulysses,ring", "--ranks", "3", "--pass", "forward")
    assert done.returncode == 1
    assert "heads in equal parts" in done.stderr
    assert "ring, forward" in done.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--gpus", "3"), "--gpus 3 takes GPUs, and it would run on the CPU; leave it out."),
        (
            ("--transport", "nccl"),
            "--transport nccl goes from GPU to GPU, and it would run on the CPU; leave it out.",
        ),
        (("--out", "ranks.txt"), "a session is a .flashscope file: name it ranks.txt.flashscope"),
        (
            ("--seqlen", "5", "--ranks", "7", "--scheme", "zigzag"),
            "into 14 chunks, and 5 are not enough for that; ask for a longer one, or for fewer ranks.",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_refused_with_the_remedy(options: tuple[str, ...], told: str) -> None:
    done = program.inside(*SMALL, *options)
    assert done.returncode == 2
    assert told in done.stderr
    assert not done.stdout


@pytest.mark.matrix
def test_odd_parts_of_an_odd_sequence_are_right_in_every_scheme() -> None:
    shape = ("--batch", "3", "--heads", "7", "--kv-heads", "1", "--head-dim", "96", "--repeats", "1")
    done = program.run(*SMALL, "--seqlen", "101", "--ranks", "7", *shape, "--json")
    assert done.returncode == 0, done.stderr
    assert [one["passed"] for scheme in json.loads(done.stdout) for one in scheme["passes"]] == [True] * 8


def test_without_one_device_beside_them_there_is_no_efficiency_and_the_table_says_why() -> None:
    done = program.inside(*SMALL, "--scheme", "ring", "--no-alone")
    assert done.returncode == 0, done.stderr
    assert "One device was not asked for." in done.stdout


def follow(
    *answers: RanksAnswer | int, file: ranks.RanksFile | None = None
) -> tuple[int | None, list[RanksResult], int]:
    """What two requests come to with these answers: the signal, the results, and how many still wait."""
    problem = Problem(seqlen_q=64, seqlen_k=64)
    waiting = deque([RanksToMeasure(scheme="ring", problem=problem, backend="cpu")] * 2)
    queue: SimpleQueue[RanksAnswer | int] = SimpleQueue()
    for one in answers:
        queue.put(one)
    results: list[RanksResult] = []
    return ranks._follow(waiting, queue, results, file), results, len(waiting)


def test_a_signal_ends_it_and_what_was_done_is_kept() -> None:
    stopped, results, left = follow(RanksEnded(), signal.SIGINT)
    assert (stopped, len(results), left) == (signal.SIGINT, 1, 1)


def test_of_a_request_that_a_signal_ends_the_passes_that_were_done_are_kept(tmp_path: Path) -> None:
    one, file = rank_results.measured(backend="cpu"), session_file(tmp_path / "a.flashscope")
    stopped, results, left = follow(one, signal.SIGINT, file=file)
    assert (stopped, [found.passes for found in results], left) == (signal.SIGINT, [(one,)], 1)
    (kept,) = load(file.path).ranks
    assert (kept.passes, kept.ended.reason) == ((one,), ranks.INTERRUPTED)
    assert where_text([kept]).startswith("Ranks on a device that was not told")


def test_what_cannot_be_written_is_counted_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = session_file(tmp_path / "a.flashscope")
    file.path.unlink()
    follow(RanksEnded(reason="It is too large."), signal.SIGINT, file=file)
    assert (file.kept, file.lost) == (0, 1)
    assert "ring, no mask, N = 64 is not saved: " in capsys.readouterr().err


def test_what_a_process_that_ended_had_not_begun_is_for_the_next_one() -> None:
    cut_off = RanksEnded(reason=LINE_KINDS["ranks"].cut_off)
    stopped, results, left = follow(RanksEnded(reason="It is too large."), cut_off)
    assert (stopped, len(results), left) == (None, 1, 1)
    stopped, results, left = follow(cut_off)
    assert (stopped, [one.ended for one in results], left) == (None, [cut_off], 1)


@pytest.mark.matrix  # it takes a second
def test_each_result_is_kept_and_a_file_that_is_there_is_added_to(tmp_path: Path) -> None:
    path = tmp_path / "ranks.flashscope"
    first = program.inside(*SMALL, "--scheme", "zigzag", "--pass", "forward", "--out", str(path))
    assert first.returncode == 0
    assert f"Saved as {path}" in first.stdout
    program.inside(*SMALL, "--scheme", "ulysses", "--ranks", "3", "--out", str(path))
    found = load(path)
    assert [one.asked.scheme for one in found.ranks] == ["zigzag", "ulysses"]
    assert "heads in equal parts" in found.ranks[1].ended.reason
    assert (found.points, found.outcome) == ([], "finished")
    assert found.machine.device("cpu") is not None
    shown = program.inside("show", str(path))
    assert shown.returncode == 0
    told = first.stdout.splitlines()
    assert next(line for line in told if line.startswith("zigzag, forward")) in shown.stdout
    assert "heads in equal parts" in shown.stdout
    assert "say nothing of a link" in shown.stdout


def test_a_file_that_was_measured_on_another_machine_takes_no_results(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    done = program.inside(*SMALL, "--out", str(path))
    assert done.returncode == 1
    assert "Name a new file" in done.stderr
    assert load(path).ranks == load(builders.recorded(tmp_path / "b.flashscope")).ranks


def session_file(path: Path) -> ranks.RanksFile:
    """A session without points that keeps results."""
    started = builders.plan_started(Plan(backend="cpu", kernels=(), problems=()))
    return ranks.RanksFile(builders.recorded(path, started), started.session_id)


def test_what_is_done_is_in_the_file_before_the_next_request_is_heard(tmp_path: Path) -> None:
    file = session_file(tmp_path / "a.flashscope")
    one = rank_results.measured(backend="cpu")
    ended = RanksEnded(device="A CPU", kernel="flash2", timer="a test")
    follow(one, ended, signal.SIGTERM, file=file)
    assert [found.passes for found in load(file.path).ranks] == [(one,)]


def test_where_nothing_can_be_kept_no_file_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = builders.plan_started(Plan(backend="cpu", kernels=(), problems=()))
    file = ranks.RanksFile(tmp_path / "a.flashscope", begun.session_id, begun)
    follow(signal.SIGINT, file=file)
    assert not list(tmp_path.iterdir())
    answers = rank_results.measured(backend="cpu"), RanksEnded(), signal.SIGINT
    with monkeypatch.context() as small:
        small.setattr(rows, "MAX_VALUE_BYTES", 100)
        follow(*answers, file=file)
    assert (file.kept, file.lost, list(tmp_path.iterdir())) == (0, 1, [])
    assert "is not saved: " in capsys.readouterr().err
    follow(*answers, file=file)
    assert (file.kept, len(load(file.path).ranks)) == (1, 1)


def test_models_take_the_rates_of_what_the_file_held_before(tmp_path: Path) -> None:
    ready = RanksReady(result=rank_results.result(rank_results.measured()))
    started = builders.plan_started(Plan(backend="cuda", kernels=(), problems=()))
    path = builders.recorded(tmp_path / "a.flashscope", started, ready)
    file = ranks._with(path, load(path).machine, "cuda")
    assert isinstance(file, ranks.RanksFile)
    four = rank_results.result(rank_results.on_four())
    (document,) = ranks_documents([four], file.earlier)
    assert [one.from_ranks for one in document.model_from_fewer] == [2]


def test_compare_says_what_it_does_not_compare(tmp_path: Path) -> None:
    event = RanksReady(result=rank_results.result())
    started = builders.plan_started(Plan(backend="cpu", kernels=(), problems=()))
    paths = [builders.recorded(tmp_path / name, started, event) for name in ("a.flashscope", "b.flashscope")]
    done = program.inside("compare", *map(str, paths))
    assert "Not compared: 1 result of ranks (zigzag); show prints them" in done.stdout
    assert "Traceback" not in done.stderr
