"""What was looked for, a line each, and under it what to do."""

from collections.abc import Callable, Sequence

from flashscope.app.commands.messages import say
from flashscope.profiles.plan.machine import ProbeFinding


def print_findings(findings: Sequence[ProbeFinding], wrong: Callable[[ProbeFinding], str]) -> None:
    """Print them; `wrong` is the word for one that is not as it should be, of 7 letters at most."""
    for finding in findings:
        say(f"{'ok' if finding.ok else wrong(finding):7}  {finding.name}: {finding.detail}")
        if finding.remedy:
            say(f"         {finding.remedy}")
