"""`doctor`: what the program needs, what is missing here, and the remedy. Imports no Qt."""

import os

import msgspec

from flashscope.app.commands import system
from flashscope.app.commands.exit_codes import SIGNALLED
from flashscope.app.commands.local import find_machine, local_driver
from flashscope.app.commands.messages import say_json
from flashscope.app.commands.printed.findings import print_findings
from flashscope.app.look.assets import USED, missing_assets
from flashscope.installation import PROGRAM, install_command, restore_command
from flashscope.profiles.plan.machine import ProbeFinding

NEEDED_FOR_THE_WINDOW = ("System libraries", "Qt", "Assets", "Worker")


def run(*, as_json: bool) -> int:
    """Print the findings; exits 1 when something that the window needs is missing."""
    with local_driver() as (driver, events):
        machine = find_machine(driver, events)
    if isinstance(machine, int):
        return SIGNALLED + machine
    missing = system.missing_packages()
    apt = system.apt_command(missing) if missing else None
    findings = [_libraries(missing), _qt(), _display(), _assets(), *machine.findings]
    if as_json:
        machine = msgspec.structs.replace(machine, findings=())  # they are among the findings
        say_json({"findings": findings, "apt": apt, "machine": machine})
    else:
        print_findings(findings, _absent)
    return int(any(not f.ok and f.name in NEEDED_FOR_THE_WINDOW for f in findings))


def _libraries(missing: list[str]) -> ProbeFinding:
    if not missing:
        return ProbeFinding(name="System libraries", ok=True, detail="all that Qt needs can be loaded")
    detail = f"{len(missing)} that Qt needs cannot be loaded: {', '.join(missing)}"
    return ProbeFinding(name="System libraries", ok=False, detail=detail, remedy=system.apt_command(missing))


def _qt() -> ProbeFinding:
    missing = system.qt_missing()
    if missing is None:
        return ProbeFinding(name="Qt", ok=True, detail="PySide6 and pyqtgraph are installed")
    return ProbeFinding(name="Qt", ok=False, detail=missing, remedy=install_command())


def _assets() -> ProbeFinding:
    missing = missing_assets()
    if not missing:
        return ProbeFinding(name="Assets", ok=True, detail="all that come with the program are there")
    detail = f"{len(missing)} of {len(USED)} files cannot be found: {', '.join(missing)}"
    return ProbeFinding(name="Assets", ok=False, detail=detail, remedy=restore_command())


def _display() -> ProbeFinding:
    asked = system.platform(os.environ)
    if asked not in system.SCREEN_PLATFORMS:
        if unknown := system.unknown_platform(os.environ):
            return ProbeFinding(name="Display", ok=False, detail=unknown)
        return ProbeFinding(name="Display", ok=True, detail=f"none is needed with QT_QPA_PLATFORM={asked}")
    if not system.has_display(os.environ):
        remedy = f"xvfb-run {PROGRAM}, or the command line ({PROGRAM} --help)"
        return ProbeFinding(name="Display", ok=False, detail="no display server answers", remedy=remedy)
    name = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY", "")
    return ProbeFinding(name="Display", ok=True, detail=name)


def _absent(finding: ProbeFinding) -> str:
    return "missing" if finding.name in NEEDED_FOR_THE_WINDOW else "none"
