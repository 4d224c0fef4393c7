import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end import program


@pytest.mark.matrix  # it starts a pytest of its own
def test_what_would_begin_too_late_is_skipped_and_told(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--most-seconds=0",
        "tests/test_matrix.py",
    ]
    environment = program.environment(tmp_path / "home")
    done = subprocess.run(
        command, cwd=program.ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout
    assert "it would begin after the 0 s of --most-seconds" in done.stdout
    assert " passed" not in done.stdout
