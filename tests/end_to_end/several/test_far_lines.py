"""Cuts, ranks, claims and other instruments on a host: no child there outlives who asked."""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from socket import gethostname

import psutil
import pytest

from flashscope.app.commands.hosts import Hosts, engine_of
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.claims.bench import QUICK, ClaimBench
from flashscope.profiles.engine.line_kinds import LINE_KINDS
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.store import load
from flashscope.profiles.wire.arbiters import ArbiterAsked, ArbiterEnded
from tests.end_to_end import program
from tests.end_to_end.hosts import (
    DEVICE,
    RunningHost,
    assert_gone,
    host_of,
    measuring,
    running_host,
    words_of,
)
from tests.end_to_end.test_sweep import wait_for_line
from tests.profiles.store import builders

pytestmark = [pytest.mark.cluster, pytest.mark.matrix]  # each takes ten seconds of processor

GPU = Device(backend="cuda", name="GPU", memory_bytes=1 << 30)
QUICKLY = Plan(
    backend="cpu", kernels=("flash2",), problems=(Problem(seqlen_q=64, seqlen_k=64),), protocol=QUICK
)
CUTS_WORK, RANKS_WORK = LINE_KINDS["cuts"], LINE_KINDS["ranks"]
SMALL = ("cuts", "flash2", "--backend", "cpu", "--seqlen", "64", "--heads", "1", "--head-dim", "16")
LONG = ("cuts", "flash2", "--backend", "cpu", "--seqlen", "1k", "--heads", "1", "--head-dim", "32,64")
RANKS = ("ranks", "--scheme", "ring", "--pass", "forward", "--heads", "1", "--head-dim", "16")
LONG_RANKS = (*RANKS, "--backend", "cpu", "--seqlen", "64,4k", "--repeats", "500")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with running_host(tmp_path_factory.mktemp("host")) as running:
        yield running


def children(host: RunningHost, main: str) -> list[psutil.Process]:
    """The processes that answer in lines on the host."""
    found = [child for device in host.members(DEVICE) for child in measuring(device)]
    return [one for one in found if main in words_of(one)]


def wait_for_a_step(process: subprocess.Popen[str]) -> None:
    """Wait until a quarter of the first landscape is done: its child is there."""
    for _ in ("begin", "a quarter"):
        wait_for_line(process, "1 of 2  flash2 in NumPy")


