"""Machine code kept on disk or in memory: what is damaged, foreign or refused is compiled anew, and said."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from flashscope.kernels.cuda import cache
from flashscope.kernels.cuda.cache import machine_code, settle_cache
from flashscope.kernels.cuda.compile import compile_module
from flashscope.kernels.cuda.program import Program

CODE = b"\x7fELF" + bytes(range(256)) * 8


class Compiler:
    """Counts how often it compiles."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self) -> bytes:
        self.runs += 1
        return CODE


@pytest.fixture
def compiler() -> Compiler:
    return Compiler()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the cache, which is not made yet."""
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "cache"))
    monkeypatch.setenv(cache.IN_MEMORY, "0")
    monkeypatch.setattr(cache, "_in_memory", {})
    settle_cache.cache_clear()
    yield tmp_path / "cache"
    settle_cache.cache_clear()


def test_what_is_whole_is_compiled_once(compiler: Compiler, folder: Path) -> None:
    first, second = machine_code("k", compiler), machine_code("k", compiler)
    assert (first, compiler.runs) == (second, 1)
    assert first.read_bytes() == CODE
    assert [path.name for path in folder.iterdir()] == [first.name]


@pytest.mark.parametrize("damage", [b"", CODE[:100], bytes(len(CODE)), CODE + b"x"], ids=len)
def test_a_damaged_file_is_said_and_compiled_anew(compiler: Compiler, damage: bytes) -> None:
    machine_code("k", compiler).write_bytes(damage)
    with pytest.warns(UserWarning, match=r"was damaged; its kernel is compiled anew"):
        path = machine_code("k", compiler)
    assert (path.read_bytes(), compiler.runs) == (CODE, 2)
    assert machine_code("k", compiler) == path
    assert compiler.runs == 2


def test_every_user_may_read_what_is_kept(compiler: Compiler) -> None:
    before = os.umask(0o022)
    try:
        assert machine_code("k", compiler).stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)


def test_in_memory_nothing_is_written(
    compiler: Compiler, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cache.IN_MEMORY, "1")
    first, second = machine_code("k", compiler), machine_code("k", compiler)
    assert (first, compiler.runs) == (second, 1)
    assert first.read_bytes() == CODE
    assert machine_code("other", compiler) != first
    assert not folder.exists()


def test_a_folder_that_takes_nothing_leaves_the_code_in_memory(compiler: Compiler, folder: Path) -> None:
    folder.write_text("a file is in its place")
    with pytest.warns(UserWarning, match="No machine code can be kept in"):
        path = machine_code("k", compiler)
    assert (path.read_bytes(), compiler.runs) == (CODE, 1)


def test_a_folder_that_cannot_be_made_is_told_before_cupy_meets_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cache.FOLDER, "/proc/no/such/folder")
    told = settle_cache()
    assert "/proc/no/such/folder cannot be used" in told
    assert cache.FOLDER in told
    assert os.environ[cache.IN_MEMORY] == "1"
    assert Path(os.environ[cache.FOLDER]).is_dir()
    assert settle_cache() == told


def test_a_folder_with_files_that_may_not_be_read_is_not_used(
    compiler: Compiler, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine_code("k", compiler)
    monkeypatch.setattr(os, "access", lambda *_: False)  # as for another user, which root never is
    assert "another user's, and may not be read" in settle_cache()


def test_a_folder_that_can_be_used_is_left_as_it_is(folder: Path) -> None:
    assert settle_cache() == ""
    assert os.environ[cache.FOLDER] == str(folder)
    assert os.environ[cache.IN_MEMORY] == "0"


def fake_cupy(compiler: Compiler) -> dict[str, Any]:
    """CuPy as far as a program is compiled with it: NVRTC and RawModule."""
    nvrtc = SimpleNamespace(
        getVersion=lambda: (13, 0),
        createProgram=lambda *_: 1,
        compileProgram=lambda *_: None,
        getCUBIN=lambda _: compiler(),
        getProgramLog=lambda _: "",
        destroyProgram=lambda _: None,
        NVRTCError=RuntimeError,
    )
    cuda = ModuleType("cupy.cuda")
    vars(cuda).update(nvrtc=nvrtc, Device=lambda: SimpleNamespace(compute_capability="90"))
    made = ModuleType("cupy")
    vars(made).update(cuda=cuda, RawModule=lambda path: Path(path).read_bytes())
    compiling = ModuleType("cupy.cuda.compiler")
    vars(compiling).update(CompileException=ValueError)
    return {"cupy": made, "cupy.cuda": cuda, "cupy.cuda.compiler": compiling}


def test_a_program_whose_cached_code_was_emptied_is_loaded_whole(
    compiler: Compiler, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, module in fake_cupy(compiler).items():
        monkeypatch.setitem(sys.modules, name, module)
    program = Program("flash3.cu", {}, (), arch_suffix="a")
    assert compile_module(program) == CODE
    (kept,) = folder.iterdir()
    kept.write_bytes(b"")
    with pytest.warns(UserWarning, match="was damaged"):
        assert compile_module(program) == CODE
