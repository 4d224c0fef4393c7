"""A kernel of one's own on hosts, which have not its file: it is sent to those that trust code."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from flashscope.profiles.store import load
from tests.end_to_end import program
from tests.end_to_end.hosts import RunningHost, joined_host, running_host
from tests.end_to_end.several.test_several_devices import SMALL, on_one_device

pytestmark = [pytest.mark.cluster, pytest.mark.matrix]  # each takes seconds

EXAMPLES = Path(__file__).parents[2] / "kernels" / "own" / "examples"
TRUSTS = "--trust-code"


class Client:
    """A user who measures, with a home of their own that hosts do not have.

    Args:
        home: That folder.
        host: What is connected to.
    """

    def __init__(self, home: Path, host: RunningHost) -> None:
        home.mkdir(exist_ok=True)
        self.file = Path(shutil.copy(EXAMPLES / "plain_numpy.py", home / "mine.py"))
        self.home, self._host = home, host

    def sweep(self, *words: str) -> CompletedProcess[str]:
        connect = ("--connect", str(self._host.file))
        return program.run(*SMALL, "--kernel", str(self.file), *connect, *words, HOME=str(self.home))


@contextmanager
def client_of(folder: Path, first: str = TRUSTS, second: str = TRUSTS) -> Iterator[Client]:
    """Who measures on two hosts, which are started with these options."""
    with running_host(folder, *first.split()) as host, joined_host(folder, host, *second.split()):
        yield Client(folder / "user", host)


def test_hosts_that_trust_code_share_a_sweep_of_a_file_that_they_do_not_have(tmp_path: Path) -> None:
    with client_of(tmp_path) as client:
        done = client.sweep("--devices", "all", "--out", str(tmp_path / "a.flashscope"))
        assert done.returncode == 0, done.stderr
        assert "is sent, and runs there with the rights of who serves" in done.stderr
        each = client.sweep("--spread", "repeat", "--devices", "all", "--out", str(tmp_path / "b.flashscope"))
        assert each.returncode == 0, each.stderr
    session = load(tmp_path / "a.flashscope")
    assert session.plan.own[0].path == "~/mine.py"
    for name in ("a", "b-1", "b-2"):
        measured = load(tmp_path / f"{name}.flashscope")
        assert {state.point.kernel for state in measured.points if state.status == "done"} == {
            "standard",
            "flash2",
            "mine",
        }
        assert {state.status for state in measured.points} == {"done"}
        assert measured.plan.own[0].source is None
    assert {state.device for state in session.points} == {0, 1}
    assert on_one_device(session)


def test_where_one_host_trusts_no_code_nothing_is_measured_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    with client_of(tmp_path, second="--name other") as client:
        for devices in ("all", "the CPU on other"):
            done = client.sweep("--devices", devices, "--out", str(path))
            assert done.returncode == 1
            assert "the CPU on other at tls://127.0.0.1" in done.stderr
            assert "runs no code that clients send, and mine would be" in done.stderr
            assert "--trust-code" in done.stderr
            assert "Traceback" not in done.stderr
            assert not path.exists()
        done = client.sweep("--devices", "the CPU", "--keep-source", "--out", str(path))
        assert done.returncode == 0, done.stderr
    assert load(path).plan.own[0].source == client.file.read_text(encoding="utf-8")


def test_a_sweep_of_a_file_of_ones_own_goes_on_there_where_it_is_named_again(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    with running_host(tmp_path, TRUSTS) as host:
        client = Client(tmp_path / "user", host)
        crash = '    """O and LSE."""\n    import os\n    if os.path.exists("%s"):\n        os._exit(1)\n'
        broken = tmp_path / "broken"
        text = client.file.read_text(encoding="utf-8")
        client.file.write_text(text.replace('    """O and LSE."""\n', crash % broken), encoding="utf-8")
        broken.touch()
        assert client.sweep("--out", str(path)).returncode == 1
        broken.unlink()
        resume = ("sweep", "--resume", str(path), "--connect", str(host.file))
        unnamed = program.run(*resume, HOME=str(client.home))
        assert unnamed.returncode == 1
        assert "runs only where you name it" in unnamed.stderr
        done = program.run(*resume, "--kernel", str(client.file), HOME=str(client.home))
        assert done.returncode == 0, done.stderr
    assert {state.status for state in load(path).planned} == {"done"}
