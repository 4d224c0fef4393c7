"""The wheel, built and installed into an empty environment without a network, does what a checkout does."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from flashscope.app.look.assets import USED
from tests.end_to_end import program

pytestmark = pytest.mark.matrix

BUILT_FROM = ("app", "kernels", "profiles", "assets", ".src", "pyproject.toml", "README.md")
OFFLINE = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-build-isolation")
WITHOUT_GPU = {"CUDA_VISIBLE_DEVICES": ""}  # the bundled recordings stand in for one
BY_CLOCK = "run here: .* on "  # a source that names what it ran on: this CPU, PyTorch's device
OTHER_KERNELS = '''
"""Stands for the package of this name that Transformers imports."""

def get_kernel(name):
    return f"{name} of the other kernels"
'''
BOTH = """
import kernels, sys
import flashscope.kernels

assert kernels.get_kernel("one") == "one of the other kernels", kernels
assert not hasattr(kernels, "KERNELS")
assert "flash2" in {spec.name for spec in flashscope.kernels.KERNELS}
assert sys.modules["kernels"] is not sys.modules["flashscope.kernels"]
print(kernels.__file__, flashscope.kernels.__file__, sep="\\n")
"""
AS_PROGRAM = """
import os, runpy, sys
sys.argv = [{start!r}, "present"]
sys.path[0] = os.path.dirname(sys.argv[0])
try:
    runpy.run_path({start!r}, run_name="__main__")
except SystemExit as end:
    assert not end.code, end
"""
"""Runs the program to its end as `python START` does, in a process that goes on."""

LOOK = """
import re

from PySide6.QtCore import QFile

from flashscope.app.look.fonts import load_fonts
from flashscope.app.look.stylesheet import stylesheet
from flashscope.app.look.theme import DARK
from flashscope.app.shell.start_up.application import make_application

app = make_application()
assert not app.windowIcon().pixmap(32, 32).isNull()
marks = re.findall(r'url\\("(.*?)"\\)', stylesheet(DARK))
assert marks and all(map(QFile.exists, marks)), marks
print(*sorted({*load_fonts()}), sep=", ")
"""

TYPED = """
import numpy as np
import numpy.typing as npt

from flashscope.kernels import attention, attention_backward