def test_cuts_are_timed_there_and_kept_here(host: RunningHost, tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    words = ("--no-causal", "--into", str(path), "--connect", str(host.file), "--json")
    done = program.run(*SMALL, *words)
    assert done.returncode == 0, done.stderr
    (landscape,) = program.document(done)
    assert [min(cut["first_ms"]) > 0 for cut in landscape["cuts"] if cut["first_ms"]]
    assert len(load(path).landscapes) == 1
    host.wait_for("gives back the CPU")
    assert children(host, CUTS_WORK.main) == []


def test_the_shipped_kernels_are_swept_there_first(host: RunningHost, tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    done = program.run(*SMALL, "--no-causal", "--out", str(path), "--connect", str(host.file))
    assert done.returncode == 0, done.stderr
    session = load(path)
    assert [state.status for state in session.cells] == ["done"]
    assert len(session.landscapes) == 1
    host.wait_for("gives back the CPU")


def test_claims_are_measured_there_sweep_after_sweep(host: RunningHost) -> None:
    with engine_of(Hosts.one(str(host.file))) as make_engine:
        bench = ClaimBench(GPU, make_engine=make_engine)
        sessions = [bench.measured(QUICKLY) for _ in range(3)]
    assert [[state.status for state in one.cells] for one in sessions if one] == [["done"]] * 3
    host.wait_for("gives back the CPU")


def test_claims_of_gpus_come_from_recordings_where_a_host_has_none(host: RunningHost) -> None:
    done = program.run("claims", "--connect", str(host.file))
    assert done.returncode == 0, done.stderr
    assert "GPU figures come from the bundled recordings" in done.stdout


def test_ctrl_c_keeps_what_has_come_and_leaves_no_child_there(host: RunningHost, tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    words = ("--no-causal", "--into", str(path), "--connect", str(host.file))
    with program.started(*LONG, *words) as process:
        wait_for_line(process, "2 of 2  flash2 in NumPy")
        (child,) = children(host, CUTS_WORK.main)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=program.TIMEOUT_S)
    assert process.returncode == 128 + signal.SIGINT, told
    assert "Traceback" not in told
    assert [one.problem.head_dim for one in load(path).landscapes] == [32]
    host.wait_for("gives back the CPU")
    assert_gone([child])


def test_a_child_that_is_killed_there_is_told_and_the_next_goes_on(host: RunningHost, tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    words = ("--no-causal", "--into", str(path), "--connect", str(host.file))
    with program.started(*LONG, *words) as process:
        wait_for_a_step(process)
        (child,) = children(host, CUTS_WORK.main)
        child.kill()
        _, told = process.communicate(timeout=program.TIMEOUT_S)
    assert process.returncode == 1
    assert told.count(CUTS_WORK.cut_off) == 1
    assert "Traceback" not in told
    assert 64 in [one.problem.head_dim for one in load(path).landscapes]
    host.wait_for("gives back the CPU")


def test_a_client_that_is_killed_leaves_no_child_once_it_is_not_heard(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    with running_host(tmp_path, "--hold", "5") as host:
        words = ("--no-causal", "--into", str(path), "--connect", str(host.file))
        with program.started(*LONG, *words) as process:
            wait_for_a_step(process)
            (child,) = children(host, CUTS_WORK.main)
            process.kill()
        host.wait_for("loses the CPU")
        assert_gone([child])


def test_a_host_that_is_killed_is_told_with_what_to_do_and_leaves_no_child(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope", builders.plan_started())
    with running_host(tmp_path) as host:
        words = ("--no-causal", "--into", str(path), "--connect", str(host.file))
        with program.started(*LONG, *words) as process:
            wait_for_line(process, "2 of 2  flash2 in NumPy")
            (child,) = children(host, CUTS_WORK.main)
            host.process.kill()
            _, told = process.communicate(timeout=program.TIMEOUT_S)
        assert_gone([child])
    assert process.returncode == 1
    assert f"the CPU on {gethostname()} at tls://127.0.0.1:" in told
    assert "is lost: " in told
    assert "Look whether serve runs there, and ask again." in told
    assert "Traceback" not in told
    assert [one.problem.head_dim for one in load(path).landscapes] == [32]


def test_ranks_are_measured_there_and_kept_here(host: RunningHost, tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    words = ("--backend", "cpu", "--seqlen", "64", "--repeats", "2", "--out", str(path), "--json")
    done = program.run(*RANKS, *words, "--connect", str(host.file))
    assert done.returncode == 0, done.stderr
    (one,) = program.document(done)
    assert one["ended"]["reason"] == ""
    assert [result.asked.ranks for result in load(path).ranks] == [0]
    host.wait_for("gives back the CPU")
    assert children(host, RANKS_WORK.main) == []


def test_a_child_of_ranks_that_is_killed_there_is_told(host: RunningHost) -> None:
    words = (*RANKS, "--backend", "cpu", "--seqlen", "4k", "--repeats", "500")
    with program.started(*words, "--connect", str(host.file)) as process:
        while not (found := children(host, RANKS_WORK.main)):
            assert process.poll() is None
        found[0].kill()
        _, told = process.communicate(timeout=program.TIMEOUT_S)
    assert process.returncode == 1
    assert RANKS_WORK.cut_off in told
    assert "Traceback" not in told
    host.wait_for("gives back the CPU")


def test_ranks_take_every_device_of_the_host_say_who_holds_one_and_end_with_ctrl_c(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    with host_of(tmp_path, "CPU 0", "CPU 1") as host:
        auto = (*RANKS, "--seqlen", "64", "--repeats", "2", "--connect", str(host.file))
        done = program.run(*auto)
        assert done.returncode == 0, done.stderr
        words = (*LONG_RANKS, "--out", str(path), "--connect", str(host.file))
        with program.started(*words) as process:  # it takes the first
            wait_for_line(process, "ring, causal, N = 64: forward")
            held = program.run(*auto)
            (child,) = children(host, RANKS_WORK.main)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=program.TIMEOUT_S)
        assert_gone([child])
        assert process.returncode == 128 + signal.SIGINT, told
        assert "Traceback" not in told
        assert [one.asked.problem.seqlen_q for one in load(path).ranks] == [64]
        assert held.returncode == 1
        assert re.search(r"No device of .* is free: CPU 0 is held by .*@", held.stderr)


def test_ranks_end_where_a_device_that_they_have_taken_is_lost(tmp_path: Path) -> None:
    with host_of(tmp_path, "CPU 0", "CPU 1") as host:
        words = (*RANKS, "--seqlen", "64,4k", "--repeats", "500", "--connect", str(host.file))
        with program.started(*words) as process:
            wait_for_line(process, "ring, causal, N = 64: forward")
            (child,) = children(host, RANKS_WORK.main)
            (other,) = [one for one in host.members(DEVICE) if any("CPU 1" in word for word in one.cmdline())]
            other.kill()
            _, told = process.communicate(timeout=program.TIMEOUT_S)
        assert_gone([child])
    assert process.returncode == 1
    assert re.search(
        r"CPU 1 on \S+ at tls://.* is lost: .*\. Look whether serve runs there, and ask again", told
    )
    assert "Traceback" not in told


@pytest.mark.matrix
def test_other_instruments_are_asked_on_the_host(host: RunningHost) -> None:
    from flashscope.profiles.cluster.client.remote import RemoteEngine  # noqa: PLC0415 - imports Dask

    heard: SimpleQueue[ArbiterEnded] = SimpleQueue()
    asked = ArbiterAsked(by="ncu", kernel="flash2", problem=Problem(seqlen_q=64, seqlen_k=64))
    with closing(RemoteEngine(print, host.connection)) as engine:
        engine.lines("arbiter", [asked], heard.put)
        said = heard.get(timeout=program.TIMEOUT_S)
    assert "ncu" in said.missing  # there is no GPU
    assert not said.reason
    host.wait_for("gives back the CPU")
