"""Whether two sides can work together."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.profiles.cluster.calls import Versions
from flashscope.profiles.cluster.versions import OLDEST_CUPY, obstacle_between, versions_here

ROOT = Path(__file__).parents[3]
HERE = Versions(flashscope="0.1.0", messages="a", python="3.12.1", distributed="2026.8.0", msgspec="0.22.0")
GPU = replace(HERE, driver="580.65.06", cupy="14.2.0")


def test_two_sides_of_one_installation_work_together() -> None:
    assert obstacle_between(versions_here(), versions_here()) == ""
    assert obstacle_between(HERE, GPU) == ""


@pytest.mark.parametrize(
    ("name", "version", "told"),
    [
        ("flashscope", "0.0.9", "flashscope is 0.1.0 here and 0.0.9 there; install the same version"),
        ("messages", "b", "Flashscope here and there are of different builds"),
        ("distributed", "2025.1.0", 'pip install "distributed==2025.1.0" here'),
        ("msgspec", "0.19.0", 'or "msgspec==0.22.0" there'),
        ("python", "3.9.2", "Python is 3.12.1 here and 3.9.2 there; 3.10 is the oldest"),
        ("driver", "470.1.2", "The NVIDIA driver there is 470.1.2; 525 is the oldest"),
        ("cupy", None, "CuPy is not installed there"),
        ("cupy", "13.6.0", "CuPy is 13.6.0 there, older than 14.2"),
    ],
)
def test_what_does_not_fit_is_named_with_both_versions_and_the_remedy(
    name: str, version: str | None, told: str
) -> None:
    assert told in obstacle_between(HERE, replace(GPU, **{name: version}))


def test_another_minor_of_python_is_no_obstacle() -> None:
    assert obstacle_between(HERE, replace(HERE, python="3.10.4")) == ""


def test_the_oldest_cupy_is_that_of_the_installation() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"cupy-cuda13x>={OLDEST_CUPY}" in project
    assert f"cupy-cuda12x>={OLDEST_CUPY}" in project
