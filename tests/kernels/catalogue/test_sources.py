"""Digests of what kernels are made of: another one where, and only where, their code is another."""

from pathlib import Path

import pytest

from flashscope.kernels.catalogue import sources
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.sources import digest_keys, source_digest, source_digests
from flashscope.kernels.workload.problem import PASSES
from tests.matrix import chosen


def test_every_kernel_of_ours_has_a_digest_on_each_of_its_backends() -> None:
    written = [spec for spec in KERNELS if spec.extra is None or spec.name == "triton-flash"]
    ours = {(backend, spec.name) for spec in written for backend in spec.implementation}
    ours |= {
        (backend, f"{spec.name} backward")
        for spec in written
        if spec.backward is not None
        for backend in spec.backward.implementation
    }
    assert {(backend, name) for backend, of in source_digests().items() for name in of} == ours


def test_one_digest_is_the_same_as_among_all() -> None:
    of_cuda = source_digests()["cuda"]
    for key in ("flash3", "flash2 backward"):
        assert source_digest("cuda", key) == of_cuda[key]
    assert source_digest("cuda", "torch-flash") is None


CHANGES = {
    "cuda/flash2.cu": {"flash2"},
    "cuda/flash2_backward.cu": {"flash2 backward"},
    "cuda/include/flash3_backward_layout.cuh": {"flash3 backward"},
    "cuda/flash3_backward_wide.cu": {"flash3 backward"},
    "cuda/flash3_blocks.py": {"flash3", "flash3-a", "flash3-b", "flash3-c", "flash3-fp8"},
    "library/triton_forward.py": {"triton-flash"},
    "cuda/include/flash3_tiles.cuh": {"flash3", "flash3-a", "flash3-b", "flash3-c"},
}


@chosen(
    "file", CHANGES, {"cuda/flash2_backward.cu", "cuda/flash3_blocks.py", "cuda/include/flash3_tiles.cuh"}
)
def test_a_changed_file_changes_the_digests_of_the_kernels_made_of_it(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, read = source_digests(), Path.read_bytes
    edited = sources.KERNELS_FOLDER / file
    assert edited.is_file()
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b" " * (path == edited))
    after = source_digests()
    assert after["cpu"] == before["cpu"]
    assert {name for name, digest in after["cuda"].items() if digest != before["cuda"][name]} >= CHANGES[file]
    assert len(after["cuda"]) > sum(after["cuda"][name] != before["cuda"][name] for name in before["cuda"])


def test_a_forward_pass_is_not_made_of_the_backward_pass_of_its_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, read = source_digests(), Path.read_bytes
    edited = sources.KERNELS_FOLDER / "cpu" / "flash2_backward.py"
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b" " * (path == edited))
    after = source_digests()
    assert {name for name, digest in after["cpu"].items() if digest != before["cpu"][name]} == {
        "flash2 backward"
    }
    assert [digest_keys("flash2", passes) for passes in PASSES] == [
        ("flash2",),
        ("flash2 backward",),
        ("flash2", "flash2 backward"),
    ]
