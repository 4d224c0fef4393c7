"""Two files of the user's own import a module of one name, each the one that lies beside it."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flashscope.kernels.library.own import beside
from flashscope.kernels.library.own.module import function_of
from flashscope.kernels.own.references import declared
from flashscope.kernels.workload.errors import KernelError

EARLY = "import numpy as np\nfrom steps_beside import step\n\ndef attend(q, k, v):\n    return step()\n"
LATE = "import numpy as np\n\ndef attend(q, k, v):\n    from steps_beside import step\n    return step()\n"
Write = Callable[[str, str, str], Path]


@pytest.fixture(autouse=True)
def a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(beside, "_folders", [])
    monkeypatch.delitem(sys.modules, "steps_beside", raising=False)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(folder: str, file: str, step: str) -> Path:
        path = tmp_path / folder / f"of_{folder}.py"
        path.parent.mkdir()
        path.write_text(file, encoding="utf-8")
        (path.parent / "steps_beside.py").write_text(f"def step():\n    return {step}\n", encoding="utf-8")
        return path

    return write


def _answer(path: Path) -> object:
    return function_of(declared(str(path)), "attend")(0, 0, 0)


@pytest.mark.parametrize("file", [EARLY, LATE])
def test_a_kernel_that_would_run_the_module_beside_another_is_refused(write: Write, file: str) -> None:
    """It was measured with the other's code, and nothing said so."""
    assert _answer(write("first", file, "1")) == 1
    second = write("second", file, "2")
    with pytest.raises(
        KernelError, match=r"^of_second imports steps_beside, which lies beside it, but .*first"
    ):
        _answer(second)


def test_a_module_that_is_the_same_beside_both_is_taken_from_either(write: Write) -> None:
    assert _answer(write("first", EARLY, "1")) == 1
    assert _answer(write("second", EARLY, "1")) == 1


def test_a_module_that_only_lies_beside_a_file_clashes_with_nothing(write: Write) -> None:
    assert _answer(write("first", EARLY, "1")) == 1
    alone = "import numpy as np\n\ndef attend(q, k, v):\n    return 3\n"
    assert _answer(write("second", alone, "2")) == 3