q: npt.NDArray[np.float32] = np.ones((1, 2, 3, 16), np.float32)
output, lse = attention(q, q, q, return_lse=True)
reveal_type(attention(q, q, q))
reveal_type(attention_backward(q, q, q, output, lse, output))
attention(q, q, q, layout="bdhn")
"""


def done(*words: str | Path, cwd: Path, home: Path | None = None, codes: tuple[int, ...] = (0,)) -> str:
    """What a process prints on stdout; it must end with one of these exit codes."""
    ended = subprocess.run(
        [*map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=program.environment(home, PYTHONPATH="", QT_QPA_PLATFORM="offscreen", **WITHOUT_GPU),
        timeout=program.TIMEOUT_S,
    )
    assert ended.returncode in codes, ended.stderr
    return ended.stdout


def pip(python: str | Path, *words: str | Path, cwd: Path) -> None:
    done(python, "-m", "pip", *words, *OFFLINE, cwd=cwd)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is left in the checkout."""
    folder = tmp_path_factory.mktemp("built")
    for name in BUILT_FROM:
        source, copy = program.ROOT / name, folder / "source" / name
        if source.is_file():
            shutil.copy(source, copy)
        else:
            unclean = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(source, copy, symlinks=True, ignore=unclean)
    pip(sys.executable, "wheel", "--wheel-dir", folder, folder / "source", cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of a new environment: the wheel, the other kernels, and what both need."""
    folder = tmp_path_factory.mktemp("installed")
    done(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    other = folder / "other" / "kernels"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text(OTHER_KERNELS)
    (other.parent / "pyproject.toml").write_text('[project]\nname = "kernels"\nversion = "1"\n')
    pip(sys.executable, "wheel", "--wheel-dir", folder, other.parent, cwd=folder)
    pip(python, "install", "--no-compile", wheel, *folder.glob("*.whl"), cwd=folder)
    (own,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (own / "dependencies.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    return python.parent


@pytest.fixture
def nowhere(tmp_path: Path) -> Iterator[Path]:
    """An empty folder, which stays so."""
    folder = tmp_path / "empty"
    folder.mkdir()
    yield folder
    assert not [*folder.iterdir()]


def test_it_holds_every_file_that_the_program_reads_and_no_page(wheel: Path) -> None:
    names = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    tops = ("app", "kernels", "profiles", "assets")
    files = (path for top in tops for path in (program.ROOT / top).rglob("*") if path.is_file())
    read = {
        f"flashscope/{path.relative_to(program.ROOT).as_posix()}"
        for path in files
        if path.suffix != ".md" and not {"screenshots", "__pycache__"} & {*path.parts}
    }
    own = program.SOURCES / "flashscope"
    read |= {f"flashscope/{path.name}" for path in (*own.glob("*.py"), own / "py.typed")}
    assert names == read
    assert {f"flashscope/assets/{name}" for name in USED} <= names


def untimed_verdicts(told: str) -> dict[str, str]:
    """Each claim's verdict, without those that a clock decides: the next run may find otherwise."""
    claims = json.loads(told)["claims"]
    return {one["key"]: one["verdict"] for one in claims if not re.search(BY_CLOCK, one["source"])}


def test_from_an_empty_folder_it_finds_of_the_claims_what_a_checkout_does(
    bin_folder: Path, nowhere: Path, tmp_path: Path
) -> None:
    told = done(bin_folder / "flashscope", "claims", "--json", cwd=nowhere, home=tmp_path)
    here = program.run("claims", "--json", home=tmp_path, **WITHOUT_GPU)
    found = untimed_verdicts(told)
    assert found == untimed_verdicts(here.stdout)
    assert sum(verdict == "holds" for verdict in found.values()) > 100


def test_from_an_empty_folder_it_shows_a_bundled_session(
    bin_folder: Path, nowhere: Path, tmp_path: Path
) -> None:
    shown = done(bin_folder / "flashscope", "show", "h200-standard-flash2", cwd=nowhere, home=tmp_path)
    here = program.run("show", "h200-standard-flash2", home=tmp_path)
    assert shown == here.stdout


def test_from_an_empty_folder_its_doctor_finds_it_whole_and_names_the_wheel_in_its_remedies(
    bin_folder: Path, nowhere: Path, tmp_path: Path
) -> None:
    told = done(bin_folder / "flashscope", "doctor", cwd=nowhere, home=tmp_path, codes=(0, 1))
    assert "ok       Assets: all that come with the program are there" in told
    assert "main.py" not in told
    assert ".venv" not in told


def test_from_an_empty_folder_its_window_has_its_icon_its_marks_and_its_fonts(
    bin_folder: Path, nowhere: Path, tmp_path: Path
) -> None:
    told = done(bin_folder / "python", "-c", LOOK, cwd=nowhere, home=tmp_path)
    assert told == "DejaVu Sans Mono, Inter, Inter Semi Bold\n"


def test_a_user_of_the_wheel_is_told_the_types_of_what_it_returns(bin_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "typed.py").write_text(TYPED)
    told = done(
        *(bin_folder / "python", "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "typed.py"),
        cwd=tmp_path,
        codes=(1,),  # of the last line alone
    )
    output, gradients = re.findall(r'typed.py:(?:9|10): note: Revealed type is "(.*)"', told)
    assert output.startswith("numpy.ndarray[")
    assert gradients == f"tuple[{output}, {output}, {output}]"
    assert {line.partition(": ")[0] for line in told.splitlines() if ": error: " in line} == {
        "typed.py:11"
    }, told


@pytest.mark.parametrize(
    ("started", "folder"), [("checkout", "checkout"), ("wheel", "checkout"), ("wheel", "elsewhere")]
)
def test_it_and_another_package_named_kernels_are_imported_side_by_side(
    bin_folder: Path, tmp_path: Path, started: str, folder: str
) -> None:
    """In the process of the program itself, as far as it was started."""
    start = {"checkout": program.ROOT / "main.py", "wheel": bin_folder / "flashscope"}[started]
    script = tmp_path / "script" / "both.py"
    script.parent.mkdir()
    script.write_text(AS_PROGRAM.format(start=str(start)) + BOTH)
    told = done(
        bin_folder / "python",
        script,
        cwd={"checkout": program.ROOT, "elsewhere": tmp_path}[folder],
        home=tmp_path,
    )
    other, own = map(Path, told.splitlines()[-2:])
    assert other.is_relative_to(bin_folder.parent)
    assert own.is_relative_to({"checkout": program.ROOT, "wheel": bin_folder.parent}[started])
