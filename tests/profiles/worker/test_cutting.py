"""The process of cuts: when it imports NumPy, and what it says of a problem that it cannot time."""

import io
import subprocess
import sys

import pytest
from msgspec.structs import replace

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.cuts import CutsEnded, CutsToTime, decode_answer, encode_line
from flashscope.profiles.worker import cut_times, cutting
from tests.profiles.worker.test_cut_times import ASKED


def test_numpy_is_not_there_before_the_request_is_read() -> None:
    code = "import sys, flashscope.profiles.worker.cutting; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


def test_a_problem_that_memory_cannot_hold_is_told_in_a_sentence_and_the_next_is_timed(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    def given(asked: CutsToTime) -> object:
        if asked.problem.heads > 1:
            raise MemoryError
        return drawn(asked)

    drawn = cut_times._given
    monkeypatch.setattr(cut_times, "_given", given)
    asked = (ASKED, replace(ASKED, problem=Problem(seqlen_q=64, seqlen_k=64, head_dim=16, heads=2)), ASKED)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n".join(map(encode_line, asked)))))
    cutting.main()
    answers = map(decode_answer.decode, capfdbinary.readouterr().out.splitlines())
    reasons = [one.reason for one in answers if isinstance(one, CutsEnded)]
    assert reasons[::2] == ["", ""]
    assert reasons[1].startswith("Memory ran out")
