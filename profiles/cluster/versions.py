"""Whether two sides can work together: what each is made of, compared when they connect."""

import platform
import re
from importlib import metadata

from flashscope.installation import OLDEST_DRIVERS, cuda_extras, install_command
from flashscope.kernels.catalogue.environments import version_of
from flashscope.profiles.cluster.calls import Versions, form_digest

CUPY_PACKAGES = ("cupy-cuda13x", "cupy-cuda12x")
OLDEST_PYTHON, OLDEST_CUPY = (3, 10), "14.2"


def versions_here(driver: str | None = None) -> Versions:
    """Of this side; `driver` is the GPU's that it serves."""
    return Versions(
        flashscope=version_of("flashscope"),
        messages=form_digest(),
        python=platform.python_version(),
        distributed=version_of("distributed"),
        msgspec=metadata.version("msgspec"),
        cupy=next(filter(None, map(version_of, CUPY_PACKAGES)), None),
        driver=driver,
    )


def obstacle_between(here: Versions, there: Versions) -> str:
    """Why a client cannot work with a host, in one sentence with the remedy; empty when it can."""
    if unlike := obstacle_of_builds(here, there):
        return unlike
    return "" if there.driver is None else _obstacle_of_gpu(there.driver, there.cupy)


def obstacle_of_builds(here: Versions, there: Versions) -> str:
    """Why two sides do not understand each other, whatever GPUs they have; empty when they do."""
    for name in ("flashscope", "messages", "distributed", "msgspec"):
        ours, theirs = getattr(here, name), getattr(there, name)
        if ours != theirs:
            return _unlike(name, ours, theirs)
    if min(_numbers(here.python), _numbers(there.python)) < OLDEST_PYTHON:
        return f"Python is {here.python} here and {there.python} there; 3.10 is the oldest that runs this."
    return ""


def _obstacle_of_gpu(driver: str, cupy: str | None) -> str:
    if not cuda_extras(driver):
        oldest = min(OLDEST_DRIVERS.values())
        return f"The NVIDIA driver there is {driver}; {oldest} is the oldest that runs our kernels."
    install = install_command(cuda_extras(driver)[0])
    if cupy is None:
        return f"CuPy is not installed there; install it on the host: {install}"
    if _numbers(cupy) < _numbers(OLDEST_CUPY):
        return f"CuPy is {cupy} there, older than {OLDEST_CUPY}; on the host: {install}"
    return ""


def _unlike(name: str, ours: str | None, theirs: str | None) -> str:
    if name == "messages":
        return (
            f"Flashscope here and there are of different builds (messages {ours} and {theirs}); use the same "
            "commit on both sides."
        )
    remedy = f'pip install "{name}=={theirs}" here, or "{name}=={ours}" there'
    if name == "flashscope" or None in {ours, theirs}:
        remedy = "install the same version on both sides"
    return f"{name} is {ours or 'not installed'} here and {theirs or 'not installed'} there; {remedy}."


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
