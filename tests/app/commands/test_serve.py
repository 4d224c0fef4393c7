"""What `serve` lends, and how it is told to."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.app import cli
from flashscope.app.commands import serve
from flashscope.app.commands.declared.elsewhere import gpu_numbers
from flashscope.kernels.workload.errors import DeviceUnavailableError, InputError
from flashscope.profiles.cluster.connection import Connection
from flashscope.profiles.cluster.settings import CPU, Served
from flashscope.profiles.worker.nvml import ListedGpu, NvmlError

LISTED = tuple(ListedGpu(number, f"GPU-{number}", "H100") for number in range(3))


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "listed_gpus", lambda: LISTED)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise NvmlError("the NVML library was not found", "install the NVIDIA driver")

    monkeypatch.setattr(serve, "listed_gpus", fail)


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize(("asked", "numbers"), [("all", (0, 1, 2)), ("2", (2,)), ("2,0,2", (2, 0))])
def test_gpus_are_lent_by_their_numbers_and_seen_by_their_uuids(asked: str, numbers: tuple[int, ...]) -> None:
    assert serve.devices_of("auto", gpu_numbers(asked)) == tuple(
        Served(name=f"GPU {number}, H100", gpu=f"GPU-{number}") for number in numbers
    )


@pytest.mark.usefixtures("gpus")
def test_a_gpu_that_there_is_not_is_named_beside_those_that_there_are() -> None:
    with pytest.raises(DeviceUnavailableError, match="no GPU 5, 7 here; there are 0, 1, 2"):
        serve.devices_of("auto", (5, 0, 7))


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_the_cpu_is_lent_and_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert serve.devices_of("auto", ()) == (Served(name=CPU),)
    assert "no GPU is lent: The NVML library was not found" in capsys.readouterr().err


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize(("backend", "asked"), [("cuda", ()), ("auto", (0,))])
def test_gpus_that_are_asked_for_by_name_are_not_replaced_by_the_cpu(
    backend: str, asked: tuple[int, ...]
) -> None:
    with pytest.raises(DeviceUnavailableError, match="install the NVIDIA driver"):
        serve.devices_of(backend, asked)


def test_a_cpu_has_no_gpus_to_choose_from() -> None:
    with pytest.raises(InputError, match="leave one of them out"):
        serve.devices_of("cpu", (0,))


@pytest.mark.parametrize("text", ["", "0,", "-1", "a", "0;1", "allx"])
def test_what_is_no_list_of_gpus_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is neither all nor numbers of GPUs"):
        gpu_numbers(text)


def test_a_file_is_watched_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("import numpy\n\n\ndef attention(q, k, v):\n    return q\n", encoding="utf-8")
    assert cli.main(["sweep", "--connect", "x", "--watch", "--kernel", "mine.py"]) == 2
    assert "--watch does not go with --connect" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--name", "b"], "--name calls a host that joins another; give --scheduler, too"),
        (["--scheduler", "x", "--name", "a b"], "'a b' is no name of a host"),
        (["--scheduler", "x", "--once"], "--scheduler takes the other host's; leave out --once"),
        (["--scheduler", "x", "--plain", "--file", "y"], "leave out --plain and --file"),
    ],
)
def test_a_host_that_joins_another_has_no_files_of_its_own(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["serve", *words]) == 2
    assert told in capsys.readouterr().err


def test_the_file_for_hosts_that_join_lies_beside_the_clients_and_is_taken_back_with_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lab.connection"
    client = Connection(address="tls://lab:1", ca="a", certificate="b", key="c")
    joining = replace(client, certificate="d", joins=True)
    for wanted, expected in ((True, {"lab.connection", "lab.joining"}), (False, {"lab.connection"})):
        out = serve.ConnectionOut(path, joining=wanted)
        out.publish(client, joining)
        assert {one.name for one in tmp_path.iterdir()} == expected
        out.withdraw()
        assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="name another with --file"):
        serve.ConnectionOut(tmp_path / "lab.joining", joining=True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--backend", "cpu", "--devices", "all"], "--devices is about GPUs here; leave --backend cpu out"),
        (["--backend", "cpu", "--spread", "repeat"], "--spread is about GPUs here; leave --backend cpu out"),
        (["--connect", "x", "--devices", "0"], "'0' is no number of devices from 1 to 64"),
        (["--connect", "x", "--spread", "repeat"], "several devices need a name to be numbered under"),
        (["--connect", "x", "--spread", "repeat", "--runs", "2"], "measures once a device; leave out --runs"),
    ],
)
def test_what_is_said_of_devices_goes_with_a_host_and_a_name(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["sweep", *words]) == 2
    assert told in capsys.readouterr().err


def test_a_connection_that_is_not_there_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    assert cli.main(["sweep", "--connect", "no.connection"]) == 1
    (told,) = capsys.readouterr().err.splitlines()
    assert "no.connection cannot be read (No such file or directory)" in told
