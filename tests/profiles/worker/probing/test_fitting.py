"""The one line that mends a CuPy that is missing or does not fit the driver."""

from importlib.util import find_spec

import pytest

from flashscope.installation import install_command
from flashscope.profiles.plan.machine import ProbeFinding
from flashscope.profiles.worker.probing.fitting import cupy_missing, no_gpu_found
from flashscope.profiles.worker.probing.probe import probe_machine
from tests.profiles.worker.fake_nvml import FakeNvml

TOO_OLD = RuntimeError(
    "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version\nmore"
)
CUPY_13, CUPY_12 = {"cupy-cuda13x": "14.2.0"}, {"cupy-cuda12x": "14.2.0"}


class OlderNvml(FakeNvml):
    """The driver of most workstations' distributions."""

    def nvmlSystemGetDriverVersion(self) -> str:
        return "570.124.06"


@pytest.mark.parametrize(
    ("driver", "remedy"),
    [
        ("580.65.06", install_command("cuda13")),
        ("570.124.06", install_command("cuda12")),
        ("535.183.01", install_command("cuda12")),
        ("450.80.02", "update the NVIDIA driver 450.80.02: CUDA 12 needs 525 or newer"),
        (None, "the NVIDIA driver comes first: its version decides which CuPy fits"),
    ],
)
def test_where_cupy_is_missing_the_line_installs_what_fits_the_driver(
    driver: str | None, remedy: str
) -> None:
    assert cupy_missing(driver) == ProbeFinding(
        name="CuPy", ok=False, detail="it is not installed, so CUDA kernels cannot run", remedy=remedy
    )


def test_a_cupy_too_new_for_the_driver_is_named_and_replaced_by_the_one_that_fits() -> None:
    found = no_gpu_found(TOO_OLD, "570.124.06", CUPY_13)
    assert (found.name, found.ok) == ("CUDA", False)
    assert found.detail == "CuPy for CUDA 13 needs driver 580 or newer; this is 570.124.06"
    assert found.remedy == install_command("cuda12", instead_of="cupy-cuda13x")


def test_two_cupys_that_share_their_files_both_go_first() -> None:
    found = no_gpu_found(TOO_OLD, "570.124.06", CUPY_12 | CUPY_13)
    assert found.remedy == install_command("cuda12", instead_of="cupy-cuda13x cupy-cuda12x")


def test_a_driver_too_old_for_every_cuda_is_to_be_updated() -> None:
    assert "update the NVIDIA driver 450.80.02" in no_gpu_found(TOO_OLD, "450.80.02", CUPY_12).remedy


@pytest.mark.parametrize(
    ("driver", "packages"), [("580.65.06", CUPY_13), ("580.65.06", CUPY_12), (None, CUPY_13), ("570.1", {})]
)
def test_what_fits_and_finds_no_gpu_is_told_as_cupy_tells_it(
    driver: str | None, packages: dict[str, str]
) -> None:
    found = no_gpu_found(TOO_OLD, driver, packages)
    assert found.detail.startswith("CuPy finds no usable GPU: cudaErrorInsufficientDriver")
    assert "more" not in found.detail
    assert "pip" not in found.remedy


@pytest.mark.skipif(find_spec("cupy") is not None, reason="CuPy is installed")
def test_a_probe_knows_the_extra_for_the_driver_that_it_finds() -> None:
    cupy = next(f for f in probe_machine(OlderNvml()).findings if f.name == "CuPy")
    assert cupy.remedy == install_command("cuda12")
