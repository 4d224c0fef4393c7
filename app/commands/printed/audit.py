"""An audit on stdout: what was built, its calls, and what switching gains by two roads."""

from collections.abc import Sequence

from flashscope.app.commands.messages import say
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.words.learn.audits import (
    NOTHING,
    amdahl_cells,
    asks_text,
    audit_head,
    audit_notes,
    fastest_text,
    lacks_of,
    layers_text,
    mask_text,
    ran_text,
    real_text,
    reasons_of,
    shape_text,
    step_text,
    vanishing_text,
)
from flashscope.app.words.units import share_text
from flashscope.kernels.workload.audit import AuditedCall, ModelAudit
from flashscope.profiles.results.compare.switching import ReplayedCall, Switching, switchings_of
from flashscope.profiles.results.model.rows import PointRow

CALL_HEADINGS = (
    *("layers", "calls", "of the step", "shape", "mask", "asks for", "ran"),
    *("fastest replay", "step by that alone"),
)
KERNEL_HEADINGS = ("kernel in place", "calls", "those calls", "step, by Amdahl")


def print_audit(audit: ModelAudit, rows: Sequence[PointRow]) -> None:
    """Print an audit with what follows from the points that replay it."""
    say(audit_head(audit))
    for found in switchings_of(audit, rows):
        say("")
        _print_step(audit, found)
    say("")
    for text in audit_notes(audit):
        say(text)


def _print_step(audit: ModelAudit, found: Switching) -> None:
    calls = [one for one in audit.calls if one.phase == found.phase]
    say(step_text(found))
    if calls:
        lines = [_line(one, replayed) for one, replayed in zip(calls, found.calls, strict=True)]
        print_table(CALL_HEADINGS, lines)
    else:
        say("No attention call was seen.")
    for text in (*reasons_of(calls), *lacks_of(found.calls)):
        say(text)
    if found.amdahl:
        print_table(KERNEL_HEADINGS, [amdahl_cells(one) for one in found.amdahl])
    for real in found.real:
        say(real_text(real))
    if vanishing := vanishing_text(found):
        say(vanishing)


def _line(call: AuditedCall, replayed: ReplayedCall) -> tuple[str, ...]:
    return (
        layers_text(call.layers),
        str(replayed.calls),
        NOTHING if replayed.share is None else share_text(replayed.share),
        shape_text(call.call),
        mask_text(call.call),
        asks_text(call.call),
        ran_text(call),
        *fastest_text(replayed),
    )
