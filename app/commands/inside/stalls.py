"""`stalls FILE`: where the warps of a session's launches stood and why; first samples some, if asked to."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from flashscope.app.commands.exit_codes import FAILED, SIGNALLED
from flashscope.app.commands.hosts import Hosts
from flashscope.app.commands.local import answer_to, check_keeps, local_driver, say_failure
from flashscope.app.commands.messages import complain, say, say_json, tell
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.figures.stall_source import source_like
from flashscope.app.words.inside.sass import words_at
from flashscope.app.words.inside.stall_reasons import reason_line, reason_title
from flashscope.app.words.inside.stalls import (
    change_text,
    changes_sentence,
    points_text,
    profile_name,
    sentence,
    taken_text,
)
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.reading.step import read_problem, step_before
from flashscope.kernels.workload.stalls import StallProfile, StallRequest
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.model.stall_facts import StallFacts, changes
from flashscope.profiles.store import load
from flashscope.profiles.store.keeping import keep
from flashscope.profiles.wire.events import Event, StallsProgress, StallsReady

MOST_LINES = 8
NONE = "{file} has no stall profiles: --sample KERNELS takes some on this machine's GPU"
STEPS = ("compiling with lines", "launching under ncu", "sampling", "reading the samples")


def run(
    file: Path,
    *,
    kernels: tuple[str, ...],
    head_dim: int,
    mask: str,
    as_json: bool,
    connect: str | None = None,
) -> int:
    """Sample these kernels, here or on a host, and keep that in the file; print what it has then."""
    session = load(file)
    if kernels:
        check_keeps(file)
        code = _sample(file, session, list(requests_of(kernels, head_dim, mask)), Hosts.one(connect))
        if code:
            return code
        session = load(file)
    if not session.stalls and not as_json:
        complain("stalls", NONE.format(file=file))
        return FAILED
    if as_json:
        say_json({"stall_profiles": [stalls_document(one, session.stalls) for one in session.stalls]})
        return 0
    for at, one in enumerate(session.stalls):
        if at:
            say("")
        _print(one, session.stalls)
    return 0


def requests_of(kernels: Sequence[str], head_dim: int, mask: str) -> Iterator[StallRequest]:
    """What is sampled: each kernel on the problem of Source, without a mask, under a causal one, or both."""
    masks = {"none": (False,), "causal": (True,), "both": (False, True)}
    for causal in masks[mask]:
        problem = read_problem(head_dim, causal=causal)
        yield from (StallRequest(problem=problem, kernel=find_kernel(one).name) for one in kernels)


def _sample(file: Path, session: Session, requests: Sequence[StallRequest], hosts: Hosts) -> int:
    """Sample these in turn, each kept in the file as it is there; the exit code."""
    with local_driver(hosts) as (driver, events):
        for request in requests:
            driver.engine.stalls(request)
            answer = answer_to("stalls", events, StallsReady, partial(_tell, request))
            if isinstance(answer, int):
                return SIGNALLED + answer
            if not isinstance(answer, StallsReady):
                return say_failure("stalls", answer, request.kernel)
            keep(file, answer.profile, session.id)
    return 0


def _tell(request: StallRequest, event: Event) -> None:
    if isinstance(event, StallsProgress):
        mask = "causal" if request.problem.causal else "no mask"
        tell(f"{request.kernel}, {mask}: {STEPS[event.done]}")


def before_in(profile: StallProfile, others: Sequence[StallProfile]) -> StallProfile | None:
    """The newest profile of the step before on the same problem and device."""
    request = profile.request
    before = step_before(request.kernel, request.problem.passes)
    found = (
        one
        for one in reversed(others)
        if (one.request.kernel, one.request.problem, one.device) == (before, request.problem, profile.device)
    )
    return next(found, None)


def stalls_document(profile: StallProfile, others: Sequence[StallProfile]) -> dict[str, Any]:
    """A profile as JSON has it: shares of all samples by reason and by line, and what changed."""
    facts, before = StallFacts.of(profile), before_in(profile, others)
    document = {
        "kernel": profile.request.kernel,
        "problem": profile.request.problem,
        "device": profile.device,
        "sampler": profile.sampler,
        "build": profile.build,
        "entry": profile.entry,
        "interval_cycles": profile.interval,
        "launches": profile.launches,
        "samples": facts.total,
        "issued": facts.issued,
        "idle": facts.idle,
        "plain_ms": facts.plain_ms,
        "sampled_over_unsampled": facts.sampled,
        "reasons": {reason: facts.share(reason) for reason in facts.reasons},
        "lines": {line: dict(samples) for line, samples in sorted(facts.lines.items())},
        "instructions": len(profile.text),
        "before": None,
    }
    if before is not None:
        told = {one.reason: one.change for one in changes(StallFacts.of(before), facts)}
        document["before"] = {"kernel": before.request.kernel, "change": told}
    return document


def _print(profile: StallProfile, others: Sequence[StallProfile]) -> None:
    facts, before = StallFacts.of(profile), before_in(profile, others)
    found = source_like(profile.request.kernel, profile.request.problem, profile.source)
    source = None if found is None else found.text.splitlines()
    say(profile_name(profile))
    say(sentence(profile, facts, source))
    say(taken_text(profile, facts))
    _print_reasons(profile, facts, before)
    if source is not None:
        _print_lines(facts, source)


def _print_reasons(profile: StallProfile, facts: StallFacts, before: StallProfile | None) -> None:
    if before is None:
        rows = [(reason_title(one), points_text(facts.share(one)), reason_line(one)) for one in facts.reasons]
        print_table(("reason", "samples", "what a warp waits for"), rows, texts=1)
        return
    of_before = StallFacts.of(before)
    told = changes(of_before, facts)
    say(changes_sentence((before, of_before), (profile, facts), told[0]))
    rows_of_changes = [
        (reason_title(one.reason), points_text(one.before), points_text(one.after), change_text(one))
        for one in told
    ]
    print_table(("reason", before.request.kernel, profile.request.kernel, "change, points"), rows_of_changes)


def _print_lines(facts: StallFacts, source: Sequence[str]) -> None:
    """The lines with most samples."""
    counted = sorted(facts.lines.items(), key=lambda one: (-sum(one[1].values()), one[0]))[:MOST_LINES]
    rows = []
    for line, samples in counted:
        ((reason, _),) = samples.most_common(1)
        share = points_text(sum(samples.values()) / max(1, facts.total))
        rows.append((f"{line}", share, reason_title(reason), words_at(source, line)))
    print_table(("line", "samples", "most for", "source"), rows, texts=2)
