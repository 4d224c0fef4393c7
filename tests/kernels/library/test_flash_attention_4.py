"""What wraps flash-attn-4, where that is a stand-in: no GPU is needed."""

import runpy
import sys
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from flashscope import kernels
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.workload.problem import Problem

WRAPPER = Path(kernels.__file__).parent / "library" / "flash_attention_4.py"


class Launch:
    """A launch that computes nothing."""

    def __init__(self, _inputs: object) -> None:
        self.note = ""

    def run(self) -> None: ...

    def measure(self, _predicted: int) -> None: ...

    def release(self) -> None: ...


def stand_in(name: str, **held: object) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(held)
    return module


def unknown(name: str) -> Distribution:
    raise PackageNotFoundError(name)


@pytest.fixture
def wrapper(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of the wrapper, over a library that is importable and has no metadata of a distribution."""
    for module in (
        stand_in("flash_attn"),
        stand_in("flash_attn.cute", flash_attn_func=None),
        stand_in("flashscope.kernels.library.tensor_launch", TensorLaunch=Launch),
    ):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(Distribution, "from_name", unknown)
    return runpy.run_path(str(WRAPPER))


def test_a_library_whose_version_nobody_knows_runs_and_says_so(wrapper: dict[str, Any]) -> None:
    spec = next(spec for spec in KERNELS if spec.name == "flash-attn-4")
    problem = Problem(seqlen_q=16, seqlen_k=16, dtype="float16")
    launch = wrapper["prepare"](spec, problem, None)
    assert launch.note == "flash-attn-4, version unknown"
