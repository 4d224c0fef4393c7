"""Stalls in words: what a profile says, and what changed from another."""

from collections.abc import Mapping, Sequence

from flashscope.app.words.inside.sass import words_at
from flashscope.app.words.inside.stall_reasons import reason_title
from flashscope.app.words.inside.timelines import problem_words
from flashscope.app.words.units import ms_text, ratio_text, share_text
from flashscope.kernels.workload.stalls import StallProfile
from flashscope.profiles.results.model.stall_facts import StallChange, StallFacts

MOST_NAMED = 4  # reasons of a line
NS_IN_MS = 1e6
LEAST = 0.05  # percent: half of the last digit


def profile_name(profile: StallProfile) -> str:
    """A profile, as a list names it."""
    return f"{profile.request.kernel} · {problem_words(profile.request.problem)} · {profile.device}"


def sentence(profile: StallProfile, facts: StallFacts, source: Sequence[str] | None = None) -> str:
    """What a profile says: the reason that holds most of the samples, where, and how many issue.

    Args:
        profile: The samples.
        facts: Their counts.
        source: The lines of the source that they are of; None: it is not at hand, and no line is named.
    """
    if not facts.most:
        return f"No sample of {profile.request.kernel} found a warp that waits."
    told = f"{profile.request.kernel}: {share_text(facts.share(facts.most))} of the samples stall for "
    told += f"“{reason_title(facts.most)}”"
    place = facts.line_of(facts.most)
    if place is not None and source is not None:
        line, share = place
        words = words_at(source, line)
        told += f", of these {share_text(share)} at line {line}{words and ': '}{words}"
    return f"{told} · {share_text(facts.issued)} issue an instruction."


def taken_text(profile: StallProfile, facts: StallFacts) -> str:
    """How the samples were taken, and what that disturbed."""
    launches = "one launch" if profile.launches == 1 else f"{profile.launches} launches"
    others = (
        f" Samples of the run's other kernels, {profile.others:,}, are left out." if profile.others else ""
    )
    return (
        f"{facts.total:,} samples of {launches} of the timed build, every {profile.interval:,} cycles, by "
        f"{profile.sampler} on the {profile.device}; {problem_words(profile.request.problem)}. Launches take "
        f"{ms_text(facts.plain_ms)} without a profiler (median of {profile.plain_ns.shape[0]}); the sampled "
        f"one took {ms_text(profile.sampled_ns / NS_IN_MS)}, {ratio_text(facts.sampled)} of one under the "
        f"profiler without samples.{others}"
    )


def line_text(line: int, facts: StallFacts) -> str:
    """What a line's samples wait for."""
    samples = facts.lines.get(line)
    if not samples:
        return f"Line {line}: no samples."
    return f"Line {line}: {samples_text(samples, facts.total)}."


def samples_text(samples: Mapping[str, int], total: int) -> str:
    """Samples of a line or an instruction: how many, of how many, and for which reasons, most first."""
    count = sum(samples.values())
    most = sorted(samples.items(), key=lambda one: (-one[1], one[0]))
    named = [f"{reason_title(reason)} {share_text(part / count)}" for reason, part in most[:MOST_NAMED]]
    rest = sum(part for _, part in most[MOST_NAMED:])
    told = ", ".join([*named, f"others {share_text(rest / count)}"] if rest else named)
    return f"{count:,} samples, {share_text(count / max(1, total))} of all ({told})"


def points_text(share: float) -> str:
    """A share in a table, in percent."""
    percent = 100 * share
    return f"{percent:.1f}%" if percent >= LEAST or not percent else f"< {2 * LEAST:.1f}%"


def change_text(one: StallChange) -> str:
    """By how many percentage points a reason's share changed."""
    points = 100 * one.change
    return f"{points:+.1f}".replace("-", "−") if abs(points) >= LEAST else "0.0"


def changes_sentence(
    before: tuple[StallProfile, StallFacts], after: tuple[StallProfile, StallFacts], largest: StallChange
) -> str:
    """Where the stalls of a step went: its runtime beside the one before, and the largest change."""
    names = before[0].request.kernel, after[0].request.kernel
    times = before[1].plain_ms, after[1].plain_ms
    return (
        f"From {names[0]} to {names[1]}: {ms_text(times[0])} to {ms_text(times[1])}. "
        f"{reason_title(largest.reason)} changes most, from {share_text(largest.before)} of the samples to "
        f"{share_text(largest.after)}."
    )
