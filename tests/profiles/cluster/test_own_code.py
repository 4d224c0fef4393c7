"""What of the user's own may be sent to a host."""

import hashlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.own.consent import allow
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.cluster.own_code import obstacle_to_sending, to_send
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.request import Request

TEXT = "def run(q, k, v): ...\n"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OwnKernel:
    monkeypatch.setattr("flashscope.kernels.own.consent._named", set())
    path = tmp_path / "mine.py"
    path.write_text(TEXT, encoding="utf-8")
    return OwnKernel(
        name="mine",
        path=str(path),
        function="run",
        sha256=hashlib.sha256(TEXT.encode()).hexdigest(),
        backends=("cpu",),
        dtypes=("float32",),
    )


def plan_of(*own: OwnKernel) -> Plan:
    return replace(Request.of("cpu").plan(), own=own)


def obstacle(*own: OwnKernel, trusts_code: bool = True) -> str:
    return obstacle_to_sending(plan_of(*own), "the CPU at tls://lab:1", trusts_code=trusts_code)


def test_a_file_is_sent_to_who_trusts_code_where_the_user_has_named_it(mine: OwnKernel) -> None:
    assert obstacle(trusts_code=False) == ""
    assert "runs only where you name it" in obstacle(mine)
    allow(mine)
    assert obstacle(mine) == ""
    assert obstacle(mine, trusts_code=False).startswith(
        "the CPU at tls://lab:1 runs no code that clients send"
    )
    assert "is of the installed package a.b, whose modules are not sent" in obstacle(
        replace(mine, module="a.b")
    )


def test_the_text_that_was_named_is_sent_and_no_other(mine: OwnKernel) -> None:
    (sent,) = to_send(plan_of(mine)).own
    assert sent == replace(mine, source=TEXT)
    Path(mine.path).write_text(f"{TEXT}# more", encoding="utf-8")
    with pytest.raises(InputError, match="has changed since mine was read"):
        to_send(plan_of(mine))
