"""`peers --install`: pip puts a peer's package and what is missing for it into a folder of its own."""

import platform
import signal
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from flashscope.app.cli import main
from flashscope.app.commands import peers, peers_install
from flashscope.kernels.catalogue.environments import environment_of, version_of
from flashscope.kernels.catalogue.releases import RELEASES
from tests.app.fakes import CPU_MACHINE

PEER = "flash-attn-4"
Captured = pytest.CaptureFixture[str]


def wheel(folder: Path, package: str, version: str, needs: Sequence[str] = ()) -> None:
    """A wheel that pip takes, with a module of that name."""
    module = package.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {need}\n" for need in needs)
    with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{module}.py", f"VERSION = {version!r}\n")
        file.writestr(f"{info}/METADATA", metadata)
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All wheels there are for pip, and a home for what it installs."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(RELEASES, PEER, RELEASES[PEER]._replace(version="4.9", extra=""))
    return folder


@pytest.mark.matrix  # it takes a second
def test_a_peer_gets_a_folder_with_what_it_needs_beyond_what_is_here(shelf: Path, capfd: Captured) -> None:
    wheel(shelf, PEER, "4.9", ["needed-by-it", "numpy"])
    wheel(shelf, "needed-by-it", "2.0")
    wheel(shelf, "numpy", "0.1")  # one that is here does
    assert main(["peers", "--install", PEER]) == 0
    folder = environment_of(PEER)
    assert folder is not None
    assert {one.stem for one in folder.glob("*.py")} == {"flash_attn_4", "needed_by_it"}
    assert version_of(PEER) == "4.9"
    assert f"{PEER}: measured from now on with {PEER}==4.9 in {folder}" in capfd.readouterr().out


@pytest.mark.matrix  # it takes seconds
def test_it_is_renewed_as_a_whole(shelf: Path) -> None:
    wheel(shelf, PEER, "4.9", ["needed-by-it"])
    wheel(shelf, "needed-by-it", "2.0")
    assert main(["peers", "--install", PEER]) == 0
    wheel(shelf, PEER, "5.0")
    RELEASES[PEER] = RELEASES[PEER]._replace(version="5.0")
    assert main(["peers", "--install", PEER]) == 0
    folder = environment_of(PEER)
    assert folder is not None
    assert [one.stem for one in folder.glob("*.py")] == ["flash_attn_4"]
    assert [one.name for one in folder.parent.iterdir()] == [PEER]
    assert version_of(PEER) == "5.0"


def test_what_pip_cannot_do_is_told_and_leaves_what_was_there(shelf: Path, capfd: Captured) -> None:
    wheel(shelf, PEER, "4.9", ["nobody-has-it"])
    assert main(["peers", "--install", PEER]) == 1
    assert (
        "pip could not install flash-attn-4==4.9: ERROR: No matching distribution found for nobody-has-it"
        in (capfd.readouterr().err)
    )
    assert environment_of(PEER) is None


@pytest.mark.matrix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("asked", ["--dry-run", "--target"])
def test_a_signal_leaves_nothing_of_what_was_begun(
    number: int, asked: str, shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(shelf, PEER, "4.9")
    assert main(["peers", "--install", PEER]) == 0
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    code = (
        f"import os, runpy, signal, sys; {asked!r} not in sys.argv or (os.kill(os.getppid(), {int(number)}), "
        "signal.pause()); sys.argv[0] = 'pip'; runpy.run_module('pip', run_name='__main__')"
    )
    monkeypatch.setattr(peers_install, "PIP", (sys.executable, "-c", code, "install"))
    before = signal.getsignal(number)
    assert main(["peers", "--install", PEER]) == 128 + number
    assert signal.getsignal(number) is before
    assert list(temporary.iterdir()) == []
    folder = environment_of(PEER)
    assert folder is not None
    assert [one.name for one in folder.parent.iterdir()] == [PEER]
    assert version_of(PEER) == "4.9"


def test_where_the_folder_cannot_be_made_a_line_says_what_helps(shelf: Path, capfd: Captured) -> None:
    home = shelf.parent / "home"
    home.mkdir()
    (home / "peers").touch()
    assert main(["peers", "--install", PEER]) == 1
    assert "choose another place" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("flash-atn-4", "no peer is called 'flash-atn-4' (did you mean flash-attn-4?)"),
        ("torch-cudnn", "torch is what other peers compute on"),
        ("triton", "triton is what other peers compute on"),
        ("flash3", "no peer is called 'flash3'"),
    ],
)
def test_what_can_have_no_folder_is_refused(shelf: Path, capfd: Captured, name: str, why: str) -> None:
    assert main(["peers", "--install", name]) == 2
    assert why in capfd.readouterr().err


def test_nothing_is_put_where_it_cannot_run(
    shelf: Path, capfd: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    assert main(["peers", "--install", "flashinfer"]) == 2
    assert "flashinfer-python cannot be installed here: it is for Linux" in capfd.readouterr().err


@pytest.mark.matrix
def test_a_folder_of_its_own_is_listed(shelf: Path) -> None:
    wheel(shelf, PEER, "4.9")
    assert main(["peers", "--install", PEER]) == 0
    told = peers.peer_document(PEER, peers.by_package()[PEER], CPU_MACHINE)
    assert (told["version"], told["folder"]) == ("4.9", str(environment_of(PEER)))


def test_it_stands_alone(capfd: Captured) -> None:
    assert main(["peers", "--install", PEER, "--json"]) == 2
    assert "--install stands alone" in capfd.readouterr().err
