"""A peer on the CPU whose library lies in a folder of its own: flash2, with a note that the library wrote."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from flashscope.kernels.catalogue.registry import KERNELS as REAL
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.launching.launch import prepare as prepare_real
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from tests import faults

PACKAGE, MODULE = "flashscope-apart", "flashscope_apart"
FLASH2 = find_kernel("flash2")
KERNELS = (
    *REAL,
    replace(
        FLASH2, name="apart", implementation={"cpu": "tests.apart"}, extra=PACKAGE, module=MODULE, rank=None
    ),
)
WITH_FAULTS = (
    *KERNELS,
    *(
        replace(spec, extra=PACKAGE, module=MODULE) if spec.name in {"abort", "hang", "hang-deaf"} else spec
        for spec in faults.KERNELS
        if spec not in REAL
    ),
)
"""Beside these, faulty kernels: the first of them need the library."""


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Bind flash2, and ask the library for the note."""
    launch = prepare_real(FLASH2, problem, inputs, "cpu")
    launch.note = import_module(MODULE).NOTE
    return launch


def install(home: Path, note: str) -> Path:
    """Put the library where it is looked for, with a note to write, behind a .pth file as some are."""
    folder = home / "peers" / PACKAGE
    inner = folder / "inner"
    inner.mkdir(parents=True)
    (folder / "inner.pth").write_text("inner\n")
    (inner / f"{MODULE}.py").write_text(f"NOTE = {note!r}\n")
    info = folder / f"{MODULE}-3.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 3.1\n")
    return folder
