"""A sweep where hardly any file can be opened: it ends, and says why."""

import resource
import subprocess
import sys
from pathlib import Path

from tests.end_to_end import program
from tests.matrix import chosen

SWEEP = (
    "sweep",
    "--backend",
    "cpu",
    "--heads",
    "1",
    "--head-dim",
    "16",
    "--seqlen",
    "32",
    "--kernels",
    "flash2",
)


@chosen("files", [7, 8, 10, 12, 14, 16, 20], {12})
def test_a_sweep_with_few_files_ends_with_the_reason(tmp_path: Path, files: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    done = subprocess.run(
        [sys.executable, "main.py", *SWEEP, "--repeats", "3"],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
        env=program.environment(tmp_path),
        cwd=program.ROOT,
        preexec_fn=limit,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or "oo many open files" in done.stderr
