"""The process that compiles and disassembles: its answer, what it fails with, and how it is given up."""

import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Event, Thread
from typing import Any

import msgspec
import pytest

from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.cuda.reading.step import read_problem
from flashscope.kernels.cuda.sass import child
from flashscope.kernels.cuda.sass.child import ListingAnswer
from flashscope.kernels.workload.errors import CompileError
from flashscope.profiles.engine import listing
from flashscope.profiles.engine.listing import ListingRun, read_answer

A100 = next(card for card in CARDS if card.name == "A100")
WAITS = [sys.executable, "-c", "import signal; signal.pause()"]


@pytest.mark.matrix  # a second of compiling
def test_a_build_comes_back_whole_from_the_process_that_makes_it() -> None:
    answer = ListingRun("flash2", read_problem(64), A100).answer()
    assert answer is not None
    assert answer.listing is not None
    assert answer.refused == ""
    assert len(answer.listing.kernels[0].instructions) > 500
    assert answer.listing.arch == "sm_80"


def asked(kernel: str) -> tuple[str, str, str]:
    return kernel, msgspec.json.encode(read_problem(64)).decode(), msgspec.json.encode(A100).decode()


def test_why_there_is_no_build_is_an_answer_of_the_process(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    child.main(*asked("flash3"), str(tmp_path))
    sys.stdout.flush()
    answer = read_answer(capfdbinary.readouterr().out)
    assert answer.listing is None
    assert "flash3" in answer.refused


def test_what_the_compiler_said_goes_with_its_refusal(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise CompileError("The CUDA compiler refused flash2.cu: no", "line 1\nline 2")

    monkeypatch.setattr(child, "listing_of", refuse)
    child.main(*asked("flash2"), str(tmp_path))
    sys.stdout.flush()
    answer = read_answer(capfdbinary.readouterr().out)
    assert answer == ListingAnswer(refused="The CUDA compiler refused flash2.cu: no", log="line 1\nline 2")


@pytest.mark.parametrize(
    ("errors", "said"), [(b"first\nSegmentation fault\n", "Segmentation fault"), (b"", "it said nothing")]
)
def test_a_process_that_ends_without_an_answer_is_quoted(errors: bytes, said: str) -> None:
    answer = read_answer(b"{}x", errors)
    assert answer.refused == f"The process that compiles ended without an answer: {said}."
    assert answer.log == errors.decode().strip()


def test_a_process_that_cannot_be_started_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "python_command", lambda *_: ["/nowhere/python"])
    answer = ListingRun("flash2", read_problem(64), A100).answer()
    assert answer is not None
    assert answer.refused.startswith("No process could be started to compile in: ")


def test_what_was_given_up_before_is_never_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "python_command", lambda *_: pytest.fail("it was started"))
    run = ListingRun("flash2", read_problem(64), A100)
    run.give_up()
    assert run.answer() is None


def test_giving_up_ends_the_process_that_runs_and_leaves_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    there, answers, popen = Event(), [], subprocess.Popen

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*arguments, **options))
        there.set()
        return started[0]

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(listing, "python_command", lambda *_: WAITS)
    monkeypatch.setattr(subprocess, "Popen", start)
    run = ListingRun("flash2", read_problem(64), A100)
    thread = Thread(target=lambda: answers.append(run.answer()))
    thread.start()
    assert there.wait(60)
    run.give_up()
    thread.join(60)
    assert answers == [None]
    assert started[0].returncode != 0
    assert list(tmp_path.iterdir()) == []
