"""`doctor`: what the program needs, what is missing here, and the remedy. Imports no Qt."""

import os

import msgspec

from app.commands import system
from app.commands.exit_codes import SIGNALLED
from app.commands.local import find_machine, local_engine
from app.commands.messages import say, say_json
from profiles.plan.machine import Finding

NEEDED_FOR_THE_WINDOW = ("System libraries", "Qt")


def run(*, as_json: bool) -> int:
    """Print the findings; exits 1 when something that the window needs is missing."""
    with local_engine() as (engine, events):
        machine = find_machine(engine, events)
    if isinstance(machine, int):
        return SIGNALLED + machine
    missing = system.missing_packages()
    apt = system.apt_command(missing) if missing else None
    findings = [_libraries(missing), _qt(), _display(), *machine.findings]
    if as_json:
        machine = msgspec.structs.replace(machine, findings=())  # they are among the findings
        say_json({"findings": findings, "apt": apt, "machine": machine})
    else:
        _print(findings)
    return int(any(not f.ok and f.name in NEEDED_FOR_THE_WINDOW for f in findings))


def _libraries(missing: list[str]) -> Finding:
    if not missing:
        return Finding(name="System libraries", ok=True, detail="all that Qt needs can be loaded")
    detail = f"{len(missing)} that Qt needs cannot be loaded: {', '.join(missing)}"
    return Finding(name="System libraries", ok=False, detail=detail, remedy=system.apt_command(missing))


def _qt() -> Finding:
    missing = system.qt_missing()
    if missing is None:
        return Finding(name="Qt", ok=True, detail="PySide6 and pyqtgraph are installed")
    return Finding(name="Qt", ok=False, detail=missing, remedy=".venv/bin/pip install -e .")


def _display() -> Finding:
    asked = system.platform(os.environ)
    if asked not in system.SCREEN_PLATFORMS:
        if unknown := system.unknown_platform(os.environ):
            return Finding(name="Display", ok=False, detail=unknown)
        return Finding(name="Display", ok=True, detail=f"none is needed with QT_QPA_PLATFORM={asked}")
    if not system.has_display(os.environ):
        remedy = "xvfb-run python main.py, or the command line (python main.py --help)"
        return Finding(name="Display", ok=False, detail="no display server answers", remedy=remedy)
    name = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY", "")
    return Finding(name="Display", ok=True, detail=name)


def _print(findings: list[Finding]) -> None:
    for finding in findings:
        absent = "missing" if finding.name in NEEDED_FOR_THE_WINDOW else "none"
        say(f"{'ok' if finding.ok else absent:7}  {finding.name}: {finding.detail}")
        if finding.remedy:
            say(f"         {finding.remedy}")
