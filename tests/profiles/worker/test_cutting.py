"""The process of cuts imports NumPy only once it knows on how many threads that is to run."""

import subprocess
import sys


def test_numpy_is_not_there_before_the_request_is_read() -> None:
    code = "import sys, flashscope.profiles.worker.cutting; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
