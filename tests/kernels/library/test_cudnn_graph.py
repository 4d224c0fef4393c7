"""What wraps cuDNN's frontend, where that is a stand-in: masks in its words, and its refusals in ours."""

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from flashscope.kernels.library.caches import keep_at_home
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem

MODULE = "flashscope.kernels.library.cudnn_graph"


class NotSupportedError(Exception):
    """As cuDNN's own."""


@pytest.fixture
def wrapper(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module that wraps the frontend."""
    module = ModuleType("cudnn")
    vars(module).update(
        data_type=SimpleNamespace(HALF="half", BFLOAT16="bfloat16", FLOAT="float"),
        heur_mode=SimpleNamespace(A="A", FALLBACK="fallback"),
        diagonal_alignment=SimpleNamespace(BOTTOM_RIGHT="bottom right"),
        cudnnGraphNotSupportedError=NotSupportedError,
        backend_version=lambda: 91900,
    )
    monkeypatch.setitem(sys.modules, "cudnn", module)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield importlib.import_module(MODULE)
    sys.modules.pop(MODULE, None)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("shape", "left", "right"),
    [
        ({}, None, None),
        ({"causal": True}, None, 0),
        ({"window": (5, 3)}, 6, 3),
        ({"window": (5, 3), "causal": True}, 6, 0),
        ({"window": (-1, 2)}, None, 2),
        ({"window": (0, -1)}, 1, None),
    ],
    ids=str,
)
def test_a_mask_is_a_band_that_ends_at_the_bottom_right(
    wrapper: Any, shape: dict[str, Any], left: int | None, right: int | None
) -> None:
    told = wrapper.mask(Problem(seqlen_q=8, seqlen_k=9, **shape))
    assert told.get("diagonal_band_left_bound") == left
    assert told.get("diagonal_band_right_bound") == right
    assert told.get("diagonal_alignment") == (None if left is right is None else "bottom right")


@pytest.mark.torch
def test_what_cudnn_refuses_is_unsupported_with_its_reason_on_one_line(wrapper: Any) -> None:
    def refuse() -> None:
        raise NotSupportedError("No engine\n  takes this")

    with pytest.raises(UnsupportedError, match="cudnn-frontend refuses the problem: No engine takes this"):
        wrapper.ready("cudnn-frontend", refuse, 0)


@pytest.mark.torch
def test_it_names_the_frontend_and_the_library(wrapper: Any) -> None:
    launch = SimpleNamespace(
        run=lambda: None,
        measure=lambda *_: None,
        release=lambda: None,
        graph=SimpleNamespace(workspace_bytes=3),
    )
    assert wrapper.ready("cudnn-frontend", lambda: launch, 0).note.endswith(" with cuDNN 9.19.0")


def test_what_libraries_compile_is_kept_at_home_unless_the_user_said_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEIR_CACHE", "")
    monkeypatch.delenv("THEIR_CACHE")
    monkeypatch.delenv("FLASHSCOPE_HOME", raising=False)
    keep_at_home("THEIR_CACHE", "theirs")
    assert "THEIR_CACHE" not in os.environ
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path))
    keep_at_home("THEIR_CACHE", "theirs")
    assert os.environ["THEIR_CACHE"] == str(tmp_path / "compiled" / "theirs")
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "other"))
    keep_at_home("THEIR_CACHE", "theirs")
    assert os.environ["THEIR_CACHE"] == str(tmp_path / "compiled" / "theirs")
