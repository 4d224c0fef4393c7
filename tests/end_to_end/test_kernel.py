"""A kernel for the CPU alone is one file and one entry: everything that goes through kernels takes it.

The program is copied without the kernel's file and entry, which are then added as kernels/README.md says.
"""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from flashscope.profiles.results.formats.schema import SCHEMA
from tests import lazy
from tests.end_to_end.program import ROOT, SOURCES, TIMEOUT_S, environment

IN_PYTHON = """
import json
import numpy as np
from flashscope.kernels import attention, choose_kernel, Problem
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.sources import source_digests
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.cuda.reading.step import steps_of

q, k, v = np.random.default_rng(0).standard_normal((3, 1, 2, 300, 64), dtype=np.float32)
ours, theirs = (attention(q, k, v, kernel=name, window=(9, 0)) for name in ("lazy", "flash2"))
print(json.dumps({
    "off": float(np.abs(ours - theirs).max()),
    "auto": choose_kernel(Problem(seqlen_q=300, seqlen_k=300), describe()).name,
    "digests": {backend: list(digests) for backend, digests in source_digests().items()},
    "sources": steps_of("forward"),
}))
"""
IN_THE_WINDOW = """
import json
from PySide6.QtWidgets import QApplication
application = QApplication([])
from flashscope.app.control.controller import Controller
from flashscope.app.look.kernel_marks import OTHER_MARK, kernel_mark
from flashscope.app.look.theme import DARK
from flashscope.app.pages.ladder.page import LadderPage
from flashscope.app.pages.profile.form.kernel_list import KernelList
from flashscope.profiles.store import sessions_dir
from tests.app.fakes import FakeEngine

listed, ladder = KernelList(DARK), LadderPage(Controller(FakeEngine, sessions_dir()), DARK)
ladder.show_step("flash1", "d 128, no mask")
ladder.show_step("lazy", "d 128, no mask")
print(json.dumps({
    "listed": [row.spec.name for row in listed.rows],
    "ladder": [ladder.kernels.itemText(i) for i in range(ladder.kernels.count())],
    "on show": ladder.kernel,
    "shared mark": kernel_mark("lazy") == OTHER_MARK,
}))
"""


class House:
    """A copy of the program in which a kernel has been added."""

    def __init__(self, folder: Path) -> None:
        self.folder, package = folder, folder / "flashscope"
        package.mkdir()
        for path in SOURCES.joinpath("flashscope").iterdir():
            if path.suffix == ".py":
                shutil.copy(path, package)
            elif path.name in {"app", "assets", "profiles"}:
                package.joinpath(path.name).symlink_to(path.resolve())
        unused = shutil.ignore_patterns("__pycache__", "*.md")
        shutil.copytree(SOURCES / "flashscope" / "kernels", package / "kernels", ignore=unused)
        shutil.copy(lazy.__file__, package / "kernels" / "cpu" / "lazy.py")
        with package.joinpath("kernels", "catalogue", "ladder.py").open("a", encoding="utf-8") as ladder:
            ladder.write(lazy.ENTRY)

    def run(self, *arguments: str) -> str:
        """What Python prints with these arguments; anything that fails fails the test."""
        paths = os.pathsep.join((str(self.folder), str(ROOT)))
        done = subprocess.run(
            [sys.executable, *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=self.folder,
            env=environment(self.folder, PYTHONPATH=paths, QT_QPA_PLATFORM="offscreen"),
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def program(self, *arguments: str) -> str:
        """What a command of the program prints."""
        return self.run("-m", "flashscope", *arguments)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    return House(tmp_path_factory.mktemp("house"))


@pytest.mark.matrix
def test_the_command_line_lists_it_and_says_what_it_takes(house: House) -> None:
    listed = json.loads(house.program("kernels", "--json"))["kernels"]
    (found,) = (one for one in listed if one["name"] == "lazy")
    assert [backend for backend, on in found["backends"].items() if on["dtypes"]] == ["cpu"]
    assert found["backends"]["cpu"]["supported"]


@pytest.mark.matrix
def test_a_sweep_measures_it_the_reference_agrees_and_the_file_s_formats_hold_it(house: House) -> None:
    asked = ("sweep", "--kernels", "lazy,flash2", "--backend", "cpu", "--seqlen", "64,128", "--repeats", "3")
    swept = json.loads(house.program(*asked, "--json", "--out", "lazy.flashscope"))
    jsonschema.validate(swept, json.loads(SCHEMA.read_text(encoding="utf-8")))
    points = [point for point in swept["points"] if point["kernel"] == "lazy"]
    assert [point["status"] for point in points] == ["done", "done"]
    assert all(0 < point["max_abs_error"] <= point["error_bound"] for point in points), points
    without = {point["figures"]["tile_io_bytes"]["missing"] for point in points}
    assert without == {"there is no formula for lazy"}
    assert "lazy" in house.program("show", "lazy.flashscope")
    lines = house.program("show", "lazy.flashscope", "--csv").splitlines()
    table = csv.DictReader(io.StringIO("\n".join(line for line in lines if not line.startswith("#"))))
    assert [line["kernel"] for line in table].count("lazy") == 2


def test_python_calls_it_auto_does_not_and_its_source_has_a_digest(house: House) -> None:
    found = json.loads(house.run("-c", IN_PYTHON))
    assert found["off"] < 1e-5
    assert found["auto"] == "flash2"
    assert "lazy" in found["digests"]["cpu"]
    assert "lazy" not in found["digests"]["cuda"]
    assert "lazy" not in found["sources"]


@pytest.mark.matrix
def test_the_window_offers_it_and_the_ladder_of_cuda_sources_does_not(house: House) -> None:
    found = json.loads(house.run("-c", IN_THE_WINDOW))
    assert "lazy" in found["listed"]
    assert "lazy" not in found["ladder"]
    assert found["on show"] == "flash1"
    assert found["shared mark"]
