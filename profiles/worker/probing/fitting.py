"""Whether CuPy fits the NVIDIA driver, and the one line that mends it."""

from collections.abc import Mapping

from flashscope.installation import OLDEST_DRIVERS, cuda_extras, install_command
from flashscope.profiles.plan.machine import ProbeFinding

DRIVER_FIRST = "the NVIDIA driver comes first: its version decides which CuPy fits"


def cupy_missing(driver: str | None) -> ProbeFinding:
    """What there is to say where CuPy is not installed, under this driver; None: no driver answers."""
    detail = "it is not installed, so CUDA kernels cannot run"
    return ProbeFinding(
        name="CuPy", ok=False, detail=detail, remedy=_remedy(driver) if driver else DRIVER_FIRST
    )


def no_gpu_found(error: Exception, driver: str | None, packages: Mapping[str, str]) -> ProbeFinding:
    """What there is to say where CuPy finds no GPU it can use.

    Args:
        error: What CuPy raised.
        driver: The driver's version, None where none answers.
        packages: What is installed, with versions.
    """
    present = [extra for extra in OLDEST_DRIVERS if f"cupy-{extra}x" in packages]
    if driver and present and present[0] not in cuda_extras(driver):
        cuda, oldest = present[0].removeprefix("cuda"), OLDEST_DRIVERS[present[0]]
        detail = f"CuPy for CUDA {cuda} needs driver {oldest} or newer; this is {driver}"
        in_the_way = " ".join(f"cupy-{extra}x" for extra in present)
        return ProbeFinding(name="CUDA", ok=False, detail=detail, remedy=_remedy(driver, in_the_way))
    said = str(error).splitlines()
    detail = f"CuPy finds no usable GPU: {said[0] if said else repr(error)}"
    remedy = "check that nvidia-smi lists a GPU and that CuPy's package matches the driver"
    return ProbeFinding(name="CUDA", ok=False, detail=detail, remedy=remedy)


def _remedy(driver: str, instead_of: str = "") -> str:
    fitting = cuda_extras(driver)
    if fitting:
        return install_command(fitting[0], instead_of=instead_of)
    return f"update the NVIDIA driver {driver}: CUDA 12 needs {OLDEST_DRIVERS['cuda12']} or newer"
