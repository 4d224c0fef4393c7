"""`present STORY`: open the window with a story on stage, or check it before the talk; left out, list them.

Exit code of a check: 1 where something is to be done, else 0.
"""

import time
from collections.abc import Sequence
from queue import Empty

from flashscope.app.commands import system, window
from flashscope.app.commands.exit_codes import FAILED, SIGNALLED
from flashscope.app.commands.local import Events, find_machine, local_driver
from flashscope.app.commands.messages import say, say_json
from flashscope.app.commands.printed.findings import print_findings
from flashscope.app.stage.story import BUNDLED_STORIES, Story, find_story, read_story
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.machine import Machine, ProbeFinding
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.wire.events import Reading, Readings

WATCHED_S = 1.5  # how long the device is looked at


def run(story: str | None, *, check: bool = False, as_json: bool = False) -> int:
    """Present a story, check it, or list the bundled ones; a StoryError says what is wrong with it."""
    if story is None:
        width = max(map(len, BUNDLED_STORIES))
        for name, title in BUNDLED_STORIES.items():
            say(f"{name:{width}}  {title}")
        return 0
    found = read_story(find_story(story))
    return _check(found, as_json=as_json) if check else window.run(None, found)


def _check(story: Story, *, as_json: bool) -> int:
    with local_driver() as (driver, events):
        machine = find_machine(driver, events)
        if isinstance(machine, int):
            return SIGNALLED + machine
        readings = _watch(driver, events, machine)
    findings = _findings(story, machine, readings)
    if as_json:
        say_json({"story": str(story.path), "findings": findings})
    else:
        print_findings(findings, lambda _finding: "look")
    return 0 if all(finding.ok for finding in findings) else FAILED


def _watch(driver: Driver, events: Events, machine: Machine) -> list[Reading]:
    """What the device tells of itself for a while."""
    driver.engine.watch("cuda" if machine.device("cuda") else "cpu")
    readings: list[Reading] = []
    until = time.monotonic() + WATCHED_S
    while (left := until - time.monotonic()) > 0:
        try:
            event = events.get(timeout=left)
        except Empty:
            break
        if isinstance(event, Readings):
            readings += event.readings
    return readings


def _findings(story: Story, machine: Machine, readings: Sequence[Reading]) -> list[ProbeFinding]:
    system.settle_qt()
    hindrance = system.why_no_window()
    if hindrance is not None:
        return [ProbeFinding(name="Screen", ok=False, detail=hindrance)]
    from flashscope.app.shell.presenter.checks.of_story import story_findings  # noqa: PLC0415 - Qt must not be imported before it is known to load
    from flashscope.app.shell.presenter.checks.of_venue import idle_finding, screen_findings  # noqa: PLC0415 - as above
    from flashscope.app.shell.start_up.splash import bare_application  # noqa: PLC0415 - as above

    bare_application()
    backend: Backend = "cuda" if machine.device("cuda") else "cpu"
    idle = idle_finding(readings, sweeps=False, backend=backend)
    return [*story_findings(story, machine), idle, *screen_findings()]
