"""`sweep --preset` takes the peers that are installed, and names those that are not."""

from pathlib import Path
from typing import Any

import pytest

from flashscope.app.commands.sweep import make_plan
from flashscope.app.words.command_line import repeating_preset
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.profiles.plan.read import read_kernels
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


def test_a_file_of_ones_own_among_the_kernels_is_measured_on_a_preset_s_problems(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import numpy\ndef attend(q, k, v): ...\n", encoding="utf-8")
    plan = make_plan({"kernels": read_kernels(f"flash2,{path}")}, GPU, "peers")
    assert plan.kernels == ("flash2", "mine")
    assert [(one.name, one.path) for one in plan.own] == [("mine", str(path))]
    assert f"--kernels flash2,{path}:attend " in str(repeating_preset(plan))
