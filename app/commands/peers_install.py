"""`peers --install NAME`: a folder of a peer's own, with its package and what that needs beyond what is here.

Exit codes: 0 when the folder is there; 1 when pip failed; 2 when there is no such peer, or it cannot be put
apart or installed here.
"""

import json
import platform
import shutil
import subprocess
import sys
import tempfile
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from flashscope.app.commands.exit_codes import FAILED
from flashscope.app.commands.messages import complain, say, tell
from flashscope.home import make_own_folder
from flashscope.kernels.catalogue.environments import environments_folder
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.releases import RELEASES, Release, obstacles
from flashscope.kernels.workload.errors import InputError

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install")


def run(name: str) -> int:
    """Make the folder of a peer by its own name or its package's; one that was there is replaced."""
    release = release_of(name)
    folder = environments_folder() / release.package
    try:
        make_own_folder(folder.parent)
        wanted = _missing(release)
        tell(f"Installing {', '.join(wanted)} into {folder}")
        with tempfile.TemporaryDirectory(
            dir=folder.parent, prefix=".new-", ignore_cleanup_errors=True
        ) as made:
            _pip("--no-deps", "--target", made, *wanted)
            _replace(folder, Path(made))
    except subprocess.CalledProcessError as error:
        complain("peers", f"pip could not install {release.requirement}: {_last(error.stderr)}")
        return FAILED
    except OSError as error:
        complain("peers", f"{folder} cannot be made: {error.strerror or error}")
        return FAILED
    kernels = [spec.name for spec in KERNELS if spec.extra == release.package]
    say(f"{', '.join(kernels)}: measured from now on with {release.requirement} in {folder}")
    return 0


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


def _replace(folder: Path, made: Path) -> None:
    """Let what was made take the place of what was there."""
    if folder.exists():
        shutil.rmtree(folder)
    made.rename(folder)


def _last(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")
