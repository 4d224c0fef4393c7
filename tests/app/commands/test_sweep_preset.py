"""`sweep --preset` takes the peers that are installed, and names those that are not."""

from typing import Any

import pytest

from flashscope.app.commands.sweep import make_plan
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.spec import KernelSpec
from tests.app.fakes import GPU


@pytest.fixture
def only_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KernelSpec, "library_is_here", lambda spec: spec.extra in {None, "torch"})


@pytest.mark.usefixtures("only_torch")
def test_peers_that_are_not_here_are_left_out_and_named_once(capfd: pytest.CaptureFixture[str]) -> None:
    plan = make_plan({}, GPU, "peers")
    here = {spec.name for spec in KERNELS if spec.extra in {None, "torch"}}
    assert set(plan.kernels) == here
    said = capfd.readouterr().err
    assert "sweep: without cudnn-frontend, flash-attn-3, flash-attn-4, flashinfer, triton-flash, " in said
    assert "peers says how" in said


@pytest.mark.usefixtures("only_torch")
def test_a_peer_that_is_asked_for_by_name_stays_to_be_refused(capfd: pytest.CaptureFixture[str]) -> None:
    choices: dict[str, Any] = {"kernels": ("flash3", "flashinfer")}
    assert make_plan(choices, GPU, "peers").kernels == ("flash3", "flashinfer")
    assert capfd.readouterr().err == ""
