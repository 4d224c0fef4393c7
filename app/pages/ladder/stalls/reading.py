"""What a view shows of a stall profile, made in the background: its counts, its code, its source."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flashscope.app.figures.instruction_lines import InstructionLines
from flashscope.app.figures.stall_bars import sampled_lines
from flashscope.app.figures.stall_source import source_like
from flashscope.app.pages.ladder.sass.board import ReadSource
from flashscope.app.words.own.tokens import tokens_of
from flashscope.kernels.workload.stalls import StallProfile
from flashscope.profiles.results.model.stall_facts import StallChange, StallFacts, changes


@dataclass(frozen=True)
class ReadProfile:
    """A profile as it is shown.

    Attributes:
        profile: The samples.
        facts: Their counts.
        lines: The instructions by their lines.
        source: The source that the lines are of; None: the one that is here is another.
        before: The profile of the step before on the same problem and device, and its counts.
        changes: What became of each reason since; empty where there is no such profile.
    """

    profile: StallProfile
    facts: StallFacts
    lines: InstructionLines
    source: ReadSource | None
    before: tuple[StallProfile, StallFacts] | None
    changes: Sequence[StallChange]

    @property
    def text(self) -> Sequence[str] | None:
        """The lines of the source, if it is the right one."""
        return None if self.source is None else self.source.source.text.splitlines()


def reading_of(profile: StallProfile, before: StallProfile | None) -> Callable[[], ReadProfile]:
    """Reads a profile, and the one before it."""

    def read() -> ReadProfile:
        facts = StallFacts.of(profile)
        request = profile.request
        found = source_like(request.kernel, request.problem, profile.source)
        source = None if found is None else ReadSource(found, tokens_of(found.text))
        pair = None if before is None else (before, StallFacts.of(before))
        told = () if pair is None else changes(pair[1], facts)
        return ReadProfile(
            profile, facts, sampled_lines(profile, lined=source is not None), source, pair, told
        )

    return read
