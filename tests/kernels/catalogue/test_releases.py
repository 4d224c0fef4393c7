"""The packages of peers: each is known, and where one cannot be installed is said with why."""

import re

import pytest

from flashscope.installation import CHECKOUT
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.releases import RELEASES, Release, obstacles, python_words


def test_every_package_of_a_peer_is_known_and_nothing_else() -> None:
    assert set(RELEASES) == {spec.extra for spec in KERNELS if spec.extra is not None}


def test_every_package_has_an_extra_that_installs_it() -> None:
    assert CHECKOUT is not None
    extras = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    for package in RELEASES:
        assert re.search(rf'^{package} = \["{package}\W', extras, re.MULTILINE), package


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda one: one.package)
def test_none_has_obstacles_on_linux_with_a_python_that_it_takes(release: Release) -> None:
    for machine in ("x86_64", "aarch64", "arm64"):
        assert obstacles(release, "Linux", machine, (3, 12)) == ()


def test_another_system_and_another_python_are_each_a_reason() -> None:
    triton = RELEASES["triton"]
    system, python = obstacles(triton, "Darwin", "arm64", (3, 9))
    assert system == "it is for Linux aarch64, Linux x86_64, not for Darwin arm64"
    assert python == "it takes Python 3.10 to 3.14, this is 3.9"
    assert obstacles(triton, "Linux", "x86_64", (3, 15)) == ("it takes Python 3.10 to 3.14, this is 3.15",)
    assert obstacles(RELEASES["nvidia-cudnn-frontend"], "Windows", "AMD64", (3, 12)) == ()


def test_a_bound_that_no_python_of_today_reaches_is_not_told() -> None:
    assert python_words(RELEASES["flashinfer-python"]) == "Python 3.10 or newer"
