"""`peers`: the libraries beside our kernels: which are here, which could be, and which a session holds."""

import os
import platform
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from flashscope.app.commands.exit_codes import SIGNALLED
from flashscope.app.commands.local import find_machine, local_driver
from flashscope.app.commands.messages import say, say_json
from flashscope.installation import PROGRAM, install_command
from flashscope.kernels.catalogue.environments import environment_of, version_of
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.releases import RELEASES, Release, obstacles, python_words
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load

MIB = 1 << 20
MADE_OF = {"nvidia-cudnn-cu13": "cuDNN", "nvidia-cudnn-cu12": "cuDNN"}  # packages that peers run on


def run(file: Path | None, *, as_json: bool) -> int:
    """Print what is here and what could be; with a session what that was recorded with."""
    if file is not None:
        return _tell_session(load(file), str(file), as_json=as_json)
    with local_driver() as (driver, events):
        machine = find_machine(driver, events)
    if isinstance(machine, int):
        return SIGNALLED + machine
    described = [peer_document(package, kernels, machine) for package, kernels in by_package().items()]
    if as_json:
        say_json({"peers": described})
        return 0
    for peer in described:
        _print(peer)
    if machine.device("cuda") is None:
        say(f"no usable GPU here: {machine.why_no_gpu()}")
    return 0


def by_package() -> dict[str, list[KernelSpec]]:
    """The peers by the package that they come in."""
    found: dict[str, list[KernelSpec]] = {}
    for spec in KERNELS:
        if spec.extra is not None:
            found.setdefault(spec.extra, []).append(spec)
    return found


def peer_document(package: str, kernels: Sequence[KernelSpec], machine: Machine) -> dict[str, Any]:
    """One package as it goes into the JSON document."""
    release = RELEASES[package]
    own = environment_of(package)
    here = (version_of(package) or "unknown") if kernels[0].library_is_here() else None
    return {
        "package": package,
        "kernels": [spec.name for spec in kernels],
        "installed": here is not None,
        "version": here,
        "folder": None if own is None else str(own),
        "built": release.built if here == release.version else None,
        "newest": {
            "version": release.version,
            "built": release.built,
            "wheel_bytes": release.wheel_bytes,
            "beside": release.beside,
        },
        "needs": _needs(release, kernels),
        "obstacles": list(obstacles(release, platform.system(), platform.machine(), sys.version_info[:2])),
        "runs": why_not(kernels[0], machine) is None,
        "why_not": why_not(kernels[0], machine),
        "missing_tools": [tool for tool in release.tools if not _found(tool)],
        "command": install_command(package),
    }


def _found(tool: str) -> bool:
    """Whether a program is there: on the path, beside this Python, or where CUDA is."""
    cuda = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    places = (os.environ.get("PATH", ""), str(Path(sys.executable).parent), str(cuda))
    return shutil.which(tool, path=os.pathsep.join(places)) is not None


def why_not(spec: KernelSpec, machine: Machine) -> str | None:
    """Why a peer would not run here even if its package were installed, None where it would."""
    anywhere = replace(spec, extra=None)
    reasons = []
    for backend, dtypes in spec.dtypes.items():
        device = machine.device(backend)
        problem = Problem(seqlen_q=1, seqlen_k=1, head_dim=64, dtype=dtypes[-1])
        reasons.append("there is no usable GPU" if device is None else anywhere.unsupported(problem, device))
    return None if None in reasons else reasons[0]


def _needs(release: Release, kernels: Sequence[KernelSpec]) -> dict[str, Any]:
    spec = kernels[0]
    oldest, newest = spec.min_compute_capability, spec.max_compute_capability
    return {
        "systems": sorted(release.systems),
        "python": python_words(release).removeprefix("Python "),
        "oldest_compute_capability": ".".join(map(str, oldest)),
        "newest_compute_capability": None if newest is None else ".".join(map(str, newest)),
        "cpu": any("cpu" in spec.dtypes for spec in kernels),
        "tools": list(release.tools),
    }


def _print(peer: dict[str, Any]) -> None:
    """A package in a few lines: what is here, what it needs, how to get it."""
    newest, needs = peer["newest"], peer["needs"]
    built = f", built {peer['built']}" if peer["built"] else ""
    said = f"{peer['version']}{built}" if peer["installed"] else "not installed"
    where = f", in {peer['folder']}" if peer["folder"] else ""
    say(f"{peer['package']}: {said}{where} ({', '.join(peer['kernels'])})")
    size = newest["wheel_bytes"] / MIB
    told = f"{newest['version']}, built {newest['built']}, {size:.3g} MiB without what it depends on"
    say(f"  newest known: {told}{newest['beside'] and '; ' + newest['beside']}")
    oldest, last = needs["oldest_compute_capability"], needs["newest_compute_capability"]
    span = " or newer" if last is None else "" if last == oldest else f" to {last}"
    gpu = f"a GPU of compute capability {oldest}{span}" + (", or none" if needs["cpu"] else "")
    tools = f"; when it runs {' and '.join(needs['tools'])}" if needs["tools"] else ""
    say(f"  needs: {', '.join(needs['systems'])}; Python {needs['python']}; {gpu}{tools}")
    for reason in peer["obstacles"]:
        say(f"  cannot be installed here: {reason}")
    if peer["missing_tools"] and not peer["obstacles"]:
        say(f"  missing here: {' and '.join(peer['missing_tools'])}")
    if peer["why_not"]:
        say(f"  would not run here: {peer['why_not']}")
    if not peer["installed"] and not peer["obstacles"]:
        say(f"  to install: {peer['command']}")
    if RELEASES[peer["package"]].apart and not peer["folder"] and not peer["obstacles"]:
        say(f"  in a folder of its own: {PROGRAM} peers --install {peer['kernels'][0]}")


def session_document(session: Session, name: str) -> dict[str, Any]:
    """Which peers a recording holds, and of which versions: only what the session says of itself."""
    known = session.machine.packages
    kernels = set(session.plan.kernels)
    held = {
        package: sorted(kernels & {spec.name for spec in specs}) for package, specs in by_package().items()
    }
    return {
        "file": name,
        "peers": [
            {"package": package, "version": known.get(package), "kernels": names}
            for package, names in held.items()
            if names
        ],
        "made_of": {MADE_OF[package]: version for package, version in known.items() if package in MADE_OF},
    }


def _tell_session(session: Session, name: str, *, as_json: bool) -> int:
    document = session_document(session, name)
    if as_json:
        say_json(document)
        return 0
    for peer in document["peers"]:
        told = peer["version"] or "the file does not say which version"
        say(f"{peer['package']}: {told} ({', '.join(peer['kernels'])})")
    for what, which in document["made_of"].items():
        say(f"{what}: {which}")
    if not document["peers"]:
        say("it holds no peers, only our own kernels")
    return 0
