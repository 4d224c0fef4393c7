"""An audit on stdout: what was built, its calls, and what switching gains by two roads."""

from collections.abc import Sequence

from flashscope.app.commands.messages import say
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.report.sentences import worst_check
from flashscope.app.words.learn.audits import (
    CALL_HEADINGS,
    KERNEL_HEADINGS,
    amdahl_cells,
    audit_head,
    audit_notes,
    call_cells,
    found_texts,
    real_text,
    step_text,
    vanishing_text,
)
from flashscope.kernels.workload.audit import ModelAudit
from flashscope.profiles.results.compare.switching import Switching, switchings_of
from flashscope.profiles.results.model.rows import PointRow


def print_audit(audit: ModelAudit, rows: Sequence[PointRow]) -> None:
    """Print an audit with what follows from the points that replay it."""
    say(audit_head(audit))
    for found in switchings_of(audit, rows):
        say("")
        _print_step(audit, found)
    say("")
    if rows:
        say(f"Replays: {worst_check(rows)}")
    for text in audit_notes(audit):
        say(text)


def _print_step(audit: ModelAudit, found: Switching) -> None:
    calls = [one for one in audit.calls if one.phase == found.phase]
    say(step_text(found))
    if calls:
        print_table(CALL_HEADINGS, list(map(call_cells, calls, found.calls)))
    else:
        say("No attention call was seen.")
    for text in found_texts(calls, found):
        say(text)
    if found.amdahl:
        print_table(KERNEL_HEADINGS, [amdahl_cells(one) for one in found.amdahl])
    for real in found.real:
        say(real_text(real))
    if vanishing := vanishing_text(found):
        say(vanishing)
