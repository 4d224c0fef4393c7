"""Digests of what kernels are made of: another one where, and only where, their code is another."""

from pathlib import Path

import pytest

from flashscope.kernels.catalogue import sources
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.source_text import running
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


def append(monkeypatch: pytest.MonkeyPatch, edited: Path, line: str) -> None:
    """Have a file end in one line more."""
    read = Path.read_text

    def appended(path: Path, encoding: str) -> str:
        return read(path, encoding) + f"\n{line}\n" * (path == edited)

    monkeypatch.setattr(Path, "read_text", appended)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("cuda/flash2.cu", "// Known to be wrong with it: nothing."),
        ("cuda/include/mask.cuh", "/* of two\nlines */"),
        ("cuda/flash2.py", '# a comment\n\n"""A docstring."""'),
        ("cpu/flash2.py", '# a comment\n\n"""A docstring\nof "two" lines."""'),
    ],
)
def test_a_comment_changes_no_digest(file: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = source_digests()
    append(monkeypatch, sources.KERNELS_FOLDER / file, line)
    assert source_digests() == before


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('a = "# no comment"  # one', 'a = "# no comment"'),
        ("a = '\\'# none'", "a = '\\'# none'"),
        ('def f():\n    """What it does."""\n\n    return 1', "def f():\n    return 1"),
        ('A = (\n    """a text"""\n)', 'A = (\n    """a text"""\n)'),
        ('A = """a text\n# of two lines"""', 'A = """a text\n# of two lines"""'),
        ('A = 1\n"""What it is."""\nB = 2', "A = 1\nB = 2"),
    ],
)
def test_what_runs_of_python_is_kept(text: str, kept: str) -> None:
    assert running(text, python=True) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('#include "mask.cuh"  // who sees what', '#include "mask.cuh"'),
        ('asm("// %0, \\"" : "=r"(x));  /* none */', 'asm("// %0, \\"" : "=r"(x));'),
        ("int a;  /* of\ntwo lines */ int b;\n\n", "int a;   int b;"),
    ],
)
def test_what_runs_of_cuda_is_kept(text: str, kept: str) -> None:
    assert running(text, python=False) == kept


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
    before, edited = source_digests(), sources.KERNELS_FOLDER / file
    assert edited.is_file()
    append(monkeypatch, edited, "x = 1;")
    after = source_digests()
    assert after["cpu"] == before["cpu"]
    assert {name for name, digest in after["cuda"].items() if digest != before["cuda"][name]} >= CHANGES[file]
    assert len(after["cuda"]) > sum(after["cuda"][name] != before["cuda"][name] for name in before["cuda"])


def test_a_forward_pass_is_not_made_of_the_backward_pass_of_its_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = source_digests()
    append(monkeypatch, sources.KERNELS_FOLDER / "cpu" / "flash2_backward.py", "x = 1")
    after = source_digests()
    assert {name for name, digest in after["cpu"].items() if digest != before["cpu"][name]} == {
        "flash2 backward"
    }
    assert [digest_keys("flash2", passes) for passes in PASSES] == [
        ("flash2",),
        ("flash2 backward",),
        ("flash2", "flash2 backward"),
    ]
