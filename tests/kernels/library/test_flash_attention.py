"""What wraps FlashAttention's packages, where these are stand-ins: no GPU is needed."""

import runpy
import sys
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from msgspec import structs

from flashscope import kernels
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem

PROBLEM = Problem(seqlen_q=16, seqlen_k=16, dtype="float16")
LIBRARY = Path(kernels.__file__).parent / "library"


class Launch:
    """A launch that computes nothing."""

    def __init__(self, _inputs: object) -> None:
        self.note = ""

    def run(self) -> None: ...

    def measure(self, _predicted: int) -> None: ...

    def release(self) -> None: ...


class Turned(str):
    """A tensor that says when its axes have changed places."""

    __slots__ = ()

    def transpose(self, _first: int, _second: int) -> str:
        return f"{self} turned"


def attends_to_nothing(*_tensors: object, **_options: object) -> tuple[Turned, str]:
    return Turned("O"), "LSE"


def stand_in(name: str, **held: object) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(held)
    return module


def unknown(name: str) -> Distribution:
    raise PackageNotFoundError(name)


@pytest.fixture(params=["3", "4"])
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One of the packages, importable and without the metadata of a distribution."""
    for module in (
        stand_in("flash_attn"),
        stand_in("flash_attn.cute", flash_attn_func=None),
        stand_in("flash_attn_interface", flash_attn_func=attends_to_nothing),
        stand_in("flashscope.kernels.library.tensor_launch", TensorLaunch=Launch),
    ):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(Distribution, "from_name", unknown)
    chosen: str = request.param
    return chosen


def wrapper(version: str) -> dict[str, Any]:
    """The names of the package's wrapper."""
    return runpy.run_path(str(LIBRARY / f"flash_attention_{version}.py"))


def test_a_library_whose_version_nobody_knows_runs_and_says_so(version: str) -> None:
    spec = find_kernel(f"flash-attn-{version}")
    launch = wrapper(version)["prepare"](spec, PROBLEM, None)
    assert launch.note == f"{spec.extra}, version unknown"


@pytest.mark.parametrize("version", ["3"], indirect=True)
def test_what_flash_attention_3_refuses_is_unsupported_with_its_reason(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_launch: Launch) -> None:
        raise RuntimeError("head dim 8 is missing")

    monkeypatch.setattr(Launch, "run", refuse)
    with pytest.raises(UnsupportedError, match="flash-attn-3 refuses the problem: head dim 8 is missing"):
        wrapper(version)["prepare"](find_kernel("flash-attn-3"), PROBLEM, None)


@pytest.mark.parametrize("version", ["3"], indirect=True)
def test_flash_attention_3_is_asked_for_the_problem_and_for_lse(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def attend(q: str, k: str, v: str, **options: Any) -> tuple[Turned, str, None]:
        asked.update(options, qkv=(q, k, v))
        return Turned("O"), "LSE", None

    monkeypatch.setattr(sys.modules["flash_attn_interface"], "flash_attn_func", attend)
    problem = structs.replace(PROBLEM, causal=True, window=(5, -1), scale=0.3)
    launch = wrapper(version)["FlashAttention3Launch"](problem, None)
    launch.tensors = tuple(map(Turned, "QKV"))
    assert launch.attend() == ("O turned", "LSE")
    assert asked.pop("qkv") == ("Q turned", "K turned", "V turned")
    assert asked == {
        "softmax_scale": 0.3,
        "causal": True,
        "window_size": (5, -1),
        "num_splits": 0,
        "return_attn_probs": True,
    }
