"""`cuts` on this machine's CPU: landscapes for real, kept in a session; and what has none says so."""

import re
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar
from unittest.mock import Mock

import psutil
import pytest

from flashscope.app.commands.inside import cuts
from flashscope.app.commands.inside.cuts import CutChoices, makers_of
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.profiles.engine.line_kinds import LINE_KINDS
from flashscope.profiles.store import load
from flashscope.profiles.wire.cuts import CutAnswer, CutsEnded, CutsToTime, CutTimed, CutTimes
from tests.end_to_end import program
from tests.end_to_end.test_sweep import wait_for_line
from tests.profiles.store import builders

SMALL = ("cuts", "flash2", "--backend", "cpu", "--seqlen", "64", "--heads", "1", "--head-dim", "16")
LONG = ("cuts", "flash2", "--backend", "cpu", "--seqlen", "1k", "--heads", "1", "--head-dim", "32,64")
ASKED = CutChoices(
    kernels=("flash2", "flash3"),
    passes="both",
    backend="auto",
    seqlen=4096,
    heads=16,
    head_dims=(64, 128),
    masks=(False, True),
    rows=(),
)


@pytest.mark.matrix  # it takes seconds
def test_tiles_are_timed_side_by_side_and_kept_in_a_session(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    done = program.run(*SMALL, "--out", str(path), "--json")
    assert done.returncode == 0, done.stderr
    plain, causal = program.document(done)
    assert (plain["kernel"], plain["rows"], plain["problem"]["causal"]) == ("numpy", "groups", False)
    assert causal["problem"]["causal"]
    assert causal["device"]["backend"] == "cpu"
    timed = [cut for cut in plain["cuts"] if cut["first_ms"]]
    assert len(timed) == 9 + 1  # 16, 32 and 64 rows and keys, and the shipped tile, which is larger
    assert all(min(cut["first_ms"]) > 0 and not cut["refused"] for cut in timed)
    assert plain["shipped"] in [cut["cut"] for cut in plain["cuts"] if cut["anew_ms"]]
    assert all(cut["refused"] for cut in plain["cuts"] if not cut["first_ms"])
    session = load(path)
    assert [state.status for state in session.cells] == ["done"] * 2
    assert [one.problem.causal for one in session.landscapes] == [False, True]
    assert [len(one.cells) for one in session.landscapes] == [len(plain["cuts"])] * 2
    shown = program.run("show", str(path), "--cuts")
    assert shown.stdout.count("flash2 in NumPy: 1 head of 16, N = 64") == 2
    assert re.search(r"^128 × 512, shipped +[\d.]+ ms +1\.000$", shown.stdout, re.MULTILINE)
    assert program.document(program.run("show", str(path), "--json"))["landscapes"] == [plain, causal]
    done = program.run(*SMALL, "--no-causal", "--into", str(path))
    assert done.returncode == 0, done.stderr
    again = load(path)
    assert [one.problem.causal for one in again.landscapes] == [False, True, False]
    assert again.points == session.points


def test_a_session_without_landscapes_says_what_makes_some(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    done = program.inside("show", str(path), "--cuts")
    assert done.returncode == 2
    assert "holds no landscapes of cuts; the command cuts makes some" in done.stderr


@pytest.mark.matrix  # six seconds of processor
def test_ctrl_c_keeps_the_landscapes_until_then_and_leaves_no_child(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    with program.started(*LONG, "--no-causal", "--out", str(path)) as process:
        wait_for_line(process, "2 of 2  flash2 in NumPy")
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=program.TIMEOUT_S)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert f"Saved as {path}" in printed
    assert [one.problem.head_dim for one in load(path).landscapes] == [32]
    assert psutil.wait_procs(children, timeout=60)[1] == []


def test_a_gpu_has_a_landscape_for_each_kernel_pass_head_dim_and_mask() -> None:
    made = makers_of(ASKED, CARDS[0].device)
    assert [one.asked.shipped.kernel for one in made[:8]] == ["flash2", "flash3"] * 4
    assert [one.asked.shipped.kernel for one in made[8:]] == ["flash2 backward", "flash3 backward"] * 4
    assert {one.asked.problem.runs_backward for one in made[8:]} == {True}
    assert len({(one.asked.shipped.kernel, one.asked.problem) for one in made}) == 16


class Mortal:
    """A process that times one request, and begins with one more before it dies."""

    started: ClassVar[list[int]] = []

    def __init__(self, asked: Sequence[CutsToTime], told: Callable[[CutAnswer], None]) -> None:
        self.started.append(len(asked))
        done, *others = asked
        told(CutTimed(timed=CutTimes(cut=done.shipped, ms=(1.0,))))
        told(CutsEnded(timer="a test", device=CARDS[0].device))
        if others:
            if len(asked) > 2:  # else it dies before it begins
                told(CutTimed(timed=CutTimes(cut=others[0].shipped, ms=(1.0,))))
            told(CutsEnded(reason=LINE_KINDS["cuts"].cut_off))

    def end(self) -> None:
        """It is dead."""


def test_where_a_process_dies_another_goes_on_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = Mock()
    engine.lines = lambda _kind, asked, told: Mortal(asked, told)
    monkeypatch.setattr(cuts, "hear_signals", lambda _put: None)
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    makers = makers_of(ASKED._replace(kernels=("flash3",), passes="forward"), CARDS[0].device)
    code = cuts.time_all(makers, path, builders.plan_started().session_id, engine, as_json=False)
    assert (code, Mortal.started) == (1, [4, 2, 1])
    assert [one.problem for one in load(path).landscapes] == [makers[n].asked.problem for n in (0, 2, 3)]
    assert capsys.readouterr().err.count(LINE_KINDS["cuts"].cut_off) == 1


def test_rows_may_differ_in_several_numbers_each_with_a_landscape() -> None:
    one = ASKED._replace(kernels=("flash3",), passes="forward", head_dims=(64,), masks=(False,))
    made = makers_of(one._replace(rows=("groups", "stages", "columns")), CARDS[0].device)
    assert len(made) == 2
    assert {cut.stages for cut in made[1].asked.cuts} > {1, 2}


@pytest.mark.parametrize(
    ("choices", "device", "why"),
    [
        (ASKED._replace(kernels=("flash3",)), describe(), "NumPy has cuts of flash2 alone, forward"),
        (ASKED._replace(head_dims=(7,)), describe(), "flash2 takes head dims 16 to 256"),
        (
            ASKED._replace(kernels=("flash3",)),
            CARDS[2].device,
            "flash3 needs compute capability 9.0 or newer",
        ),
        (ASKED._replace(head_dims=(7, 8, 264)), CARDS[0].device, "flash2 takes head dims"),
    ],
)
def test_where_there_are_no_cuts_it_is_said_why(choices: CutChoices, device: Device, why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        makers_of(choices, device)


def test_what_a_kernel_does_not_take_is_said_once_and_the_rest_is_timed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = makers_of(ASKED._replace(kernels=("flash2",), head_dims=(64, 264)), CARDS[0].device)
    assert {one.asked.problem.head_dim for one in made} == {64}
    assert len(made) == 4
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2] for line in told] == [
        "flash2 takes head dims 16 to 256 in steps of 8 on cuda, not 264"
    ]


def test_a_kernel_without_cuts_is_refused_with_those_that_have_some() -> None:
    done = program.run("cuts", "flash1")
    assert done.returncode == 2
    assert "there is no kernel with cuts 'flash1'; there are flash2, flash3" in done.stderr
