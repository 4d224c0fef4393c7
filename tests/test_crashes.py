import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end import program

CONFTEST = """
import pytest
from tests.crashes import LastWords

@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.pluginmanager.register(LastWords(config))
"""
TESTS = """
import ctypes, os, signal

def test_reads_nowhere():
    ctypes.string_at(0)

def test_is_killed():
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.matrix
def test_the_last_words_of_workers_that_crash_stand_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (tmp_path / "test_crashing.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-n", "2", str(tmp_path)]
    environment = {**program.environment(tmp_path / "home"), "PYTHONPATH": str(program.ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1, done.stdout
    _, _, said = done.stdout.partition("workers that crashed")
    assert "Segmentation fault" in said
    assert "test_reads_nowhere" in said.partition("short test summary")[0]
    assert "nothing above: it was killed" in said
