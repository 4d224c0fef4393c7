"""How this copy was started and installed, and which extra fits the NVIDIA driver; needs no package.

Run as a script it prints that extra as pip takes it, for the README's run command: `[cuda13]`, `[cuda12]`
or nothing.
"""

import re
import sys
from pathlib import Path

FILE = Path(__file__).resolve()
CHECKOUT = FILE.parents[2] if FILE.parents[1].name == ".src" else None
"""The folder of the checkout that runs; None: a wheel was installed."""


def _started_as() -> str:
    started = Path(*sys.argv[:1])
    own = CHECKOUT is not None and started.name == "main.py" and started.resolve() == CHECKOUT / "main.py"
    return "python main.py" if own else "flashscope"


PROGRAM = _started_as()
"""What was typed to start the program; a child process says what its parent does."""

OLDEST_DRIVERS = {"cuda13": 580, "cuda12": 525}
"""The oldest branch of the driver that runs each CUDA, the newest first (NVIDIA, CUDA Compatibility)."""
SMI = ("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
SMI_S = 60  # after which nvidia-smi is taken to hang


def install_command(extra: str = "", *, instead_of: str = "") -> str:
    """What a user types to install Flashscope and what it needs: in the checkout, or where the wheel is.

    Args:
        extra: An optional extra of pyproject.toml.
        instead_of: Packages that stand in its way and go first.
    """
    pip, options, name = (".venv/bin/pip", "-e ", ".") if CHECKOUT else ("pip", "", "flashscope")
    wanted = f'"{name}[{extra}]"' if extra else name
    first = f"{pip} uninstall -y {instead_of} && " if instead_of else ""
    return f"{first}{pip} install {options}{wanted}"


def restore_command() -> str:
    """What a user types to get back the files that come with Flashscope."""
    return "git checkout -- assets" if CHECKOUT else "pip install --force-reinstall --no-deps flashscope"


def cuda_extras(driver: str) -> tuple[str, ...]:
    """The extras whose CUDA a driver runs, the best first; none where it is too old or no version."""
    found = re.match(r"(\d{1,4})\.\d", driver)
    branch = int(found[1]) if found else 0
    return tuple(extra for extra, oldest in OLDEST_DRIVERS.items() if branch >= oldest)


def driver_here() -> str:
    """The NVIDIA driver's version by nvidia-smi, as `580.65.06`; empty where that fails or is missing."""
    import subprocess  # noqa: PLC0415 - slow, and seldom needed

    try:
        asked = subprocess.run(
            SMI, check=True, capture_output=True, text=True, errors="replace", timeout=SMI_S
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.strip()


if __name__ == "__main__":
    sys.stdout.write("".join(f"[{extra}]" for extra in cuda_extras(driver_here())[:1]))
