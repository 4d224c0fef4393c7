"""A kernel whose text was kept runs by it, whatever its file holds by now; that alone allows nothing."""

import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.cuda.own_source import compile_without_gpu, program_of
from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS, Target
from flashscope.kernels.library.own.module import called, function_of
from flashscope.kernels.own.consent import allow, obstacle_to_run
from flashscope.kernels.own.files import checked_bytes, kept_bytes
from flashscope.kernels.own.references import declared, with_source
from flashscope.kernels.workload.errors import CompileError, InputError, KernelError
from flashscope.kernels.workload.problem import Problem

TARGET = Target((9, 0), SHARED_MEMORY_LIMITS[9, 0])
ROWS = Path(__file__).parent / "examples" / "rows.cu"
PYTHON = """import numpy as np

def attend(q, k, v):
    return {}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(PYTHON.format("'first'"), encoding="utf-8")
    return path


def test_two_versions_of_one_file_run_side_by_side(path: Path) -> None:
    first = with_source(declared(str(path)))
    path.write_text(PYTHON.format("'second'"), encoding="utf-8")
    second = with_source(declared(str(path)))
    path.unlink()
    none = np.empty(0)
    assert [function_of(one, "attend")(none, none, none) for one in (first, second)] == ["first", "second"]


def test_what_raises_is_told_with_the_line_of_its_own_version(path: Path) -> None:
    path.write_text(PYTHON.format("q.nothing"), encoding="utf-8")
    own = with_source(declared(str(path)))
    path.write_text("\n\n\n# another file\n\n\n", encoding="utf-8")
    function = function_of(own, "attend")
    with pytest.raises(KernelError, match=r"in line 4: return q\.nothing\.$"):
        called(own, lambda: function(1, 2, 3))


def test_a_text_that_is_not_the_files_counts_for_nothing(path: Path) -> None:
    own = replace(declared(str(path)), source="import os\n")
    assert kept_bytes(own) is None
    assert checked_bytes(own) == path.read_bytes()
    path.write_text("import os\n", encoding="utf-8")
    with pytest.raises(InputError, match="has changed"):
        checked_bytes(own)


def test_a_text_runs_only_where_the_user_named_its_file(path: Path) -> None:
    own = with_source(declared(str(path)))
    assert "runs only where you name it" in obstacle_to_run(own)
    path.unlink()
    assert "is not there" in obstacle_to_run(own)
    allow(own)
    assert obstacle_to_run(own) == ""
    assert obstacle_to_run(replace(own, source=None)) != ""
    for field in ("function", "backward", "module"):
        assert obstacle_to_run(replace(own, **{field: "other"})) != ""
    assert obstacle_to_run(replace(own, source="import os\n")) != ""


def test_no_module_is_imported_but_the_one_of_the_file(path: Path) -> None:
    own = replace(declared(str(path)), module="antigravity")
    with pytest.raises(InputError, match="is not the file of antigravity here"):
        function_of(own, "attend")
    assert "antigravity" not in sys.modules


def test_a_cuda_file_is_compiled_from_its_kept_text_and_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    text = ROWS.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    right = with_source(declared(str(path)))
    at = next(n for n, line in enumerate(text.splitlines()) if "__global__" in line)
    path.write_text(text.replace('extern "C"', 'int nothing = none;\nextern "C"', 1), encoding="utf-8")
    broken = with_source(declared(str(path)))
    path.unlink()
    problem = Problem(seqlen_q=64, seqlen_k=64, head_dim=64, dtype="float32")
    assert program_of(right, problem, TARGET).text == text
    if not installed("cuda.bindings.nvrtc"):
        pytest.skip("no compiler is installed here")
    assert compile_without_gpu(right, problem, TARGET)[0]
    told = rf"does not compile: mine\.cu, line {at + 1}: .* undefined: int nothing = none;$"
    with pytest.raises(CompileError, match=told):
        compile_without_gpu(broken, problem, TARGET)
