"""Hugging Face's package `kernels` beside our folder of that name, in one process."""

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

from tests.end_to_end.program import ROOT, SOURCES

BOTH = """
import kernels, transformers
from flashscope.kernels import attention, register_transformers
model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
    vocab_size=16, hidden_size=64, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2))
import torch
tokens = torch.arange(12)[None]
right = model(tokens).logits
model.set_attn_implementation(register_transformers("flash2"))
assert (model(tokens).logits - right).abs().max() < 1e-5
print(kernels.__file__, attention.__module__)
"""


def run_as_the_program(code: str, *folders: Path) -> str:
    """What code prints where modules are found as `main.py` finds them, then in `folders`."""
    paths = os.pathsep.join(map(str, (SOURCES, *folders)))
    done = subprocess.run(
        [sys.executable, "-P", "-c", code] if sys.version_info >= (3, 11) else [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "PYTHONPATH": paths, "HF_HUB_OFFLINE": "1"},
        cwd=SOURCES,
    )
    return done.stdout


@pytest.mark.transformers
def test_hugging_faces_package_kernels_and_ours_are_in_one_process() -> None:
    try:
        theirs = next(f for f in files("kernels") or () if f.name == "__init__.py")
    except PackageNotFoundError:
        pytest.skip("Hugging Face's package kernels is not installed: .venv/bin/pip install kernels")
    found = run_as_the_program(BOTH).split()
    assert Path(found[0]).samefile(Path(theirs.locate()))
    assert found[1] == "flashscope.kernels.surface.forward"


ASKED = """
from flashscope.kernels import register_transformers
from flashscope.kernels.workload.errors import UnsupportedError
try:
    register_transformers()
except UnsupportedError as error:
    print(error)
"""


def test_where_our_folder_is_taken_for_hugging_faces_package_that_is_told(tmp_path: Path) -> None:
    (tmp_path / "transformers.py").write_text("from kernels import get_kernel\n")  # as Transformers does
    (tmp_path / "torch.py").touch()
    found = run_as_the_program(ASKED, ROOT, tmp_path)
    assert re.search(r"^Transformers does not start: .*get_kernel.* run from another folder", found)
