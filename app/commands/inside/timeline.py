"""`timeline`: when each stage of each tile of a kernel ran, recorded here without a window.

Exit codes: 0; 1 where a timeline could not be recorded; 2 for what is no such request, as of a problem that
no build with clocks takes; 128 plus the signal's number after Ctrl-C or SIGTERM, which keep nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flashscope.app.commands.arguments import STDOUT
from flashscope.app.commands.exit_codes import SIGNALLED
from flashscope.app.commands.hosts import Hosts
from flashscope.app.commands.local import (
    Events,
    answer_to,
    check_keeps,
    find_device,
    local_driver,
    say_failure,
)
from flashscope.app.commands.messages import pasteable, put, say, say_json, tell
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.words.figures import NOTHING
from flashscope.app.words.inside.timelines import overhead_text, problem_words, sentence, stages_on_show
from flashscope.app.words.units import share_text
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.workload.timeline import ClockedKernel, StageTimeline, TimelineRequest
from flashscope.profiles.plan.request import Request
from flashscope.profiles.results.formats.perfetto_timeline import timelines_to_perfetto
from flashscope.profiles.results.model.timeline_facts import TimelineFacts
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.store import load, write_atomically
from flashscope.profiles.store.keeping import keep
from flashscope.profiles.wire.events import Event, TimelineProgress, TimelineReady


def run(
    kernels: Sequence[ClockedKernel],
    choices: Mapping[str, Any],
    *,
    seqlen: int,
    rounds: int,
    sms: int | None,
    into: Path | None,
    perfetto: Path | None,
    force: bool,
    as_json: bool,
    connect: str | None = None,
) -> int:
    """Record these kernels one after the other, say what they spend their time on, and keep them."""
    meant = load(into).id if into else ""
    if into:
        check_keeps(into)
    with local_driver(Hosts.one(connect)) as (driver, events):
        device = find_device(driver, events, "timeline", choices.get("backend", AUTO))
        if isinstance(device, int):
            return device
        problem = Request.of(**{**choices, "backend": device.backend}).problem(seqlen)
        timelines: list[StageTimeline] = []
        for kernel in kernels:
            asked = TimelineRequest(
                problem=problem, backend=device.backend, kernel=kernel, sms=sms, rounds=rounds
            )
            found = record(driver, events, asked)
            if isinstance(found, int):
                return found
            timelines.append(found)
    if perfetto != STDOUT:
        say_them(timelines, as_json=as_json)
    if into:
        for one in timelines:
            keep(into, one, meant)
        tell(f"Kept in {pasteable(into)}")
    if perfetto:
        _write(perfetto, timelines, force=force)
    return 0


def record(driver: Driver, events: Events, request: TimelineRequest) -> StageTimeline | int:
    """Have the worker record one; the exit code where there is none, and why is said."""
    driver.engine.timeline(request)

    def told(event: Event) -> None:
        if isinstance(event, TimelineProgress):
            tell(f"{request.kernel}: round {event.done + 1} of {event.total}")

    answer = answer_to("timeline", events, TimelineReady, told)
    if isinstance(answer, int):
        driver.engine.give_up_timeline()
        return SIGNALLED + answer
    if not isinstance(answer, TimelineReady):
        return say_failure("timeline", answer, request.kernel)
    return answer.timeline


def say_them(timelines: Sequence[StageTimeline], *, as_json: bool) -> None:
    """What they spend their time on, each beside what its clocks cost."""
    facts = [TimelineFacts.of(one) for one in timelines]
    pairs = [*zip(timelines, facts, strict=True)]
    if as_json:
        say_json({"headline": sentence(timelines, facts), "timelines": [document(*pair) for pair in pairs]})
        return
    first = timelines[0]
    say(f"{problem_words(first.request.problem)}, {first.request.problem.dtype}, on {first.device}")
    say(sentence(timelines, facts))
    stages = stages_on_show(timelines)
    print_table(("kernel", *stages, "waits"), [_shares(*pair, stages) for pair in pairs])
    for one, fact in pairs:
        say(f"{one.request.kernel}: {overhead_text(one, fact)}")


def document(timeline: StageTimeline, facts: TimelineFacts) -> dict[str, Any]:
    """A timeline's numbers as a JSON document; its bars are what --perfetto writes."""
    return {
        "kernel": timeline.request.kernel,
        "problem": timeline.request.problem,
        "device": timeline.device,
        "source": timeline.source,
        "build": timeline.build,
        "registers": timeline.registers,
        "sms": timeline.request.sms,
        "bars": timeline.begin.shape[0],
        "span_ns": timeline.span_ns,
        **asdict(facts),
    }


def _shares(timeline: StageTimeline, facts: TimelineFacts, stages: Sequence[str]) -> tuple[str, ...]:
    shares = (share_text(facts.shares[one]) if facts.shares.get(one) else NOTHING for one in stages)
    return (timeline.request.kernel, *shares, share_text(facts.waits))


def _write(out: Path, timelines: Sequence[StageTimeline], *, force: bool) -> None:
    content = timelines_to_perfetto(timelines)
    if out == STDOUT:
        put(content)
        return
    write_atomically(out, content, replace=force)
    tell(f"Written to {pasteable(out)}, for ui.perfetto.dev")
