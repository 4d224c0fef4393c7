"""What the process that runs a model says to whoever started it."""

import io
import json
import sys
from types import SimpleNamespace

import pytest

from flashscope.kernels.workload.device import Device
from flashscope.profiles.wire.audits import AuditAsked, AuditEnded
from flashscope.profiles.worker import auditing

CPU = Device(backend="cpu", name="A CPU", memory_bytes=1 << 33)


def test_a_model_that_wants_to_exit_is_told_of_as_one_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def exits(_asked: AuditAsked) -> None:
        raise SystemExit(3)

    monkeypatch.setattr(auditing, "installed", lambda _package: True)
    monkeypatch.setattr(auditing, "Auditor", exits)
    ended = auditing._answer(AuditAsked(model="mine.py:make", device=CPU, dtype="float32"))
    assert ended.reason == "The model failed: SystemExit: 3."


def test_an_answer_has_a_line_of_its_own_though_a_model_printed_half_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    printed = io.BytesIO(b"loading ...")
    printed.seek(0, io.SEEK_END)
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=printed))
    auditing._say(AuditEnded(reason="Enough."))
    lines = printed.getvalue().splitlines()
    assert lines[0] == b"loading ..."
    assert json.loads(lines[1])["reason"] == "Enough."
