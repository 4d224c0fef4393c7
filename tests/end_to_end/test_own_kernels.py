"""A kernel of one's own is one file, named on the command line: measured, kept, reopened, gone on with."""

import json
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest

from flashscope.profiles.results.formats.schema import SCHEMA
from flashscope.profiles.store import load
from tests.end_to_end.program import document, inside, run

EXAMPLES = Path(__file__).parents[1] / "kernels" / "own" / "examples"
SMALL = ("--backend", "cpu", "--seqlen", "128", "--head-dim", "32", "--repeats", "3")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return Path(shutil.copy(EXAMPLES / "plain_numpy.py", tmp_path / "mine.py"))


def test_it_is_measured_beside_ours_and_all_of_it_is_known_without_its_file(
    mine: Path, tmp_path: Path
) -> None:
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "mine.py"), ("commit", "-qm", "mine")):
        subprocess.run([*git, *words], check=True)
    out = tmp_path / "own.flashscope"
    asked = ("--kernels", "flash2", "--kernel", str(mine), "--keep-source", "--out", str(out), "--json")
    done = run("sweep", *SMALL, *asked, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("runs with your rights") == 1
    jsonschema.validate(document(done), json.loads(SCHEMA.read_text(encoding="utf-8")))
    text = mine.read_text(encoding="utf-8")
    mine.unlink()

    session = load(out)
    (own,) = session.plan.own
    assert {state.point.kernel: state.status for state in session.points} == {
        "flash2": "done",
        "mine": "done",
    }
    assert own.source == text
    assert len(own.commit) == 40
    assert own.differs is False

    shown = inside("show", str(out), home=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "mine" in shown.stdout


@pytest.mark.matrix  # it takes seconds
def test_it_is_in_whatever_a_session_is_exported_as(mine: Path, tmp_path: Path) -> None:
    out = tmp_path / "own.flashscope"
    assert run("sweep", *SMALL, "--kernels", str(mine), "--out", str(out), home=tmp_path).returncode == 0
    mine.unlink()
    for suffix in ("csv", "svg", "html"):
        drawn = run("export", str(out), str(tmp_path / f"own.{suffix}"), home=tmp_path)
        assert drawn.returncode == 0, drawn.stderr
        assert "mine" in (tmp_path / f"own.{suffix}").read_text(encoding="utf-8")


@pytest.mark.matrix  # it takes seconds
def test_the_name_of_a_file_in_the_users_folder_is_enough(mine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    mine.rename(folder / "mine.py")
    out = tmp_path / "own.flashscope"
    done = run("sweep", *SMALL, "--kernels", "mine", "--out", str(out), home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert load(out).plan.kernels == ("mine",)
    (folder / "broken.py").write_text("import numpy\n", encoding="utf-8")
    listed = run("kernels", home=tmp_path)
    assert listed.returncode == 0
    assert "mine: S, softmax and PV of whole matrices" in listed.stdout
    assert "broken.py has no function f(q, k, v" in listed.stderr


@pytest.mark.matrix  # it takes seconds
def test_several_runs_take_it_along(mine: Path, tmp_path: Path) -> None:
    asked = ("--kernel", str(mine), "--kernels", "flash2", "--runs", "2", "--keep-source")
    done = run("sweep", *SMALL, *asked, "--out", str(tmp_path / "own.flashscope"), home=tmp_path)
    assert done.returncode == 0, done.stderr
    for number in (1, 2):
        session = load(tmp_path / f"own-{number}.flashscope")
        assert session.plan.kernels == ("flash2", "mine")
        assert session.plan.own[0].source == mine.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def attend(q, k, v:\n", "mine.py, line 1"),
        ("import numpy\ndef attend(a, b): ...\n", "has no function f(q, k, v"),
    ],
)
def test_a_file_that_declares_nothing_is_refused_before_anything_is_measured(
    mine: Path, tmp_path: Path, text: str, told: str
) -> None:
    mine.write_text(text, encoding="utf-8")
    out = tmp_path / "own.flashscope"
    done = inside("sweep", *SMALL, "--kernel", str(mine), "--out", str(out), home=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()


@pytest.mark.matrix  # it takes seconds
def test_a_session_goes_on_only_with_the_file_that_it_names(mine: Path, tmp_path: Path) -> None:
    slow = "import os, signal\n" + mine.read_text(encoding="utf-8").replace(
        '    """O and LSE."""\n',
        '    """O and LSE."""\n    if os.path.exists(__file__ + ".break"):\n        os._exit(1)\n',
    )
    mine.write_text(slow, encoding="utf-8")
    broken, out = mine.with_name("mine.py.break"), tmp_path / "own.flashscope"
    broken.touch()
    done = run("sweep", *SMALL, "--kernels", str(mine), "--out", str(out), home=tmp_path)
    assert done.returncode == 1
    broken.unlink()

    unnamed = run("sweep", "--resume", str(out), home=tmp_path)
    assert unnamed.returncode == 1
    assert "--kernel" in unnamed.stderr
    other = Path(shutil.copy(EXAMPLES / "plain_numpy.py", tmp_path / "other.py"))
    wrong = run("sweep", "--resume", str(out), "--kernel", str(other), home=tmp_path)
    assert wrong.returncode == 1
    named = run("sweep", "--resume", str(out), "--kernel", str(mine), home=tmp_path)
    assert named.returncode == 0, named.stderr
    assert [state.status for state in load(out).planned] == ["done"]


@pytest.mark.torch
def test_a_callable_of_pytorch_is_measured(tmp_path: Path) -> None:
    out = tmp_path / "own.flashscope"
    path = EXAMPLES / "torch_callable.py"
    done = run("sweep", *SMALL, "--causal", "--kernels", str(path), "--out", str(out), home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [state.status for state in load(out).planned] == ["done"]


@pytest.mark.matrix  # it takes seconds
def test_a_file_that_is_named_twice_is_measured_once_and_two_of_one_name_are_refused(
    mine: Path, tmp_path: Path
) -> None:
    asked = ("--kernels", "flash2", "--kernel", str(mine), "--kernel")
    done = run("sweep", *SMALL, *asked, str(mine), "--out", str(tmp_path / "a.flashscope"), home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert load(tmp_path / "a.flashscope").plan.kernels == ("flash2", "mine")
    (tmp_path / "other").mkdir()
    other = Path(shutil.copy(mine, tmp_path / "other" / "mine.py"))
    done = run("sweep", *SMALL, *asked, str(other), home=tmp_path)
    assert done.returncode == 2
    assert str(other) in done.stderr
    assert "declare kernels of one name, mine;" in done.stderr
