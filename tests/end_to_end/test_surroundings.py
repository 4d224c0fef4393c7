"""Whatever is around the program (folders, variables, limits), it is right, or says the cause in one line."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import copy, copytree, ignore_patterns

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtGui import QImage

from flashscope.kernels.cpu.allowance import memory_groups
from flashscope.profiles.store import load
from tests.end_to_end import program
from tests.matrix import chosen

MAIN = str(program.ROOT / "main.py")
SWEEP = ("sweep", "--backend", "cpu", "--kernels", "flash2", "--seqlen", "64", "--repeats", "2")


def run(
    *arguments: str, cwd: Path, before: tuple[str, ...] = (), variables: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    """Run the program in a folder, as `python main.py` or by what stands before it."""
    return subprocess.run(
        [*(before or (sys.executable, MAIN)), *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=program.TIMEOUT_S,
        env=program.environment(cwd / "home", **{"QT_QPA_PLATFORM": "offscreen", **variables}),
        cwd=cwd,
    )


def sweeps(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Sweep in a folder into one beside it; the session that was saved has a point that is done."""
    out = folder.parent / "swept.flashscope"
    done = run(*SWEEP, *options, "--out", str(out), cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert [point.status for point in load(out).points] == ["done"]
    return done


@pytest.fixture
def shadows(tmp_path: Path) -> Path:
    """A working folder with a file of the name of every module that there is."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in (*sys.stdlib_module_names, "flashscope", "numpy", "msgspec", "kernels", "sitecustomize"):
        (folder / f"{name}.py").write_text(f"raise RuntimeError('the {name} of the user')\n")
    return folder


@pytest.mark.matrix  # it takes a second or more
def test_no_file_of_the_working_folder_takes_the_place_of_a_module(shadows: Path) -> None:
    sweeps(shadows)
    done = run("doctor", cwd=shadows)
    assert done.returncode == 0
    assert "CuPy" in done.stdout
    assert "of the user" not in done.stdout + done.stderr


@pytest.mark.matrix
def test_a_program_started_as_a_module_forgets_the_working_folder(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    for name in ("math", "pathlib", "random", "secrets", "select", "signal", "tempfile"):
        (folder / f"{name}.py").write_text(f"raise RuntimeError('the {name} of the user')\n")
    before = (sys.executable, "-m", "flashscope")
    done = run("doctor", cwd=folder, before=before, variables={"PYTHONPATH": program.PYTHONPATH})
    assert done.returncode == 0, done.stderr


@pytest.mark.matrix
def test_a_working_folder_that_has_been_deleted_stops_nothing(tmp_path: Path) -> None:
    for arguments in (("doctor",), (*SWEEP, "--out", str(tmp_path / "out.flashscope"))):
        gone = tmp_path / "gone"
        gone.mkdir()
        line = f'cd "{gone}" && rmdir "{gone}" && exec "$@"'
        before = ("sh", "-c", line, "sh", sys.executable, MAIN)
        done = run(*arguments, cwd=tmp_path, before=before)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert load(tmp_path / "out.flashscope").points[0].status == "done"


def test_a_worker_that_cannot_start_says_in_one_line_why_and_advises_no_driver(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "numpy.py").write_text("raise ImportError('this one is broken')\n")
    done = run("doctor", cwd=tmp_path, variables={"PYTHONPATH": str(broken)})
    worker = [line for line in done.stdout.splitlines() if "Worker" in line]
    assert worker, done.stdout + done.stderr
    assert "this one is broken" in worker[0]
    assert "driver or CuPy" not in done.stdout
    assert os.linesep not in worker[0]


ON_ONE_CORE = """
import os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.execv(sys.argv[1], sys.argv[1:])
"""


def on_one_core(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run(*arguments, cwd=cwd, before=(sys.executable, "-c", ON_ONE_CORE, sys.executable, MAIN))


@pytest.mark.matrix
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core")
def test_the_cores_that_may_be_used_are_those_that_doctor_and_session_tell(tmp_path: Path) -> None:
    done = on_one_core("doctor", "--json", cwd=tmp_path)
    found = program.document(done)
    (cpu,) = [one for one in found["findings"] if one["name"] == "CPU"]
    assert f"1 of {os.cpu_count()} logical cores may be used" in cpu["detail"]
    assert found["machine"]["devices"][0]["multiprocessors"] == 1


@pytest.fixture
def container() -> Iterator[Path]:
    """A control group of 512 MiB; skips where none can be made."""
    group = next((one for one in memory_groups() if os.access(one.folder, os.W_OK)), None)
    if group is None:
        pytest.skip("no control group can be made here")
    folder = group.folder / "flashscope-test"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        (folder / group.files.limit).write_text(str(512 << 20))
        yield folder
    except OSError as error:
        pytest.skip(f"a control group cannot be given a limit here: {error}")
    finally:
        folder.rmdir()


@pytest.mark.matrix
def test_a_containers_limit_of_memory_is_told_and_what_exceeds_it_will_not_fit(
    tmp_path: Path, container: Path
) -> None:
    line = f'echo $$ > "{container}/cgroup.procs" && exec "$@"'
    before = ("sh", "-c", line, "sh", sys.executable, MAIN)
    assert "memory limited to 0.5 GiB" in run("doctor", cwd=tmp_path, before=before).stdout
    out = tmp_path / "out.flashscope"
    large = ("sweep", "--backend", "cpu", "--kernels", "standard", "--seqlen", "256,8192", "--no-drift-check")
    lasting = ("--sustain", "3")  # or it ends before the telemetry has begun
    done = run(*large, *lasting, "--out", str(out), cwd=tmp_path, before=before)
    assert done.returncode == 0, done.stderr
    session = load(out)
    assert [point.status for point in session.points] == ["done", "will-not-fit"]
    assert session.telemetry is not None
    assert session.telemetry.memory_total == 512 << 20
    assert all(one.memory_used is not None and one.memory_used <= 512 << 20 for one in session.readings)


RECORDING = "h200-standard-flash2"
FOREIGN_QT = [
    "PYQTGRAPH_QT_LIB=PyQt5",
    "QT_API=PyQt4",
    "QT_API=pyqt5",
    "QT_QPA_PLATFORMTHEME=gtk3",
    "QT_STYLE_OVERRIDE=kvantum",
    "QT_PLUGIN_PATH=/nonexistent QT_QPA_PLATFORM_PLUGIN_PATH=/nonexistent",
]


def picture(folder: Path, **variables: str) -> Path:
    """A PNG of a bundled recording, which is drawn without a word on stderr."""
    path = folder / "picture.png"
    done = run("export", "--force", RECORDING, str(path), cwd=folder, variables=variables)
    assert (done.returncode, done.stderr) == (0, "")
    return path


@pytest.mark.matrix
@chosen("variables", FOREIGN_QT, {"QT_API=PyQt4"})
def test_variables_for_other_programs_of_qt_change_nothing(tmp_path: Path, variables: str) -> None:
    others = dict(one.split("=") for one in variables.split())
    assert picture(tmp_path, **others).stat().st_size
    assert run("doctor", cwd=tmp_path, variables=others).returncode == 0


def pixels(path: Path) -> npt.NDArray[np.int64]:
    """Its pixels as (height, width, 4), 0 to 255."""
    image = QImage(str(path)).convertToFormat(QImage.Format.Format_RGBA8888)
    flat = np.frombuffer(bytes(image.constBits()), np.uint8)
    return flat.reshape(image.height(), image.width(), 4).astype(np.int64)


@pytest.mark.matrix
def test_an_exported_picture_has_the_same_strokes_at_every_scale_of_the_screen(tmp_path: Path) -> None:
    plain = pixels(picture(tmp_path, QT_SCALE_FACTOR="1"))
    for scale in ("1.5", "3"):
        other = pixels(picture(tmp_path, QT_SCALE_FACTOR=scale))
        assert np.abs(plain - other).max() < 32  # of 255: an edge's shade, and no stroke


@pytest.mark.matrix
def test_a_tilde_is_the_users_folder_and_what_is_kept_there_is_its_owners_alone(tmp_path: Path) -> None:
    others = {"HOME": str(tmp_path), "FLASHSCOPE_HOME": "~/own/fs"}
    assert run(*SWEEP, cwd=tmp_path, variables=others).returncode == 0
    assert run(*SWEEP, "--out=~/named.flashscope", cwd=tmp_path, variables=others).returncode == 0
    (kept,) = (tmp_path / "own" / "fs" / "sessions").iterdir()
    assert not (tmp_path / "~").exists()
    for file in (kept, tmp_path / "named.flashscope"):
        assert file.stat().st_mode & 0o777 == 0o600
        assert load(file).points[0].status == "done"
    for folder in (kept.parent, kept.parent.parent, kept.parent.parent.parent):
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.matrix
def test_a_path_in_another_locale_is_printed_as_a_shell_takes_it(tmp_path: Path) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run(*SWEEP, "--out", "größe und.flashscope", cwd=tmp_path, variables=ascii_only)
    assert done.returncode == 0, done.stderr
    saved = done.stdout.splitlines()[-1].removeprefix("Saved as ")
    assert saved.isascii()
    script = f"[ -f {saved} ]"
    assert subprocess.run(["/bin/bash", "-c", script], cwd=tmp_path, check=False).returncode == 0


@pytest.mark.matrix
def test_a_checkout_may_lie_in_any_folder(tmp_path: Path) -> None:
    name = "new\nline back\\slash 'quoted' \"twice\" %41#?:;{}ü"
    checkout = tmp_path / name
    checkout.mkdir()
    for part in (".src", "app", "kernels", "profiles", "assets"):
        copytree(program.ROOT / part, checkout / part, symlinks=True, ignore=ignore_patterns("__pycache__"))
    copy(program.ROOT / "main.py", checkout)
    before = (sys.executable, str(checkout / "main.py"))
    out = tmp_path / "out.flashscope"
    for asked in (("doctor",), (*SWEEP, "--out", str(out)), ("shots", str(tmp_path / "pictures"))):
        done = run(*asked, cwd=tmp_path, before=before)
        assert done.returncode == 0, done.stderr
        assert not {"Traceback", "style sheet", "stylesheet"} & set(done.stderr.split(" "))
    assert load(out).points[0].status == "done"
