"""A second host whose CPU is lent by the scheduler of the first; all of it in processes of their own."""

import re
import signal
import socket
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from flashscope.profiles.cluster.connection import JOINING_SUFFIX, read_connection, write_connection
from flashscope.profiles.store import load
from tests.end_to_end import program
from tests.end_to_end.hosts import DEVICE, PATIENCE_S, assert_gone, joined_host, measuring, running_host
from tests.end_to_end.several.test_several_devices import SLOW, SMALL, on_one_device, told_by

pytestmark = [pytest.mark.cluster, pytest.mark.matrix]  # each takes seconds

SLOWER = (*SLOW, "--repeats", "20")  # not over before a busy machine lets it be killed
HERE = f"the CPU on {socket.gethostname()}"
ENDED = re.compile(r"is lost: (serve was ended there|its process there has ended)[.]")
LOST = re.compile(f"{ENDED.pattern} What it has not ended")


def test_one_connection_leads_to_the_devices_of_both_hosts_and_what_a_host_takes_along_the_other_measures(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.flashscope"
    with running_host(tmp_path) as first:
        connect = ("--connect", str(first.file))
        with joined_host(tmp_path, first) as second:
            assert HERE in first.wait_for("has joined")
            assert "can run any program on this machine with your rights" in " ".join(second.said)
            done = program.run(*SMALL, *connect, "--devices", "all", "--out", str(path))
            assert done.returncode == 0, done.stderr
            session = load(path)
            assert {point.device for point in session.points} == {0, 1}
            assert on_one_device(session)
            everything = second.everything()
            assert len(everything) == 2
            words = (*SLOW, *connect, "--devices", "all", "--out", str(tmp_path / "b.flashscope"))
            with program.started(*words) as process:
                told_by(process, 3)
                second.process.send_signal(signal.SIGTERM)
                _, errors = process.communicate(timeout=program.TIMEOUT_S)
            assert process.returncode == 0, errors
            assert f"{HERE} at tls://127.0.0.1" in errors
            assert LOST.search(errors), errors
            assert second.process.wait(PATIENCE_S) == 128 + signal.SIGTERM
            assert_gone(everything)
        first.wait_for(f"{HERE} is gone")
        assert {point.status for point in load(tmp_path / "b.flashscope").points} == {"done"}
        named = program.run(*SMALL, *connect, "--devices", HERE)
        assert f"No device is called '{HERE}'; there are the CPU at" in named.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_the_first_host_ends_those_that_have_joined_with_a_sentence(
    number: signal.Signals, tmp_path: Path
) -> None:
    with running_host(tmp_path) as first, joined_host(tmp_path, first) as second:
        everything = [*first.everything(), *second.everything()]
        first.process.send_signal(number)
        assert second.process.wait(PATIENCE_S) == 1
        first.process.wait(PATIENCE_S)
        assert_gone(everything)
        assert second.process.stdout is not None
        (told,) = second.process.stdout.read().splitlines()
    assert "has ended, or cannot be reached any more; start serve there, and join it anew" in told


def test_a_killed_joined_host_leaves_nothing_behind_and_may_join_anew(tmp_path: Path) -> None:
    with running_host(tmp_path) as first:
        with joined_host(tmp_path, first) as second:
            (device,) = second.members(DEVICE)
            path = tmp_path / "a.flashscope"
            words = (*SLOWER, "--connect", str(first.file), "--devices", HERE, "--out", str(path))
            with program.started(*words) as process:
                told_by(process, 1)
                everything = [*second.everything(), *measuring(device)]
                psutil.Process(second.process.pid).kill()
                _, errors = process.communicate(timeout=program.TIMEOUT_S)
            assert process.returncode == 1
            assert ENDED.search(errors), errors
            assert_gone(everything)
        first.wait_for(f"{HERE} is gone")
        with joined_host(tmp_path, first):
            resumed = program.run(
                "sweep", "--resume", str(path), "--connect", str(first.file), "--devices", HERE
            )
            assert resumed.returncode == 0, resumed.stderr


def test_a_host_that_may_not_join_is_told_why_in_a_line(tmp_path: Path) -> None:
    with running_host(tmp_path) as first, joined_host(tmp_path, first, "--name", "other"):
        joining = first.file.with_suffix(JOINING_SUFFIX)
        nowhere, strange = tmp_path / "nowhere.joining", tmp_path / "strange.joining"
        write_connection(replace(read_connection(joining), address="tls://127.0.0.1:9"), nowhere)
        from flashscope.profiles.cluster.host.certificates import make_certificates  # noqa: PLC0415 - needs the extra

        false = make_certificates("lab").joining
        write_connection(
            replace(read_connection(joining), certificate=false.certificate, key=false.key), strange
        )
        for file, options, told in (
            (joining, ("--name", "other"), "the CPU on other is lent at tls://127.0.0.1"),
            (nowhere, (), "nothing listens at tls://127.0.0.1:9"),
            (strange, (), "There is no connection: "),
            (first.file, (), "name the file .joining that serve wrote beside it"),
        ):
            done = program.run("serve", "--backend", "cpu", "--scheduler", str(file), *options)
            assert done.returncode == 1
            (line,) = done.stderr.splitlines()
            assert told in line
        assert joining.stat().st_mode & 0o777 == 0o600
    assert not joining.exists()


def test_a_plain_host_is_joined_on_the_loopback_without_a_file_and_at_the_port_that_is_named(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with running_host(tmp_path, "--plain") as first:
        assert not first.file.with_suffix(JOINING_SUFFIX).exists()
        with joined_host(tmp_path, first, "--scheduler", first.connection.address, "--port", str(port)):
            assert first.wait_for("has joined").endswith(f"at tcp://127.0.0.1:{port}")
