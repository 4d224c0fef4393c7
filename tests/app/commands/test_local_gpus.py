"""Several GPUs of this machine in one sweep, without a host that lends them."""

import subprocess
import sys
from queue import SimpleQueue

import pytest

from flashscope.app import cli
from flashscope.app.commands import hosts
from flashscope.app.commands.hosts import Hosts, engine_of, local_gpus
from flashscope.kernels.workload.errors import DeviceUnavailableError
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.cluster.client.device_words import DeviceWords
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.events import Event, PlanFinished, PlanStarted
from flashscope.profiles.worker.nvml import ListedGpu, NvmlError
from tests.profiles.heard import QUICK, running_children
from tests.profiles.sessions import session_of

LISTED = tuple(ListedGpu(number, f"GPU-{number}a", "H100") for number in range(3))


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "listed_gpus", lambda: LISTED)


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("all", [0, 1, 2]),
        (2, [0, 1]),
        (("0", "2"), [0, 2]),
        (("2", "0"), [2, 0]),
        (("gpu 1",), [1]),
        (("GPU-2", "GPU-2a"), [2]),
    ],
)
def test_gpus_are_chosen_by_count_number_name_or_uuid_each_once_as_they_are_named(
    words: DeviceWords, numbers: list[int]
) -> None:
    assert [one.gpu for one in local_gpus(words)] == [f"GPU-{number}a" for number in numbers]


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize(
    ("words", "told"),
    [(4, "4 devices are wanted, and there are 3"), (("5",), "No device is called '5'; there")],
)
def test_gpus_that_there_are_not_are_refused_with_those_that_there_are(words: DeviceWords, told: str) -> None:
    with pytest.raises(DeviceUnavailableError, match=f"{told}.*GPU 2, H100"):
        local_gpus(words)


@pytest.mark.parametrize("words", [["--devices", "all"], ["--spread", "repeat", "--out", "a.flashscope"]])
def test_without_a_gpu_a_choice_among_them_is_refused_with_the_remedy(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise NvmlError("the NVML library was not found", "install the NVIDIA driver")

    monkeypatch.setattr(hosts, "listed_gpus", fail)
    assert cli.main(["sweep", *words]) == 1
    (told,) = capsys.readouterr().err.splitlines()
    assert "No GPU here to choose from" in told
    assert "Leave --devices and --spread out" in told


@pytest.mark.usefixtures("gpus")
def test_the_cpu_does_not_stand_in_for_gpus_that_were_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sweep", "--devices", "all", "--seqlen", "64"]) == 1
    assert "no usable GPU: " in capsys.readouterr().err


def visible_gpus() -> set[str]:
    """Which of the GPUs the children of this process see."""
    seen = {one.environ().get("CUDA_VISIBLE_DEVICES", "") for one in running_children()}
    return seen & {one.uuid for one in LISTED}


@pytest.mark.matrix  # it takes a second
@pytest.mark.usefixtures("gpus")
def test_one_sweep_is_shared_among_gpus_each_of_which_its_own_processes_see_alone() -> None:
    problems = tuple(Problem(heads=1, seqlen_q=64 * n, seqlen_k=64 * n, head_dim=16) for n in range(1, 7))
    plan = Plan(backend="cpu", kernels=("standard", "flash2"), problems=problems, protocol=QUICK)
    events: SimpleQueue[Event] = SimpleQueue()
    told, seen = list[Event](), set[str]()
    with engine_of(Hosts(devices=("0", "2"), written="0,2")) as make:
        engine = make(events.put)
        try:
            engine.run(plan)
            while not told or not isinstance(told[-1], PlanFinished):
                told.append(events.get(timeout=120))
                seen |= visible_gpus()
        finally:
            engine.close()
    session = session_of(told[next(n for n, one in enumerate(told) if isinstance(one, PlanStarted)) :])
    assert {one.status for one in session.points} == {"done"}
    assert {one.device for one in session.points} == {0, 1}
    assert seen == {"GPU-0a", "GPU-2a"}


def test_sharing_among_gpus_of_this_machine_imports_nothing_of_dask() -> None:
    look = "import sys, flashscope.profiles.cluster.several.engine, flashscope.app.commands.hosts as h; "
    look += "sys.exit(bool({'dask', 'distributed', 'cryptography'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", look], check=False).returncode == 0
