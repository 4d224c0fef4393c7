"""A peer whose library lies in a folder of its own is measured in a worker of its own, and nobody else is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flashscope.kernels.catalogue.environments import version_of
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.events import PlanFinished, PointStarted, SamplingStarted
from tests import apart
from tests.profiles.heard import Heard, done, quick_plan

REMARK = "Measured with the packages of flashscope-apart alone, without turns with kernels outside them."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def with_apart(home: Path) -> Iterator[Heard]:
    heard = Heard("tests.apart:KERNELS")
    yield heard
    heard.engine.close()


def plan(*seqlens: int) -> Plan:
    return quick_plan("standard", "apart", "flash2", seqlens=seqlens)


def test_each_point_runs_with_the_packages_of_its_kernel_and_says_with_which(
    home: Path, with_apart: Heard
) -> None:
    apart.install(home, "written there")
    standard, own, flash2 = with_apart.sweep(plan(64))
    assert done(own).note == f"written there · {REMARK}"
    assert (done(standard).note, done(flash2).note) == ("", "")
    turns = [event.indices for event in with_apart.all(SamplingStarted)]
    assert turns == [(0, 2), (1,)]


def test_without_its_folder_the_peer_is_refused_with_the_command(with_apart: Heard) -> None:
    _, own, flash2 = with_apart.sweep(plan(64))
    assert (own.status, flash2.status) == ("unsupported", "done")
    assert "needs flashscope-apart: " in own.reason


@pytest.mark.matrix
def test_a_cancelled_sweep_ends_while_a_worker_is_being_replaced(home: Path, with_apart: Heard) -> None:
    apart.install(home, "there")
    with_apart.engine.run(plan(32, 48, 64))
    with_apart.until(PointStarted, lambda event: event.index == 1)
    with_apart.engine.cancel()
    assert with_apart.until(PlanFinished).outcome == "cancelled"
    assert done(with_apart.sweep(quick_plan("flash2"))[0]).correctness is not None


def test_the_version_of_a_folder_of_its_own_is_that_which_is_measured(home: Path) -> None:
    assert version_of(apart.PACKAGE) is None
    apart.install(home, "there")
    assert version_of(apart.PACKAGE) == "3.1"
    assert version_of("numpy") is not None
    assert find_kernel("apart", apart.KERNELS).library_is_here()
