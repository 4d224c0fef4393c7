"""`peers --install NAME`: a folder of a peer's own, with its package and what that needs beyond what is here.

Exit codes: 0 when the folder is there; 1 when pip failed; 2 when there is no such peer, or it cannot be put
apart or installed here; 128 plus the signal's number after Ctrl-C or SIGTERM, which leave what was there.
"""

import json
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from flashscope.app.commands.exit_codes import FAILED, SIGNALLED
from flashscope.app.commands.messages import complain, say, tell
from flashscope.home import make_own_folder
from flashscope.kernels.catalogue.environments import environments_folder
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.releases import RELEASES, Release, obstacles
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.store.errors import explain_os

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install")


def run(name: str) -> int:
    """Make the folder of a peer by its own name or its package's; one that was there is replaced."""
    release = release_of(name)
    folder = environments_folder() / release.package
    try:
        with _raised_signals():
            _install(release, folder)
    except KeyboardInterrupt as stopped:
        return SIGNALLED + int(stopped.args[0])
    except subprocess.CalledProcessError as error:
        complain("peers", f"pip could not install {release.requirement}: {_last(error.stderr)}")
        return FAILED
    except OSError as error:
        raise explain_os(error, folder) from error
    kernels = [spec.name for spec in KERNELS if spec.extra == release.package]
    say(f"{', '.join(kernels)}: measured from now on with {release.requirement} in {folder}")
    return 0


@contextmanager
def _raised_signals() -> Iterator[None]:
    """Meanwhile Ctrl-C and SIGTERM are raised, each with its number, so that nothing half made stays."""

    def stop(number: int, _frame: object) -> NoReturn:
        raise KeyboardInterrupt(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _install(release: Release, folder: Path) -> None:
    """Have pip fill a folder beside its place, then put it there; what was there goes only then."""
    make_own_folder(folder.parent)
    wanted = _missing(release)
    tell(f"Installing {', '.join(wanted)} into {folder}")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as parts:
        made = Path(parts, "made")
        _pip("--no-deps", "--target", str(made), *wanted)
        if folder.exists():
            folder.rename(Path(parts, "before"))
        made.rename(folder)


def release_of(name: str) -> Release:
    """The release of a peer that can have a folder of its own here.

    Raises:
        InputError: There is no such peer, or it cannot; the text says which can.
    """
    packages = {spec.name: spec.extra for spec in KERNELS if spec.extra is not None}
    release = RELEASES.get(packages.get(name) or name)
    names = [one.package for one in RELEASES.values() if one.apart]
    if release is None:
        meant = "".join(f" (did you mean {near}?)" for near in get_close_matches(name, names, n=1))
        raise InputError(
            f"no peer is called {name!r}{meant}; a folder of their own can have {', '.join(names)}"
        )
    if not release.apart:
        raise InputError(
            f"{release.package} is what other peers compute on, and has no folder of its own; "
            f"one can have {', '.join(names)}"
        )
    against = obstacles(release, platform.system(), platform.machine(), sys.version_info[:2])
    if against:
        raise InputError(f"{release.package} cannot be installed here: {'; '.join(against)}")
    return release


def _missing(release: Release) -> list[str]:
    """The package, and what pip would install with it into this Python, each with its version."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        _pip("--dry-run", "--quiet", "--report", report.name, release.requirement)
        told: dict[str, Any] = json.loads(Path(report.name).read_bytes())
    described = [one["metadata"] for one in told["install"]]
    found = {one["name"].replace("_", "-").lower(): one["version"] for one in described}
    found.setdefault(release.package, release.version)  # here already, beside us
    return [f"{name}=={version}" for name, version in found.items()]


def _pip(*arguments: str) -> None:
    """Run pip, whose progress is seen on stderr.

    Raises:
        subprocess.CalledProcessError: It failed; its `stderr` says why.
    """
    subprocess.run([*PIP, *arguments], stdout=sys.stderr, stderr=subprocess.PIPE, text=True, check=True)


def _last(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")
