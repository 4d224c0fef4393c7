"""PyTorch's kernels as peers: right, forced, and refused with a reason. On the CPU, except where marked."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flashscope.kernels import attention
from flashscope.kernels.catalogue.peers import (
    LIBRARY,
    TORCH_AUTO,
    TORCH_CUDNN,
    TORCH_EFFICIENT,
    TORCH_FLASH,
    TORCH_MATH,
)
from flashscope.kernels.catalogue.spec import KernelSpec, installed
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.launching.launch import LibraryLaunch, make_inputs, prepare
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem

ON_THE_CPU = tuple(spec for spec in LIBRARY if "cpu" in spec.implementation)
each_peer = pytest.mark.parametrize("spec", ON_THE_CPU, ids=lambda spec: spec.name)
GPU = Device(backend="cuda", name="a GPU", memory_bytes=2**34, compute_capability=(9, 0))

PROBLEMS = (
    Problem(seqlen_q=100, seqlen_k=100, batch=2, heads=3, head_dim=40),
    Problem(seqlen_q=100, seqlen_k=100, heads=2, causal=True, scale=0.3),
    Problem(seqlen_q=64, seqlen_k=97, heads=2, causal=True),
    Problem(seqlen_q=97, seqlen_k=64, heads=2),
    Problem(seqlen_q=1, seqlen_k=1, head_dim=8),
    Problem(seqlen_q=33, seqlen_k=50, heads=4, kv_heads=2, causal=True),
)


def judge(spec: KernelSpec, problem: Problem) -> Verdict:
    inputs = make_inputs(problem, "cpu")
    launch = prepare(spec, problem, inputs, "cpu")
    launch.run()
    assert launch.output.shape == problem.o_shape
    return verify(problem, inputs, launch.output, launch.lse)


@pytest.mark.torch
@each_peer
@pytest.mark.parametrize("problem", PROBLEMS, ids=range(len(PROBLEMS)))
def test_a_peer_passes_the_criterion_of_our_own_kernels(spec: KernelSpec, problem: Problem) -> None:
    verdict = judge(spec, problem)
    assert verdict.passed, verdict
    assert [one.output for one in verdict.outputs] == ["O", "O of a row"]


@pytest.mark.torch
@pytest.mark.parametrize("spec", [TORCH_MATH, TORCH_AUTO], ids=lambda spec: spec.name)
@pytest.mark.parametrize("width", [16, 80])
def test_values_of_another_width_than_the_keys_are_taken(spec: KernelSpec, width: int) -> None:
    problem = Problem(seqlen_q=33, seqlen_k=50, heads=4, head_dim=48, head_dim_v=width, causal=True)
    assert spec.unsupported(problem, describe()) is None
    assert judge(spec, problem).passed
    assert TORCH_FLASH.unsupported(problem, describe()) is not None


@pytest.mark.torch
@each_peer
def test_rows_without_keys_and_masks_it_does_not_know_are_refused(spec: KernelSpec) -> None:
    empty_rows = Problem(seqlen_q=20, seqlen_k=10, causal=True)
    window = Problem(seqlen_q=20, seqlen_k=20, window=(4, 0))
    for problem, says in ((empty_rows, "at least as many keys"), (window, "no mask but the causal one")):
        with pytest.raises(UnsupportedError, match=says):
            prepare(spec, problem, make_inputs(problem, "cpu"), "cpu")


@pytest.mark.torch
@pytest.mark.parametrize("spec", [TORCH_EFFICIENT, TORCH_CUDNN], ids=lambda spec: spec.name)
def test_a_backend_that_the_dispatcher_refuses_is_unsupported_and_never_replaced(spec: KernelSpec) -> None:
    from flashscope.kernels.library import torch_attention  # noqa: PLC0415 - imports PyTorch

    problem = Problem(seqlen_q=16, seqlen_k=16)
    with pytest.raises(UnsupportedError, match=f"PyTorch refuses {spec.name}: No viable backend"):
        torch_attention.prepare(spec, problem, make_inputs(problem, "cpu"))


@pytest.mark.torch
def test_another_backend_than_the_forced_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from flashscope.kernels.library import torch_attention  # noqa: PLC0415 - imports PyTorch

    monkeypatch.setattr(torch_attention, "_switch", lambda _: None)  # switches that switch nothing
    problem = Problem(seqlen_q=16, seqlen_k=16)
    with pytest.raises(UnsupportedError, match="PyTorch ran flash in place of torch-math"):
        torch_attention.prepare(TORCH_MATH, problem, make_inputs(problem, "cpu"))


@pytest.mark.torch
def test_the_dispatchers_choice_is_named_and_a_forced_one_needs_no_note() -> None:
    problem = Problem(seqlen_q=16, seqlen_k=16)
    inputs = make_inputs(problem, "cpu")
    auto, forced = prepare(TORCH_AUTO, problem, inputs, "cpu"), prepare(TORCH_MATH, problem, inputs, "cpu")
    assert isinstance(auto, LibraryLaunch)
    assert isinstance(forced, LibraryLaunch)
    assert auto.note.endswith("chose flash")
    assert forced.note == ""


@pytest.mark.torch
def test_the_version_of_cudnn_is_told_in_its_own_words() -> None:
    from flashscope.kernels.library.torch_attention import cudnn_words  # noqa: PLC0415 - imports PyTorch

    assert cudnn_words(91501) == "cuDNN 9.15.1"
    assert cudnn_words(91000) == "cuDNN 9.10.0"
    assert cudnn_words(None) == ""


@pytest.mark.torch
def test_running_leaves_pytorchs_switches_as_they_were() -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    problem = Problem(seqlen_q=16, seqlen_k=16)
    prepare(TORCH_MATH, problem, make_inputs(problem, "cpu"), "cpu").run()
    assert torch.backends.cuda.flash_sdp_enabled()
    assert torch.backends.cuda.mem_efficient_sdp_enabled()


@pytest.mark.torch
def test_the_surface_takes_a_peer_and_says_that_it_returns_no_lse() -> None:
    q = np.ones((1, 2, 8, 16), np.float32)
    q.flags.writeable = False
    assert attention(q, q, q, kernel="torch-flash").shape == q.shape
    with pytest.raises(InputError, match="torch-flash returns no LSE"):
        attention(q, q, q, kernel="torch-flash", return_lse=True)


@pytest.mark.torch
def test_the_reason_is_taken_from_the_backends_own_heading() -> None:
    from flashscope.kernels.library.torch_attention import dispatcher_reason  # noqa: PLC0415 - imports PyTorch

    said = [
        "Memory efficient kernel not used because: (Triggered internally at sdp_utils.cpp:1.)",
        "Memory Efficient attention has been runtime disabled. (Triggered internally at sdp_utils.h:2.)",
        "Flash attention kernel not used because: (Triggered internally at sdp_utils.cpp:3.)",
        "Expected query, key and value to be Half or BFloat16. (Triggered internally at sdp_utils.h:4.)",
        "cuDNN attention kernel not used because: (Triggered internally at sdp_utils.cpp:5.)",
        "cuDNN attention has been runtime disabled. (Triggered internally at sdp_utils.h:6.)",
    ]
    assert dispatcher_reason(said, "flash") == "Expected query, key and value to be Half or BFloat16."
    assert dispatcher_reason([], "flash") == ""


@pytest.mark.parametrize("spec", LIBRARY, ids=lambda spec: spec.name)
def test_without_its_library_a_peer_is_unsupported_with_the_remedy(
    spec: KernelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flashscope.kernels.catalogue.spec.find_spec", lambda _: None)
    problem = Problem(seqlen_q=16, seqlen_k=16, dtype="float16")
    assert f'.venv/bin/pip install -e ".[{spec.extra}]"' in str(spec.unsupported(problem, GPU))


@pytest.mark.torch
@pytest.mark.parametrize(
    ("spec", "problem", "device", "says"),
    [
        (TORCH_FLASH, {"dtype": "float32"}, GPU, "takes float16, bfloat16 on cuda, not float32"),
        (TORCH_EFFICIENT, {}, None, "is not implemented on the cpu backend"),
        (TORCH_MATH, {"head_dim": 264}, GPU, "head dims 8 to 256"),
    ],
)
def test_what_a_peer_cannot_take_is_known_before_it_is_asked(
    spec: KernelSpec, problem: dict[str, Any], device: Device | None, says: str
) -> None:
    asked = Problem(seqlen_q=16, seqlen_k=16, **problem)
    assert says in str(spec.unsupported(asked, device or describe()))


def test_a_module_within_a_package_is_found_without_importing_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "never_imported"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError\n")
    (package / "there.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert installed("never_imported.there")
    assert not installed("never_imported.absent")
    assert not installed("never_imported.there.deeper")
    assert not installed("nothing_of_this_name.there")


def test_asking_whether_a_peer_runs_imports_no_library() -> None:
    code = (
        "import sys; from flashscope.kernels.catalogue.registry import LIBRARY;"
        "from flashscope.kernels import Problem;"
        "from flashscope.kernels.cpu.device import describe;"
        "[spec.unsupported(Problem(seqlen_q=1, seqlen_k=1), describe()) for spec in LIBRARY];"
        "sys.exit(bool({'torch', 'flash_attn'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=240).returncode == 0
